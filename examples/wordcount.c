/*
 * Example: how often each word stands in a file of any size.
 *
 * A word is a run of the letters A-Z and a-z.  The output is that of
 *
 *	export LC_ALL=C; tr -cs A-Za-z '\n' <FILE | sed /^$/d | sort | uniq -c
 *
 *	FILE   | part of rank 0 | part of rank 1 | part of rank 2 |   a word belongs to the part
 *	              count           count            count          that it begins in
 *	                \  \         /  |  \          /  /
 *	                 v  v       v   v   v        v  v             all_to_all_v: each word to the
 *	              rank 0          rank 1          rank 2          rank that its hash says
 *	                add up          add up          add up
 *	                  \_______________|________________/          all_to_all_v: all to rank 0,
 *	                                  v                           which sorts and prints
 *
 * Between two ranks words are a stream of bytes of any length, but a window has a fixed size.  So
 * the streams go in rounds: up to --buffer bytes from each rank to each in a round, until the
 * longest has ended.  A word may well be cut by that; what arrives is put together again.
 *
 * Cost:     per round one all_to_all_v of at most (P - 1) * buffer bytes a rank; about twice the
 *           different words of each part move in all, not the file
 * Run:      pldrun -n 4 ./wordcount /usr/share/common-licenses/GPL-3
 * Prints:   a line for each word: how often, and the word
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <pld.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"
#include "words.h"

struct job {
	struct args *args;
	int64_t buffer; /* option: bytes from rank to rank in a round */
	int me, ranks;
	const char *text; /* all of the file */
	int64_t size;
	pld_tensor longest;	    /* [1] */
	pl_tensor send, send_count; /* [ranks * buffer], [ranks] */
	pld_tensor recv, recv_count;
};

static void need(const struct job *j, int status)
{
	if (status)
		args_fail(j->args, "%s: no memory for its words", j->args->file);
}

static void *room(const struct job *j, int64_t n, size_t bytes)
{
	void *at = calloc((size_t)n, bytes);

	need(j, !at);
	return at;
}

