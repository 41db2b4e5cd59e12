#include "store/capture_cache.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/progress.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define BUCKETS 1024u
/* A compressed file may unpack to as much as protobuf lets a message be, even
 * where that is more than may be kept. */
#define MIN_UNPACKED (UINT64_C(1) << 31)

enum state { LOADING, READY, FAILED };

/* The capture of one file in one state. Once it is no more in the table (the
 * file changed, or room was needed), it lives until those who wait for it have
 * their answer. */
struct entry {
	struct entry *next_in_bucket;
	struct entry *newer, *older; /* while in the table and not LOADING */
	unsigned references;         /* the table's, the loader's, those that wait */
	bool in_table;
	bool passing; /* nobody has asked who wants it kept */
	enum state state;
	struct tfp_making making;    /* while LOADING */
	struct tfp_capture *capture; /* READY */
	struct tfp_error *error;     /* FAILED */
	uint64_t bytes;              /* counted for it in cache->bytes */
	struct tfp_file_identity identity;
	uint64_t hash;
	char path[];
};

struct tfp_capture_cache {
	struct tfp_logdir *dir;
	struct tfp_pool *pool;
	uint64_t limit;
	atomic_uint_least64_t hits, loads;
	atomic_uint_least64_t bytes, resident; /* changed with the lock */

	pthread_mutex_t lock; /* guards what follows, and every entry */
	pthread_cond_t loaded;
	struct entry *newest, *oldest;
	struct entry *buckets[BUCKETS];
};

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
	pthread_mutex_init(&cache->lock, NULL);
	tfp_making_init_condition(&cache->loaded);
	return TFP_OK;
}

static void entry_unref(struct entry *e)
{
	if (--e->references)
		return;
	tfp_capture_unref(e->capture);
	tfp_free(e->error);
	tfp_free(e);
}

static void lru_remove(struct tfp_capture_cache *cache, struct entry *e)
{
	*(e->newer ? &e->newer->older : &cache->newest) = e->older;
	*(e->older ? &e->older->newer : &cache->oldest) = e->newer;
	e->newer = e->older = NULL;
}

static void lru_add(struct tfp_capture_cache *cache, struct entry *e)
{
	e->older = cache->newest;
	*(cache->newest ? &cache->newest->newer : &cache->oldest) = e;
	cache->newest = e;
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
		lru_remove(cache, e);
	cache->bytes -= e->bytes;
	cache->resident -= e->bytes && e->capture;
	e->bytes = 0;
	entry_unref(e);
}

/* Counts anew what an entry holds, as facts are added to a capture over time,
 * and makes room. One that alone is too large goes, and not all others. */
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
	while (cache->bytes > cache->limit && cache->oldest)
		table_remove(cache, cache->oldest);
}

void tfp_capture_cache_free(struct tfp_capture_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < BUCKETS; i++) {
		while (cache->buckets[i])
			table_remove(cache, cache->buckets[i]);
	}
	pthread_cond_destroy(&cache->loaded);
	pthread_mutex_destroy(&cache->lock);
	tfp_free(cache);
}

static bool same(const struct tfp_file_identity *a, const struct tfp_file_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->bytes == b->bytes &&
	       a->modified_ns == b->modified_ns;
}

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

/* What an entry that is loaded has for a caller. */
static enum tfp_status take(struct entry *e, struct tfp_capture **out, struct tfp_error *err)
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
	if (e && !same(&e->identity, &identity)) {
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
		/* Whoever loaded it was told to stop, and had no time to hear of us. */
		*again = wanted && status == TFP_CANCELLED;
		if (e->in_table && e->state != LOADING) {
			lru_remove(cache, e);
			lru_add(cache, e);
			account(cache, e);
		}
		entry_unref(e);
		pthread_mutex_unlock(&cache->lock);
		return status;
	}
	e = entry_new(file->path, hash, &identity);
	struct tfp_error *error = tfp_calloc(1, sizeof(*error));
	if (!e || !error) {
		pthread_mutex_unlock(&cache->lock);
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
	pthread_mutex_unlock(&cache->lock);

	uint64_t unpacked = cache->limit > MIN_UNPACKED ? cache->limit : MIN_UNPACKED;
	tfp_log_verbose("opening %s", file->path);
	status = tfp_capture_open(&capture, fd, file->path, file->compression, unpacked,
				  cache->pool, error);
	close(fd);

	pthread_mutex_lock(&cache->lock);
	tfp_making_end(&e->making);
	e->state = status == TFP_OK ? READY : FAILED;
	e->capture = capture;
	e->error = error;
	if (e->in_table) {
		lru_add(cache, e);
		if (status != TFP_OK && !lasting(status))
			table_remove(cache, e);
		else
			account(cache, e);
	}
	status = take(e, out, err);
	pthread_cond_broadcast(&cache->loaded);
	entry_unref(e);
	pthread_mutex_unlock(&cache->lock);
	return status;
}

static enum tfp_status get(struct tfp_capture_cache *cache, const struct tfp_capture_file *file,
			   bool passing, struct tfp_capture **out, struct tfp_error *err)
{
	enum tfp_status status;
	bool again;
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
			     const struct tfp_capture *capture)
{
	uint64_t hash = tfp_hash_bytes(file->path, strlen(file->path), 0);
	pthread_mutex_lock(&cache->lock);
	struct entry *e = *find(cache, file->path, hash);
	if (e && e->passing && e->state == READY && e->capture == capture)
		table_remove(cache, e);
	pthread_mutex_unlock(&cache->lock);
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
