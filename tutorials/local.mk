# NN_name.c + NN_name.md: the steps.  examples/: what no step has room for.  common/: options, .npy,
# golden check.
steps = %reldir%/01_hello_rank %reldir%/02_programming_model %reldir%/03_window_buffer \
	%reldir%/04_barrier %reldir%/05_remote_load_store %reldir%/06_put_get \
	%reldir%/07_dynamic_rank_count %reldir%/08_allreduce_mesh %reldir%/09_allreduce_two_phase \
	%reldir%/10_allreduce_ring %reldir%/11_allreduce_reveal %reldir%/12_broadcast \
	%reldir%/13_allgather %reldir%/14_reduce_scatter %reldir%/15_all_to_all \
	%reldir%/16_putting_it_together
examples = %reldir%/examples/tiles %reldir%/examples/spmd %reldir%/examples/domains \
	%reldir%/examples/waiting %reldir%/examples/keep %reldir%/examples/errors \
	%reldir%/examples/atomics %reldir%/examples/collectives

noinst_PROGRAMS += $(steps) $(examples)
noinst_LTLIBRARIES += %reldir%/common/libtut.la

%canon_reldir%_common_libtut_la_SOURCES = %reldir%/common/tut.h %reldir%/common/tut.c \
	%reldir%/common/options.h %reldir%/common/options.c %reldir%/common/check.c \
	%reldir%/common/explain.h %reldir%/common/explain.c %reldir%/common/explain_text.c \
	%reldir%/common/npy.h %reldir%/common/npy.c \
	%reldir%/common/npy_header.h %reldir%/common/npy_header.c
%canon_reldir%_common_libtut_la_LIBADD = lib/libpldi.la -lm

%canon_reldir%_01_hello_rank_LDADD = %reldir%/common/libtut.la
%canon_reldir%_02_programming_model_LDADD = %reldir%/common/libtut.la
%canon_reldir%_03_window_buffer_LDADD = %reldir%/common/libtut.la
%canon_reldir%_04_barrier_LDADD = %reldir%/common/libtut.la
%canon_reldir%_05_remote_load_store_LDADD = %reldir%/common/libtut.la
%canon_reldir%_06_put_get_LDADD = %reldir%/common/libtut.la
%canon_reldir%_07_dynamic_rank_count_LDADD = %reldir%/common/libtut.la
%canon_reldir%_08_allreduce_mesh_LDADD = %reldir%/common/libtut.la
%canon_reldir%_09_allreduce_two_phase_LDADD = %reldir%/common/libtut.la
%canon_reldir%_10_allreduce_ring_LDADD = %reldir%/common/libtut.la
%canon_reldir%_11_allreduce_reveal_LDADD = %reldir%/common/libtut.la
%canon_reldir%_12_broadcast_LDADD = %reldir%/common/libtut.la
%canon_reldir%_13_allgather_LDADD = %reldir%/common/libtut.la
%canon_reldir%_14_reduce_scatter_LDADD = %reldir%/common/libtut.la
%canon_reldir%_15_all_to_all_LDADD = %reldir%/common/libtut.la
%canon_reldir%_16_putting_it_together_LDADD = %reldir%/common/libtut.la
%canon_reldir%_examples_tiles_LDADD = lib/libpldi.la
%canon_reldir%_examples_spmd_LDADD = lib/libpldi.la
%canon_reldir%_examples_domains_LDADD = lib/libpldi.la
%canon_reldir%_examples_waiting_LDADD = lib/libpldi.la
%canon_reldir%_examples_keep_LDADD = lib/libpldi.la
%canon_reldir%_examples_errors_LDADD = lib/libpldi.la
%canon_reldir%_examples_atomics_LDADD = lib/libpldi.la
%canon_reldir%_examples_collectives_LDADD = lib/libpldi.la

EXTRA_DIST += %reldir%/README.md %reldir%/01_hello_rank.md %reldir%/02_programming_model.md \
	%reldir%/03_window_buffer.md %reldir%/04_barrier.md %reldir%/05_remote_load_store.md \
	%reldir%/06_put_get.md %reldir%/07_dynamic_rank_count.md \
	%reldir%/08_allreduce_mesh.md %reldir%/09_allreduce_two_phase.md \
	%reldir%/10_allreduce_ring.md %reldir%/11_allreduce_reveal.md %reldir%/12_broadcast.md \
	%reldir%/13_allgather.md %reldir%/14_reduce_scatter.md %reldir%/15_all_to_all.md \
	%reldir%/16_putting_it_together.md
