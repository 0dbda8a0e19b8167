# Jobs in which nobody can go on, and jobs that only look so.
check_PROGRAMS += %reldir%/stuck
script_tests   += %reldir%/check-deadlock

%canon_reldir%_stuck_SOURCES = %reldir%/stuck.c
