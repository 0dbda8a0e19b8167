/* agree.c - posting, meeting and comparing collective calls. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <pld/memory.h>

#include "pldi_agree.h"
#include "pldi_delay.h"

/* ---- fingerprints ---------------------------------------------------------------------------- */

/* 0: nothing is compared, in the build that bench/fingerprint compares with. */
#ifdef PLDI_NO_FINGERPRINT
enum { FINGERPRINTS = 0 };
#else
enum { FINGERPRINTS = 1 };
#endif

/*
 * Multiply-shift (M. Dietzfelbinger, T. Hagerup, J. Katajainen, M. Penttonen, "A reliable
 * randomized algorithm for the closest-pair problem", 1997): the upper half of a sum of products
 * with odd keys.  Written out: no product waits for another, as in a loop each would.
 */
static uint64_t print_of(const struct pldi_call *c, uint32_t seq)
{
	/* without a pattern: of the fraction of sqrt(2), sqrt(3), .. */
	static const uint64_t key[] = {
		UINT64_C(0x6a09e667f3bcc909), UINT64_C(0xbb67ae8584caa73b),
		UINT64_C(0x3c6ef372fe94f82b), UINT64_C(0xa54ff53a5f1d36f1),
		UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f),
		UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179),
		UINT64_C(0xcbbb9d5dc1059ed9), UINT64_C(0x629a292a367cd507),
		UINT64_C(0x9e3779b97f4a7c15),
	};
	const uint64_t *w = (const uint64_t *)c->arg;
	const uint64_t sum = (w[0] * key[0] + w[1] * key[1]) + (w[2] * key[2] + w[3] * key[3]) +
			     (w[4] * key[4] + w[5] * key[5]) + (w[6] * key[6] + w[7] * key[7]) +
			     (w[8] * key[8] + w[9] * key[9]) + ((uint64_t)c->op + 1) * key[10];

	return (sum & UINT64_C(0xffffffff00000000)) | seq;
}
static_assert(PLDI_CALL_ARGS == 10, "a product for each");

/* ---- calls and their texts ------------------------------------------------------------------- */

static void record(struct pldi_call_shm *r, const struct pldi_call *c, uint32_t seq, uint32_t site)
{
	/* relaxed: ordered by the post */
	atomic_store_explicit(&r->kept, 0, memory_order_relaxed);
	r->seq = seq;
	r->op = c->op;
	r->site = site;
	memcpy(r->arg, c->arg, sizeof(r->arg));
}

/* [A1] without the payload. */
static void sign(struct pldi_domain *d, struct pldi_flag_shm *f, const struct pldi_call *c,
		 uint32_t site)
{
	const uint32_t n = d->seq;

	if (!FINGERPRINTS)
		return;
	d->print = print_of(c, n);
	record(&f->call[n % 2], c, n, site);
	/* relaxed: ordered by the post of v; pairs with the load in pldi_compare_one */
	atomic_store_explicit(&f->print[n % 2], d->print, memory_order_relaxed);
}

/* The names of values that are not numbers, by the name of their argument. */
static const char *value_name(const char *name, int len, int64_t v)
{
	static const struct {
		const char *arg;
		const char *value[4];
	} named[] = {
		{ "keep", { "PLD_KEEP_HOST", "PLD_KEEP_JOB" } },
		{ "op", { "PLD_SUM", "PLD_MAX", "PLD_MIN", "PLD_PROD" } },
		{ "mode", { "PLD_AUTO", "PLD_MESH", "PLD_TWO_PHASE", "PLD_RING" } },
		{ "kind", { "PLD_INCLUSIVE", "PLD_EXCLUSIVE" } },
	};

	if (len == 5 && memcmp(name, "dtype", 5) == 0)
		return v ? pl_dtype_name((pl_dtype)v) : "none";
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (strlen(named[i].arg) == (size_t)len &&
		    memcmp(name, named[i].arg, (size_t)len) == 0 && v >= 0 && v < 4)
			return named[i].value[v];
	return NULL;
}

static int print_arg(char *to, size_t bytes, const char *name, int len, int64_t v)
{
	const char *value = value_name(name, len, v);

	if (value)
		return snprintf(to, bytes, "%.*s %s", len, name, value);
	return snprintf(to, bytes, "%.*s %" PRId64, len, name, v);
}

