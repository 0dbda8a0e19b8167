lib_libpldi_la_SOURCES += %reldir%/notify.c %reldir%/wait.c %reldir%/pldi_signal.h
