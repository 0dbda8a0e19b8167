lib_libpldi_la_SOURCES += \
	%reldir%/atomic.c %reldir%/copy.c %reldir%/fetch.c %reldir%/move.c %reldir%/put_get.c \
	%reldir%/remote.c \
	%reldir%/pldi_rma.h