/* "pld_alloc_window_buffer(bytes 64, dtype none, keep PLD_KEEP_HOST) at a.c:3" */
static void print_call(char *to, size_t bytes, const struct pldi_domain *d, int32_t member)
{
	static const char *const args[] = {
#define PLDI_CALL(id, name, args) args,
#include "calls.def"
#undef PLDI_CALL
	};
	const struct pldi_slot_shm *slot = pldi_slot(d->self->seg.base, d->world_rank[member]);
	const struct pldi_call_shm *r = &d->flags[member].call[d->seq % 2];
	const uint32_t op = r->seq == d->seq ? r->op : PLDI_CALL_NONE;
	const char *name, *between = "";
	char place[PLDI_SITE_TEXT];
	size_t n;

	if (op == PLDI_CALL_NONE || op >= sizeof(args) / sizeof(args[0])) {
		snprintf(to, bytes, "another call");
		return;
	}
	n = (size_t)snprintf(to, bytes, "%s(", pldi_opcode_name(op));
	name = args[op];
	for (int i = 0; *name && n < bytes; i++) {
		int len = (int)strcspn(name, ",");
		const bool maybe = len && name[len - 1] == '?';

		if (len && (!maybe || r->arg[i])) {
			n += (size_t)snprintf(to + n, bytes - n, "%s", between);
			between = ", ";
			if (n < bytes)
				n += (size_t)print_arg(to + n, bytes - n, name, len - maybe,
						       r->arg[i]);
		}
		name += len;
		name += *name == ',';
	}
	memcpy(place, slot->site[r->site % PLDI_SITES].text, sizeof(place));
	/* acquire: pairs with keep_place; not kept: what was just read is still the site's */
	if (atomic_load_explicit(&r->kept, memory_order_acquire))
		memcpy(place, r->place, sizeof(place));
	if (n < bytes)
		snprintf(to + n, bytes - n, ") at %.*s", PLDI_SITE_TEXT, place);
}

/*
 * Before this rank goes on to calls whose places may push that of this one out of its site table:
 * slower members still print it.
 */
static void keep_place(struct pldi_domain *d)
{
	struct pldi_call_shm *r = &d->flags[d->pub.rank].call[d->seq % 2];

	memcpy(r->place, d->self->slot->site[r->site % PLDI_SITES].text, sizeof(r->place));
	/* release: pairs with print_call */
	atomic_store_explicit(&r->kept, 1, memory_order_release);
}

static pl_status mismatch(struct pldi_domain *d, const struct pldi_call *c, int32_t member,
			  const char *where)
{
	char mine[320], theirs[320];

	print_call(mine, sizeof(mine), d, d->pub.rank);
	print_call(theirs, sizeof(theirs), d, member);
	keep_place(d);
	d->broken = true;
	/* relaxed: with the bells below, whose ring is a release */
	atomic_store_explicit(&d->shm->broken, 1, memory_order_relaxed);
	PLDI_DELAY();
	for (int32_t m = 0; m < d->pub.nranks; m++)
		pldi_bell_ring(d->bell[m]);
	return pldi_fail(PL_EMISMATCH, pldi_call_name(c), where,
			 "ranks disagree about call %u of the domain: rank %d calls %s, rank %d "
			 "calls %s",
			 d->seq, d->world_rank[d->pub.rank], mine, d->world_rank[member], theirs);
}

/* ---- the protocol ---------------------------------------------------------------------------- */

pl_status pldi_begin(struct pldi_domain *d, const char *call, const char *where)
{
	const char *other = NULL;

	if (d->ended_where)
		return pldi_fail(PL_EINVAL, call, where, "the domain was freed at %s",
				 d->ended_where);
	/* acquire: pairs with the release in pldi_end, between threads of this rank */
	if (!atomic_compare_exchange_strong_explicit(&d->busy, &other, where ? where : "",
						     memory_order_acquire, memory_order_relaxed))
		return pldi_fail(PL_ELEVEL, call, where,
				 "another thread of this rank is in a collective call on the same "
				 "domain, at %s",
				 other);
	return PL_OK;
}

void pldi_end(struct pldi_domain *d)
{
	PLDI_DELAY();
	/* release: pairs with the acquire in pldi_begin */
	atomic_store_explicit(&d->busy, NULL, memory_order_release);
}

