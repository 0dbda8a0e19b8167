# One process each, Check, one file per file of lib/; hidden symbols, hence libpldi.
unit_tests += \
	%reldir%/t_arena %reldir%/t_cast %reldir%/t_check %reldir%/t_copy %reldir%/t_dtype \
	%reldir%/t_dynamic %reldir%/t_half %reldir%/t_layout %reldir%/t_machine \
	%reldir%/t_ops %reldir%/t_params %reldir%/t_status %reldir%/t_tensor %reldir%/t_tile
EXTRA_DIST += %reldir%/unit.h

%canon_reldir%_t_arena_LDADD = $(unit_ldadd)
%canon_reldir%_t_cast_LDADD = $(unit_ldadd)
%canon_reldir%_t_check_LDADD = $(unit_ldadd)
%canon_reldir%_t_copy_LDADD = $(unit_ldadd)
%canon_reldir%_t_dtype_LDADD = $(unit_ldadd)
%canon_reldir%_t_dynamic_LDADD = $(unit_ldadd)
%canon_reldir%_t_half_LDADD = $(unit_ldadd)
%canon_reldir%_t_layout_LDADD = $(unit_ldadd)
%canon_reldir%_t_machine_LDADD = $(unit_ldadd)
%canon_reldir%_t_ops_LDADD = $(unit_ldadd)
%canon_reldir%_t_params_LDADD = $(unit_ldadd)
%canon_reldir%_t_status_LDADD = $(unit_ldadd)
%canon_reldir%_t_tensor_LDADD = $(unit_ldadd)
%canon_reldir%_t_tile_LDADD = $(unit_ldadd)
