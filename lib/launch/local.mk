lib_libpldi_la_SOURCES += \
	%reldir%/counters.c %reldir%/deadlock.c %reldir%/door.c %reldir%/env.c %reldir%/feed.c \
	%reldir%/inner.c %reldir%/lane.c %reldir%/launch.c \
	%reldir%/output.c %reldir%/process.c %reldir%/report.c %reldir%/results.c %reldir%/run.c %reldir%/schedule.c \
	%reldir%/spawn.c %reldir%/tree.c %reldir%/watch.c \
	%reldir%/pldi_door.h %reldir%/pldi_feed.h \
	%reldir%/pldi_inner.h %reldir%/pldi_lane.h %reldir%/pldi_launch.h %reldir%/pldi_output.h \
	%reldir%/pldi_process.h %reldir%/pldi_tree.h
