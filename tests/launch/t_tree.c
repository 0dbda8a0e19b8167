/* t_tree.c - finding and ending descendants. */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/unit.h"
#include "pldi_tree.h"

enum { MOST = 64 };

/* A chain of processes, each the child of the one before; all tell when they are there. */
static pid_t chain(int depth, int tell)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (depth > 1)
		chain(depth - 1, tell);
	if (write(tell, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void wait_for(int fd, int n)
{
	char byte;

	while (n-- > 0)
		ck_assert(read(fd, &byte, 1) == 1);
}

/* The write ends of a pipe that all of a tree have: when it is closed, none is left. */
static void expect_all_gone(int fds[2])
{
	char byte;

	close(fds[1]);
	ck_assert_int_eq(read(fds[0], &byte, 1), 0);
	ck_assert(waitpid(-1, NULL, 0) < 0);
}

START_TEST(ends_deep_and_wide)
{
	int fds[2];

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	ck_assert(pipe(fds) == 0);
	for (int i = 0; i < 5; i++)
		ck_assert(chain(1 + i * 4, fds[1]) > 0);
	wait_for(fds[0], 1 + 5 + 9 + 13 + 17);
	pldi_tree_end(NULL, 0);
	expect_all_gone(fds);
}
END_TEST

START_TEST(spares)
{
	pid_t list[MOST], spared;
	int fds[2], status;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	ck_assert(pipe(fds) == 0);
	spared = chain(1, fds[1]);
	ck_assert(chain(3, fds[1]) > 0);
	wait_for(fds[0], 4);
	ck_assert_int_eq(pldi_children(getpid(), list, MOST), 2);
	pldi_tree_end(&spared, 1);
	ck_assert_int_eq(pldi_children(getpid(), list, MOST), 1);
	ck_assert_int_eq(list[0], spared);
	ck_assert(kill(spared, SIGKILL) == 0 && waitpid(spared, &status, 0) == spared);
	expect_all_gone(fds);
}
END_TEST

/* A signal reaches the whole chain, also where a parent's death has moved a child. */
START_TEST(signals_all)
{
	int fds[2];
	pid_t pid;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	ck_assert(pipe(fds) == 0);
	pid = chain(6, fds[1]);
	wait_for(fds[0], 6);
	pldi_tree_signal(pid, SIGUSR1); /* SIGTERM: Check handles it */
	for (int i = 0, status; i < 6; i++)
		ck_assert(wait(&status) > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
	expect_all_gone(fds);
}
END_TEST

/* Every child is seen, however many there are and whatever they are called. */
START_TEST(sees_children)
{
	pid_t list[MOST];
	int fds[2];

	ck_assert(pipe(fds) == 0);
	for (int i = 0; i < 40; i++) {
		pid_t pid = fork();

		ck_assert(pid >= 0);
		if (pid == 0) {
			prctl(PR_SET_NAME, ") S 1 (");
			ck_assert(write(fds[1], "x", 1) == 1);
			for (;;)
				pause();
		}
	}
	wait_for(fds[0], 40);
	ck_assert_int_eq(pldi_children(getpid(), list, MOST), 40);
	ck_assert_int_eq(pldi_children(getpid(), list, 7), 7);
	ck_assert_int_eq(pldi_children(list[0], list, MOST), 0);
	pldi_tree_end(NULL, 0);
	expect_all_gone(fds);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_test(tc, ends_deep_and_wide);
	tcase_add_test(tc, spares);
	tcase_add_test(tc, signals_all);
	tcase_add_test(tc, sees_children);
}

int main(void)
{
	return unit_run("tree", add);
}
