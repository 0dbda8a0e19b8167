/* output.h - what a job prints, for a test to look at. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static inline int lines(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* What the job printed on descriptor `to`, from now on into a file. */
static inline int divert(int to, int *before)
{
	int file = memfd_create("output", MFD_CLOEXEC);

	*before = fcntl(to, F_DUPFD_CLOEXEC, 100);
	if (file < 0 || *before < 0 || dup2(file, to) < 0)
		abort();
	return file;
}

static inline void restore(int to, int before, int file, char *text, size_t bytes)
{
	ssize_t n = pread(file, text, bytes - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	if (dup2(before, to) < 0)
		abort();
	close(before);
	close(file);
}

#endif
