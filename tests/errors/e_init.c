/*
 * e_init.c - joining and leaving: calls before pld_init, after pld_finalize and in forked children,
 * configurations, PLD_* variables, and what is wrong with the job that a launcher says there is.
 * Each case is a process of its own.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "errors.h"
#include "pldi_job.h"
#include "pldi_launched.h"

/* ---- every call outside a job ---------------------------------------------------------------- */

static void all_calls_fail(pld_ctx c, const char *text)
{
	FAILS(pld_world(), PL_ELEVEL, "pld_world", text);
	FAILS(pld_world_size(), PL_ELEVEL, "pld_world_size", text);
	FAILS(pld_world_rank(c, 0), PL_ELEVEL, "pld_world_rank", text);
	FAILS(pld_domain_subset(c, (int[]){ 0 }, 1), PL_ELEVEL, "pld_domain_subset", text);
	FAILS(pld_domain_split(c, 0, 0), PL_ELEVEL, "pld_domain_split", text);
	FAILS(pld_domain_free(c), PL_ELEVEL, "pld_domain_free", text);
	FAILS(pld_host_tensor(PL_SHAPE(4), PL_INT32), PL_ELEVEL, "pld_host_tensor", text);
	FAILS(pld_host_free((pl_tensor){ 0 }), PL_ELEVEL, "pld_host_free", text);
	FAILS(pld_alloc_window_buffer(.bytes = 8), PL_ELEVEL, "pld_alloc_window_buffer", text);
	FAILS(pld_new_window(PL_SHAPE(4), PL_INT32), PL_ELEVEL, "pld_new_window", text);
	FAILS(pld_window((pld_buffer){ 0 }, PL_SHAPE(4), PL_INT32), PL_ELEVEL, "pld_window", text);
	FAILS(pld_free_window_buffer((pld_buffer){ 0 }), PL_ELEVEL, "pld_free_window_buffer", text);
	FAILS(pld_barrier(c), PL_ELEVEL, "pld_barrier", text);
	FAILS(PLD_HOST(errors_state()->failed++), PL_ELEVEL, "PLD_HOST", text);
	FAILS(PLD_DISPATCH(0, errors_state()->failed++), PL_ELEVEL, "PLD_DISPATCH", text);
	FAILS(PLD_INCORE(errors_state()->failed++), PL_ELEVEL, "PLD_INCORE", text);
	FAILS(pld_finalize(), PL_ELEVEL, "pld_finalize", text);
}

/* What is local works without a job. */
static void local_works(void)
{
	int32_t mine[4] = { 1, 2, 3, 4 };
	pl_tensor x = pl_wrap(mine, PL_SHAPE(4), PL_INT32);

	WORKS(x);
	PL_SCOPE {
		WORKS(pl_store(pl_add(pl_load(x, PL_AT(0), PL_SHAPE(4)), 1), PL_AT(0), x));
	}
	HOLDS(mine[0] == 2 && mine[3] == 5);
}

static void before_init(void)
{
	all_calls_fail((pld_ctx){ 0 }, "called before pld_init");
	local_works();
	FAILS(pl_dynamic("NR"), PL_EINVAL, "pl_dynamic", "'NR' is bound to nothing; *");
}

static void after_finalize(void)
{
	pld_tensor w;
	pld_buffer b;
	pld_ctx world;

	WORKS(pld_init(NULL));
	world = pld_world();
	b = pld_alloc_window_buffer(.bytes = 64);
	w = pld_window(b, PL_SHAPE(16), PL_INT32);
	place(PL_WHERE), pld_finalize();
	all_calls_fail(world, "called after pld_finalize at @");
	FAILS(pld_free_window_buffer(b), PL_ELEVEL, "pld_free_window_buffer",
	      "called after pld_finalize at @");
	FAILS(pld_put(w, 0, w), PL_EINVAL, "pld_put", "dst: window freed by pld_finalize at @");
	FAILS(pld_notify(w, 0, PL_AT(0), 1, PLD_NOTIFY_ADD), PL_EINVAL, "pld_notify",
	      "signal: window freed by pld_finalize at @");
	FAILS(pld_barrier(w), PL_EINVAL, "pld_barrier",
	      "signal: window freed by pld_finalize at @");
	FAILS(pl_read_int(w, PL_AT(0)) ? PL_OK : (int)pl_last_error()->status, PL_EINVAL,
	      "pl_read_int", "t: window freed by pld_finalize at @");
	local_works();
	HOLDS(pld_version() && strcmp(pld_version(), PACKAGE_VERSION) == 0);
}

