lib_libpldi_la_SOURCES += %reldir%/observe.c %reldir%/acts.def %reldir%/pldi_observe.h
