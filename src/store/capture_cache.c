/* SPDX-License-Identifier: Apache-2.0 */
#include "store/capture_cache.h"

#include "base/alloc.h"
#include "base/budget.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/lru.h"
#include "base/progress.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BUCKETS 1024u

enum state { LOADING, READY, FAILED };

/* The capture of one file in one state. An entry can leave the table while threads wait for
 * it, because the file changed or room was needed. It then lives until they have their
 * answer. */
struct entry {
	struct entry *next_in_bucket;
	struct tfp_lru_link order; /* while in the table and not LOADING */
	unsigned references;       /* of the table, the loader, and threads that wait */
	bool in_table;
	bool passing; /* only visitors have asked for it */
	bool no_room; /* FAILED: the budget refused what it needed */
	enum state state;
	struct tfp_making making;    /* while LOADING */
	struct tfp_capture *capture; /* READY */
	struct tfp_error *error;     /* FAILED */
	uint64_t bytes;              /* counted for it in cache->bytes */
	int64_t used_ns;             /* when it was last asked for */
	struct tfp_file_identity identity;
	uint64_t hash;
	char path[];
};

/* Bytes of captures that have left the table and are still used. Each of them has a reference,
 * because it may outlive the cache. */
struct departed {
	atomic_uint_fast64_t bytes;
	atomic_uint references;
};

/* The part of one capture in that. */
struct departure {
	struct departed *departed;
	uint64_t bytes;
};

/* A thread that waits for room, on its own stack. First come, first served, so that small
 * captures do not keep a large one out. */
struct waiter {
	struct waiter *next;
};

struct tfp_capture_cache {
	struct tfp_logdir *dir;
	struct tfp_pool *pool;
	uint64_t limit;
	atomic_uint_least64_t hits, loads;
	atomic_uint_least64_t bytes, resident; /* changed with the lock */

	pthread_mutex_t lock; /* guards what follows, and every entry */
	pthread_cond_t loaded;
	pthread_cond_t room; /* a load or a visit has ended, or a thread waits no more */
	struct waiter *waiting;
	uint64_t loading_bytes; /* what loads under way are expected to take */
	unsigned loading, visitors;
	struct departed *departed;
	struct tfp_lru order;
	struct entry *gone; /* to be freed after the lock is given up, as that takes time */
	struct tfp_reserve reserve;
	/* for unused captures; 0: none is closed */
	int64_t idle_ns;
	pthread_cond_t first_came; /* there is something to drop later, or it is time to stop */
	pthread_t dropper;
	bool stopping;
	struct entry *buckets[BUCKETS];
};

static void let_go(void *context, uint64_t bytes);

enum tfp_status tfp_capture_cache_new(struct tfp_capture_cache **out, struct tfp_logdir *dir,
				      uint64_t limit_bytes, struct tfp_pool *pool,
				      struct tfp_error *err)
{
	struct tfp_capture_cache *cache = tfp_calloc(1, sizeof(*cache));
	*out = cache;
	if (!cache)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a cache of captures");
	cache->dir = dir;
	cache->pool = pool;
	cache->limit = limit_bytes;
	cache->departed = tfp_calloc(1, sizeof(*cache->departed));
	if (!cache->departed) {
		tfp_free(cache);
		*out = NULL;
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a cache of captures");
	}
	atomic_init(&cache->departed->references, 1);
	tfp_making_init_condition(&cache->first_came);
	tfp_making_init_condition(&cache->room);
	pthread_mutex_init(&cache->lock, NULL);
	tfp_making_init_condition(&cache->loaded);
	cache->reserve = (struct tfp_reserve){.let_go = let_go, .context = cache};
	tfp_budget_add_reserve(&cache->reserve);
	return TFP_OK;
}

static void entry_unref(struct tfp_capture_cache *cache, struct entry *e)
{
	if (--e->references)
		return;
	e->next_in_bucket = cache->gone;
	cache->gone = e;
}

/* Gives up the lock, and frees entries without references. */
static void unlock(struct tfp_capture_cache *cache)
{
	struct entry *next, *e = cache->gone;
	cache->gone = NULL;
	pthread_mutex_unlock(&cache->lock);
	for (; e; e = next) {
		next = e->next_in_bucket;
		tfp_capture_unref(e->capture);
		tfp_free(e->error);
		tfp_free(e);
	}
}

