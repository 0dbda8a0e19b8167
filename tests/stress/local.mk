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
