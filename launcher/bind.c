/* bind.c - which core each rank runs on; the only file that asks hwloc. */
#include "config.h"

#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pldi_info.h"
#include "pldi_options.h"

enum { CPUS_MOST = 1 << 16 };

/* Masks one after the other, each of `bytes`, as sched_setaffinity takes them. */
struct masks {
	unsigned char *mask;
	size_t bytes;
	int n;
};

static bool has(const unsigned char *mask, size_t bytes, unsigned cpu)
{
	return cpu / 8 < bytes && mask[cpu / 8] >> cpu % 8 & 1;
}

unsigned char *pldi_allowed_cpus(size_t *bytes)
{
	unsigned char *mask;

	for (*bytes = 128; *bytes <= CPUS_MOST / 8; *bytes *= 2) {
		mask = calloc(1, *bytes);
		if (!mask)
			return NULL;
		if (sched_getaffinity(0, *bytes, (cpu_set_t *)(void *)mask) == 0)
			return mask;
		free(mask);
		if (errno != EINVAL) /* EINVAL: the kernel's masks are longer */
			return NULL;
	}
	return NULL;
}

/* Adds the allowed part of cpus, if there is one. */
static void add(struct masks *cores, const unsigned char *allowed, hwloc_const_cpuset_t cpus)
{
	unsigned char *to = cores->mask + (size_t)cores->n * cores->bytes;
	bool any = false;
	unsigned cpu;

	hwloc_bitmap_foreach_begin(cpu, cpus) if (has(allowed, cores->bytes, cpu))
	{
		to[cpu / 8] |= (unsigned char)(1 << cpu % 8);
		any = true;
	}
	hwloc_bitmap_foreach_end();
	cores->n += any;
}

/* hwloc reports a hidden /sys on stderr; here that is no error.  NULL: nothing is known. */
static hwloc_topology_t load_topology(void)
{
	static const char hide[] = "HWLOC_HIDE_ERRORS";
	const bool users = getenv(hide) != NULL;
	hwloc_topology_t topology;

	setenv(hide, "2", 0);
	if (hwloc_topology_init(&topology)) {
		topology = NULL;
	} else if (hwloc_topology_load(topology)) {
		hwloc_topology_destroy(topology);
		topology = NULL;
	}
	if (!users)
		unsetenv(hide); /* not for the ranks */
	return topology;
}

static void add_cores(struct masks *cores, const unsigned char *allowed)
{
	hwloc_topology_t topology = load_topology();
	hwloc_obj_t core = NULL;

	if (!topology)
		return;
	while ((core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)))
		add(cores, allowed, core->cpuset);
	hwloc_topology_destroy(topology);
}

/* The cores that may be used; where hwloc finds none (no /sys), each CPU is one. */
static int find_cores(struct masks *cores)
{
	unsigned char *allowed = pldi_allowed_cpus(&cores->bytes);

	cores->n = 0;
	cores->mask = allowed ? calloc(cores->bytes * 8, cores->bytes) : NULL;
	if (!cores->mask)
		return -1;
	add_cores(cores, allowed);
	for (unsigned cpu = 0; cores->n == 0 && cpu < cores->bytes * 8; cpu++) {
		if (has(allowed, cores->bytes, cpu)) {
			cores->mask[(size_t)cores->n * cores->bytes + cpu / 8] |=
				(unsigned char)(1 << cpu % 8);
			cores->n++;
		}
	}
	free(allowed);
	return cores->n ? 0 : -1;
}

/* For --bind strict: -1 when a rank would share its core, and that is said. */
static int check_strict(const struct pldi_options *o, const struct masks *cores)
{
	for (int r = 0; r < o->launch.nranks; r++) {
		int device = o->devices ? o->devices[r] : r;

		if (device >= cores->n) {
			fprintf(stderr,
				"pldrun: --bind strict: rank %d is for core %d, but only %d "
				"core%s may be used\n",
				r, device, cores->n, cores->n == 1 ? "" : "s");
			return -1;
		}
	}
	return 0;
}

static int choose(struct pldi_options *o, const struct masks *cores)
{
	const unsigned nranks = (unsigned)o->launch.nranks;

	if (o->bind == PLDI_BIND_STRICT && check_strict(o, cores))
		return -1;
	o->cpus = calloc(nranks, cores->bytes);
	if (!o->cpus) {
		fputs("pldrun: no memory\n", stderr);
		return -1;
	}
	for (unsigned r = 0; r < nranks; r++) {
		int core = (o->devices ? o->devices[r] : (int)r) % cores->n;

		memcpy(o->cpus + r * cores->bytes, cores->mask + (size_t)core * cores->bytes,
		       cores->bytes);
	}
	o->launch.cpus = o->cpus;
	o->launch.cpus_bytes = cores->bytes;
	return 0;
}

int pldi_bind_ranks(struct pldi_options *o)
{
	struct masks cores;
	int rc;

	if (o->bind == PLDI_BIND_NONE)
		return 0;
	if (find_cores(&cores)) {
		fprintf(stderr, "pldrun: --bind: this process's CPUs cannot be known: %s\n",
			strerror(errno));
		return -1;
	}
	rc = choose(o, &cores);
	free(cores.mask);
	return rc;
}

void pldi_topology(char *text, size_t text_bytes)
{
	static const struct {
		hwloc_obj_type_t type;
		const char *name;
	} kinds[] = {
		{ HWLOC_OBJ_PACKAGE, "package" },
		{ HWLOC_OBJ_NUMANODE, "NUMA node" },
		{ HWLOC_OBJ_CORE, "core" },
		{ HWLOC_OBJ_PU, "hardware thread" },
	};
	hwloc_topology_t topology = load_topology();
	size_t used = 0;

	snprintf(text, text_bytes, "not known");
	for (size_t i = 0; topology && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int n = hwloc_get_nbobjs_by_type(topology, kinds[i].type);

		if (n > 0 && used < text_bytes)
			used += (size_t)snprintf(text + used, text_bytes - used, "%s%d %s%s",
						 used ? ", " : "", n, kinds[i].name,
						 n == 1 ? "" : "s");
	}
	if (topology)
		hwloc_topology_destroy(topology);
}
