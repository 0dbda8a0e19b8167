lib_libpldi_la_SOURCES += \
	%reldir%/allreduce.c %reldir%/barrier.c %reldir%/broadcast.c %reldir%/fold.c \
	%reldir%/move.c %reldir%/move_v.c %reldir%/operands.c %reldir%/reduce.c %reldir%/sync.c \
	%reldir%/pldi_coll.h
