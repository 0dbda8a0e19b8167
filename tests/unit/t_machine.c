/* t_machine.c - CPUs and memory in made-up /proc and /sys trees: cgroup v1, v2, both, nonsense. */
#include "config.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pldi_machine.h"
#include "unit.h"

enum { FILES = 12 };

static char root[] = "/tmp/pld-t_machine-XXXXXX";

static void make_file(const char *name, const char *text)
{
	char path[600];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", root, name);
	for (char *s = path + strlen(root) + 1; (s = strchr(s, '/')); s++) {
		*s = '\0';
		ck_assert(mkdir(path, 0700) == 0 || errno == EEXIST);
		*s = '/';
	}
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static void make_root(void)
{
	snprintf(root, sizeof(root), "/tmp/pld-t_machine-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
}

static void remove_root(void)
{
	char command[200];

	snprintf(command, sizeof(command), "rm -r '%s'", root);
	ck_assert_int_eq(system(command), 0);
}

#define V2 "/sys/fs/cgroup"
#define MIB "1048576"
#define SELF "/proc/self/cgroup"

/*
 * A tree: files and what they hold.  cpus: with 8 in the affinity mask, see want_cpus; 0: no limit.
 * memory: what is available, -1: no limit; where: the file that says so.
 */
static const struct {
	const char *name;
	const char *files[FILES][2];
	int cpus;
	int64_t memory;
	const char *where;
} trees[] = {
	{ "nothing at all", { { NULL, NULL } }, 0, -1, "" },
	{ "v2, root group", { { SELF, "0::/\n" }, { V2 "/cgroup.procs", "" } }, 0, -1, "" },
	{ "v2, own group",
	  { { SELF, "0::/a/b\n" },
	    { V2 "/a/b/cpu.max", "150000 100000\n" },
	    { V2 "/a/b/memory.max", "10485760\n" },
	    { V2 "/a/b/memory.current", MIB "\n" },
	    { V2 "/a/b/memory.stat", "anon 1\nfile 2\ninactive_file 524288\nactive_file 7\n" } },
	  2,
	  10485760 - 1048576 + 524288,
	  V2 "/a/b/memory.max" },
	{ "v2, parent is tighter",
	  { { SELF, "0::/a/b\n" },
	    { V2 "/a/b/cpu.max", "max 100000\n" },
	    { V2 "/a/cpu.max", "100000 100000\n" },
	    { V2 "/a/b/memory.max", "10485760\n" },
	    { V2 "/a/b/memory.current", "0\n" },
	    { V2 "/a/memory.max", "8388608\n" },
	    { V2 "/a/memory.current", "8000000\n" } },
	  1,
	  8388608 - 8000000,
	  V2 "/a/memory.max" },
	{ "v2, root of the mount limits",
	  { { SELF, "0::/a\n" },
	    { V2 "/a/cpu.max", "max 100000\n" },
	    { V2 "/cpu.max", "50000 100000\n" },
	    { V2 "/memory.max", "1000\n" },
	    { V2 "/memory.current", "400\n" } },
	  1,
	  600,
	  V2 "/memory.max" },
	{ "v2, container: path not under the mount",
	  { { SELF, "0::/docker/0123\n" },
	    { V2 "/cpu.max", "100000 100000\n" },
	    { V2 "/memory.max", "1000\n" },
	    { V2 "/memory.current", "1\n" } },
	  1,
	  999,
	  V2 "/memory.max" },
	{ "v2, path out of the namespace",
	  { { SELF, "0::/../../x\n" },
	    { V2 "/cpu.max", "100000 100000\n" },
	    { V2 "/memory.max", "1000\n" },
	    { "/sys/x/memory.max", "5\n" } },
	  1,
	  1000,
	  V2 "/memory.max" },
	{ "v2, everything max",
	  { { SELF, "0::/a\n" },
	    { V2 "/a/cpu.max", "max 100000\n" },
	    { V2 "/a/memory.max", "max\n" },
	    { V2 "/a/memory.current", "5\n" } },
	  0,
	  -1,
	  "" },
	{ "v2, garbage",
	  { { SELF, "0::/a\n" },
	    { V2 "/a/cpu.max", "many\n" },
	    { V2 "/cpu.max", "100000 0\n" },
	    { V2 "/a/memory.max", "12MB\n" },
	    { V2 "/memory.max", "" } },
	  0,
	  -1,
	  "" },
	{ "v2, garbage quota",
	  { { SELF, "0::/a\n" }, { V2 "/a/cpu.max", "-1 100000\n" } },
	  0,
	  -1,
	  "" },
	{ "v2, use over the limit",
	  { { SELF, "0::/a\n" },
	    { V2 "/a/memory.max", "100\n" },
	    { V2 "/a/memory.current", "200\n" } },
	  0,
	  0,
	  V2 "/a/memory.max" },
	{ "v2, more cache than use",
	  { { SELF, "0::/a\n" },
	    { V2 "/a/memory.max", "100\n" },
	    { V2 "/a/memory.current", "20\n" },
	    { V2 "/a/memory.stat", "inactive_file 50\n" } },
	  0,
	  100,
	  V2 "/a/memory.max" },
	{ "v2, use unreadable",
	  { { SELF, "0::/a\n" },
	    { V2 "/a/memory.max", "100\n" },
	    { V2 "/a/memory.current", "?\n" } },
	  0,
	  100,
	  V2 "/a/memory.max" },
	{ "v2, other keys of memory.stat",
	  { { SELF, "0::/a\n" },
	    { V2 "/a/memory.max", "100\n" },
	    { V2 "/a/memory.current", "60\n" },
	    { V2 "/a/memory.stat", "inactive_file_x 50\nxinactive_file 50\ninactive_file 10\n" } },
	  0,
	  50,
	  V2 "/a/memory.max" },
	{ "v1",
	  { { SELF, "5:memory:/m/n\n4:cpu,cpuacct:/c\n1:name=systemd:/x\n" },
	    { V2 "/cpu,cpuacct/c/cpu.cfs_quota_us", "250000\n" },
	    { V2 "/cpu,cpuacct/c/cpu.cfs_period_us", "100000\n" },
	    { V2 "/memory/m/n/memory.limit_in_bytes", "9223372036854771712\n" },
	    { V2 "/memory/m/memory.limit_in_bytes", "5000\n" },
	    { V2 "/memory/m/memory.usage_in_bytes", "3000\n" },
	    { V2 "/memory/m/memory.stat", "inactive_file 1\ntotal_inactive_file 500\n" } },
	  3,
	  2500,
	  V2 "/memory/m/memory.limit_in_bytes" },
	{ "v1, cpu mounted alone, no quota in the own group",
	  { { SELF, "4:cpuacct:/z\n3:cpu:/c/d\n" },
	    { V2 "/cpu/c/d/cpu.cfs_quota_us", "-1\n" },
	    { V2 "/cpu/c/d/cpu.cfs_period_us", "100000\n" },
	    { V2 "/cpu/c/cpu.cfs_quota_us", "100001\n" },
	    { V2 "/cpu/c/cpu.cfs_period_us", "100000\n" } },
	  2,
	  -1,
	  "" },
	{ "v1, container: path not under the mount",
	  { { SELF, "4:memory:/docker/1\n3:cpu:/docker/1\n" },
	    { V2 "/cpu/cpu.cfs_quota_us", "100000\n" },
	    { V2 "/cpu/cpu.cfs_period_us", "100000\n" },
	    { V2 "/memory/memory.limit_in_bytes", "700\n" },
	    { V2 "/memory/memory.usage_in_bytes", "100\n" } },
	  1,
	  600,
	  V2 "/memory/memory.limit_in_bytes" },
	{ "v1, a limit that is none",
	  { { SELF, "4:memory:/m\n" },
	    { V2 "/memory/m/memory.limit_in_bytes", "9223372036854771712\n" },
	    { V2 "/memory/m/memory.usage_in_bytes", "3000\n" } },
	  0,
	  -1,
	  "" },
	{ "v1, only names that begin alike",
	  { { SELF, "4:cpuset,cpuacct:/c\n" },
	    { V2 "/cpu/cpu.cfs_quota_us", "100000\n" },
	    { V2 "/cpu/cpu.cfs_period_us", "100000\n" } },
	  0,
	  -1,
	  "" },
	{ "v1, period 0",
	  { { SELF, "4:cpu:/\n" },
	    { V2 "/cpu/cpu.cfs_quota_us", "100000\n" },
	    { V2 "/cpu/cpu.cfs_period_us", "0\n" } },
	  0,
	  -1,
	  "" },
	{ "both: limits of v1 and of v2 under unified",
	  { { SELF, "4:memory:/m\n0::/u\n" },
	    { V2 "/memory/m/memory.limit_in_bytes", "5000\n" },
	    { V2 "/unified/u/memory.max", "4000\n" },
	    { V2 "/unified/u/cpu.max", "100000 100000\n" } },
	  1,
	  4000,
	  V2 "/unified/u/memory.max" },
	{ "garbage in /proc/self/cgroup",
	  { { SELF, "\n::\n0:\n:\n0::\n4:memory\nx" }, { V2 "/memory.max", "77\n" } },
	  0,
	  77,
	  V2 "/memory.max" },
};

/* A limit can only be seen where the affinity mask has more. */
static int want_cpus(int limit)
{
	cpu_set_t set;
	int have;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	have = CPU_COUNT(&set);
	return limit && limit < have ? limit : have;
}

START_TEST(tree)
{
	struct pldi_memory_limit cgroup, machine;
	int cpus;

	make_root();
	for (int i = 0; i < FILES && trees[_i].files[i][0]; i++)
		make_file(trees[_i].files[i][0], trees[_i].files[i][1]);
	cpus = pldi_cpus(root);
	pldi_memory_limits(root, &cgroup, &machine);
	remove_root();
	ck_assert_msg(cpus == want_cpus(trees[_i].cpus), "%s: %d CPUs", trees[_i].name, cpus);
	ck_assert_msg(cgroup.available_bytes ==
			      (trees[_i].memory < 0 ? INT64_MAX : trees[_i].memory),
		      "%s: %lld bytes", trees[_i].name, (long long)cgroup.available_bytes);
	if (*trees[_i].where) {
		ck_assert_msg(!strncmp(cgroup.where, root, strlen(root)) &&
				      !strcmp(cgroup.where + strlen(root), trees[_i].where),
			      "%s: %s", trees[_i].name, cgroup.where);
	} else {
		ck_assert_str_eq(cgroup.where, "");
	}
	ck_assert(machine.available_bytes == INT64_MAX && !*machine.where);
}
END_TEST

/* Every limit on the way up is told, and only those of what is asked for. */
static void collect(const struct pldi_group_limit *l, void *arg)
{
	char *text = arg, *end = text + strlen(text);

	snprintf(end, 1000 - (size_t)(end - text), "%s %lld/%lld; ", l->file + strlen(root),
		 (long long)l->limit, (long long)l->used);
}

START_TEST(every_limit)
{
	char memory[1000] = "", pids[1000] = "", cpus[1000] = "";

	make_root();
	make_file(SELF, "3:pids:/p\n2:memory:/m\n0::/a/b\n");
	make_file(V2 "/a/b/memory.max", "50\n");
	make_file(V2 "/a/memory.max", "40\n");
	make_file(V2 "/a/memory.current", "30\n");
	make_file(V2 "/a/pids.max", "9\n");
	make_file(V2 "/a/b/pids.max", "max\n");
	make_file(V2 "/a/pids.current", "7\n");
	make_file(V2 "/a/cpu.max", "max 100000\n");
	make_file(V2 "/memory/m/memory.limit_in_bytes", "60\n");
	make_file(V2 "/memory/m/pids.max", "2\n");
	make_file(V2 "/pids/p/pids.max", "5\n");
	pldi_group_limits(root, PLDI_LIMIT_MEMORY, collect, memory);
	pldi_group_limits(root, PLDI_LIMIT_PIDS, collect, pids);
	pldi_group_limits(root, PLDI_LIMIT_CPUS, collect, cpus);
	remove_root();
	ck_assert_str_eq(memory, V2 "/a/b/memory.max 50/0; " V2 "/a/memory.max 40/30; " V2
				    "/memory/m/memory.limit_in_bytes 60/0; ");
	ck_assert_str_eq(pids, V2 "/a/pids.max 9/7; " V2 "/pids/p/pids.max 5/0; ");
	ck_assert_str_eq(cpus, "");
}
END_TEST

#define ENABLED "/sys/kernel/mm/transparent_hugepage/shmem_enabled"
#define MOUNT "28 22 0:24 / /dev/shm rw,nosuid shared:4 - tmpfs tmpfs rw,size=8k"

static const struct {
	const char *name, *enabled, *mounts; /* NULL: no such file */
	const char *memfd, *shm;
	int memfd_can, shm_can;
} huges[] = {
	{ "no kernel", NULL, MOUNT ",huge=always\n", "never", "never", 0, 0 },
	{ "never", "always within_size advise [never] deny force\n", MOUNT "\n", "never", "never",
	  0, 0 },
	{ "memfd alone", "always within_size [advise] never deny force\n", MOUNT "\n", "advise",
	  "never", 1, 0 },
	{ "no mounts", "[within_size] never\n", NULL, "within_size", "never", 1, 0 },
	{ "mount alone", "always advise [never]\n", MOUNT ",huge=advise\n", "never", "advise", 0,
	  1 },
	{ "option in the middle", "[never]\n", MOUNT ",huge=within_size,inode64\n", "never",
	  "within_size", 0, 1 },
	{ "the last mount hides", "[never]\n", MOUNT ",huge=always\n" MOUNT "\n", "never", "never",
	  0, 0 },
	{ "the last mount has", "[never]\n", MOUNT "\n" MOUNT ",huge=always\n", "never", "always",
	  0, 1 },
	{ "other mounts", "[never]\n",
	  "1 2 0:1 / /dev/shm/x rw - tmpfs tmpfs rw,huge=always\n"
	  "1 2 0:1 / /x/dev/shm rw - tmpfs tmpfs rw,huge=always\n"
	  "1 2 0:1 /dev/shm /y rw - tmpfs tmpfs rw,huge=always\n",
	  "never", "never", 0, 0 },
	{ "deny", "always [deny] force\n", MOUNT ",huge=always\n", "deny", "deny", 0, 0 },
	{ "force", "always deny [force]\n", MOUNT "\n", "force", "force", 1, 1 },
	{ "garbage", "advise\n", MOUNT ",huge=always\n", "never", "never", 0, 0 },
	{ "half a bracket", "always [advise\n", "1 2\n\n3", "never", "never", 0, 0 },
	{ "short lines", "[never]\n", "1\n1 2 3 4\n1 2 3 4 /dev/shm", "never", "never", 0, 0 },
};

START_TEST(huge)
{
	char memfd[PLDI_HUGE_WORD], shm[PLDI_HUGE_WORD];
	int memfd_can, shm_can;

	make_root();
	make_file("/x", "");
	if (huges[_i].enabled)
		make_file(ENABLED, huges[_i].enabled);
	if (huges[_i].mounts)
		make_file("/proc/self/mountinfo", huges[_i].mounts);
	memfd_can = pldi_huge_pages(root, NULL, memfd);
	shm_can = pldi_huge_pages(root, "/dev/shm", shm);
	remove_root();
	ck_assert_msg(!strcmp(memfd, huges[_i].memfd) && !strcmp(shm, huges[_i].shm), "%s: %s, %s",
		      huges[_i].name, memfd, shm);
	ck_assert_msg(!!memfd_can == huges[_i].memfd_can && !!shm_can == huges[_i].shm_can, "%s",
		      huges[_i].name);
}
END_TEST

static const struct {
	const char *name, *text;
	int64_t bytes; /* -1: not known */
} meminfos[] = {
	{ "usual", "MemTotal:  999 kB\nMemFree:  1 kB\nMemAvailable:    1024 kB\n", 1048576 },
	{ "no such line", "MemTotal: 999 kB\n", -1 },
	{ "garbage", "MemAvailable: lots\n", -1 },
	{ "negative", "MemAvailable: -5 kB\n", -1 },
	{ "too large", "MemAvailable: 9223372036854775807 kB\n", -1 },
	{ "empty", "", -1 },
};

START_TEST(oom_kills)
{
	make_root();
	ck_assert_int_eq(pldi_oom_kills(root), 0);
	make_file("/proc/vmstat", "nr_free_pages 17\noom_kill 23\noom_killer 5\n");
	ck_assert_int_eq(pldi_oom_kills(root), 23);
	make_file("/proc/vmstat", "nr_free_pages 17\noom_killer 5\n");
	ck_assert_int_eq(pldi_oom_kills(root), 0);
	remove_root();
}
END_TEST

START_TEST(meminfo)
{
	struct pldi_memory_limit cgroup, machine;

	make_root();
	make_file("/proc/meminfo", meminfos[_i].text);
	pldi_memory_limits(root, &cgroup, &machine);
	remove_root();
	ck_assert_msg(machine.available_bytes ==
			      (meminfos[_i].bytes < 0 ? INT64_MAX : meminfos[_i].bytes),
		      "%s: %lld", meminfos[_i].name, (long long)machine.available_bytes);
	ck_assert_int_eq(!!*machine.where, meminfos[_i].bytes >= 0);
	ck_assert_int_eq(cgroup.available_bytes, INT64_MAX);
}
END_TEST

START_TEST(affinity)
{
	cpu_set_t set, one;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	ck_assert_int_eq(pldi_cpus("/nonexistent"), CPU_COUNT(&set));
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set)) {
			CPU_SET(i, &one);
			break;
		}
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	ck_assert_int_eq(pldi_cpus("/nonexistent"), 1);
	ck_assert_int_eq(pldi_cpus(""), 1);
}
END_TEST

/* The real machine: nothing but plausible. */
START_TEST(here)
{
	struct pldi_memory_limit cgroup, machine;

	pldi_memory_limits("", &cgroup, &machine);
	ck_assert_int_ge(pldi_cpus(""), 1);
	ck_assert_int_ge(pldi_ram_bytes(), (int64_t)1 << 30);
	ck_assert_int_ge(cgroup.available_bytes, 0);
	ck_assert_str_eq(machine.where, "/proc/meminfo");
	ck_assert_int_gt(machine.available_bytes, 0);
	ck_assert_int_le(machine.available_bytes, pldi_ram_bytes());
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, tree, 0, ROWS(trees));
	tcase_add_test(tc, every_limit);
	tcase_add_loop_test(tc, huge, 0, ROWS(huges));
	tcase_add_test(tc, oom_kills);
	tcase_add_loop_test(tc, meminfo, 0, ROWS(meminfos));
	tcase_add_test(tc, affinity);
	tcase_add_test(tc, here);
}

int main(void)
{
	return unit_run("machine", add);
}
