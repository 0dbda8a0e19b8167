# Ranks under pldrun: tests/RANKS says how many.  multi.h is what they share.
multi_tests += \
	%reldir%/signal_scenarios \
	%reldir%/p2p_scenarios \
	%reldir%/signals \
	%reldir%/waits \
	%reldir%/sleepers \
	%reldir%/boxes \
	%reldir%/put_get \
	%reldir%/atomic_add \
	%reldir%/fetch \
	%reldir%/tiles \
	%reldir%/large \
	%reldir%/memory \
	%reldir%/views \
	%reldir%/stale \
	%reldir%/host_tensors \
	%reldir%/domains \
	%reldir%/barriers \
	%reldir%/levels \
	%reldir%/level_errors \
	%reldir%/threads \
	%reldir%/coll_hand \
	%reldir%/coll_incore \
	%reldir%/coll_host \
	%reldir%/coll_dispatch \
	%reldir%/coll_cells \
	%reldir%/coll_shapes \
	%reldir%/coll_repeat \
	%reldir%/coll_bits
EXTRA_DIST += %reldir%/multi.h

# Scenarios of the reference, and single calls against a serial model (tests/stress uses it, too).
coll_scene = %reldir%/coll_scene.c %reldir%/coll_scene.h
coll_model = %reldir%/coll_try.c %reldir%/coll_try.h %reldir%/coll_model.c %reldir%/coll_model.h

%canon_reldir%_coll_hand_SOURCES   = %reldir%/coll_hand.c $(coll_scene)
%canon_reldir%_coll_incore_SOURCES = %reldir%/coll_incore.c $(coll_scene)
%canon_reldir%_coll_host_SOURCES   = %reldir%/coll_host.c $(coll_scene)
%canon_reldir%_coll_shapes_SOURCES = %reldir%/coll_shapes.c $(coll_model)
%canon_reldir%_coll_bits_SOURCES   = %reldir%/coll_bits.c $(coll_model)
%canon_reldir%_coll_shapes_LDADD   = $(LDADD) -lm
%canon_reldir%_coll_bits_LDADD     = $(LDADD) -lm
