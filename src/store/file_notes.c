/* SPDX-License-Identifier: Apache-2.0 */
#include "store/file_notes.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <pthread.h>
#include <string.h>

#define WAYS 8u /* places that a note can be in */

struct head {
	struct tfp_file_identity identity;
	bool used;
};

struct tfp_file_notes {
	struct tfp_file_notes_config config;
	size_t sets;
	pthread_mutex_t lock; /* guards what follows */
	unsigned turn;        /* which of a set is given up next */
	struct head *heads;   /* sets * WAYS */
	char *notes;          /* of config.note_size each */
};

enum tfp_status tfp_file_notes_new(struct tfp_file_notes **out,
				   const struct tfp_file_notes_config *config,
				   struct tfp_error *err)
{
	struct tfp_file_notes *n = tfp_calloc(1, sizeof(*n));
	*out = NULL;
	if (!n)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for what is known of files");
	n->config = *config;
	n->sets = config->files / WAYS;
	n->heads = tfp_calloc(n->sets * WAYS, sizeof(*n->heads));
	n->notes = tfp_calloc(n->sets * WAYS, config->note_size);
	pthread_mutex_init(&n->lock, NULL);
	if (!n->heads || !n->notes) {
		tfp_file_notes_free(n);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for what is known of files");
	}
	*out = n;
	return TFP_OK;
}

static void *note_at(const struct tfp_file_notes *n, size_t place)
{
	return n->notes + place * n->config.note_size;
}

void tfp_file_notes_free(struct tfp_file_notes *n)
{
	if (!n)
		return;
	for (size_t i = 0; n->config.drop && n->heads && i < n->sets * WAYS; i++) {
		if (n->heads[i].used)
			n->config.drop(note_at(n, i));
	}
	pthread_mutex_destroy(&n->lock);
	tfp_free(n->heads);
	tfp_free(n->notes);
	tfp_free(n);
}

/* The first of the places that a note about a file can be in: all states of a file have the
 * same. */
static size_t first_place(const struct tfp_file_notes *n, const struct tfp_file_identity *id)
{
	uint64_t h = tfp_hash_u64(tfp_hash_u64(id->device) ^ tfp_hash_u64(id->inode));
	return h % n->sets * WAYS;
}

static bool is_same(const struct tfp_file_identity *noted, const struct tfp_file_identity *wanted)
{
	return tfp_file_identity_equal(noted, wanted);
}

static bool is_earlier(const struct tfp_file_identity *noted,
		       const struct tfp_file_identity *wanted)
{
	return tfp_file_identity_same_file(noted, wanted) && noted->bytes <= wanted->bytes;
}

static bool recall(struct tfp_file_notes *n, const struct tfp_file_identity *identity,
		   bool (*fits)(const struct tfp_file_identity *, const struct tfp_file_identity *),
		   void *to)
{
	bool found = false;
	size_t first = first_place(n, identity);
	pthread_mutex_lock(&n->lock);
	for (size_t i = first; i < first + WAYS && !found; i++) {
		const struct head *h = &n->heads[i];
		found = h->used && fits(&h->identity, identity);
		if (found && n->config.copy)
			n->config.copy(to, note_at(n, i));
		else if (found)
			memcpy(to, note_at(n, i), n->config.note_size);
	}
	pthread_mutex_unlock(&n->lock);
	return found;
}

bool tfp_file_notes_recall(struct tfp_file_notes *n, const struct tfp_file_identity *identity,
			   void *to)
{
	return recall(n, identity, is_same, to);
}

bool tfp_file_notes_recall_earlier(struct tfp_file_notes *n,
				   const struct tfp_file_identity *identity, void *to)
{
	return recall(n, identity, is_earlier, to);
}

void tfp_file_notes_write(struct tfp_file_notes *n, const struct tfp_file_identity *identity,
			  const void *note)
{
	size_t first = first_place(n, identity), place = first;
	pthread_mutex_lock(&n->lock);
	/* An older state of the same file is of no use any more. */
	while (place < first + WAYS && n->heads[place].used &&
	       !tfp_file_identity_same_file(&n->heads[place].identity, identity))
		place++;
	if (place == first + WAYS)
		place = first + n->turn++ % WAYS;
	if (n->heads[place].used && n->config.drop)
		n->config.drop(note_at(n, place));
	n->heads[place] = (struct head){*identity, true};
	memcpy(note_at(n, place), note, n->config.note_size);
	pthread_mutex_unlock(&n->lock);
}
