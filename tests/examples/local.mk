# The examples: with many rank counts, against numpy and sort | uniq, and with wrong lines.
script_tests += %reldir%/check-moe %reldir%/check-train %reldir%/check-wordcount \
	%reldir%/check-halo %reldir%/check-usage %reldir%/check-wrong-lines
EXTRA_DIST += %reldir%/examples.sh %reldir%/train.py %reldir%/halo.py %reldir%/wrong-lines.txt