static void departed_unref(struct departed *departed)
{
	if (atomic_fetch_sub(&departed->references, 1) == 1)
		tfp_free(departed);
}

static void departed_gone(void *context)
{
	struct departure *d = context;
	atomic_fetch_sub(&d->departed->bytes, d->bytes);
	departed_unref(d->departed);
	tfp_free(d);
}

/* Goes on counting a capture that leaves the table while it is still used. */
static void depart(struct tfp_capture_cache *cache, const struct entry *e)
{
	struct departure *d;
	if (!e->capture || !tfp_capture_is_shared(e->capture))
		return;
	d = tfp_malloc(sizeof(*d));
	if (!d)
		return; /* counted too little, then */
	*d = (struct departure){cache->departed, e->bytes};
	atomic_fetch_add(&cache->departed->references, 1);
	atomic_fetch_add(&cache->departed->bytes, e->bytes);
	tfp_capture_on_free(e->capture, departed_gone, d);
}

static struct entry *entry_of(struct tfp_lru_link *link)
{
	return link ? TFP_LRU_ENTRY(link, struct entry, order) : NULL;
}

static struct entry *oldest(const struct tfp_capture_cache *cache)
{
	return entry_of(cache->order.oldest);
}

/* The entry was used now; it is in the table, and not LOADING. */
static void used(struct tfp_capture_cache *cache, struct entry *e)
{
	e->used_ns = tfp_clock_monotonic_ns();
	if (!e->order.older)
		pthread_cond_signal(&cache->first_came);
}

static struct entry **find(struct tfp_capture_cache *cache, const char *path, uint64_t hash)
{
	struct entry **at = &cache->buckets[hash % BUCKETS];
	while (*at && ((*at)->hash != hash || strcmp((*at)->path, path) != 0))
		at = &(*at)->next_in_bucket;
	return at;
}

static void table_remove(struct tfp_capture_cache *cache, struct entry *e)
{
	if (!e->in_table)
		return;
	*find(cache, e->path, e->hash) = e->next_in_bucket;
	e->in_table = false;
	if (e->state != LOADING)
		tfp_lru_remove(&cache->order, &e->order);
	depart(cache, e);
	cache->bytes -= e->bytes;
	cache->resident -= e->bytes && e->capture;
	e->bytes = 0;
	entry_unref(cache, e);
}

/* Counts anew what an entry holds, as facts are added to a capture over time, and makes
 * room. An entry that alone is too large goes, rather than all others. */
static void account(struct tfp_capture_cache *cache, struct entry *e)
{
	uint64_t bytes = sizeof(*e) + sizeof(*e->error);
	if (!e->in_table)
		return;
	if (e->capture)
		bytes += tfp_capture_held_bytes(e->capture);
	cache->bytes += bytes - e->bytes;
	cache->resident += !e->bytes && e->capture;
	e->bytes = bytes;
	if (bytes > cache->limit)
		table_remove(cache, e);
	while (cache->bytes > cache->limit && cache->order.oldest)
		table_remove(cache, oldest(cache));
}

void tfp_capture_cache_free(struct tfp_capture_cache *cache)
{
	if (!cache)
		return;
	if (cache->idle_ns) {
		pthread_mutex_lock(&cache->lock);
		cache->stopping = true;
		pthread_cond_signal(&cache->first_came);
		pthread_mutex_unlock(&cache->lock);
		pthread_join(cache->dropper, NULL);
	}
	tfp_budget_remove_reserve(&cache->reserve);
	pthread_mutex_lock(&cache->lock);
	for (size_t i = 0; i < BUCKETS; i++) {
		while (cache->buckets[i])
			table_remove(cache, cache->buckets[i]);
	}
	unlock(cache);
	departed_unref(cache->departed);
	pthread_cond_destroy(&cache->first_came);
	pthread_cond_destroy(&cache->room);
	pthread_cond_destroy(&cache->loaded);
	pthread_mutex_destroy(&cache->lock);
	tfp_free(cache);
}

