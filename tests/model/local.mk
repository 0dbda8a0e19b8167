# Promela models of the handshakes of layer sync and of the agreement of layer job, and mutations.
script_tests += %reldir%/check-model
EXTRA_DIST   += %reldir%/agree.pml %reldir%/bell.pml %reldir%/line.pml %reldir%/lock.pml
