/* machine.c - CPUs and memory that this process may use, as affinity, cgroups and /proc say. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "pldi_machine.h"
#include "pldi_params.h"

/*
 * Where a controller may be mounted.  In a container the path of /proc/self/cgroup is often the
 * host's and not to be found below the mount, whose root then is the container's own group: so
 * groups that are not there are passed over on the way up, and the root is always asked.
 */
struct hierarchy {
	const char *mount;
	const char *controller; /* NULL: version 2, the line "0::/path" */
};

static const struct hierarchy hierarchies[] = {
	{ "/sys/fs/cgroup", NULL },
	{ "/sys/fs/cgroup/unified", NULL },
	{ "/sys/fs/cgroup/memory", "memory" },
	{ "/sys/fs/cgroup/cpu", "cpu" },
	{ "/sys/fs/cgroup/cpu,cpuacct", "cpu" },
	{ "/sys/fs/cgroup/pids", "pids" },
};

enum { PATH_BYTES = 4096, LINE_BYTES = 4096 };

/* Called for the own group and each parent, up to the root of the mount. */
typedef void group_fn(const char *dir, int version, void *arg);

/* First line of dir/name without its newline.  0, or -1: no such file, or an empty one. */
static int first_line(const char *dir, const char *name, char line[LINE_BYTES])
{
	char path[PATH_BYTES];
	FILE *f;
	int rc = -1;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return -1;
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fgets(line, LINE_BYTES, f)) {
		line[strcspn(line, "\n")] = '\0';
		rc = 0;
	}
	fclose(f);
	return rc;
}

/* The whole number that dir/name holds.  0, or -1: anything else ("max", garbage, no file). */
static int file_number(const char *dir, const char *name, int64_t *v)
{
	char line[LINE_BYTES];

	return first_line(dir, name, line) ? -1 : pldi_parse_int(line, INT64_MIN, INT64_MAX, v);
}

/* The number after `key` in a file of lines "key number" or "key: number kB".  0, or -1. */
static int file_field(const char *dir, const char *name, const char *key, int64_t *v)
{
	char path[PATH_BYTES], line[LINE_BYTES];
	const size_t n = strlen(key);
	FILE *f;
	int rc = -1;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return -1;
	f = fopen(path, "re");
	if (!f)
		return -1;
	while (rc && fgets(line, sizeof(line), f)) {
		char *number = line + n;

		if (strncmp(line, key, n))
			continue;
		number += strspn(number, " \t");
		number[strcspn(number, " \n")] = '\0';
		rc = pldi_parse_int(number, 0, INT64_MAX, v);
	}
	fclose(f);
	return rc;
}

/* Is word an item of the comma-separated list? */
static int in_list(const char *list, const char *word)
{
	const size_t n = strlen(word);

	for (const char *s = list;; s++) {
		if (strncmp(s, word, n) == 0 && (s[n] == ',' || s[n] == '\0'))
			return 1;
		s = strchr(s, ',');
		if (!s)
			return 0;
	}
}

/* The group's path in h, "" for the root, from root/proc/self/cgroup.  0, or -1: not in h. */
static int group_path(const char *root, const struct hierarchy *h, char path[PATH_BYTES])
{
	char name[PATH_BYTES], line[LINE_BYTES];
	FILE *f;
	int rc = -1;

	if (snprintf(name, sizeof(name), "%s/proc/self/cgroup", root) >= (int)sizeof(name))
		return -1;
	f = fopen(name, "re");
	if (!f)
		return -1;
	while (rc && fgets(line, sizeof(line), f)) {
		/* "4:cpu,cpuacct:/a/b" */
		char *list = strchr(line, ':'), *group = list ? strchr(list + 1, ':') : NULL;

		if (!group)
			continue;
		*group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		if (h->controller ? !in_list(list + 1, h->controller)
				  : strcmp(line, "0:") || list[1])
			continue;
		snprintf(path, PATH_BYTES, "%s", *group == '/' && group[1] ? group : "");
		rc = 0;
	}
	fclose(f);
	return rc;
}

/* controller: whose groups are wanted; in version 2 every group has all. */
static void each_group(const char *root, const char *controller, group_fn *fn, void *arg)
{
	char dir[2 * PATH_BYTES], path[PATH_BYTES];

	for (size_t i = 0; i < sizeof(hierarchies) / sizeof(hierarchies[0]); i++) {
		const struct hierarchy *h = &hierarchies[i];
		size_t base;

		if ((h->controller && strcmp(h->controller, controller)) ||
		    group_path(root, h, path))
			continue;
		base = (size_t)snprintf(dir, sizeof(dir), "%s%s", root, h->mount);
		if (base >= PATH_BYTES)
			continue;
		/* a path out of the mount: a group outside this cgroup namespace */
		if (!strstr(path, "/.."))
			snprintf(dir + base, sizeof(dir) - base, "%s", path);
		for (;;) {
			fn(dir, h->controller ? 1 : 2, arg);
			if (strlen(dir) <= base)
				break;
			*strrchr(dir, '/') = '\0';
		}
	}
}