/* ---- unused captures ---- */

/* Call it with the lock held. Returns whether memory came free. */
static bool drop_oldest(struct tfp_capture_cache *cache)
{
	struct entry *e = oldest(cache);
	bool frees = e->capture && !tfp_capture_is_shared(e->capture);
	if (e->capture && !frees) {
		/* A thread is still at work on it. */
		tfp_lru_touch(&cache->order, &e->order);
		used(cache, e);
	} else {
		tfp_log_verbose("closing %s: not used for a while", e->path);
		table_remove(cache, e);
	}
	return frees;
}

static void *drop_idle(void *context)
{
	struct tfp_capture_cache *cache = context;
	bool freed = false;
	pthread_mutex_lock(&cache->lock);
	while (!cache->stopping) {
		const struct entry *first = oldest(cache);
		int64_t due_ns = first ? first->used_ns + cache->idle_ns : 0;
		if (first && due_ns <= tfp_clock_monotonic_ns()) {
			freed |= drop_oldest(cache);
		} else if (freed) {
			/* Once for all that were due together. */
			unlock(cache);
			malloc_trim(0);
			pthread_mutex_lock(&cache->lock);
			freed = false;
		} else if (first) {
			const struct timespec due = {.tv_sec = (time_t)(due_ns / 1000000000),
						     .tv_nsec = (long)(due_ns % 1000000000)};
			pthread_cond_timedwait(&cache->first_came, &cache->lock, &due);
		} else {
			pthread_cond_wait(&cache->first_came, &cache->lock);
		}
	}
	unlock(cache);
	return NULL;
}

enum tfp_status tfp_capture_cache_drop_idle(struct tfp_capture_cache *cache, uint64_t idle_ns,
					    struct tfp_error *err)
{
	int64_t most = INT64_MAX / 4; /* so that no time overflows */
	cache->idle_ns = idle_ns < (uint64_t)most ? (int64_t)idle_ns : most;
	if (cache->idle_ns == 0)
		return TFP_OK;
	int error = pthread_create(&cache->dropper, NULL, drop_idle, cache);
	if (error) {
		cache->idle_ns = 0;
		return tfp_fail(err, TFP_IO, "cannot start a thread: %s", strerror(error));
	}
	return TFP_OK;
}

/* The program is short of memory: unused captures go, the least recently used
 * first. */
static void let_go(void *context, uint64_t bytes)
{
	struct tfp_capture_cache *cache = context;
	struct entry *newer;
	uint64_t freed = 0;
	if (pthread_mutex_trylock(&cache->lock) != 0)
		return;
	for (struct entry *e = oldest(cache); e && freed < bytes; e = newer) {
		newer = entry_of(e->order.newer);
		if (!e->capture || e->references > 1 || tfp_capture_is_shared(e->capture))
			continue;
		freed += e->bytes;
		table_remove(cache, e);
	}
	unlock(cache);
}

/* ---- room for what is to be loaded ---- */

/* A guess at what a capture will take: its bytes, columns and some facts. The real figure is
 * counted when it is loaded. */
static uint64_t expected_bytes(const struct tfp_capture_cache *cache,
			       const struct tfp_capture_file *file, uint64_t bytes)
{
	uint64_t expected;
	if (__builtin_mul_overflow(bytes, file->compression == TFP_PLAIN ? 2 : 12, &expected) ||
	    expected > cache->limit)
		return cache->limit;
	return expected;
}

static bool too_full(const struct tfp_capture_cache *cache, uint64_t expected)
{
	uint64_t all = cache->bytes + atomic_load(&cache->departed->bytes);
	return __builtin_add_overflow(all, cache->loading_bytes, &all) ||
	       __builtin_add_overflow(all, expected, &all) || all > cache->limit;
}

/* Whether room will come: loads end, and so do other visits, which hold one capture each and
 * need nothing from a visitor that waits. */
static bool worth_waiting(const struct tfp_capture_cache *cache, bool passing)
{
	return cache->loading > 0 || (passing && cache->visitors > 0);
}

static bool must_wait(const struct tfp_capture_cache *cache, uint64_t expected, bool passing)
{
	return (too_full(cache, expected) || (passing && tfp_budget_one_by_one())) &&
	       worth_waiting(cache, passing);
}

