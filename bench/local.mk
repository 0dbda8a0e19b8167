# Benchmarks: measured and reported, never tested.  `make bench` builds and runs them.
bench_programs = %reldir%/idle %reldir%/pingpong %reldir%/start
EXTRA_PROGRAMS += $(bench_programs)
CLEANFILES     += $(bench_programs)

%canon_reldir%_idle_SOURCES     = %reldir%/idle.c %reldir%/median.h
%canon_reldir%_pingpong_SOURCES = %reldir%/pingpong.c %reldir%/median.h
%canon_reldir%_start_SOURCES    = %reldir%/start.c %reldir%/median.h
%canon_reldir%_start_LDADD      =

bench: $(bench_programs) pldrun
	%reldir%/pingpong
	%reldir%/start ./pldrun
	%reldir%/idle 10
PHONY += bench