static void init_twice(void)
{
	int failed = 0, status;
	pid_t pid;

	place(PL_WHERE), pld_init(NULL);
	FAILS(pld_init(NULL), PL_ELEVEL, "pld_init", "called a second time; the first was at @");
	FAILS((pld_run(NULL, NULL, NULL) ? (int)pl_last_error()->status : 0), PL_EINVAL, "pld_run",
	      "body is NULL");
	pid = fork();
	if (pid == 0) {
		FAILS(pld_init(NULL), PL_ELEVEL, "pld_init",
		      "called in a forked child, which is no rank");
		all_calls_fail((pld_ctx){ 0 }, "called in a forked child, which is no rank");
		_exit(errors_state()->failed);
	}
	HOLDS(waitpid(pid, &status, 0) == pid && status == failed);
	WORKS(pld_finalize());
	FAILS(pld_init(NULL), PL_ELEVEL, "pld_init", "called a second time; the first was at @");
}

/* The rank goes on after its child has tried everything. */
static void forked_child(void)
{
	pld_tensor w;
	int status;
	pid_t pid;

	WORKS(pld_init(NULL));
	w = pld_new_window(PL_SHAPE(4), PL_INT32);
	pid = fork();
	if (pid == 0) {
		const char text[] = "called in a forked child, which is no rank";
		const struct pld_condition c = { w, PL_AT(0), 0, PLD_WAIT_GE };

		all_calls_fail(pld_get_comm_ctx(w), text);
		FAILS(pld_free_window(w), PL_ELEVEL, "pld_free_window", text);
		FAILS(pld_all(w), PL_ELEVEL, "pld_all", text);
		FAILS(pld_put(w, 0, w), PL_ELEVEL, "pld_put", text);
		FAILS(pld_get(w, 0, w), PL_ELEVEL, "pld_get", text);
		FAILS(pld_notify(w, 0, PL_AT(0), 1, PLD_NOTIFY_SET), PL_ELEVEL, "pld_notify", text);
		FAILS(pld_wait(w, PL_AT(0), 0, PLD_WAIT_GE), PL_ELEVEL, "pld_wait", text);
		FAILS(pld_wait_for(w, PL_AT(0), 0, PLD_WAIT_GE, 0), PL_ELEVEL, "pld_wait_for",
		      text);
		FAILS(pld_wait_any(&c, 1, 0), PL_ELEVEL, "pld_wait_any", text);
		FAILS(pld_test(w, PL_AT(0), 0, PLD_WAIT_GE), PL_ELEVEL, "pld_test", text);
		FAILS(pld_barrier(w), PL_ELEVEL, "pld_barrier", text);
		FAILS(pld_remote_load(w, 0, PL_AT(0), PL_SHAPE(1)), PL_ELEVEL, "pld_remote_load",
		      text);
		local_works();
		exit(errors_state()
			     ->failed); /* not _exit: pld's handler must not take it for the rank */
	}
	HOLDS(waitpid(pid, &status, 0) == pid && status == 0);
	WORKS(pld_notify(w, 0, PL_AT(0), 1, PLD_NOTIFY_ADD));
	WORKS(pld_wait(w, PL_AT(0), 1, PLD_WAIT_EQ));
	WORKS(pld_finalize());
}

/* ---- configurations -------------------------------------------------------------------------- */

static int nothing(void *arg)
{
	(void)arg;
	return 0;
}

/* pld_run has no status but 1. */
static int ran(const struct pld_config *c, const char *where)
{
	return (pld_run)(c, nothing, NULL, where) ? (int)pl_last_error()->status : PL_OK;
}

static const struct {
	struct pld_config config;
	pl_status status;
	const char *text;
} configs[] = {
	{ PLD_CONFIG(.ndevices = -1), PL_EINVAL, "-1 devices; allowed: 0 to 4096" },
	{ PLD_CONFIG(.ndevices = 4097), PL_EINVAL, "4097 devices; allowed: 0 to 4096" },
	{ PLD_CONFIG(.default_ndevices = -1), PL_EINVAL,
	  "default of -1 devices; allowed: 0 to 4096" },
	{ PLD_CONFIG(.default_ndevices = 5000), PL_EINVAL,
	  "default of 5000 devices; allowed: 0 to 4096" },
	{ PLD_CONFIG(.workers = -1), PL_EINVAL, "-1 workers" },
	{ PLD_CONFIG(.workers = 1), PL_EUNSUPPORTED, "1 workers; only 0 is supported" },
	{ PLD_CONFIG(.reserve_bytes = -4096), PL_EINVAL, "reserve of -4096 bytes" },
	{ PLD_CONFIG(.ndevices = 2, .device_ids = (const int[]){ 0, -1 }), PL_EINVAL,
	  "device_ids[1] is -1; ids are >= 0" },
	{ PLD_CONFIG(.ndevices = 3, .device_ids = (const int[]){ 4, 0, 4 }), PL_EINVAL,
	  "device_ids[0] and [2] are both 4" },
	{ PLD_CONFIG(.counters = (pld_counters)-1), PL_EINVAL,
	  "counters is -1; allowed: PLD_COUNTERS_OFF (0), PLD_COUNTERS_ON (1)" },
	{ PLD_CONFIG(.counters = (pld_counters)2), PL_EINVAL,
	  "counters is 2; allowed: PLD_COUNTERS_OFF (0), PLD_COUNTERS_ON (1)" },
	{ { .ndevices = 1 },
	  PL_EINVAL,
	  "options without their size: size_ is 0; use the macro *(..), or set size_ to the "
	  "struct's size" },
};