/* Makes as much room as possible, waits for more where that is worth it, and takes it. Call it
 * with the lock held. Returns at once when the current job is to stop. */
static void enter(struct tfp_capture_cache *cache, uint64_t expected, bool passing)
{
	struct waiter me = {NULL}, **at = &cache->waiting;
	struct tfp_making nobody = {0};
	while (*at)
		at = &(*at)->next;
	*at = &me;
	bool wanted = true;
	for (;;) {
		if (cache->waiting == &me) {
			while (too_full(cache, expected) && cache->order.oldest)
				table_remove(cache, oldest(cache));
			if (!must_wait(cache, expected, passing))
				break;
		}
		if (cache->gone) {
			/* It may be long until another thread frees these. */
			unlock(cache);
			pthread_mutex_lock(&cache->lock);
			continue;
		}
		if (!wanted)
			break;
		wanted = tfp_making_wait(&nobody, &cache->room, &cache->lock);
	}
	for (at = &cache->waiting; *at != &me; at = &(*at)->next)
		;
	*at = me.next;
	cache->loading++;
	cache->loading_bytes += expected;
	cache->visitors += passing;
	pthread_cond_broadcast(&cache->room);
}

static void loaded(struct tfp_capture_cache *cache, uint64_t expected)
{
	cache->loading--;
	cache->loading_bytes -= expected;
	pthread_cond_broadcast(&cache->room);
}

static void visit_ended(struct tfp_capture_cache *cache)
{
	cache->visitors--;
	pthread_cond_broadcast(&cache->room);
}

/* ---- looking ---- */

static struct entry *entry_new(const char *path, uint64_t hash,
			       const struct tfp_file_identity *identity)
{
	size_t size = strlen(path) + 1;
	struct entry *e = tfp_calloc(1, sizeof(*e) + size);
	if (e) {
		memcpy(e->path, path, size);
		e->hash = hash;
		e->identity = *identity;
		e->references = 1;
	}
	return e;
}

/* Gives a caller what a loaded entry has: the capture, or the error. */
static enum tfp_status take(const struct entry *e, struct tfp_capture **out, struct tfp_error *err)
{
	if (e->state == READY) {
		*out = tfp_capture_ref(e->capture);
		return TFP_OK;
	}
	if (err)
		*err = *e->error;
	return e->error->status;
}

/* Whether the same bytes would fail the same way another time. */
static bool lasting(enum tfp_status status)
{
	return status == TFP_BAD_INPUT || status == TFP_TOO_LARGE;
}

static enum tfp_status look(struct tfp_capture_cache *cache, const struct tfp_capture_file *file,
			    bool passing, struct tfp_capture **out, bool *again,
			    struct tfp_error *err)
{
	struct tfp_file_identity identity;
	struct tfp_capture *capture = NULL;
	enum tfp_status status;
	int fd;
	*out = NULL;
	status = tfp_logdir_open(cache->dir, file, &fd, &identity, err);
	if (status != TFP_OK)
		return status;
	uint64_t hash = tfp_hash_bytes(file->path, strlen(file->path), 0);

	pthread_mutex_lock(&cache->lock);
	struct entry *e = *find(cache, file->path, hash);
	if (e && !tfp_file_identity_equal(&e->identity, &identity)) {
		table_remove(cache, e);
		e = NULL;
	}
	if (e) {
		close(fd);
		cache->hits++;
		e->references++;
		e->passing &= passing;
		bool wanted = true;
		while (wanted && e->state == LOADING)
			wanted = tfp_making_wait(&e->making, &cache->loaded, &cache->lock);
		status = wanted ? take(e, out, err) : tfp_fail_cancelled(err);
		/* The loader was told to stop before it could learn that we wait, too. */
		*again = wanted && status == TFP_CANCELLED;
		if (e->state == FAILED && e->no_room)
			tfp_budget_refuse(); /* as if our own load had been refused */
		if (e->in_table && e->state != LOADING) {
			tfp_lru_touch(&cache->order, &e->order);
			used(cache, e);
			account(cache, e);
		}
		entry_unref(cache, e);
		cache->visitors += passing && status == TFP_OK;
		unlock(cache);
		return status;
	}
	e = entry_new(file->path, hash, &identity);
	struct tfp_error *error = tfp_calloc(1, sizeof(*error));
	if (!e || !error) {
		unlock(cache);
		tfp_free(e);
		tfp_free(error);
		close(fd);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory to open %s", file->path);
	}
	cache->loads++;
	e->references++;
	e->in_table = true;
	e->passing = passing;
	e->next_in_bucket = cache->buckets[hash % BUCKETS];
	cache->buckets[hash % BUCKETS] = e;
	tfp_making_begin(&e->making);
	uint64_t expected = expected_bytes(cache, file, identity.bytes);
	enter(cache, expected, passing);
	unlock(cache);

