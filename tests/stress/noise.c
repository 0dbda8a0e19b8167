/*
 * noise.c - a rank that writes over the segment, for tests/launch/check-noise.
 *
 *	noise SEED WHAT END PID
 *
 * The last rank is the noisy one; the others take part in collectives, wait, compute or sleep.  It
 * writes over WHAT: head, slots, tables (domains, flags, buffers, arenas), counters, windows, or
 * all; or it makes the file shorter (truncate) or takes its memory (punch).  What it writes is
 * random, or all bits, or none, or the number PID, again and again, for up to 50 ms; then it leaves
 * by END: exit0, exit3, segv, kill, final, or stay.
 */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "../multi/multi.h"
#include "pldi_job.h"
#include "pldi_segment.h"

struct noisy {
	uint64_t random;
	int32_t pid;
	char *base;
	int fd;
	struct pldi_head_shm head; /* as it was */
};

static void nap_us(int64_t us)
{
	struct timespec t = { 0, (long)us * 1000 };

	nanosleep(&t, NULL);
}

/* ---- the noise ------------------------------------------------------------------------------- */

static void fill(struct noisy *s, uint64_t off, uint64_t bytes)
{
	const int how = (int)multi_pick(&s->random, 6);
	int32_t *to = (int32_t *)(void *)(s->base + off);

	for (uint64_t i = 0; i < bytes / sizeof(*to); i++) {
		if (how < 2)
			to[i] = (int32_t)multi_random(&s->random);
		else if (how == 2)
			to[i] = (int32_t)multi_pick(&s->random, 300);
		else
			to[i] = how == 3 ? s->pid : how == 4 ? -1 : 0;
	}
}

/* What of [off, end) has memory: holes have nothing to say, and would fill the machine. */
static void fill_backed(struct noisy *s, uint64_t off, uint64_t end)
{
	off_t data = (off_t)off, hole;

	while (data < (off_t)end && (data = lseek(s->fd, data, SEEK_DATA)) >= 0 &&
	       data < (off_t)end) {
		hole = lseek(s->fd, data, SEEK_HOLE);
		if (hole < 0 || hole > (off_t)end)
			hole = (off_t)end;
		fill(s, (uint64_t)data, (uint64_t)(hole - data));
		data = hole;
	}
}

static void make_noise(struct noisy *s, const char *what)
{
	const struct pldi_head_shm *h = &s->head;
	const uint64_t page = (uint64_t)multi_pick(&s->random, (int64_t)(h->host_off / PLDI_PAGE));

	if (strcmp(what, "head") == 0)
		fill(s, 0, sizeof(*h));
	else if (strcmp(what, "slots") == 0)
		fill_backed(s, h->slots_off, h->domains_off);
	else if (strcmp(what, "tables") == 0)
		fill_backed(s, h->domains_off, h->stats_off);
	else if (strcmp(what, "counters") == 0)
		fill_backed(s, h->stats_off, h->host_off);
	else if (strcmp(what, "windows") == 0)
		fill_backed(s, h->host_off, h->bytes);
	else if (strcmp(what, "all") == 0)
		fill_backed(s, 0, h->bytes);
	else if (strcmp(what, "punch") == 0)
		madvise(s->base + page * PLDI_PAGE, PLDI_PAGE, MADV_REMOVE);
	else if (ftruncate(s->fd, multi_pick(&s->random, 2) ? 0 : (off_t)(page * PLDI_PAGE)))
		exit(97);
}

_Noreturn static void leave(const char *how)
{
	if (strcmp(how, "exit0") == 0)
		_exit(0);
	if (strcmp(how, "exit3") == 0)
		_exit(3);
	if (strcmp(how, "segv") == 0)
		raise(SIGSEGV);
	if (strcmp(how, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(how, "final") == 0) {
		pld_finalize();
		_exit(0);
	}
	for (;;)
		pause();
}

/* Its own library reads the noise, too: what that does to it is its own affair. */
_Noreturn static void be_noisy(struct noisy *s, const char *what, const char *end)
{
	const int64_t until_ns = multi_now_ns() + multi_pick(&s->random, 50) * 1000000;

	s->base = pldi_self()->seg.base;
	s->fd = pldi_self()->seg.fd;
	s->head = *pldi_head(s->base);
	nap_us(multi_pick(&s->random, 20000));
	do {
		make_noise(s, what);
		nap_us(multi_pick(&s->random, 3000));
	} while (multi_now_ns() < until_ns);
	leave(end);
}

/* ---- the others ------------------------------------------------------------------------------ */

static void be_busy(uint64_t random, pld_tensor t)
{
	switch (multi_pick(&random, 5)) {
	case 0:
		pld_wait(t, PL_AT(0), 1000, PLD_WAIT_EQ);
		break;
	case 1:
		for (;;)
			pld_notify(t, 0, PL_AT(1), 1, PLD_NOTIFY_ADD);
	case 2:
		pld_barrier(pld_world());
		break;
	case 3:
		for (;;)
			pause();
	default:
		for (;;)
			if (pld_free_window(pld_new_window(PL_SHAPE(9000), PL_INT32)))
				exit(96);
	}
	pld_finalize();
}

int main(int argc, char **argv)
{
	struct noisy s = { 0 };
	pld_tensor t;
	int me;

	if (argc != 5)
		return 98;
	pld_init(NULL);
	me = pld_rank(pld_world());
	t = pld_new_window(PL_SHAPE(1000), PL_INT32);
	s.random = multi_seed((uint64_t)atoll(argv[1]), (uint64_t)me, 0);
	s.pid = atoi(argv[4]);
	pld_barrier(pld_world());
	if (me == pld_nranks(pld_world()) - 1)
		be_noisy(&s, argv[2], argv[3]);
	be_busy(s.random, t);
	return 0;
}
