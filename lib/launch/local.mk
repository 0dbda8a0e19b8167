lib_libpldi_la_SOURCES += \
	%reldir%/counters.c %reldir%/env.c %reldir%/inner.c %reldir%/lane.c %reldir%/launch.c \
	%reldir%/output.c %reldir%/report.c %reldir%/results.c %reldir%/run.c %reldir%/schedule.c \
	%reldir%/spawn.c %reldir%/tree.c %reldir%/watch.c \
	%reldir%/pldi_inner.h %reldir%/pldi_lane.h %reldir%/pldi_launch.h %reldir%/pldi_output.h \
	%reldir%/pldi_tree.h
