# Promela models of the handshakes of layer sync, the agreement of layer job and the schedules of
# layer coll, and mutations.
script_tests += %reldir%/check-model
EXTRA_DIST   += %reldir%/agree.pml %reldir%/bell.pml %reldir%/credits.pml %reldir%/line.pml \
		%reldir%/lock.pml %reldir%/ring.pml
