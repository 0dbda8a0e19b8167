/*
 * e_limits.c - ranks that run out of memory, for check-limits and check-memory.
 *
 * Every rank does what the arguments say, in order, and compares what it got with all others:
 *
 *     alloc=BYTES   a buffer; its bytes are zero, and are written
 *     host=BYTES    a host tensor
 *     lack=BYTES    as alloc, but it must give PL_ENOMEM, and leave as much free as before
 *     lackhost=BYTES
 *     until=BYTES   buffers until there is no memory, at least one; then frees a quarter of them,
 *                   and there is memory again
 *     many=N        N buffers of 64 bytes
 *     every2        frees every other buffer, oldest first
 *     free          frees all buffers
 *     domains=N     N domains, or fewer when there is no memory; ends them
 *     shrink=BYTES  /dev/shm becomes this large (root, in a mount namespace, with OWN_DEV_SHM set)
 *     fill  drain   a file takes all that is left in /dev/shm; goes
 *     kind          prints what the segment is
 *
 * Rank 0 prints the text of each lack.
 */
#include "config.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "errors.h"
#include "pldi_job.h"

#define MOST 20000
#define FILLER "/dev/shm/pld-test-filler"

struct state {
	int me, n;
	pl_tensor told; /* (n) of INT32: what each rank got */
	pld_buffer buffers[MOST];
	int nbuffers;
};

static void die(const char *what, const char *why)
{
	fprintf(stderr, "e_limits: %s: %s\n", what, why);
	exit(9);
}

/* Every rank got the same status. */
static int agreed(struct state *s, const char *what, int status)
{
	pl_write(s->told, PL_AT(s->me), status);
	pld_barrier(pld_world());
	for (int r = 0; r < s->n; r++)
		if (pl_read_int(s->told, PL_AT(r)) != status)
			die(what, "another status than another rank's");
	pld_barrier(pld_world());
	return status;
}

static void touch(const char *what, unsigned char *at, int64_t bytes)
{
	for (int64_t i = 0; i < bytes; i++)
		if (at[i])
			die(what, "memory is not zero");
	memset(at, 0xa5, (size_t)bytes);
}

static int alloc(struct state *s, const char *what, int64_t bytes)
{
	pld_buffer b = pld_alloc_window_buffer(.bytes = bytes);
	int status = agreed(s, what, b.w_ ? PL_OK : (int)pl_last_error()->status);

	if (status == PL_OK) {
		touch(what, pl_data(pld_local(pld_window(b, PL_SHAPE(bytes), PL_UINT8))), bytes);
		s->buffers[s->nbuffers++] = b;
	} else if (s->me == 0) {
		printf("%s: %s: %s\n", what, pl_last_error()->call, pl_last_error()->text);
	}
	return status;
}

static void release(struct state *s, const char *what, int i)
{
	if (agreed(s, what, pld_free_window_buffer(s->buffers[i])))
		die(what, pl_last_error()->text);
}

static uint64_t room(void)
{
	int64_t bytes;

	pld_barrier(pld_world());
	pldi_segment_room(&pldi_self()->seg, &bytes);
	pld_barrier(pld_world());
	return (uint64_t)bytes;
}

static void lack(struct state *s, const char *what, int64_t bytes)
{
	uint64_t before = room();

	if (alloc(s, what, bytes) != PL_ENOMEM)
		die(what, "there is memory");
	/* seen to the page, where nobody else takes any; a small one may touch a page of tables */
	if (getenv("OWN_DEV_SHM") && !pldi_head(pldi_self()->seg.base)->is_memfd && bytes > 65536 &&
	    room() != before)
		die(what, "memory stays taken");
}

static void host(struct state *s, const char *what, int64_t bytes, int wanted)
{
	pl_tensor t = pld_host_tensor(PL_SHAPE(bytes), PL_UINT8);
	int status = agreed(s, what, t.as_ ? PL_OK : (int)pl_last_error()->status);

	if (status != wanted)
		die(what, pl_last_error()->text);
	if (status && s->me == 0)
		printf("%s: %s: %s\n", what, pl_last_error()->call, pl_last_error()->text);
	if (status)
		return;
	if (s->me == 0)
		touch(what, pl_data(t), bytes);
	if (agreed(s, what, pld_host_free(t)))
		die(what, pl_last_error()->text);
}

