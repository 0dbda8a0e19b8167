# Units of layers job, window, rma and coll, and of observe; ranks as threads of one process.
unit_tests += \
	%reldir%/t_agree %reldir%/t_domain %reldir%/t_fingerprint %reldir%/t_fold \
	%reldir%/t_layout %reldir%/t_observe %reldir%/t_opts %reldir%/t_rma %reldir%/t_segment \
	%reldir%/t_site %reldir%/t_steps %reldir%/t_symalloc %reldir%/t_view
EXTRA_DIST += %reldir%/ranks.h

%canon_reldir%_t_agree_LDADD        = $(unit_ldadd)
%canon_reldir%_t_domain_LDADD       = $(unit_ldadd)
%canon_reldir%_t_fingerprint_LDADD  = $(unit_ldadd)
%canon_reldir%_t_fold_LDADD         = $(unit_ldadd)
%canon_reldir%_t_layout_LDADD       = $(unit_ldadd)
%canon_reldir%_t_observe_LDADD      = $(unit_ldadd)
%canon_reldir%_t_opts_LDADD         = $(unit_ldadd)
%canon_reldir%_t_rma_LDADD          = $(unit_ldadd)
%canon_reldir%_t_segment_LDADD      = $(unit_ldadd)
%canon_reldir%_t_site_LDADD         = $(unit_ldadd)
%canon_reldir%_t_steps_LDADD        = $(unit_ldadd)
%canon_reldir%_t_symalloc_LDADD     = $(unit_ldadd)
%canon_reldir%_t_view_LDADD         = $(unit_ldadd)
