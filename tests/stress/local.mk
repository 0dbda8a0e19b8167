# Litmus and torture tests of layer sync, and random collectives: short in `make check`,
# STRESS_SECONDS each in `make stress`.
stress_tests += \
	%reldir%/litmus_bell \
	%reldir%/litmus_line \
	%reldir%/lock_stress \
	%reldir%/lost_wake \
	%reldir%/mismatch_time \
	%reldir%/mp_litmus \
	%reldir%/coll_property

stress_workers = %reldir%/stress.c %reldir%/stress.h

%canon_reldir%_litmus_bell_SOURCES = %reldir%/litmus_bell.c $(stress_workers)
%canon_reldir%_litmus_line_SOURCES = %reldir%/litmus_line.c $(stress_workers)
%canon_reldir%_lock_stress_SOURCES = %reldir%/lock_stress.c $(stress_workers)
%canon_reldir%_lost_wake_SOURCES   = %reldir%/lost_wake.c $(stress_workers)
%canon_reldir%_mismatch_time_SOURCES = %reldir%/mismatch_time.c $(stress_workers)
%canon_reldir%_mp_litmus_SOURCES   = %reldir%/mp_litmus.c $(stress_workers)

%canon_reldir%_coll_property_SOURCES = %reldir%/coll_property.c $(coll_model)
%canon_reldir%_coll_property_LDADD   = $(LDADD) -lm

# These bring futex calls of their own, so they do without the library.
%canon_reldir%_litmus_bell_LDADD =
%canon_reldir%_litmus_line_LDADD =
%canon_reldir%_mp_litmus_LDADD   =

# The same headers with one order too weak, by other names: the litmus tests must see the difference.
stress_weak = %reldir%/weak_bell.h %reldir%/weak_line.h

%reldir%/weak_bell.h: $(srcdir)/lib/sync/pldi_bell.h
	$(AM_V_GEN)$(MKDIR_P) %reldir% && \
	sed -e 's/pldi_bell/weak_bell/g' -e 's/PLDI_BELL_H/WEAK_BELL_H/' \
		-e 's/atomic_exchange_explicit(cell, value, [a-z_]*)/atomic_store_explicit(cell, value, memory_order_relaxed)/' \
		-e 's/\(atomic_fetch_add_explicit(cell, value\), [a-z_]*)/\1, memory_order_relaxed)/' \
		$(srcdir)/lib/sync/pldi_bell.h >$@.tmp && \
	grep -q 'atomic_store_explicit(cell, value, memory_order_relaxed)' $@.tmp && mv $@.tmp $@

%reldir%/weak_line.h: $(srcdir)/lib/sync/pldi_line.h
	$(AM_V_GEN)$(MKDIR_P) %reldir% && \
	sed -e 's/pldi_line/weak_line/g' -e 's/PLDI_LINE_H/WEAK_LINE_H/' \
		-e 's/atomic_[a-z]*_explicit(l\.v, x, [a-z_]*)/atomic_store_explicit(l.v, x, memory_order_relaxed)/' \
		$(srcdir)/lib/sync/pldi_line.h >$@.tmp && \
	grep -q 'atomic_store_explicit(l.v, x, memory_order_relaxed)' $@.tmp && mv $@.tmp $@

%reldir%/litmus_bell.$(OBJEXT) %reldir%/litmus_line.$(OBJEXT) %reldir%/mp_litmus.$(OBJEXT): $(stress_weak)
BUILT_SOURCES = $(stress_weak)
CLEANFILES   += $(stress_weak)

# By hand: more than 2^31 elements, 5 GB of memory.
check_PROGRAMS += %reldir%/coll_huge
huge: all %reldir%/coll_huge$(EXEEXT)
	./pldrun -n 2 %reldir%/coll_huge
PHONY += huge

# Random things for a while, checked; ranks as tests/RANKS says.
stress_tests += %reldir%/storm_alloc %reldir%/storm_domain %reldir%/storm_signals
storm = %reldir%/storm.c %reldir%/storm.h
%canon_reldir%_storm_alloc_SOURCES   = %reldir%/storm_alloc.c $(storm)
%canon_reldir%_storm_domain_SOURCES  = %reldir%/storm_domain.c $(storm)
%canon_reldir%_storm_signals_SOURCES = %reldir%/storm_signals.c $(storm)
%canon_reldir%_calm_SOURCES          = %reldir%/calm.c $(storm)
%canon_reldir%_noise_SOURCES         = %reldir%/noise.c

# Campaigns against pldrun: short in `make check`, STRESS_SECONDS each in `make stress`.
storm_checks = \
	%reldir%/storm-calm %reldir%/storm-faults %reldir%/storm-kill %reldir%/storm-launch
