lib_libpldi_la_SOURCES += \
	%reldir%/buffer.c %reldir%/calls.c %reldir%/symalloc.c %reldir%/view.c \
	%reldir%/pldi_buffer.h %reldir%/pldi_symalloc.h %reldir%/pldi_window.h
