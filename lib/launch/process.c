/* process.c - reading /proc. */
#include "config.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pldi_process.h"

enum { DEPTH_MOST = 64 };

/* A file of /proc/PID as a text; -1: errno. */
static int read_file(pid_t pid, const char *name, char *text, size_t bytes)
{
	char path[64];
	size_t n = 0;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	while (n < bytes - 1 && (got = read(fd, text + n, bytes - 1 - n)) > 0)
		n += (size_t)got;
	close(fd);
	text[n] = '\0';
	return 0;
}

bool pldi_process_visible(void)
{
	char text[32];
	ssize_t n = readlink("/proc/self", text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	return atoi(text) == (int)getpid();
}

int pldi_process_look(pid_t pid, struct pldi_process *p)
{
	char text[1024], *name, *name_end;
	uint64_t user, system;
	int parent;

	if (pid <= 0 || read_file(pid, "stat", text, sizeof(text)))
		return -1;
	/* "pid (name) state parent": a name may hold anything, also parentheses */
	name = strchr(text, '(');
	name_end = strrchr(text, ')');
	if (!name || !name_end ||
	    sscanf(name_end,
		   ") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
		   " %*d %*d %*d %*d %ld",
		   &p->state, &parent, &user, &system, &p->threads) != 5)
		return -1;
	p->parent = parent;
	p->cpu_ticks = user + system;
	p->launcher = strncmp(name, "(pldrun)", 8) == 0;
	return 0;
}

bool pldi_process_below(pid_t pid, pid_t root, pid_t top)
{
	struct pldi_process p;

	for (int i = 0; i < DEPTH_MOST && pid > 1; i++) {
		if (pid == root || pid == top)
			return true;
		if (pldi_process_look(pid, &p))
			return false;
		pid = p.parent;
	}
	return false;
}

static bool in_mask(const char *status, const char *name, int sig)
{
	const char *line = strstr(status, name);
	uint64_t mask;

	return line && sscanf(line + strlen(name), "%" SCNx64, &mask) == 1 &&
	       (mask >> (sig - 1) & 1);
}

int pldi_process_expects(pid_t pid, int sig)
{
	char text[4096];

	if (read_file(pid, "status", text, sizeof(text)))
		return -1;
	return in_mask(text, "\nSigBlk:", sig) || in_mask(text, "\nSigCgt:", sig);
}
