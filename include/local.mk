# The public headers: pl.h and pld.h include them all, pl/ and pld/ hold one subject each.
include_HEADERS = %reldir%/pl.h %reldir%/pld.h

plincludedir      = $(includedir)/pl
plinclude_HEADERS = \
	%reldir%/pl/base.h \
	%reldir%/pl/status.h \
	%reldir%/pl/tensor.h \
	%reldir%/pl/tile.h

pldincludedir      = $(includedir)/pld
pldinclude_HEADERS = \
	%reldir%/pld/coll.h \
	%reldir%/pld/job.h \
	%reldir%/pld/level.h \
	%reldir%/pld/memory.h \
	%reldir%/pld/observe.h \
	%reldir%/pld/rma.h \
	%reldir%/pld/signal.h

EXTRA_DIST += %reldir%/.clang-format
