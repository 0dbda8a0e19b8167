lib_libpldi_la_SOURCES += \
	%reldir%/abort.c %reldir%/agree.c %reldir%/config.c %reldir%/domain.c %reldir%/form.c %reldir%/guard.c \
	%reldir%/launched.c %reldir%/layout.c \
	%reldir%/rank.c %reldir%/segment.c %reldir%/site.c \
	%reldir%/stats.c %reldir%/wait.c \
	%reldir%/calls.def %reldir%/ops.def %reldir%/pldi_agree.h %reldir%/pldi_domain.h \
	%reldir%/pldi_job.h %reldir%/pldi_launched.h %reldir%/pldi_layout.h %reldir%/pldi_rank.h %reldir%/pldi_segment.h