/* The file as memory; pages that a rank does not touch are not read. */
static void map(struct job *j)
{
	const char *file = j->args->file;
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *at;

	if (fd < 0 || fstat(fd, &st))
		args_fail(j->args, "%s: cannot open: %s", file, strerror(errno));
	if (!S_ISREG(st.st_mode))
		args_fail(j->args, "%s: is no regular file; allowed: files with parts to begin at",
			  file);
	j->size = st.st_size;
	if (j->size > 0) { /* nothing cannot be mapped */
		at = mmap(NULL, (size_t)j->size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (at == MAP_FAILED)
			args_fail(j->args, "%s: cannot map: %s", file, strerror(errno));
		j->text = at;
	}
	close(fd);
}

static int is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The words that begin in my part. */
static void count_part(const struct job *j, struct words *words)
{
	int64_t i = j->size / j->ranks * j->me, end = i + j->size / j->ranks;

	if (j->me == j->ranks - 1)
		end = j->size;
	while (i > 0 && i < end && is_letter(j->text[i - 1]) && is_letter(j->text[i]))
		i++; /* it began in an earlier part */
	while (i < end) {
		int64_t from = i;

		while (i < j->size && is_letter(j->text[i]))
			i++; /* beyond my part if it must be */
		if (i > from)
			need(j, words_add(words, j->text + from, (size_t)(i - from), 1));
		else
			i++;
	}
}

/* out[r] goes to rank r, and what rank r has for me is added to in[r], buffer by buffer. */
static void exchange(struct job *j, const struct bytes *out, struct bytes *in)
{
	int64_t *count = pl_data(j->send_count), *longest = pl_data(pld_local(j->longest));
	char *send = pl_data(j->send);
	const char *recv = pl_data(pld_local(j->recv));
	const int32_t *received = pl_data(pld_local(j->recv_count));

	*longest = 0;
	for (int r = 0; r < j->ranks; r++)
		if ((int64_t)out[r].len > *longest)
			*longest = (int64_t)out[r].len;
	pld_allreduce(j->longest, .op = PLD_MAX); /* then all make the same number of rounds */
	for (int64_t at = 0; at < *longest; at += j->buffer) {
		for (int r = 0; r < j->ranks; r++) {
			int64_t left = (int64_t)out[r].len - at;

			count[r] = left < 0 ? 0 : left < j->buffer ? left : j->buffer;
			if (count[r])
				memcpy(send + r * j->buffer, out[r].at + at, (size_t)count[r]);
		}
		pld_all_to_all_v(j->send, j->recv, j->send_count, j->recv_count);
		for (int r = 0; r < j->ranks; r++)
			need(j, bytes_add(&in[r], recv + r * j->buffer, (size_t)received[r]));
	}
}

/* Words of all ranks into *to, which points into in[]: each to rank hash modulo spread. */
static void gather(struct job *j, const struct words *from, int spread, struct bytes *in,
		   struct words *to)
{
	struct bytes *out = room(j, j->ranks, sizeof(*out));

	for (size_t i = 0; i < from->places; i++) {
		const struct word *w = &from->place[i];

		if (w->count)
			need(j,
			     bytes_add_word(
				     &out[(word_hash(w->at, w->len) >> 16) % (uint64_t)spread], w));
	}
	exchange(j, out, in);
	for (int r = 0; r < j->ranks; r++) {
		need(j, words_add_all(to, &in[r]));
		free(out[r].at);
	}
	free(out);
}

static void print(const struct job *j, struct words *words)
{
	words_sort(words);
	for (size_t i = 0; i < words->used; i++) {
		printf("%7llu ", (unsigned long long)words->place[i].count);
		fwrite(words->place[i].at, 1, words->place[i].len, stdout);
		putchar('\n');
	}
	if (fflush(stdout) || ferror(stdout))
		args_fail(j->args, "cannot write the result: %s", strerror(errno));
}

static int body(void *arg)
{
	struct job *j = arg;
	struct words part = { .used = 0 }, owned = { .used = 0 }, all = { .used = 0 };
	struct bytes *in;
	int status;

	if (args_done(j->args, &status))
		return status;
	j->me = pld_rank(pld_world());
	j->ranks = pld_nranks(pld_world());
	if (j->me == 0)
		map(j);
	pld_barrier(pld_world()); /* rank 0 alone says what is wrong with the file */
	if (j->me != 0)
		map(j);
	j->longest = pld_new_window(PL_SHAPE(1), PL_INT64);
	j->recv = pld_new_window(PL_SHAPE(j->ranks * j->buffer), PL_UINT8);
	j->recv_count = pld_new_window(PL_SHAPE(j->ranks), PL_INT32);
	j->send = pl_wrap(room(j, j->ranks, (size_t)j->buffer), PL_SHAPE(j->ranks * j->buffer),
			  PL_UINT8);
	j->send_count = pl_wrap(room(j, j->ranks, 8), PL_SHAPE(j->ranks), PL_INT64);
	in = room(j, 2 * j->ranks, sizeof(*in));

	count_part(j, &part);
	gather(j, &part, j->ranks, in, &owned);
	gather(j, &owned, 1, in + j->ranks, &all); /* all to rank 0 */
	if (j->me == 0)
		print(j, &all);

	for (int r = 0; r < 2 * j->ranks; r++)
		free(in[r].at);
	free(in);
	free(part.place);
	free(owned.place);
	free(all.place);
	free(pl_data(j->send));
	free(pl_data(j->send_count));
	return 0;
}

int main(int argc, char **argv)
{
	struct job j = { .buffer = 65536 };
	const struct args_option options[] = {
		{ "--buffer", "bytes that go from rank to rank in a round", &j.buffer, 1, 1 << 24 },
		{ NULL, NULL, NULL, 0, 0 },
	};
	struct args args = { .program = "wordcount",
			     .file_help = "the text",
			     .file_needed = 1,
			     .options = options };

	j.args = &args;
	args_read(&args, argc, argv);
	return pld_run(&(struct pld_config)PLD_CONFIG(.default_ndevices = 4), body, &j);
}
