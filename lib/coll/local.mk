lib_libpldi_la_SOURCES += %reldir%/barrier.c