static void until(struct state *s, const char *what, int64_t bytes)
{
	int before = s->nbuffers;

	while (s->nbuffers < MOST && alloc(s, what, bytes) == PL_OK)
		continue;
	if (s->nbuffers == before)
		die(what, "not even one");
	/* a cgroup counts in strides of some hundred KiB */
	for (int i = (s->nbuffers - before + 3) / 4; i > 0; i--)
		release(s, what, --s->nbuffers);
	if (alloc(s, what, bytes))
		die(what, "no memory for what was just freed");
}

static void every2(struct state *s, const char *what)
{
	int kept = 0;

	for (int i = 0; i < s->nbuffers; i++) {
		if (i % 2 == 0)
			release(s, what, i);
		else
			s->buffers[kept++] = s->buffers[i];
	}
	s->nbuffers = kept;
}

static void domains(struct state *s, const char *what, int n)
{
	static pld_ctx made[1024];
	int got = 0;

	while (got < n && got < 1024) {
		made[got] = pld_domain_split(pld_world(), 0, 0);
		if (!pld_is_member(made[got]))
			break;
		got++;
	}
	if (got < n)
		agreed(s, what, (int)pl_last_error()->status);
	if (got < n && s->me == 0)
		printf("%s: %s: %s\n", what, pl_last_error()->call, pl_last_error()->text);
	while (got-- > 0)
		if (pld_domain_free(made[got]))
			die(what, pl_last_error()->text);
}

static void shrink(struct state *s, const char *what, int64_t bytes)
{
	char options[64];

	if (!getenv("OWN_DEV_SHM"))
		die(what, "not in a /dev/shm that other programs use");
	snprintf(options, sizeof(options), "size=%lld", (long long)bytes);
	if (s->me == 0 && mount("tmpfs", "/dev/shm", "tmpfs", MS_REMOUNT, options))
		die(what, "cannot remount /dev/shm");
	pld_barrier(pld_world());
}

static void fill(struct state *s, const char *what)
{
	static const char page[4096];
	int fd = s->me ? -1 : open(FILLER, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);

	if (s->me == 0 && fd < 0)
		die(what, "cannot make a file in /dev/shm");
	while (fd >= 0 && write(fd, page, sizeof(page)) > 0)
		continue;
	if (fd >= 0)
		close(fd);
	pld_barrier(pld_world());
}

static void drain(void)
{
	unlink(FILLER);
	pld_barrier(pld_world());
}

static void act(struct state *s, const char *what)
{
	const char *equals = strchr(what, '=');
	size_t n = equals ? (size_t)(equals - what) : strlen(what);
	int64_t bytes = 0;

#define IS(name) (n == strlen(name) && strncmp(what, name, n) == 0)
	if (equals && pldi_parse_bytes(equals + 1, &bytes))
		die(what, "how many bytes?");
	if (IS("alloc") && alloc(s, what, bytes))
		die(what, pl_last_error()->text);
	else if (IS("host") || IS("lackhost"))
		host(s, what, bytes, IS("host") ? PL_OK : PL_ENOMEM);
	else if (IS("lack"))
		lack(s, what, bytes);
	else if (IS("until"))
		until(s, what, bytes);
	else if (IS("many"))
		for (; bytes > 0; bytes--)
			alloc(s, what, 64);
	else if (IS("every2"))
		every2(s, what);
	else if (IS("free"))
		while (s->nbuffers > 0)
			release(s, what, --s->nbuffers);
	else if (IS("domains"))
		domains(s, what, (int)bytes);
	else if (IS("shrink"))
		shrink(s, what, bytes);
	else if (IS("fill"))
		fill(s, what);
	else if (IS("drain"))
		drain();
	else if (IS("kind") && s->me == 0)
		printf("segment: %s\n",
		       pldi_head(pldi_self()->seg.base)->is_memfd ? "memfd" : "/dev/shm");
#undef IS
}

int main(int argc, char **argv)
{
	static struct state s;

	if (pld_init(NULL))
		return 8;
	pl_set_errors(PL_ERRORS_RETURN);
	s.me = pld_rank(pld_world());
	s.n = pld_nranks(pld_world());
	s.told = pld_host_tensor(PL_SHAPE(s.n), PL_INT32);
	if (!s.told.as_)
		die("start", pl_last_error()->text);
	for (int i = 1; i < argc; i++)
		act(&s, argv[i]);
	if (pld_finalize())
		die("finalize", pl_last_error()->text);
	return 0;
}