/* ---- limits of cgroups ---------------------------------------------------------------------- */

static void set_file(struct pldi_group_limit *l, const char *dir, const char *name)
{
	snprintf(l->file, sizeof(l->file), "%.200s/%s", dir, name);
}

/* The group's limit, or -1: it sets none, or none that can be read. */
static int read_cpus(const char *dir, int version, struct pldi_group_limit *l)
{
	char line[LINE_BYTES], *space;

	if (version == 2) {
		/* "150000 100000" or "max 100000" */
		if (first_line(dir, "cpu.max", line))
			return -1;
		space = strchr(line, ' ');
		if (!space)
			return -1;
		*space = '\0';
		if (pldi_parse_int(line, 1, INT64_MAX, &l->limit) ||
		    pldi_parse_int(space + 1, 1, INT64_MAX, &l->period_us))
			return -1;
		set_file(l, dir, "cpu.max");
		return 0;
	}
	if (file_number(dir, "cpu.cfs_quota_us", &l->limit) ||
	    file_number(dir, "cpu.cfs_period_us", &l->period_us) || l->limit < 1 ||
	    l->period_us < 1)
		return -1;
	set_file(l, dir, "cpu.cfs_quota_us");
	return 0;
}

static int read_memory(const char *dir, int version, struct pldi_group_limit *l)
{
	const char *limit_file = version == 2 ? "memory.max" : "memory.limit_in_bytes";
	const char *use_file = version == 2 ? "memory.current" : "memory.usage_in_bytes";
	/* version 1 counts a group's own pages and, under this name, also its children's */
	const char *cache_key = version == 2 ? "inactive_file" : "total_inactive_file";
	int64_t cache = 0;

	/* version 1 has no "max" but a number near 2^63 */
	if (file_number(dir, limit_file, &l->limit) || l->limit < 0 || l->limit >= INT64_MAX / 2)
		return -1;
	if (file_number(dir, use_file, &l->used) || l->used < 0)
		l->used = 0;
	if (file_field(dir, "memory.stat", cache_key, &cache))
		cache = 0;
	l->used -= cache < l->used ? cache : l->used;
	set_file(l, dir, limit_file);
	return 0;
}

static int read_pids(const char *dir, int version, struct pldi_group_limit *l)
{
	(void)version; /* the same files in both */
	if (file_number(dir, "pids.max", &l->limit) || l->limit < 0)
		return -1;
	if (file_number(dir, "pids.current", &l->used))
		l->used = 0;
	set_file(l, dir, "pids.max");
	return 0;
}

static const struct limit_reader {
	const char *controller;
	int (*read)(const char *dir, int version, struct pldi_group_limit *l);
} readers[] = {
	[PLDI_LIMIT_CPUS] = { "cpu", read_cpus },
	[PLDI_LIMIT_MEMORY] = { "memory", read_memory },
	[PLDI_LIMIT_PIDS] = { "pids", read_pids },
};

struct visit {
	const struct limit_reader *reader;
	pldi_group_limit_fn *fn;
	void *arg;
};

static void visit_group(const char *dir, int version, void *arg)
{
	const struct visit *v = arg;
	struct pldi_group_limit l;

	if (v->reader->read(dir, version, &l) == 0)
		v->fn(&l, v->arg);
}

void pldi_group_limits(const char *root, enum pldi_group_limit_of of, pldi_group_limit_fn *fn,
		       void *arg)
{
	struct visit v = { &readers[of], fn, arg };

	each_group(root, readers[of].controller, visit_group, &v);
}

/* ---- CPUs ----------------------------------------------------------------------------------- */

static int affinity_cpus(void)
{
	/* the kernel refuses a mask smaller than its own, whose size it does not tell */
	for (int most = 1024; most <= 1 << 20; most *= 2) {
		const size_t bytes = CPU_ALLOC_SIZE(most);
		cpu_set_t *set = CPU_ALLOC(most);
		int n = 0, failed;

		if (!set)
			break;
		failed = sched_getaffinity(0, bytes, set) ? errno : 0;
		if (!failed)
			n = CPU_COUNT_S(bytes, set);
		CPU_FREE(set);
		if (n)
			return n;
		if (failed != EINVAL)
			break;
	}
	return 1;
}

static void limit_cpus(const struct pldi_group_limit *l, void *arg)
{
	int64_t *cpus = arg, quota = l->limit / l->period_us + (l->limit % l->period_us != 0);

	if (quota < *cpus)
		*cpus = quota;
}

int pldi_cpus(const char *root)
{
	int64_t cpus = affinity_cpus();

	pldi_group_limits(root, PLDI_LIMIT_CPUS, limit_cpus, &cpus);
	return (int)cpus;
}

