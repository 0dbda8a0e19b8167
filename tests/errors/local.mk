# Every error that a call can give: status, call, caller's place, numbers.
multi_tests += \
	%reldir%/e_memory %reldir%/e_rma %reldir%/e_signal %reldir%/e_domain %reldir%/e_null \
	%reldir%/e_levels %reldir%/e_threads %reldir%/e_mismatch %reldir%/e_subset \
	%reldir%/e_mismatch_world %reldir%/e_end %reldir%/e_init %reldir%/e_nomem \
	%reldir%/e_fetch \
	%reldir%/e_coll %reldir%/e_coll_local %reldir%/e_coll_signal %reldir%/e_coll_counts \
	%reldir%/e_mismatch_coll %reldir%/e_coll_end
script_tests += \
	%reldir%/check-all-reached %reldir%/check-limits %reldir%/check-memory
EXTRA_DIST += %reldir%/errors.h %reldir%/mismatch.h %reldir%/collectives.h %reldir%/output.h %reldir%/limits.sh

# Run by the scripts, not by themselves.
check_PROGRAMS += %reldir%/e_limits %reldir%/e_fds

# The library's calls of these come to the test first, which lets some fail.
%canon_reldir%_e_nomem_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=calloc,--wrap=malloc,--wrap=fallocate,--wrap=madvise \
	-Wl,--wrap=shm_open,--wrap=memfd_create
