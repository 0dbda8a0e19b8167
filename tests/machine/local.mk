# Machines that are small, odd or closed.  See tests/local.mk.
multi_tests += %reldir%/pages
script_tests += \
	%reldir%/check-bind %reldir%/check-cgroup %reldir%/check-denied %reldir%/check-info \
	%reldir%/check-left %reldir%/check-many %reldir%/check-shm %reldir%/check-values
storm_tests += %reldir%/check-many
EXTRA_DIST += %reldir%/machine.sh

# Run by the scripts, not by themselves.
check_PROGRAMS += %reldir%/deny

# The library's calls of these come to the test first, which looks on.
%canon_reldir%_pages_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=fallocate,--wrap=madvise
