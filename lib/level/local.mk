lib_libpldi_la_SOURCES += %reldir%/level.c
