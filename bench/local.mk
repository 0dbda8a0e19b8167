# Benchmarks: measured and reported, never tested.  `make bench` builds and runs them.
bench_programs = %reldir%/fingerprint %reldir%/idle %reldir%/pingpong %reldir%/start %reldir%/stats
EXTRA_PROGRAMS += $(bench_programs)
CLEANFILES     += $(bench_programs)

%canon_reldir%_fingerprint_SOURCES = %reldir%/fingerprint.c %reldir%/median.h
%canon_reldir%_idle_SOURCES        = %reldir%/idle.c %reldir%/median.h
%canon_reldir%_pingpong_SOURCES    = %reldir%/pingpong.c %reldir%/median.h
%canon_reldir%_start_SOURCES       = %reldir%/start.c %reldir%/median.h
%canon_reldir%_start_LDADD         =
%canon_reldir%_stats_SOURCES       = %reldir%/stats.c %reldir%/median.h

# They compile a part of the library once more, without what is measured.
bench_tables = %reldir%/fingerprint-table %reldir%/stats-table
EXTRA_DIST  += $(bench_tables) %reldir%/stats-variant
bench_env    = srcdir='$(srcdir)' CC='$(CC)' CPPFLAGS='$(AM_CPPFLAGS) -I.' \
	CFLAGS='$(AM_CFLAGS) $(CFLAGS)'

bench: $(bench_programs) pldrun
	%reldir%/pingpong
	%reldir%/start ./pldrun
	%reldir%/idle 10
	for table in $(bench_tables); do $(bench_env) $(SHELL) $(srcdir)/$$table || exit 1; done
PHONY += bench
