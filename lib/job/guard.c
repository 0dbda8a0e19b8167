/* guard.c - a launcher that outlives its segment. */
#include "config.h"

#include <signal.h>
#include <sys/mman.h>

#include "pldi_segment.h"

/*
 * Ranks may cut the segment short, or punch holes into it when there is no memory to fill them: an
 * access here then is a SIGBUS.  It gets a page of this process's own, which nobody else sees, and
 * is made again.  What ends a job is not in the segment, so the launch goes on.
 */
static const struct pldi_segment *guarded;
static struct sigaction before;

static void on_bus_error(int sig, siginfo_t *info, void *context)
{
	const uintptr_t page = (uintptr_t)info->si_addr & ~(uintptr_t)(PLDI_PAGE - 1);
	const uintptr_t base = (uintptr_t)guarded->base;

	(void)context;
	if (page < base || page - base >= guarded->bytes ||
	    mmap((void *)page, PLDI_PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		signal(sig, SIG_DFL); /* the access is made again, and is the end */
}

void pldi_segment_guard(const struct pldi_segment *seg)
{
	struct sigaction action = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };

	guarded = seg;
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, &before);
}

void pldi_segment_unguard(void)
{
	sigaction(SIGBUS, &before, NULL);
}
