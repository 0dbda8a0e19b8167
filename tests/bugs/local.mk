# One file per fixed bug: its cause, the shape that showed it, how it failed.
multi_tests += \
	%reldir%/b0001_abort_after_finalize \
	%reldir%/b0002_context_of_former_job \
	%reldir%/b0003_forked_child_leaves_levels \
	%reldir%/b0004_null_after_old_error \
	%reldir%/b0005_failed_alloc_frees_handle \
	%reldir%/b0006_half_a_rank \
	%reldir%/b0007_domain_of_null_window \
	%reldir%/b0008_long_double \
	%reldir%/b0009_misaligned_atomic_add \
	%reldir%/b0010_finalize_under_a_wait \
	%reldir%/b0011_call_named_in_mismatch \
	%reldir%/b0012_lack_without_a_limit \
	%reldir%/b0013_own_children_live

# No limit can be seen.
%canon_reldir%_b0012_lack_without_a_limit_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=pldi_memory_limits
