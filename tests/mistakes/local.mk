# Mistakes that steps 01 to 16 warn of, and what is said of each; doc/debugging.md has them all.
script_tests += %reldir%/check-mistakes
EXTRA_DIST += %reldir%/steps-01-08 %reldir%/steps-09-16

# Run by the script, not by itself.
check_PROGRAMS += %reldir%/early %reldir%/late
