lib_libpldi_la_SOURCES += \
	%reldir%/futex.c %reldir%/lock.c \
	%reldir%/pldi_bell.h %reldir%/pldi_delay.h %reldir%/pldi_futex.h %reldir%/pldi_line.h %reldir%/pldi_lock.h \
	%reldir%/pldi_patience.h
