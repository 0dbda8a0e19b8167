/*
 * info.c - pldrun --info: what of this machine a job may use, what limits it, and the cures.
 *
 * Each line is "  name  value"; tests/machine/check-info compares the values with the system's.
 * What a limit would do to the job goes to the last section.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <pld/job.h>

#include "pldi_info.h"
#include "pldi_machine.h"
#include "pldi_segment.h"

#define THP_DIR "/sys/kernel/mm/transparent_hugepage"
#define TEST_BYTES (INT64_C(16) << 20)

enum { LAUNCHER_FDS = 24, FDS_A_RANK = 2, LINE_BYTES = 1024 };

struct info {
	int nranks, cpus;
	int64_t reserve_bytes;
	FILE *notes; /* of the last section */
};

/* ---- lines ----------------------------------------------------------------------------------- */

static void line(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void line(const char *name, const char *fmt, ...)
{
	va_list ap;

	printf("  %-16s ", name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static void note(const struct info *in, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note(const struct info *in, const char *fmt, ...)
{
	va_list ap;

	fputs("  - ", in->notes);
	va_start(ap, fmt);
	vfprintf(in->notes, fmt, ap);
	va_end(ap);
	putc('\n', in->notes);
}

static int64_t mib(int64_t bytes)
{
	return bytes >> 20;
}

/* First line of a file without its newline; "?": it cannot be read. */
static const char *file_line(const char *path, char text[LINE_BYTES])
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(text, LINE_BYTES, f))
		snprintf(text, LINE_BYTES, "?");
	if (f)
		fclose(f);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/* ---- CPUs ------------------------------------------------------------------------------------ */

/* "0-3,8" */
static int cpu_list(char *text, size_t text_bytes)
{
	size_t bytes, used = 0;
	unsigned char *mask = pldi_allowed_cpus(&bytes);
	int n = 0;

	snprintf(text, text_bytes, "not known");
	for (size_t cpu = 0; mask && cpu < bytes * 8; cpu++) {
		size_t first = cpu;

		while (cpu < bytes * 8 && mask[cpu / 8] >> cpu % 8 & 1)
			cpu++;
		if (cpu == first || used >= text_bytes)
			continue;
		n += (int)(cpu - first);
		used += (size_t)snprintf(text + used, text_bytes - used, "%s%zu", used ? "," : "",
					 first);
		if (cpu - first > 1 && used < text_bytes)
			used += (size_t)snprintf(text + used, text_bytes - used, "-%zu", cpu - 1);
	}
	free(mask);
	return n;
}

static void print_quota(const struct pldi_group_limit *l, void *arg)
{
	int *n = arg;

	line("cgroup quota", "%.2f CPUs (%s)", (double)l->limit / (double)l->period_us, l->file);
	++*n;
}

static void print_cpus(struct info *in)
{
	char text[LINE_BYTES];
	int allowed, quotas = 0;

	puts("CPUs");
	allowed = cpu_list(text, sizeof(text));
	line("allowed", "%d of %ld: %s", allowed, sysconf(_SC_NPROCESSORS_ONLN), text);
	pldi_group_limits("", PLDI_LIMIT_CPUS, print_quota, &quotas);
	if (!quotas)
		line("cgroup quota", "none");
	line("counted", "%d", in->cpus);
	pldi_topology(text, sizeof(text));
	line("topology", "%s", text);
	if (in->cpus < allowed)
		note(in,
		     "the CPU quota leaves %d of %d CPUs: raise it (cpu.max, docker --cpus) for "
		     "more ranks at full speed",
		     in->cpus, allowed);
	if (in->nranks > in->cpus)
		note(in, "%d ranks share %d CPU%s: waits yield and sleep instead of spinning",
		     in->nranks, in->cpus, in->cpus == 1 ? "" : "s");
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void print_limit(const struct pldi_group_limit *l, void *arg)
{
	int *n = arg;

	line("cgroup", "%" PRId64 " MiB, %" PRId64 " MiB used (%s)", mib(l->limit), mib(l->used),
	     l->file);
	++*n;
}

static void print_shm(const struct info *in)
{
	const char *why = pldi_why_memfd();
	struct statvfs fs;

	if (statvfs(PLDI_SHM_DIR, &fs))
		line(PLDI_SHM_DIR, "missing");
	else if (fs.f_blocks == 0)
		line(PLDI_SHM_DIR, "no limit of its own");
	else
		line(PLDI_SHM_DIR, "%" PRId64 " MiB, %" PRId64 " MiB free%s",
		     mib((int64_t)(fs.f_blocks * fs.f_frsize)),
		     mib((int64_t)(fs.f_bavail * fs.f_frsize)),
		     fs.f_flag & ST_RDONLY ? ", read-only" : "");
	if (why)
		line("segment", "memfd: %s", why);
	else
		line("segment", "file in %s, without a name", PLDI_SHM_DIR);
	if (!why && fs.f_blocks &&
	    (int64_t)(fs.f_bavail * fs.f_frsize) < pldi_memory_left().available_bytes / 8 * 7)
		note(in,
		     "windows of all ranks together can have %" PRId64
		     " MiB of %s: enlarge it with mount -o remount,size=.. for more",
		     mib((int64_t)(fs.f_bavail * fs.f_frsize)), PLDI_SHM_DIR);
}

static void print_memory(const struct info *in)
{
	struct pldi_memory_limit cgroup, machine;
	int limits = 0;

	puts("Memory");
	pldi_memory_limits("", &cgroup, &machine);
	line("machine", "%" PRId64 " MiB, %" PRId64 " MiB available", mib(pldi_ram_bytes()),
	     machine.available_bytes == INT64_MAX ? -1 : mib(machine.available_bytes));
	pldi_group_limits("", PLDI_LIMIT_MEMORY, print_limit, &limits);
	if (!limits)
		line("cgroup", "no limit");
	print_shm(in);
	if (cgroup.available_bytes < machine.available_bytes)
		note(in,
		     "windows of all ranks together can have %" PRId64
		     " MiB under %s: raise that limit (docker --memory, systemd MemoryMax=) for "
		     "more",
		     mib(cgroup.available_bytes), cgroup.where);
}

/* ---- a segment, as the job would get it ------------------------------------------------------ */

/* The sum of a field of smaps over mappings that touch [begin, end), in KiB. */
static int64_t smaps_kib(const char *field, uintptr_t begin, uintptr_t end)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	char text[LINE_BYTES];
	uintptr_t from, to;
	int64_t sum = 0;
	int inside = 0;

	while (f && fgets(text, sizeof(text), f)) {
		if (sscanf(text, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2)
			inside = from < end && to > begin;
		else if (inside && strncmp(text, field, strlen(field)) == 0)
			sum += strtoll(text + strlen(field), NULL, 10);
	}
	if (f)
		fclose(f);
	return sum;
}

/* Bytes of the window of rank 0 that can be tried without being missed. */
static int64_t test_bytes(const struct pldi_segment *seg)
{
	int64_t left = pldi_memory_left().available_bytes, room;

	pldi_segment_room(seg, &room);
	left = room < left ? room : left;
	if (left / 4 < TEST_BYTES || (int64_t)pldi_head(seg->base)->reserve < TEST_BYTES)
		return 0;
	return TEST_BYTES;
}

static void try_huge_pages(const struct pldi_segment *seg)
{
	int64_t bytes = test_bytes(seg), got;
	uint64_t off = pldi_window_off(seg->base, PLDI_REGION_SPARSE, 0);
	char *at = (char *)seg->base + off;

	if (bytes == 0 || pldi_segment_commit(seg, off, (uint64_t)bytes)) {
		line("a window", "not tried, memory is short");
		return;
	}
	memset(at, 1, (size_t)bytes);
	got = smaps_kib("ShmemPmdMapped:", (uintptr_t)at, (uintptr_t)at + (uintptr_t)bytes);
	/* may be more than the window where they hold what is beside it, too */
	line("a window", "%" PRId64 " MiB in huge pages, of a window of %" PRId64 " MiB", got >> 10,
	     mib(bytes));
}

static void print_huge(const struct info *in, const struct pldi_segment *seg)
{
	char memfd[PLDI_HUGE_WORD], shm[PLDI_HUGE_WORD];
	int any;

	puts("Huge pages");
	any = pldi_huge_pages("", NULL, memfd) | pldi_huge_pages("", PLDI_SHM_DIR, shm);
	line("memfd", "%s (%s/shmem_enabled)", memfd, THP_DIR);
	line(PLDI_SHM_DIR, "%s (mount option huge=)", shm);
	if (seg)
		try_huge_pages(seg);
	if (!any)
		note(in,
		     "windows have no huge pages; for large ones, as root: "
		     "echo advise >%s/shmem_enabled",
		     THP_DIR);
}

static void print_segment(const struct info *in)
{
	struct pldi_segment seg = { .fd = -1 };
	char text[LINE_BYTES];
	int64_t reserve;

	if (pldi_segment_create(in->nranks, in->reserve_bytes, 0, &seg, text, sizeof(text))) {
		line("windows", "none: no job of %d rank%s can start", in->nranks,
		     in->nranks == 1 ? "" : "s");
		note(in, "%s", text);
		print_huge(in, NULL);
		return;
	}
	reserve = (int64_t)pldi_head(seg.base)->reserve;
	line("windows", "%" PRId64 " MiB of address space for each of %d rank%s", mib(reserve),
	     in->nranks, in->nranks == 1 ? "" : "s");
	if (reserve < pldi_ram_bytes())
		note(in,
		     "a rank's windows cannot exceed %" PRId64
		     " MiB: the address space is limited; raise ulimit -v and -f, start fewer "
		     "ranks, or give more with --reserve",
		     mib(reserve));
	print_huge(in, &seg);
	pldi_segment_close(&seg);
}

/* ---- limits of the process ------------------------------------------------------------------- */

static void print_rlimit(const char *name, int what, uint64_t unit)
{
	struct rlimit l;
	char text[2][32];
	const rlim_t *value[] = { &l.rlim_cur, &l.rlim_max };

	if (getrlimit((__rlimit_resource_t)what, &l))
		return;
	for (int i = 0; i < 2; i++) {
		if (*value[i] == RLIM_INFINITY)
			snprintf(text[i], sizeof(text[i]), "unlimited");
		else
			snprintf(text[i], sizeof(text[i]), "%" PRIu64, (uint64_t)*value[i] / unit);
	}
	line(name, "%s, at most %s", text[0], text[1]);
}

static void print_pids(const struct pldi_group_limit *l, void *arg)
{
	const struct info *in = arg;

	line("cgroup pids", "%" PRId64 ", %" PRId64 " used (%s)", l->limit, l->used, l->file);
	if (l->limit - l->used < in->nranks + 2)
		note(in,
		     "%s leaves %" PRId64 " processes; a job of %d ranks needs %d: raise it "
		     "(docker --pids-limit)",
		     l->file, l->limit - l->used, in->nranks, in->nranks + 2);
}

static void print_limits(struct info *in)
{
	const int needed = LAUNCHER_FDS + FDS_A_RANK * in->nranks;
	struct rlimit l;

	puts("Limits");
	print_rlimit("ulimit -v (KiB)", RLIMIT_AS, 1024);
	print_rlimit("ulimit -f (KiB)", RLIMIT_FSIZE, 1024);
	print_rlimit("ulimit -n", RLIMIT_NOFILE, 1);
	print_rlimit("ulimit -u", RLIMIT_NPROC, 1);
	print_rlimit("ulimit -c (KiB)", RLIMIT_CORE, 1024);
	pldi_group_limits("", PLDI_LIMIT_PIDS, print_pids, in);
	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_max < (rlim_t)needed)
		note(in,
		     "pldrun needs about %d descriptors for %d ranks, ulimit -Hn is %" PRIu64
		     ": raise it, or start fewer",
		     needed, in->nranks, (uint64_t)l.rlim_max);
	if (geteuid() != 0 && getrlimit(RLIMIT_NPROC, &l) == 0 &&
	    l.rlim_cur < (rlim_t)in->nranks + 2)
		note(in, "ulimit -u is %" PRIu64 ": raise it for %d ranks", (uint64_t)l.rlim_cur,
		     in->nranks);
	if (getrlimit(RLIMIT_CORE, &l) == 0 && l.rlim_cur != 0)
		note(in, "each rank that crashes may write a core of its own memory and up to "
			 "64 MiB of its windows: ulimit -c 0 prevents it");
}

/* ---- what the kernel lets this process do ---------------------------------------------------- */

static const char *allowed(int failed)
{
	return failed ? strerror(errno) : "allowed";
}

static const char *seccomp_state(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char text[LINE_BYTES];
	int mode = -1;

	while (f && fgets(text, sizeof(text), f))
		if (sscanf(text, "Seccomp: %d", &mode) == 1)
			break;
	if (f)
		fclose(f);
	return mode == 0 ? "no filter" : mode == 2 ? "a filter" : "not known";
}

static void print_kernel(const struct info *in)
{
	char text[LINE_BYTES];
	void *page;
	int fd;

	puts("Kernel");
	line("user", "%u", geteuid());
	line("seccomp", "%s", seccomp_state());
	fd = memfd_create("pld", MFD_CLOEXEC);
	line("memfd_create", "%s", allowed(fd < 0));
	if (fd >= 0)
		close(fd);
	else if (pldi_why_memfd())
		note(in,
		     "memfd_create is refused (a seccomp filter?), so windows get what %s has: "
		     "enlarge that, or allow the call",
		     PLDI_SHM_DIR);
	fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	line("pidfd_open", "%s", allowed(fd < 0));
	if (fd >= 0)
		close(fd);
	/* cppcheck-suppress invalidFunctionArg ; -1: an anonymous mapping has no file */
	page = mmap(NULL, PLDI_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page != MAP_FAILED) {
		line("populate", "%s", allowed(madvise(page, PLDI_PAGE, MADV_POPULATE_WRITE)));
		munmap(page, PLDI_PAGE);
	}
	file_line("/proc/sys/kernel/yama/ptrace_scope", text);
	line("debuggers", "%s",
	     *text == '?' || *text == '0' ? "may attach to ranks"
	     : *text == '1' ? "may start ranks, but attach only as root (ptrace_scope 1)"
			    : "only as root (ptrace_scope)");
	line("core pattern", "%s", file_line("/proc/sys/kernel/core_pattern", text));
}

void pldi_info(int nranks, int64_t reserve_bytes)
{
	struct info in = { .cpus = pldi_cpus(""), .reserve_bytes = reserve_bytes };
	char *notes = NULL;
	size_t notes_bytes = 0;

	in.nranks = nranks ? nranks : in.cpus;
	in.notes = open_memstream(&notes, &notes_bytes);
	if (!in.notes)
		return;
	printf("pld %s, for a job of %d rank%s\n", pld_version(), in.nranks,
	       in.nranks == 1 ? "" : "s");
	print_cpus(&in);
	print_memory(&in);
	print_segment(&in);
	print_limits(&in);
	print_kernel(&in);
	puts("What limits this job, and the cure");
	fclose(in.notes);
	fputs(notes_bytes ? notes : "  nothing\n", stdout);
	free(notes);
}
