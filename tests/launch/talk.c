/*
 * talk.c - prints lines that check-output can tell apart: "RANK NUMBER LENGTH text", in writes that
 * begin and end anywhere.
 *
 * talk LINES LONGEST WHERE: WHERE is "out", "err", or "both", which alternates.  The last line has
 * no newline when LINES is odd.
 */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t state;

static uint32_t next(uint32_t below)
{
	state = state * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)state * below >> 32);
}

static void write_all(int fd, const char *text, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, text, bytes);

		if (n < 0)
			exit(97);
		text += n;
		bytes -= (size_t)n;
	}
}

int main(int argc, char **argv)
{
	const int rank = argc > 3 ? atoi(getenv("PLD_RANK")) : 0;
	const uint32_t lines = argc > 3 ? (uint32_t)atoi(argv[1]) : 0;
	const uint32_t longest = argc > 3 ? (uint32_t)atoi(argv[2]) : 0;
	const int err = argc > 3 && argv[3][0] == 'e', both = argc > 3 && argv[3][0] == 'b';
	char *text = malloc(longest + 64);

	if (!text)
		return 98;
	state = (uint32_t)rank * 7919u + 1;
	for (uint32_t i = 0; i < lines; i++) {
		const int fd = err || (both && i % 2) ? STDERR_FILENO : STDOUT_FILENO;
		uint32_t length = next(next(20) == 0 ? longest : 60), done = 0, n;

		n = (uint32_t)sprintf(text, "%d %u %u ", rank, i, length);
		memset(text + n, 'a' + (int)(i % 26), length);
		n += length;
		if (i + 1 < lines || lines % 2 == 0)
			text[n++] = '\n';
		while (done < n) {
			uint32_t piece = next(8) == 0 ? 1 + next(n - done) : n - done;

			write_all(fd, text + done, piece);
			done += piece;
		}
	}
	free(text);
	return 0;
}
