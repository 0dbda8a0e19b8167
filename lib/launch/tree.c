/* tree.c - killing a tree of processes from its root, which is a subreaper. */
#include "config.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pldi_process.h"
#include "pldi_tree.h"

/*
 * Only children of this process are killed by number: a child that was not reaped keeps its number,
 * so it cannot be anybody else's.  A grandchild becomes a child when its parent has died, because
 * this process is a subreaper; so a tree of any shape is gone after as many rounds as it is deep.
 */
enum { MOST = 512, DEPTH_MOST = 64 };

/* ---- who is there ---------------------------------------------------------------------------- */

/* Numbers in a file of /proc, "12 13 14 ".  -1: there is no such file. */
static int read_numbers(const char *path, pid_t *list, int most)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), n = 0;
	char text[4096];
	pid_t pid = 0;
	ssize_t got;

	if (fd < 0)
		return -1;
	while ((got = read(fd, text, sizeof(text))) > 0) {
		for (ssize_t i = 0; i < got; i++) {
			if (isdigit((unsigned char)text[i])) {
				pid = pid * 10 + (text[i] - '0');
			} else if (pid) {
				if (n < most)
					list[n++] = pid;
				pid = 0;
			}
		}
	}
	close(fd);
	return n;
}

/* Parent of pid, or 0; *launcher: it is a pldrun. */
static pid_t look_at(pid_t pid, bool *launcher)
{
	struct pldi_process p = { .parent = 0 };

	pldi_process_look(pid, &p);
	*launcher = p.launcher;
	return p.parent;
}

/* For a kernel without the files "children". */
static int scan_all(pid_t pid, pid_t *list, int most)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	bool launcher;
	int n = 0;

	if (!dir)
		return 0;
	while (n < most && (entry = readdir(dir))) {
		pid_t child = isdigit((unsigned char)*entry->d_name) ? atoi(entry->d_name) : 0;

		if (child && look_at(child, &launcher) == pid)
			list[n++] = child;
	}
	closedir(dir);
	return n;
}

int pldi_children(pid_t pid, pid_t *list, int most)
{
	char path[96];
	struct dirent *entry;
	int n = 0, got = 0;
	DIR *dir;

	if (!pldi_process_visible())
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while (got >= 0 && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)*entry->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children", (int)pid,
			 entry->d_name);
		got = read_numbers(path, list + n, most - n);
		n += got > 0 ? got : 0;
	}
	closedir(dir);
	/* no file: the thread has just ended, or the kernel has none at all */
	if (got < 0 && n == 0 && access("/proc/self/task", F_OK) == 0)
		return scan_all(pid, list, most);
	return n;
}

/* ---- signals --------------------------------------------------------------------------------- */

/*
 * Who is signalled first is the parent, so that a script does not go on with its next command; but
 * its children are listed before, because its death makes them ours.  A pldrun among them passes
 * signals on itself.
 */
static void signal_one(pid_t pid, int fd, int sig, int depth);

static void signal_child(pid_t pid, pid_t parent, int sig, int depth)
{
	/* the descriptor keeps the number from being another's between the check and the signal */
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	bool launcher;
	pid_t of;

	if (fd < 0)
		return;
	of = look_at(pid, &launcher);
	if (of && (of == parent || of == getpid()))
		signal_one(pid, fd, sig, launcher ? DEPTH_MOST : depth);
	close(fd);
}

static void signal_one(pid_t pid, int fd, int sig, int depth)
{
	pid_t list[MOST];
	int n = depth < DEPTH_MOST ? pldi_children(pid, list, MOST) : 0;

	if (fd >= 0)
		syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
	else
		kill(pid, sig);
	for (int i = 0; i < n; i++)
		signal_child(list[i], pid, sig, depth + 1);
}

void pldi_tree_signal(pid_t pid, int sig)
{
	bool launcher;

	look_at(pid, &launcher);
	signal_one(pid, -1, sig, launcher ? DEPTH_MOST : 0);
}

static bool is_in(pid_t pid, const pid_t *list, int n)
{
	for (int i = 0; i < n; i++)
		if (list[i] == pid)
			return true;
	return false;
}

int pldi_tree_kill_children(const pid_t *spared, int nspared)
{
	pid_t list[MOST];
	int n = pldi_children(getpid(), list, MOST), refused = 0, killed = 0;

	for (int i = 0; i < n; i++) {
		if (is_in(list[i], spared, nspared))
			continue;
		if (kill(list[i], SIGKILL) == 0)
			killed++;
		else
			refused++;
	}
	return !killed && (refused || !pldi_process_visible()) ? -1 : 0;
}

/* Reaps the dead among the children; returns whether one that is not spared is left. */
static bool reap(const pid_t *spared, int nspared)
{
	pid_t list[MOST];
	bool left = false;
	int n;

	if (nspared == 0) {
		pid_t pid;

		while ((pid = waitpid(-1, NULL, WNOHANG | __WALL)) > 0 ||
		       (pid < 0 && errno == EINTR))
			continue;
		return pid == 0;
	}
	n = pldi_children(getpid(), list, MOST);
	for (int i = 0; i < n; i++)
		if (!is_in(list[i], spared, nspared) &&
		    waitpid(list[i], NULL, WNOHANG | __WALL) != list[i])
			left = true;
	return left;
}

void pldi_tree_end(const pid_t *spared, int nspared)
{
	struct timespec pause = { 0, 200000 };

	/* a process in an uninterruptible system call dies later: waited for, ever less often */
	while (reap(spared, nspared) && pldi_tree_kill_children(spared, nspared) == 0) {
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 20000000)
			pause.tv_nsec *= 2;
	}
}
