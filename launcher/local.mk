# pldrun.  It alone links hwloc: that costs a start 0.1 ms, and only --bind loads the topology.
bin_PROGRAMS += launcher/pldrun
launcher_pldrun_SOURCES = \
	%reldir%/bind.c %reldir%/main.c %reldir%/options.c %reldir%/pldi_options.h
launcher_pldrun_LDADD = lib/libpldi.la $(HWLOC_LIBS)
