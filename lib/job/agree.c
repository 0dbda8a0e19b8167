/* agree.c - posting, meeting and comparing collective calls. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <pld/memory.h>

#include "pldi_agree.h"

/* ---- fingerprints ---------------------------------------------------------------------------- */

/* The finalizer of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", 2014): every bit of the input moves half of the output's. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static uint64_t print_of(const struct pldi_call *c, uint32_t seq)
{
	uint64_t h = (uint64_t)c->op;

	for (int i = 0; i < PLDI_CALL_ARGS; i++)
		h = mix(h + (uint64_t)c->arg[i] + UINT64_C(0x9e3779b97f4a7c15));
	return (h & UINT64_C(0xffffffff00000000)) | seq;
}

/* ---- records and their texts ----------------------------------------------------------------- */

static void record(struct pldi_domain *d, const struct pldi_call *c, const char *where)
{
	struct pldi_slot_shm *slot = d->self->slot;
	/* relaxed, all: ordered by the flag that is posted next, for a member that reads them */
	uint32_t n = atomic_fetch_add_explicit(&slot->calls, 1, memory_order_relaxed);
	struct pldi_call_shm *r = &slot->call[n % PLDI_CALLS];

	atomic_store_explicit(&r->domain, d->id, memory_order_relaxed);
	atomic_store_explicit(&r->seq, d->seq, memory_order_relaxed);
	atomic_store_explicit(&r->op, c->op, memory_order_relaxed);
	atomic_store_explicit(&r->site, pldi_site(d->self, where), memory_order_relaxed);
	for (int i = 0; i < PLDI_CALL_ARGS; i++)
		atomic_store_explicit(&r->arg[i], c->arg[i], memory_order_relaxed);
}

static int print_arg(char *to, size_t bytes, const char *name, int name_len, int64_t v)
{
	if (strncmp(name, "dtype", 5) == 0)
		return snprintf(to, bytes, "%.*s %s", name_len, name,
				v ? pl_dtype_name((pl_dtype)v) : "none");
	if (strncmp(name, "keep", 4) == 0)
		return snprintf(to, bytes, "%.*s %s", name_len, name,
				v == PLD_KEEP_JOB ? "PLD_KEEP_JOB" : "PLD_KEEP_HOST");
	return snprintf(to, bytes, "%.*s %" PRId64, name_len, name, v);
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
	const struct pldi_call_shm *r = NULL;
	const uint32_t calls = atomic_load_explicit(&slot->calls, memory_order_relaxed);
	const char *name;
	uint32_t op, site;
	size_t n;

	/* newest first: an ended domain had the same id and numbers */
	for (uint32_t i = 1; i <= PLDI_CALLS && !r; i++) {
		/* relaxed: see record() */
		const struct pldi_call_shm *c = &slot->call[(calls - i) % PLDI_CALLS];

		if (atomic_load_explicit(&c->seq, memory_order_relaxed) == d->seq &&
		    atomic_load_explicit(&c->domain, memory_order_relaxed) == d->id)
			r = c;
	}
	op = r ? atomic_load_explicit(&r->op, memory_order_relaxed) : PLDI_CALL_NONE;
	if (op == PLDI_CALL_NONE || op >= sizeof(args) / sizeof(args[0])) {
		snprintf(to, bytes, "another call");
		return;
	}
	n = (size_t)snprintf(to, bytes, "%s(", pldi_opcode_name(op));
	name = args[op];
	for (int i = 0; *name && n < bytes; i++) {
		int len = (int)strcspn(name, ",");

		n += (size_t)snprintf(to + n, bytes - n, "%s", i ? ", " : "");
		if (n < bytes)
			n += (size_t)print_arg(to + n, bytes - n, name, len,
					       atomic_load_explicit(&r->arg[i],
								    memory_order_relaxed));
		name += len;
		name += *name == ',';
	}
	site = atomic_load_explicit(&r->site, memory_order_relaxed) % PLDI_SITES;
	if (n < bytes)
		snprintf(to + n, bytes - n, ") at %.*s", PLDI_SITE_TEXT, slot->site[site].text);
}

static pl_status mismatch(struct pldi_domain *d, const struct pldi_call *c, int32_t member,
			  const char *where)
{
	char mine[256], theirs[256];

	print_call(mine, sizeof(mine), d, d->pub.rank);
	print_call(theirs, sizeof(theirs), d, member);
	d->broken = true;
	/* relaxed: with the bells below, whose ring is a release */
	atomic_store_explicit(&d->shm->broken, 1, memory_order_relaxed);
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
	/* release: pairs with the acquire in pldi_begin */
	atomic_store_explicit(&d->busy, NULL, memory_order_release);
}

void pldi_post(struct pldi_domain *d, const struct pldi_call *c,
	       const int64_t payload[PLDI_CALL_ARGS], const char *where)
{
	struct pldi_flag_shm *f = &d->flags[d->pub.rank];
	uint32_t n = ++d->seq;

	pldi_doing(d->self, c->op, where);
	record(d, c, where); /* [A1] */
	if (payload)
		memcpy(f->payload[n % 2], payload, sizeof(f->payload[0]));
	/* relaxed: ordered by the post of v; pairs with the load in pldi_compare */
	atomic_store_explicit(&f->print[n % 2], print_of(c, n), memory_order_relaxed);
	pldi_line_post((struct pldi_line){ &f->v, &f->sleepers }, n); /* [A2] */
}

bool pldi_differs(const struct pldi_domain *d, const struct pldi_call *c, int32_t member)
{
	struct pldi_flag_shm *f = &d->flags[member];

	/* relaxed: after the acquire of v */
	return pldi_line_reached(pldi_line_look((struct pldi_line){ &f->v, &f->sleepers }),
				 d->seq) &&
	       atomic_load_explicit(&f->print[d->seq % 2], memory_order_relaxed) !=
		       print_of(c, d->seq);
}

pl_status pldi_compare(struct pldi_domain *d, const struct pldi_call *c, const char *where)
{
	const uint64_t mine = print_of(c, d->seq);

	for (int32_t m = 0; m < d->pub.nranks; m++) {
		/* [A4] relaxed: after the acquire of v, or of the cell that a post came before */
		if (atomic_load_explicit(&d->flags[m].print[d->seq % 2], memory_order_relaxed) !=
		    mine)
			return mismatch(d, c, m, where);
	}
	return PL_OK;
}

static int wait_all(struct pldi_domain *d)
{
	/* from the next member on, so that not all look at the same line */
	for (int32_t i = 1; i < d->pub.nranks; i++) {
		int32_t m = (d->pub.rank + i) % d->pub.nranks;
		struct pldi_flag_shm *f = &d->flags[m];

		if (pldi_wait_line(d->self, (struct pldi_line){ &f->v, &f->sleepers }, d->seq,
				   d->world_rank[m]))
			return -1;
	}
	return 0;
}

pl_status pldi_meet(struct pldi_domain *d, const struct pldi_call *c, const char *where)
{
	if (wait_all(d)) /* [A3] */
		return pldi_fail_aborted(d->self, pldi_call_name(c), where);
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
		     const int64_t payload[PLDI_CALL_ARGS], const char *where)
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
		       const int64_t payload[PLDI_CALL_ARGS], const char *where)
{
	pl_status rc = pldi_begin(d, pldi_call_name(c), where);

	if (rc)
		return rc;
	rc = pldi_agree(d, c, payload, where);
	pldi_end(d);
	return rc;
}