/* ---- memory --------------------------------------------------------------------------------- */

static void limit_memory(const struct pldi_group_limit *l, void *arg)
{
	struct pldi_memory_limit *tightest = arg;
	int64_t available = l->limit > l->used ? l->limit - l->used : 0;

	if (available >= tightest->available_bytes)
		return;
	tightest->available_bytes = available;
	snprintf(tightest->where, sizeof(tightest->where), "%s", l->file);
}

void pldi_memory_limits(const char *root, struct pldi_memory_limit *cgroup,
			struct pldi_memory_limit *machine)
{
	char proc[PATH_BYTES];
	int64_t kib;

	*cgroup = *machine = (struct pldi_memory_limit){ INT64_MAX, "" };
	pldi_group_limits(root, PLDI_LIMIT_MEMORY, limit_memory, cgroup);
	if (snprintf(proc, sizeof(proc), "%s/proc", root) < (int)sizeof(proc) &&
	    !file_field(proc, "meminfo", "MemAvailable:", &kib) && kib <= INT64_MAX / 1024) {
		machine->available_bytes = kib * 1024;
		snprintf(machine->where, sizeof(machine->where), "%.200s/meminfo", proc);
	}
}

int64_t pldi_oom_kills(const char *root)
{
	char proc[PATH_BYTES];
	int64_t kills;

	if (snprintf(proc, sizeof(proc), "%s/proc", root) < (int)sizeof(proc) &&
	    !file_field(proc, "vmstat", "oom_kill ", &kills))
		return kills;
	return 0;
}

int64_t pldi_ram_bytes(void)
{
	const int64_t least = (int64_t)1 << 30;
	const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	if (pages < 1 || page < 1 || pages < least / page)
		return least;
	return (int64_t)pages * page;
}

/* ---- huge pages ----------------------------------------------------------------------------- */

#define THP_DIR "/sys/kernel/mm/transparent_hugepage"

/* Is dir the mount point in "28 22 0:24 / /dev/shm rw - tmpfs tmpfs rw,huge=advise"? */
static int is_mount_of(const char *line, const char *dir)
{
	const size_t n = strlen(dir);

	for (int word = 0; word < 4 && line; word++)
		line = strchr(line + (word > 0), ' ');
	return line && strncmp(line + 1, dir, n) == 0 && line[n + 1] == ' ';
}

/* The mount option huge= of dir; of several mounts there the last, which hides the others. */
static void mounted_huge(const char *root, const char *dir, char word[PLDI_HUGE_WORD])
{
	char name[PATH_BYTES], line[LINE_BYTES], *option;
	FILE *f;

	if (snprintf(name, sizeof(name), "%s/proc/self/mountinfo", root) >= (int)sizeof(name))
		return;
	f = fopen(name, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		if (!is_mount_of(line, dir))
			continue;
		option = strstr(line, ",huge=");
		snprintf(word, PLDI_HUGE_WORD, "%.*s", option ? (int)strcspn(option + 6, ",\n") : 5,
			 option ? option + 6 : "never");
	}
	fclose(f);
}

int pldi_huge_pages(const char *root, const char *dir, char word[PLDI_HUGE_WORD])
{
	char where[PATH_BYTES], line[LINE_BYTES], *begin, *end;

	snprintf(word, PLDI_HUGE_WORD, "never");
	if (snprintf(where, sizeof(where), "%s" THP_DIR, root) >= (int)sizeof(where) ||
	    first_line(where, "shmem_enabled", line))
		return 0;
	/* "always within_size [advise] never deny force" */
	begin = strchr(line, '[');
	end = begin ? strchr(begin, ']') : NULL;
	if (!end)
		return 0;
	*end = '\0';
	/* these two hold for mounts, too; the others do not */
	if (!dir || strcmp(begin + 1, "deny") == 0 || strcmp(begin + 1, "force") == 0)
		snprintf(word, PLDI_HUGE_WORD, "%s", begin + 1);
	else
		mounted_huge(root, dir, word);
	return strcmp(word, "never") && strcmp(word, "deny");
}

const char *pldi_why_memfd(void)
{
	char word[PLDI_HUGE_WORD];
	struct statvfs fs;

	if (statvfs(PLDI_SHM_DIR, &fs))
		return "there is no /dev/shm";
	if (access(PLDI_SHM_DIR, W_OK | X_OK))
		return "/dev/shm cannot be written to";
	/* a tmpfs without a limit reports no blocks at all */
	if (fs.f_blocks &&
	    fs.f_bavail * fs.f_frsize < (uint64_t)pldi_memory_left().available_bytes / 4)
		return "/dev/shm has less free than a quarter of what memory allows";
	if (pldi_huge_pages("", NULL, word) && !pldi_huge_pages("", PLDI_SHM_DIR, word))
		return "it can have huge pages, /dev/shm cannot";
	return NULL;
}
