# Scripts over pldrun and pld_run, the programs that they run, and units of layer launch.
check_PROGRAMS += %reldir%/act %reldir%/counted %reldir%/runs %reldir%/talk
unit_tests += %reldir%/t_env %reldir%/t_lane %reldir%/t_tree
script_tests += \
	%reldir%/check-death %reldir%/check-ends %reldir%/check-kill %reldir%/check-noise \
	%reldir%/check-observe %reldir%/check-options %reldir%/check-output \
	%reldir%/check-run %reldir%/check-signals %reldir%/check-start %reldir%/check-status \
	%reldir%/check-stdin %reldir%/check-tools %reldir%/check-wrapper
EXTRA_DIST += %reldir%/kills.py %reldir%/pldtest.py

%canon_reldir%_act_SOURCES     = %reldir%/act.c
%canon_reldir%_counted_SOURCES = %reldir%/counted.c
%canon_reldir%_runs_SOURCES    = %reldir%/runs.c
%canon_reldir%_talk_SOURCES    = %reldir%/talk.c
%canon_reldir%_t_env_LDADD     = $(unit_ldadd)
%canon_reldir%_t_lane_LDADD    = $(unit_ldadd)
%canon_reldir%_t_tree_LDADD    = $(unit_ldadd)
