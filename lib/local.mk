# libpldi.la: every object, hidden symbols visible, for pldrun, tests, tutorials and benchmarks.
# libpld.la: the same objects behind the symbol map.  Each layer's local.mk adds its files.
noinst_LTLIBRARIES += lib/libpldi.la
lib_LTLIBRARIES    += lib/libpld.la
pkgconfig_DATA     += lib/pld.pc
EXTRA_DIST         += lib/LAYERS lib/libpld.map lib/link-program

AM_CPPFLAGS += \
	-I$(srcdir)/lib/base -I$(srcdir)/lib/sync -I$(srcdir)/lib/observe -I$(srcdir)/lib/tensor -I$(srcdir)/lib/job \
	-I$(srcdir)/lib/window -I$(srcdir)/lib/signal -I$(srcdir)/lib/rma -I$(srcdir)/lib/coll \
	-I$(srcdir)/lib/level -I$(srcdir)/lib/launch

lib_libpldi_la_SOURCES =
lib_libpldi_la_LIBADD  = $(UUID_LIBS) -lpthread

# -version-info C:R:A.  A release that changes code: R + 1.  That adds to the interface: C + 1,
# R = 0, A + 1.  That removes or changes: C + 1, R = 0, A = 0.
lib_libpld_la_SOURCES =
lib_libpld_la_LIBADD  = lib/libpldi.la
lib_libpld_la_LDFLAGS = $(AM_LDFLAGS) $(PLD_DEFS_LDFLAGS) -version-info 0:0:0 -no-undefined
if HAVE_VSCRIPT
lib_libpld_la_LDFLAGS += $(VSCRIPT_LDFLAGS),$(srcdir)/lib/libpld.map
EXTRA_lib_libpld_la_DEPENDENCIES = lib/libpld.map
endif

include lib/base/local.mk
include lib/sync/local.mk
include lib/observe/local.mk
include lib/tensor/local.mk
include lib/job/local.mk
include lib/window/local.mk
include lib/signal/local.mk
include lib/rma/local.mk
include lib/coll/local.mk
include lib/level/local.mk
include lib/launch/local.mk