	tfp_log_verbose("opening %s", file->path);
	status = tfp_capture_open(&capture, fd, file->path, file->compression, cache->limit,
				  cache->pool, error);
	close(fd);
	bool no_room = status == TFP_NO_MEMORY && tfp_budget_was_short();
	/* It would be the same another time, so it is not tried again. */
	if (no_room && tfp_budget_is_too_large())
		status = tfp_budget_explain(error);

	pthread_mutex_lock(&cache->lock);
	tfp_making_end(&e->making);
	loaded(cache, expected);
	if (passing && status != TFP_OK)
		visit_ended(cache);
	e->state = status == TFP_OK ? READY : FAILED;
	e->no_room = no_room && status == TFP_NO_MEMORY;
	e->capture = capture;
	e->error = error;
	take(e, out, err); /* before it may leave the table: it is in use */
	if (e->in_table) {
		tfp_lru_add(&cache->order, &e->order);
		used(cache, e);
		if (status != TFP_OK && !lasting(status))
			table_remove(cache, e);
		else
			account(cache, e);
	}
	pthread_cond_broadcast(&cache->loaded);
	entry_unref(cache, e);
	unlock(cache);
	return status;
}

static enum tfp_status get(struct tfp_capture_cache *cache, const struct tfp_capture_file *file,
			   bool passing, struct tfp_capture **out, struct tfp_error *err)
{
	enum tfp_status status;
	bool again;
	*out = NULL;
	if (file->is_events)
		return tfp_fail(err, TFP_NOT_APPLICABLE,
				"%s is a file of events: a graph run has no XPlane capture",
				file->path);
	do {
		again = false;
		*out = NULL;
		status = tfp_cancelled() ? tfp_fail_cancelled(err)
					 : look(cache, file, passing, out, &again, err);
	} while (again);
	if (status != TFP_OK && !lasting(status))
		tfp_progress_partial();
	return status;
}

enum tfp_status tfp_capture_cache_get(struct tfp_capture_cache *cache,
				      const struct tfp_capture_file *file, struct tfp_capture **out,
				      struct tfp_error *err)
{
	return get(cache, file, false, out, err);
}

enum tfp_status tfp_capture_cache_visit(struct tfp_capture_cache *cache,
					const struct tfp_capture_file *file,
					struct tfp_capture **out, struct tfp_error *err)
{
	return get(cache, file, true, out, err);
}

void tfp_capture_cache_leave(struct tfp_capture_cache *cache, const struct tfp_capture_file *file,
			     const struct tfp_capture *capture, bool keep)
{
	uint64_t hash = tfp_hash_bytes(file->path, strlen(file->path), 0);
	pthread_mutex_lock(&cache->lock);
	struct entry *e = *find(cache, file->path, hash);
	if (e && !keep && e->passing && e->state == READY && e->capture == capture)
		table_remove(cache, e);
	visit_ended(cache);
	unlock(cache);
}

struct tfp_capture_cache_stats tfp_capture_cache_stats(const struct tfp_capture_cache *cache)
{
	return (struct tfp_capture_cache_stats){
		.hits = cache->hits,
		.loads = cache->loads,
		.resident = cache->resident,
		.bytes = cache->bytes,
	};
}

struct tfp_logdir *tfp_capture_cache_dir(const struct tfp_capture_cache *cache)
{
	return cache->dir;
}