static void wrong_configs(void)
{
	struct {
		struct pld_config known;
		int64_t unknown;
	} newer = { { .size_ = sizeof(newer) }, 3 };

	for (size_t i = 0; i < sizeof(configs) / sizeof(configs[0]); i++) {
		const struct pld_config *c = &configs[i].config;

		FAILS(pld_init(c), configs[i].status, "pld_init", configs[i].text);
		FAILS(ran(c, PL_WHERE), configs[i].status, "pld_run", configs[i].text);
	}
	FAILS(pld_init(&newer.known), PL_EINVAL, "pld_init",
	      "options of * bytes with a value at byte *, this library knows *: the program is "
	      "newer than the library");
	/* none of them has made this process a rank */
	WORKS(pld_init(NULL));
	WORKS(pld_finalize());
}

/* ---- parameters ------------------------------------------------------------------------------ */

static const struct {
	const char *name, *value, *text;
} params[] = {
	{ "PLD_SPIN_US", "", "PLD_SPIN_US='' is not a whole number of us from 0 to 1000000" },
	{ "PLD_SPIN_US", "-1", "PLD_SPIN_US='-1' is not a whole number of us from 0 to 1000000" },
	{ "PLD_SPIN_US", "1000001",
	  "PLD_SPIN_US='1000001' is not a whole number of us from 0 to 1000000" },
	{ "PLD_SPIN_US", "20us",
	  "PLD_SPIN_US='20us' is not a whole number of us from 0 to 1000000" },
	{ "PLD_SPIN_US", " 20", "PLD_SPIN_US=' 20' is not a whole number of us from 0 to 1000000" },
	{ "PLD_SPIN_US", "0x10",
	  "PLD_SPIN_US='0x10' is not a whole number of us from 0 to 1000000" },
	{ "PLD_SPIN_US", "1e3", "PLD_SPIN_US='1e3' is not a whole number of us from 0 to 1000000" },
	{ "PLD_YIELDS", "99999999999999999999",
	  "PLD_YIELDS='99999999999999999999' is not a whole number of times from 0 to 1000000" },
	{ "PLD_ARENA_MB", "0", "PLD_ARENA_MB='0' is not a whole number of MiB from 1 to 1048576" },
	{ "PLD_ARENA_MB", "+5",
	  "PLD_ARENA_MB='+5' is not a whole number of MiB from 1 to 1048576" },
	{ "PLD_DIMS", "M",
	  "PLD_DIMS: 'M' is not NAME=VALUE, a name and a whole number from 0 to *" },
	{ "PLD_DIMS", "M=4,N=-1",
	  "PLD_DIMS: 'N=-1' is not NAME=VALUE, a name and a whole number from 0 to *" },
};

static void wrong_params(void)
{
	for (size_t i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			setenv(params[i].name, params[i].value, 1);
			FAILS(pld_init(NULL), PL_EINVAL, "pld_init", params[i].text);
			_exit(errors_state()->failed);
		}
		HOLDS(waitpid(pid, &status, 0) == pid && status == 0);
	}
}

/* ---- what a launcher says -------------------------------------------------------------------- */

/* A job of two ranks: its segment and a pipe. */
struct job {
	struct pldi_segment seg;
	int told[2];
};

static struct job make_job(void)
{
	struct job j;
	char text[512];

	if (pldi_segment_create(2, 1 << 20, 0, &j.seg, text, sizeof(text)) || pipe(j.told))
		abort();
	return j;
}

