/* words.h - what wordcount is made of and a single rank needs: byte strings, and counted words. */
#ifndef WORDS_H
#define WORDS_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that grow at their end. */
struct bytes {
	char *at;
	size_t len, room;
};

struct word {
	const char *at; /* owned by whoever owns the text */
	size_t len;
	uint64_t count; /* 0: a free place of the table */
};

/* A hash table with a place for each word, at most half full. */
struct words {
	struct word *place;
	size_t places, used;
};

/* All of them: 0, or -1 when there is no memory. */
int bytes_add(struct bytes *b, const void *data, size_t len);
int words_add(struct words *w, const char *at, size_t len, uint64_t count);
/* The words of a text of bytes_add_word's, which must live as long as w. */
int words_add_all(struct words *w, const struct bytes *text);
int bytes_add_word(struct bytes *b, const struct word *w);

/* Any number; the same on every rank. */
uint64_t word_hash(const char *at, size_t len);

/* The words to the front of the table, sorted as strcmp would; used of them. */
void words_sort(struct words *w);

#endif
