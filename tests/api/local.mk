# Scripts over sources, documents and the installed tree; each fails with the lines that are wrong.
script_tests += \
	%reldir%/check-layers \
	%reldir%/check-tests \
	%reldir%/check-headers \
	%reldir%/check-wrong \
	%reldir%/check-symbols \
	%reldir%/check-docs \
	%reldir%/check-man \
	%reldir%/check-install
EXTRA_DIST += %reldir%/lint %reldir%/cppcheck.txt %reldir%/public-names %reldir%/wrong-programs.txt
