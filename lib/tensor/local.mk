lib_libpldi_la_SOURCES += \
	%reldir%/arena.c %reldir%/cast.c %reldir%/check.c %reldir%/copy.c %reldir%/dtype.c \
	%reldir%/dynamic.c %reldir%/layout.c %reldir%/ops.c %reldir%/tensor.c %reldir%/tile.c \
	%reldir%/dtypes.def %reldir%/pldi_copy.h %reldir%/pldi_dtype.h %reldir%/pldi_half.h \
	%reldir%/pldi_ops.h %reldir%/pldi_tensor.h %reldir%/pldi_tile.h
