# Programs that do real work, on real input.  args.*: their command lines.
noinst_PROGRAMS += %reldir%/moe_dispatch %reldir%/train_dp %reldir%/wordcount %reldir%/halo2d

%canon_reldir%_moe_dispatch_SOURCES = %reldir%/moe_dispatch.c %reldir%/moe.h \
	%reldir%/moe_check.c %reldir%/args.h %reldir%/args.c
%canon_reldir%_train_dp_SOURCES = %reldir%/train_dp.c %reldir%/csv.h %reldir%/csv.c \
	%reldir%/net.h %reldir%/net.c \
	%reldir%/args.h %reldir%/args.c
%canon_reldir%_train_dp_LDADD = lib/libpldi.la -lm
%canon_reldir%_wordcount_SOURCES = %reldir%/wordcount.c %reldir%/words.h %reldir%/words.c \
	%reldir%/args.h %reldir%/args.c
%canon_reldir%_halo2d_SOURCES = %reldir%/halo2d.c %reldir%/args.h %reldir%/args.c
%canon_reldir%_halo2d_LDADD = tutorials/common/libtut.la

EXTRA_DIST += %reldir%/README.md %reldir%/digits.csv.gz

# What train_dp reads.
noinst_DATA = %reldir%/digits.csv
%reldir%/digits.csv: %reldir%/digits.csv.gz
	$(AM_V_GEN)$(MKDIR_P) %reldir% && gzip -dc <$(srcdir)/%reldir%/digits.csv.gz >$@-t && mv $@-t $@
CLEANFILES += %reldir%/digits.csv %reldir%/digits.csv-t