static void say_job(unsigned abi, int seg_fd, int told_fd, const char *rank, const char *nranks)
{
	struct pldi_job_env e = {
		.seg.fd = seg_fd, .status.fd = told_fd, .door = "-", .secret = "-"
	};
	char job[PLDI_JOB_TEXT], other[PLDI_JOB_TEXT + 16];

	pldi_job_fd_know(&e.seg);
	pldi_job_fd_know(&e.status);
	pldi_job_env_write(&e, job);
	snprintf(other, sizeof(other), "%u%s", abi, strchr(job, ':'));
	setenv("PLD_JOB", other, 1);
	setenv("PLD_RANK", rank, 1);
	setenv("PLD_NRANKS", nranks, 1);
}

static void wrong_words(void)
{
	/* behind the number of the version */
	static const char *const jobs[] = { "",
					    "x",
					    ":2",
					    ":2:3",
					    ":2:3:4:5:6:7:-",
					    ":2:3:4:5:6:7:-:-:",
					    ":2:3:4:5:6:7:-:-x",
					    ":2:3:4:5:6:7:-:G",
					    ":2:3:4:5:6:7::-",
					    ": 2:3:4:5:6:7:-:-",
					    ":+2:3:4:5:6:7:-:-",
					    ":2:3:-4:5:6:7:-:-",
					    ":2:3:04:5:6:7:-:-",
					    ":2:3:4:5:6:99999999999999999999:-:-",
					    ",2,3,4,5,6,7,-,-" };
	static const char *const others[] = { "", "x", ":", ":2:3" }; /* without one */
	char text[120], job[64];

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		snprintf(job, sizeof(job), "%u%s", PLDI_ABI, jobs[i]);
		setenv("PLD_JOB", job, 1);
		snprintf(text, sizeof(text), "PLD_JOB='%s' is not what pldrun sets", job);
		FAILS(pld_init(NULL), PL_EINVAL, "pld_init", text);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		setenv("PLD_JOB", others[i], 1);
		snprintf(text, sizeof(text), "PLD_JOB='%s' is not what pldrun sets", others[i]);
		FAILS(pld_init(NULL), PL_EINVAL, "pld_init", text);
	}
	say_job(PLDI_ABI + 1, 0, 0, "0", "2");
	FAILS(pld_init(NULL), PL_ESYS, "pld_init",
	      "pldrun has segment layout *, this library has *: pldrun and libpld are of "
	      "different versions");
	say_job(PLDI_ABI, 900, 901, "0", "2");
	FAILS(pld_init(NULL), PL_ESYS, "pld_init",
	      "the job's descriptors 900 and 901 are closed or other files, for a wrapper or a rank "
	      "has started this process; there is no socket to get them by");
	FAILS(ran(NULL, PL_WHERE), PL_ESYS, "pld_run",
	      "the job's descriptors 900 and 901 are closed or other files, for a wrapper or a rank "
	      "has started this process; there is no socket to get them by");
}

static void wrong_numbers(void)
{
	static const struct {
		const char *rank, *nranks, *text;
	} numbers[] = {
		{ "0", "", "PLD_NRANKS='' is not what pldrun sets: a whole number from 1 to 4096" },
		{ "0", "0",
		  "PLD_NRANKS='0' is not what pldrun sets: a whole number from 1 to 4096" },
		{ "0", "4097",
		  "PLD_NRANKS='4097' is not what pldrun sets: a whole number from 1 to 4096" },
		{ "0", "2x",
		  "PLD_NRANKS='2x' is not what pldrun sets: a whole number from 1 to 4096" },
		{ "-1", "2", "PLD_RANK='-1' is not what pldrun sets: a whole number from 0 to 1" },
		{ "2", "2", "PLD_RANK='2' is not what pldrun sets: a whole number from 0 to 1" },
		{ "", "2", "PLD_RANK='' is not what pldrun sets: a whole number from 0 to 1" },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		say_job(PLDI_ABI, 0, 1, numbers[i].rank, numbers[i].nranks);
		FAILS(pld_init(NULL), PL_EINVAL, "pld_init", numbers[i].text);
	}
	unsetenv("PLD_RANK");
	FAILS(pld_init(NULL), PL_EINVAL, "pld_init",
	      "PLD_RANK='' is not what pldrun sets: a whole number from 0 to 1");
}

