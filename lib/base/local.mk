lib_libpldi_la_SOURCES += \
	%reldir%/machine.c %reldir%/opts.c %reldir%/params.c %reldir%/status.c \
	%reldir%/params.def %reldir%/pldi_clock.h %reldir%/pldi_machine.h %reldir%/pldi_opts.h %reldir%/pldi_params.h \
	%reldir%/pldi_status.h
