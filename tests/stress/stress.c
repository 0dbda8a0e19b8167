/* stress.c - workers, their time and their seed. */
#include "config.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pldi_clock.h"
#include "pldi_patience.h"
#include "stress.h"

#define HANG_SECONDS 20 /* over the time of the run */

static char hang_text[80]; /* made before the alarm can go off */

static void on_alarm(int sig)
{
	(void)sig;
	if (write(STDOUT_FILENO, hang_text, strlen(hang_text)) < 0)
		_exit(2);
	_exit(1);
}

static cpu_set_t allowed(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set)) {
		CPU_ZERO(&set);
		CPU_SET(0, &set);
	}
	return set;
}

struct stress stress_begin(const char *name, double seconds)
{
	const char *time_text = getenv("STRESS_SECONDS"), *seed_text = getenv("STRESS_SEED");
	cpu_set_t set = allowed();
	struct stress s = { .name = name, .cpus = CPU_COUNT(&set) };

	s.long_run = time_text && *time_text;
	if (s.long_run)
		seconds = atof(time_text);
	s.run_ns = (int64_t)(seconds * 1e9);
	s.seed = seed_text ? strtoull(seed_text, NULL, 0) : (uint64_t)pldi_now_ns();
	s.seed += s.seed == 0;
	s.threads = getenv("STRESS_THREADS") != NULL;
#ifdef PLD_SANITIZE_THREAD
	s.threads = true;
#endif
	printf("%s: %.1f s, STRESS_SEED=%llu\n", name, seconds, (unsigned long long)s.seed);
	fflush(stdout);
	return s;
}

void *stress_shared(size_t bytes)
{
	/* cppcheck-suppress invalidFunctionArg ; -1: an anonymous mapping has no file */
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return p;
}

/* ---- workers --------------------------------------------------------------------------------- */

struct worker {
	int n;
	int (*fn)(int worker, void *arg);
	void *arg;
};

/* The worker's own CPU: two that share one seldom meet in the middle of anything. */
static void pin(int n)
{
	cpu_set_t set = allowed(), one;
	int skip = n % CPU_COUNT(&set);

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &set) || skip-- > 0)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

static void *run_worker(void *p)
{
	const struct worker *w = p;

	pin(w->n);
	return (void *)(intptr_t)w->fn(w->n, w->arg);
}

static int run_threads(struct worker *w, int n)
{
	pthread_t *thread = calloc((size_t)n, sizeof(*thread));
	void *result;
	int failed = 0;

	for (int i = 0; i < n; i++) {
		if (!thread || pthread_create(&thread[i], NULL, run_worker, &w[i])) {
			printf("no thread for worker %d\n", i);
			exit(1);
		}
	}
	for (int i = 0; i < n; i++) {
		pthread_join(thread[i], &result);
		failed += (int)(intptr_t)result;
	}
	free(thread);
	return failed;
}

static int run_processes(struct worker *w, int n)
{
	int failed = 0, status;

	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			printf("no process for worker %d\n", i);
			exit(1);
		}
		if (pid == 0) {
			/* when the parent finds that this hangs, it ends */
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			i = (int)(intptr_t)run_worker(&w[i]);
			fflush(stdout);
			_exit(i ? 1 : 0);
		}
	}
	for (int i = 0; i < n; i++) {
		if (wait(&status) > 0)
			failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	}
	return failed;
}

int stress_run(const struct stress *s, int n, int (*fn)(int worker, void *arg), void *arg)
{
	struct worker *w = calloc((size_t)n, sizeof(*w));
	struct sigaction hang = { .sa_handler = on_alarm };
	int failed;

	if (!w)
		return 1;
	for (int i = 0; i < n; i++)
		w[i] = (struct worker){ i, fn, arg };
	snprintf(hang_text, sizeof(hang_text), "%s: hangs, long after its time\n", s->name);
	sigaction(SIGALRM, &hang, NULL);
	alarm((unsigned)(s->run_ns / 1000000000) + HANG_SECONDS);
	fflush(stdout);
	failed = s->threads ? run_threads(w, n) : run_processes(w, n);
	alarm(0);
	free(w);
	return failed;
}

/* ---- duels ----------------------------------------------------------------------------------- */

struct ring {
	struct {
		_Alignas(128) _Atomic uint32_t round; /* that the worker has come to */
	} side[2];
	_Alignas(128) struct stress_result result;
	struct stress_duel duel;
	int64_t until_ns;
	uint64_t seed;
	bool stop;
};

/* Both workers return at about the same time, and each sees what the other did before. */
static void meet(struct ring *r, int worker, uint32_t round)
{
	int looks = 0;

	/* release and acquire: pair with the other worker's */
	atomic_store_explicit(&r->side[worker].round, round, memory_order_release);
	while (atomic_load_explicit(&r->side[1 - worker].round, memory_order_acquire) < round) {
		if (++looks % 1024 == 0)
			sched_yield(); /* the other may have no CPU */
		else
			pldi_cpu_pause();
	}
}

/* Up to some 20 ns, at random: sweeps the distance between two workers that have just met. */
static void delay(uint64_t *random)
{
	for (volatile unsigned i = stress_random(random) % 16; i > 0; i--)
		continue;
}

static int fight(int worker, void *arg)
{
	struct ring *r = arg;
	const struct stress_duel *d = &r->duel;
	uint64_t random = r->seed + (uint64_t)worker;
	uint32_t n = 0;

	do {
		for (int i = 0; i < STRESS_BATCH; i++) {
			d->aim(worker, i, d->arg);
			meet(r, worker, ++n);
			delay(&random);
			d->play(worker, i, d->arg);
		}
		meet(r, worker, ++n);
		if (worker == 0) {
			r->result.forbidden += d->judge(d->arg);
			r->result.rounds += STRESS_BATCH;
			r->stop = pldi_now_ns() > r->until_ns || n > UINT32_MAX / 2;
		}
		meet(r, worker, ++n);
	} while (!r->stop);
	return 0;
}

struct stress_result stress_duel(const struct stress *s, const struct stress_duel *d,
				 int64_t run_ns)
{
	static struct ring *r;

	if (!r)
		r = stress_shared(sizeof(*r));
	*r = (struct ring){ .duel = *d, .until_ns = pldi_now_ns() + run_ns, .seed = s->seed };
	if (stress_run(s, 2, fight, r))
		r->result.forbidden++;
	return r->result;
}