script_tests += $(storm_checks)
storm_tests  += $(storm_checks) %reldir%/storm-delays \
	tests/launch/check-death tests/launch/check-ends tests/launch/check-kill \
	tests/launch/check-noise tests/launch/check-output tests/launch/check-stdin
EXTRA_DIST   += %reldir%/storm-delays

check_PROGRAMS += %reldir%/calm %reldir%/noise
check_LTLIBRARIES = %reldir%/faults.la
%canon_reldir%_faults_la_SOURCES = %reldir%/faults.c %reldir%/faults.def
%canon_reldir%_faults_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /none
%canon_reldir%_faults_la_LIBADD  = -ldl

# The library once more, with random delays between the steps of its protocols, and programs over
# it: built for storm-delays alone.
EXTRA_LTLIBRARIES = %reldir%/libdelays.la
%canon_reldir%_libdelays_la_SOURCES  = $(lib_libpldi_la_SOURCES) %reldir%/delays.c %reldir%/stress.h
%canon_reldir%_libdelays_la_CPPFLAGS = $(AM_CPPFLAGS) -DPLDI_DELAYS
%canon_reldir%_libdelays_la_LIBADD   = $(UUID_LIBS) -lpthread

delays_cppflags = $(AM_CPPFLAGS) -DPLDI_DELAYS
delays_programs = \
	%reldir%/delays_pldrun %reldir%/delays_calm %reldir%/delays_coll_property \
	%reldir%/delays_domains %reldir%/delays_lost_wake %reldir%/delays_memory \
	%reldir%/delays_sleepers %reldir%/delays_storm_alloc %reldir%/delays_storm_domain
EXTRA_PROGRAMS += $(delays_programs)
CLEANFILES     += $(delays_programs) %reldir%/libdelays.la
%reldir%/storm-delays.log: $(delays_programs)

%canon_reldir%_delays_pldrun_SOURCES        = $(launcher_pldrun_SOURCES)
%canon_reldir%_delays_calm_SOURCES          = $(%canon_reldir%_calm_SOURCES)
%canon_reldir%_delays_coll_property_SOURCES = $(%canon_reldir%_coll_property_SOURCES)
%canon_reldir%_delays_domains_SOURCES       = tests/multi/domains.c
%canon_reldir%_delays_lost_wake_SOURCES     = $(%canon_reldir%_lost_wake_SOURCES)
%canon_reldir%_delays_memory_SOURCES        = tests/multi/memory.c
%canon_reldir%_delays_sleepers_SOURCES      = tests/multi/sleepers.c
%canon_reldir%_delays_storm_alloc_SOURCES   = $(%canon_reldir%_storm_alloc_SOURCES)
%canon_reldir%_delays_storm_domain_SOURCES  = $(%canon_reldir%_storm_domain_SOURCES)

%canon_reldir%_delays_pldrun_CPPFLAGS        = $(delays_cppflags)
%canon_reldir%_delays_calm_CPPFLAGS          = $(delays_cppflags)
%canon_reldir%_delays_coll_property_CPPFLAGS = $(delays_cppflags)
%canon_reldir%_delays_domains_CPPFLAGS       = $(delays_cppflags)
%canon_reldir%_delays_lost_wake_CPPFLAGS     = $(delays_cppflags)
%canon_reldir%_delays_memory_CPPFLAGS        = $(delays_cppflags)
%canon_reldir%_delays_sleepers_CPPFLAGS      = $(delays_cppflags)
%canon_reldir%_delays_storm_alloc_CPPFLAGS   = $(delays_cppflags)
%canon_reldir%_delays_storm_domain_CPPFLAGS  = $(delays_cppflags)

%canon_reldir%_delays_pldrun_LDADD        = %reldir%/libdelays.la $(HWLOC_LIBS)
%canon_reldir%_delays_calm_LDADD          = %reldir%/libdelays.la
%canon_reldir%_delays_coll_property_LDADD = %reldir%/libdelays.la -lm
%canon_reldir%_delays_domains_LDADD       = %reldir%/libdelays.la
%canon_reldir%_delays_lost_wake_LDADD     = %reldir%/libdelays.la
%canon_reldir%_delays_memory_LDADD        = %reldir%/libdelays.la
%canon_reldir%_delays_sleepers_LDADD      = %reldir%/libdelays.la
%canon_reldir%_delays_storm_alloc_LDADD   = %reldir%/libdelays.la
%canon_reldir%_delays_storm_domain_LDADD  = %reldir%/libdelays.la
