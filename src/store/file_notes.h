/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short notes about files, kept in memory: what was read in a file once need not be read
 * again while the file stays as it is.
 *
 *     struct tfp_file_notes *notes;
 *     tfp_file_notes_new(&notes, &config, &err);
 *     if (!tfp_file_notes_recall(notes, &file->identity, &note)) {
 *             ... look at the file ...
 *             tfp_file_notes_write(notes, &identity, &note);
 *     }
 *     tfp_file_notes_free(notes);
 *
 * The number of notes is fixed: a new one takes the place of an older state of the same
 * file, or of another file's note. Thread-safe.
 */
#ifndef TFP_STORE_FILE_NOTES_H
#define TFP_STORE_FILE_NOTES_H

#include "base/error.h"
#include "store/file_identity.h"

#include <stdbool.h>
#include <stddef.h>

struct tfp_file_notes_config {
	size_t files;     /* that there is room for; a multiple of 8 */
	size_t note_size; /* bytes of one note */
	/* Copies what the caller of recall wants from a note; NULL copies note_size bytes. */
	void (*copy)(void *to, const void *note);
	/* Frees what a note owns; NULL: it owns nothing. */
	void (*drop)(void *note);
};

struct tfp_file_notes;

/* All memory is taken at once. Owned by the caller. */
enum tfp_status tfp_file_notes_new(struct tfp_file_notes **out,
				   const struct tfp_file_notes_config *config,
				   struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_file_notes_free(struct tfp_file_notes *notes);

/* Fills *to from the note about this state of a file; false when there is none. */
bool tfp_file_notes_recall(struct tfp_file_notes *notes, const struct tfp_file_identity *identity,
			   void *to);
/* The same about any earlier state of the file that was no longer than this one: for files that
 * grow at their end. */
bool tfp_file_notes_recall_earlier(struct tfp_file_notes *notes,
				   const struct tfp_file_identity *identity, void *to);
/* Keeps a copy of the note's bytes, and with them what the note owns. */
void tfp_file_notes_write(struct tfp_file_notes *notes, const struct tfp_file_identity *identity,
			  const void *note);

#endif
