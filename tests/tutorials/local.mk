# The steps: every mode and many rank counts, options, goldens, real data, pages.
unit_tests   += %reldir%/t_npy %reldir%/t_npy_write %reldir%/t_explain
script_tests += \
	%reldir%/run-steps \
	%reldir%/check-options \
	%reldir%/check-goldens \
	%reldir%/check-data \
	%reldir%/check-mutations \
	%reldir%/check-pitfalls \
	%reldir%/check-pages \
	%reldir%/check-coverage \
	%reldir%/check-reveal \
	%reldir%/check-schedules
EXTRA_DIST += %reldir%/steps.sh %reldir%/mutations %reldir%/data.py %reldir%/pages.py \
	%reldir%/quotes.py %reldir%/linking.py %reldir%/pitfalls.py %reldir%/schedules.py

# Run by the scripts, not by themselves.
check_PROGRAMS += %reldir%/npy_copy %reldir%/wrong_step

%canon_reldir%_t_npy_CPPFLAGS    = $(AM_CPPFLAGS) -I$(srcdir)/tutorials/common $(CHECK_CFLAGS)
%canon_reldir%_t_npy_LDADD       = tutorials/common/libtut.la $(CHECK_LIBS)
%canon_reldir%_t_npy_write_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tutorials/common $(CHECK_CFLAGS)
%canon_reldir%_t_npy_write_LDADD    = tutorials/common/libtut.la $(CHECK_LIBS)
%canon_reldir%_t_explain_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tutorials/common $(CHECK_CFLAGS)
%canon_reldir%_t_explain_LDADD    = tutorials/common/libtut.la $(CHECK_LIBS)
%canon_reldir%_npy_copy_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tutorials/common
%canon_reldir%_npy_copy_LDADD    = tutorials/common/libtut.la
%canon_reldir%_wrong_step_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tutorials
%canon_reldir%_wrong_step_LDADD    = tutorials/common/libtut.la