void pldi_post(struct pldi_domain *d, const struct pldi_call *c,
	       const int64_t payload[PLDI_PAYLOAD], const char *where)
{
	struct pldi_flag_shm *f = &d->flags[d->pub.rank];
	const uint32_t n = ++d->seq, site = pldi_site(d->self, where);

	/* relaxed: as in pldi_doing */
	atomic_store_explicit(&d->self->slot->doing, (uint32_t)c->op << 16 | site,
			      memory_order_relaxed);
	if (pldi_observed(d->self->observe))
		pldi_observe_collective(d->self->observe);
	PLDI_DELAY();
	sign(d, f, c, site); /* [A1] */
	if (payload)
		memcpy(f->payload[n % 2], payload, sizeof(f->payload[0]));
	PLDI_DELAY();
	pldi_step(d); /* [A2] */
	d->entry = d->posts;
	PLDI_DELAY();
}

void pldi_step(struct pldi_domain *d)
{
	struct pldi_flag_shm *f = &d->flags[d->pub.rank];

	pldi_line_post((struct pldi_line){ &f->v, &f->sleepers }, ++d->posts);
}

bool pldi_differs(const struct pldi_domain *d, int32_t member)
{
	struct pldi_flag_shm *f = &d->flags[member];

	/* relaxed: after the acquire of v */
	return pldi_line_reached(pldi_line_look((struct pldi_line){ &f->v, &f->sleepers }),
				 d->entry) &&
	       atomic_load_explicit(&f->print[d->seq % 2], memory_order_relaxed) != d->print;
}

pl_status pldi_compare_one(struct pldi_domain *d, const struct pldi_call *c, int32_t member,
			   const char *where)
{
	/* [A4] relaxed: after the acquire of v, or of the cell that a post came before */
	if (atomic_load_explicit(&d->flags[member].print[d->seq % 2], memory_order_relaxed) ==
	    d->print)
		return PL_OK;
	return mismatch(d, c, member, where);
}

pl_status pldi_compare(struct pldi_domain *d, const struct pldi_call *c, const char *where)
{
	pl_status rc = PL_OK;

	for (int32_t m = 0; m < d->pub.nranks && rc == PL_OK; m++)
		rc = pldi_compare_one(d, c, m, where);
	return rc;
}

int pldi_await(struct pldi_domain *d, int32_t member, uint32_t posts)
{
	struct pldi_flag_shm *f = &d->flags[member];

	return pldi_wait_line(d->self, (struct pldi_line){ &f->v, &f->sleepers }, posts,
			      (struct pldi_awaited){ d->world_rank[member], d->id, d->seq });
}

int pldi_await_all(struct pldi_domain *d)
{
	/* from the next member on, so that not all look at the same line */
	for (int32_t i = 1; i < d->pub.nranks; i++)
		if (pldi_await(d, (d->pub.rank + i) % d->pub.nranks, d->posts))
			return -1;
	return 0;
}

pl_status pldi_meet(struct pldi_domain *d, const struct pldi_call *c, const char *where)
{
	if (pldi_await_all(d)) /* [A3] */
		return pldi_fail_aborted(d->self, pldi_call_name(c), where);
	PLDI_DELAY();
	return pldi_compare(d, c, where);
}

static pl_status refuse_broken(struct pldi_domain *d, const struct pldi_call *c, const char *where)
{
	return pldi_fail(PL_EABORTED, pldi_call_name(c), where,
			 "members of the domain disagreed about its call %u: only calls that "
			 "release its windows and end it are left",
			 d->seq);
}

pl_status pldi_agree(struct pldi_domain *d, const struct pldi_call *c,
		     const int64_t payload[PLDI_PAYLOAD], const char *where)
{
	if (d->broken)
		return refuse_broken(d, c, where);
	pldi_post(d, c, payload, where);
	return pldi_meet(d, c, where);
}

pl_status pldi_agree_release(struct pldi_domain *d, const struct pldi_call *c, const char *where)
{
	if (d->broken) {
		pldi_doing(d->self, c->op, where);
		return PL_OK;
	}
	return pldi_agree(d, c, NULL, where);
}

pl_status pldi_collect(struct pldi_domain *d, const struct pldi_call *c,
		       const int64_t payload[PLDI_PAYLOAD], const char *where)
{
	pl_status rc = pldi_begin(d, pldi_call_name(c), where);

	if (rc)
		return rc;
	rc = pldi_agree(d, c, payload, where);
	pldi_end(d);
	return rc;
}
