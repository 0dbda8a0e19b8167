# unit/t_*     one process, Check, one file per file of lib/
# multi/*      N ranks under pldrun; RANKS says which N
# errors/*     each error that a call can give, alone and between ranks
# bugs/bNNNN_* one file per fixed bug, alone or under pldrun
# launch/*     scripts that run pldrun and look at what it does
# deadlock/*   hangs: the job ends, and says whom it waited for
# machine/*    limits, containers, odd machines; each in a namespace of its own
# mistakes/*   each mistake that steps 01-16 warn of, with what is said of it
# stress/*     litmus and torture; short in check, long with `make stress`
# tutorials/*  the steps: every mode, goldens, real data
# examples/*   scripts that run the examples and compare with other programs
# model/*      Promela models, checked by spin
# api/check-*  scripts over sources, documents and the installed tree
#
# A folder's local.mk adds to these lists; programs are built here, everything in them is run.
unit_tests   =
multi_tests  =
stress_tests =
storm_tests  =
script_tests =

include tests/unit/local.mk
include tests/unit-job/local.mk
include tests/multi/local.mk
include tests/errors/local.mk
include tests/bugs/local.mk
include tests/launch/local.mk
include tests/deadlock/local.mk
include tests/machine/local.mk
include tests/mistakes/local.mk
include tests/stress/local.mk
include tests/tutorials/local.mk
include tests/examples/local.mk
include tests/model/local.mk
include tests/api/local.mk

check_PROGRAMS += $(unit_tests) $(multi_tests) $(stress_tests)
TESTS          += $(unit_tests) $(multi_tests) $(stress_tests) $(script_tests)
EXTRA_DIST     += %reldir%/RANKS %reldir%/run-test $(script_tests)

# Unit tests say: %canon_reldir%_t_NAME_LDADD = $(unit_ldadd)
unit_ldadd = lib/libpldi.la $(CHECK_LIBS)

# Every test, program or script, goes through run-test, in the top of the build tree.
LOG_COMPILER = $(SHELL) $(srcdir)/%reldir%/run-test
AM_TESTS_ENVIRONMENT = \
	srcdir='$(srcdir)'; export srcdir; \
	CC='$(CC)'; export CC; \
	PYTHON='$(PYTHON)'; export PYTHON; \
	SANITIZE='$(PLD_SANITIZE_FLAGS)'; export SANITIZE; \
	CPPFLAGS='$(AM_CPPFLAGS) -I.'; export CPPFLAGS; \
	MAKE='$(MAKE)'; export MAKE; \
	STRESS_SECONDS='$(STRESS_SECONDS)'; export STRESS_SECONDS;

# Tests that do more when STRESS_SECONDS is set, and whose times then count.
long_tests = $(multi_tests) \
	%reldir%/deadlock/check-deadlock \
	%reldir%/launch/check-output %reldir%/launch/check-signals \
	%reldir%/launch/check-start %reldir%/launch/check-status \
	%reldir%/tutorials/check-data %reldir%/tutorials/check-mutations \
	%reldir%/tutorials/check-schedules %reldir%/tutorials/run-steps \
	%reldir%/examples/check-wrong-lines %reldir%/api/check-wrong %reldir%/model/check-model

# make stress STRESS_SECONDS=600: the stress tests alone, each for so long, and the long forms.
stress:
	$(MAKE) check TESTS='$(stress_tests) $(storm_tests) $(long_tests)' STRESS_SECONDS="$${STRESS_SECONDS:-60}"
PHONY += stress

# By hand, as root: the README's commands in an empty Debian 12.
check-fresh:
	$(srcdir)/%reldir%/fresh/check-fresh
PHONY += check-fresh
EXTRA_DIST += %reldir%/fresh/check-fresh
