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
	%reldir%/threads
EXTRA_DIST += %reldir%/multi.h
