# pldrun.  It alone links hwloc: that costs a start 0.1 ms; only --bind
# and --info load the topology.
bin_PROGRAMS += launcher/pldrun
launcher_pldrun_SOURCES = \
	%reldir%/bind.c %reldir%/info.c %reldir%/main.c %reldir%/options.c %reldir%/report_now.c \
	%reldir%/pldi_info.h %reldir%/pldi_options.h
launcher_pldrun_LDADD = lib/libpldi.la $(HWLOC_LIBS)
