/* words.c - what wordcount is made of and a single rank needs. */
#include "words.h"

#include <stdlib.h>
#include <string.h>

int bytes_add(struct bytes *b, const void *data, size_t len)
{
	if (len == 0)
		return 0;
	if (b->room - b->len < len) {
		size_t room = 2 * b->room + len;
		char *at = realloc(b->at, room);

		if (!at)
			return -1;
		b->at = at;
		b->room = room;
	}
	memcpy(b->at + b->len, data, len);
	b->len += len;
	return 0;
}

/* How words travel: the count, the length, the letters. */
struct head {
	uint64_t count, len;
};

int bytes_add_word(struct bytes *b, const struct word *w)
{
	struct head head = { w->count, w->len };

	return bytes_add(b, &head, sizeof(head)) || bytes_add(b, w->at, w->len) ? -1 : 0;
}

int words_add_all(struct words *w, const struct bytes *text)
{
	for (size_t i = 0; i < text->len;) {
		struct head head;

		memcpy(&head, text->at + i, sizeof(head));
		i += sizeof(head);
		if (words_add(w, text->at + i, head.len, head.count))
			return -1;
		i += head.len;
	}
	return 0;
}

/* FNV-1a, and a shift as its low bits alone choose the place. */
uint64_t word_hash(const char *at, size_t len)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)at[i]) * UINT64_C(1099511628211);
	return h ^ h >> 32;
}

/* Where the word is, or where it would be. */
static struct word *find(const struct words *w, const char *at, size_t len)
{
	size_t i = word_hash(at, len) & (w->places - 1);

	while (w->place[i].count &&
	       (w->place[i].len != len || memcmp(w->place[i].at, at, len) != 0))
		i = (i + 1) & (w->places - 1);
	return &w->place[i];
}

static int grow(struct words *w)
{
	struct words more = { .places = w->places ? 2 * w->places : 1024, .used = w->used };

	more.place = calloc(more.places, sizeof(*more.place));
	if (!more.place)
		return -1;
	for (size_t i = 0; i < w->places; i++)
		if (w->place[i].count)
			*find(&more, w->place[i].at, w->place[i].len) = w->place[i];
	free(w->place);
	*w = more;
	return 0;
}

int words_add(struct words *w, const char *at, size_t len, uint64_t count)
{
	struct word *place;

	if (2 * w->used >= w->places && grow(w))
		return -1;
	place = find(w, at, len);
	if (!place->count) {
		*place = (struct word){ .at = at, .len = len };
		w->used++;
	}
	place->count += count;
	return 0;
}

static int compare(const void *x, const void *y)
{
	const struct word *a = x, *b = y;
	int c = memcmp(a->at, b->at, a->len < b->len ? a->len : b->len);

	return c ? c : (a->len > b->len) - (a->len < b->len);
}

void words_sort(struct words *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->places; i++)
		if (w->place[i].count)
			w->place[n++] = w->place[i];
	if (n)
		qsort(w->place, n, sizeof(*w->place), compare);
}