static void wrong_segment(void)
{
	struct job j = make_job();
	struct pldi_head_shm head = *pldi_head(j.seg.base);
	int file = memfd_create("e_init", 0);
	char text[80];

	/* another file than what the launcher had under the number */
	for (int of_segment = 0; of_segment < 2; of_segment++) {
		int fd = dup(of_segment ? j.seg.fd : j.told[1]);

		say_job(PLDI_ABI, of_segment ? fd : j.seg.fd, of_segment ? j.told[1] : fd, "0",
			"2");
		HOLDS(dup2(file, fd) == fd);
		FAILS(pld_init(NULL), PL_ESYS, "pld_init",
		      "the job's descriptors * and * are closed or other files, for a wrapper or a "
		      "rank has started this process; there is no socket to get them by");
	}
	/* a launcher that says so itself: a pipe, an empty file, one of another version */
	snprintf(text, sizeof(text), "descriptor %d is not the job's segment", j.told[0]);
	say_job(PLDI_ABI, j.told[0], j.told[1], "0", "2");
	FAILS(pld_init(NULL), PL_ESYS, "pld_init", text);
	snprintf(text, sizeof(text), "descriptor %d is not the job's segment", file);
	say_job(PLDI_ABI, file, j.told[1], "0", "2");
	FAILS(pld_init(NULL), PL_ESYS, "pld_init", text);
	head.abi++;
	HOLDS(write(file, &head, sizeof(head)) == sizeof(head));
	FAILS(pld_init(NULL), PL_ESYS, "pld_init",
	      "pldrun has segment layout *, this library has *: pldrun and libpld are of "
	      "different versions");
	say_job(PLDI_ABI, j.seg.fd, j.told[1], "0", "3");
	FAILS(pld_init(NULL), PL_EINVAL, "pld_init", "PLD_NRANKS is 3, the job has 2 ranks");
}

static void config_of_another_size(void)
{
	struct job j = make_job();
	const struct pld_config three = PLD_CONFIG(.ndevices = 3);

	say_job(PLDI_ABI, j.seg.fd, j.told[1], "0", "2");
	FAILS(pld_init(&three), PL_EINVAL, "pld_init",
	      "3 devices are listed, pldrun started 2 ranks");
}

/* A rank that forked before pld_init, and both call it. */
static void same_rank_twice(void)
{
	struct job j = make_job();
	char text[120];
	int status, seg_fd = dup(j.seg.fd), told_fd = dup(j.told[1]);
	pid_t pid = fork();

	if (pid == 0) {
		say_job(PLDI_ABI, seg_fd, told_fd, "1", "2");
		_exit(pld_init(NULL) ? 1 : 0);
	}
	HOLDS(waitpid(pid, &status, 0) == pid && status == 0);
	say_job(PLDI_ABI, seg_fd, told_fd, "1", "2");
	snprintf(text, sizeof(text),
		 "rank 1 is process %d already; a second process cannot be the same rank",
		 (int)pid);
	FAILS(pld_init(NULL), PL_EINVAL, "pld_init", text);
}

static void no_address_space(void)
{
	struct job j = make_job();
	struct rlimit as = { 64 << 20, 64 << 20 };
	const struct pld_config huge = PLD_CONFIG(.reserve_bytes = INT64_C(1) << 40);

	if (SANITIZED)
		return; /* its shadow is larger than any limit */
	pldi_segment_close(&j.seg);
	j.seg.fd = -1;
	if (pldi_segment_create(2, 1 << 30, 0, &j.seg, (char[512]){ 0 }, 512))
		abort();
	munmap(j.seg.base, j.seg.bytes);
	setrlimit(RLIMIT_AS, &as);
	say_job(PLDI_ABI, dup(j.seg.fd), dup(j.told[1]), "1", "2");
	FAILS(pld_init(NULL), PL_ESYS, "pld_init",
	      "cannot map the segment of * MiB (1024 MiB address space a rank): Cannot allocate "
	      "memory; give less with pldrun --reserve, or raise ulimit -v");
	unsetenv("PLD_JOB");
	FAILS(pld_init(&huge), PL_ESYS, "pld_init",
	      "cannot map a segment of * MiB (1 ranks, 1048576 MiB address space each): Cannot "
	      "allocate memory; give less with --reserve, or raise ulimit -v and ulimit -f");
}

/* ---- running --------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*fn)(void);
} cases[] = {
	{ "before_init", before_init },
	{ "after_finalize", after_finalize },
	{ "init_twice", init_twice },
	{ "forked_child", forked_child },
	{ "wrong_configs", wrong_configs },
	{ "wrong_params", wrong_params },
	{ "wrong_words", wrong_words },
	{ "wrong_numbers", wrong_numbers },
	{ "wrong_segment", wrong_segment },
	{ "config_of_another_size", config_of_another_size },
	{ "same_rank_twice", same_rank_twice },
	{ "no_address_space", no_address_space },
};

int main(void)
{
	int failed = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			errors_return();
			cases[i].fn();
			_exit(errors_state()->failed);
		}
		if (waitpid(pid, &status, 0) != pid || status) {
			fprintf(stderr, "%s: status %x\n", cases[i].name, (unsigned)status);
			failed++;
		}
	}
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
