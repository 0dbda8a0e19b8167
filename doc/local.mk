# Manual pages.  A page's NAME line lists every call it describes; `make install` makes a page of
# each of those names that leads to it (check-docs reads the same lines).
dist_man_MANS += \
	%reldir%/man/pl_add.3 \
	%reldir%/man/pl_at.3 \
	%reldir%/man/pl_copy.3 \
	%reldir%/man/pl_dtype_bytes.3 \
	%reldir%/man/pl_dynamic.3 \
	%reldir%/man/pl_full.3 \
	%reldir%/man/pl_load.3 \
	%reldir%/man/pl_read_int.3 \
	%reldir%/man/PL_SCOPE.3 \
	%reldir%/man/pl_set_errors.3 \
	%reldir%/man/PL_SHAPE.3 \
	%reldir%/man/pl_wrap.3 \
	%reldir%/man/pld_abort.3 \
	%reldir%/man/pld_all_to_all.3 \
	%reldir%/man/pld_allgather.3 \
	%reldir%/man/pld_alloc_window_buffer.3 \
	%reldir%/man/pld_allreduce.3 \
	%reldir%/man/pld_barrier.3 \
	%reldir%/man/pld_broadcast.3 \
	%reldir%/man/pld_domain_subset.3 \
	%reldir%/man/pld_fetch_add.3 \
	%reldir%/man/pld_get.3 \
	%reldir%/man/pld_get_stats.3 \
	%reldir%/man/PLD_HOST.3 \
	%reldir%/man/pld_host_tensor.3 \
	%reldir%/man/pld_init.3 \
	%reldir%/man/pld_notify.3 \
	%reldir%/man/pld_ptr.3 \
	%reldir%/man/pld_put.3 \
	%reldir%/man/pld_reduce.3 \
	%reldir%/man/pld_reduce_scatter.3 \
	%reldir%/man/pld_remote_load.3 \
	%reldir%/man/pld_run.3 \
	%reldir%/man/pld_scan.3 \
	%reldir%/man/pld_scatter.3 \
	%reldir%/man/pld_version.3 \
	%reldir%/man/pld_wait.3 \
	%reldir%/man/pld_window.3 \
	%reldir%/man/pld_world.3 \
	%reldir%/man/pldrun.1 \
	%reldir%/man/pld.7 \
	%reldir%/man/pld_collectives.7 \
	%reldir%/man/pld_env.7

EXTRA_DIST += %reldir%/man-names \
	%reldir%/debugging.md %reldir%/layout.md %reldir%/machines.md %reldir%/protocols.md %reldir%/requirements.md \
	%reldir%/schedules.md

# "PAGE NAME" for every further name of each page in section 3
man_links = for page in $(dist_man_MANS); do case $$page in *.3) \
	$(SHELL) $(srcdir)/%reldir%/man-names $(srcdir)/$$page;; esac; done | awk '$$1 != $$2'

install-man-links:
	@$(man_links) | while read page name; do \
		echo ".so man3/$$page.3" >'$(DESTDIR)$(man3dir)'/$$name.3; done
uninstall-man-links:
	@$(man_links) | while read page name; do rm -f '$(DESTDIR)$(man3dir)'/$$name.3; done
PHONY += install-man-links uninstall-man-links
