/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the log directory share. Nobody else includes this. Each of them
 * calls only those above it:
 *
 *     logdir_open.c     opens what lies beneath the root, and nothing else
 *     logdir_names.c    which files and folders are captures, by their names
 *     logdir_notes.c    the memory of a scan, and its notes for a person
 *     logdir_walk.c     finds captures
 *     logdir_runs.c     makes runs of what was found
 *     logdir_explain.c  says what is there when nothing was found
 *     logdir_scan.c     makes a snapshot by these three
 *     logdir.c          is the directory, and hands out snapshots
 */
#ifndef TFP_STORE_LOGDIR_PARTS_H
#define TFP_STORE_LOGDIR_PARTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "store/logdir.h"

#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#define TFP_SCAN_MAX_DEPTH 64u
#define TFP_SCAN_MAX_SEEN  64u /* folders remembered for an explanation */
#define TFP_SCAN_MAX_PATH  (PATH_MAX - 1)

struct tfp_logdir {
	char *path;
	char *root_path; /* absolute: the directory, or the one that holds the file */
	char *only;      /* the file's name when the directory is a file, or NULL */
	bool hidden;     /* path is the last part only */
	unsigned flags;

	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t scanned;
	bool scanning;
	int root;        /* -1 while root_path cannot be opened */
	char *root_real; /* root_path without links */
	struct tfp_snapshot *last;
	int64_t fresh_until_ns;
	bool expired; /* while a scan was under way */
};

struct tfp_snapshot {
	struct tfp_logdir_snapshot public; /* first: the caller's pointer is ours */
	atomic_uint references;
	struct tfp_arena arena;
};

/* A capture as the scan met it. */
struct tfp_found {
	const char *path, *name;
	enum tfp_compression compression;
	struct tfp_file_identity identity;
};

/* A folder that holds captures: found[first] to found[end - 1]. */
struct tfp_found_folder {
	const char *path;
	size_t first, end;
};

/* What else there is in a folder, for an explanation. */
struct tfp_seen {
	const char *path;
	size_t files, event_files, folders;
	const char *partial; /* name of a half-written capture */
	bool has_profile;    /* a sub-folder of that name */
};

/* A folder whose sub-folders are still to be visited. */
struct tfp_scan_frame {
	DIR *stream;
	size_t path_size, pending;
};

struct tfp_directory_id {
	dev_t device;
	ino_t inode;
};

struct tfp_scan_list {
	size_t count, room;
};

struct tfp_scan {
	struct tfp_logdir *dir;
	int root;
	const char *root_real;
	struct tfp_arena *arena; /* the snapshot's */
	struct tfp_arena scratch;
	struct tfp_buf path; /* of the folder in hand, relative, "" for the root */
	struct tfp_scan_frame frames[TFP_SCAN_MAX_DEPTH];
	size_t depth;
	const char **pending; /* names of sub-folders, those of the deepest frame last */
	struct tfp_found *found, *events;
	struct tfp_found_folder *folders, *event_folders;
	const char **links;               /* paths of links to folders, when they are followed */
	struct tfp_directory_id *visited; /* a hash table, when links are followed */
	const char **notes;
	struct tfp_scan_list pendings, founds, event_list, folder_list, event_folder_list,
		link_list, visiteds, note_list;
	size_t notes_dropped;
	struct tfp_seen seen[TFP_SCAN_MAX_SEEN];
	size_t seen_count;
	size_t folder_total, file_total;
	bool truncated, no_memory;
	int root_error; /* errno where the root or the only file could not be read, or 0 */
};

/* ---- opening (logdir_open.c) ---- */

/* Opens a path beneath the root. Links are followed as far as they end
 * beneath it. -1 and errno; EXDEV when the path leads out. */
int tfp_open_beneath(int root, const char *root_real, bool follow, const char *path, int flags);

/* ---- names (logdir_names.c) ---- */

/* *rest: the length of text without end. */
bool tfp_name_ends_with(const char *text, size_t size, const char *end, size_t *rest);
/* *stem: the length of name without ".gz" or ".zst". */
enum tfp_compression tfp_name_compression(const char *name, size_t *stem);
/* Whether a file of that name is a capture; *host is the length of its host's
 * name, 0 when it has none. */
bool tfp_name_is_capture(const char *name, enum tfp_compression *compression, size_t *host);
/* Whether a file of that name holds events of TensorBoard. */
bool tfp_name_is_events(const char *name);
/* Whether a file of that name is a capture that is still being written. */
bool tfp_name_is_partial(const char *name);
const char *tfp_path_last_part(const char *path);
/* A path for a person. */
static inline const char *tfp_path_shown(const char *path)
{
	return path[0] ? path : ".";
}
/* Where the run's name begins in a folder's path: the part before
 * "plugins/profile" is path[0] to path[*head - 1], the part after begins at
 * the returned pointer. NULL when the folder is not in such a place. */
const char *tfp_scan_after_profile(const struct tfp_scan *s, const char *path, size_t *head);

/* ---- memory and notes (logdir_notes.c) ---- */

/* These set s->no_memory when there is none. */

/* Makes room for one more. array: the address of the pointer to entries of that size. */
bool tfp_scan_grow(struct tfp_scan *s, void *array, struct tfp_scan_list *list, size_t size);
/* A copy in the arena, the snapshot's or the scan's; NULL without memory. */
const char *tfp_scan_copy(struct tfp_scan *s, struct tfp_arena *arena, const char *text,
			  size_t size);
/* A copy in the snapshot that is UTF-8; NULL without memory. */
const char *tfp_scan_clean_copy(struct tfp_scan *s, const char *text, size_t size);
/* Adds a sentence for a person who asks why something is not there. */
void tfp_scan_note(struct tfp_scan *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- finding captures (logdir_walk.c) ---- */

/* path: the snapshot's memory; nothing is added when it is NULL. */
void tfp_scan_add_capture(struct tfp_scan *s, const char *path, enum tfp_compression compression,
			  const struct stat *st);
/* Makes a folder of the captures from first on. */
void tfp_scan_add_folder(struct tfp_scan *s, const char *path, size_t first);
/* Visits all folders beneath the root. 0, or errno when the root cannot be read. */
int tfp_scan_walk(struct tfp_scan *s);

/* ---- what was found (logdir_runs.c, logdir_explain.c) ---- */

/* Makes the snapshot's runs of it. */
void tfp_scan_make_runs(struct tfp_scan *s, struct tfp_logdir_snapshot *out);
/* Notes what is there when nothing was found. */
void tfp_scan_explain(struct tfp_scan *s);

/* ---- the scan (logdir_scan.c) ---- */

/* Says that the directory is not there or cannot be read: TFP_UNAVAILABLE. An empty list would
 * say that there are no runs. error: errno of what did not go. */
enum tfp_status tfp_logdir_away(const struct tfp_logdir *dir, int error, struct tfp_error *err);
/* root: a descriptor of root_real. One thread at a time. *out has one reference. TFP_UNAVAILABLE
 * when the root cannot be read. */
enum tfp_status tfp_logdir_scan(struct tfp_logdir *dir, int root, const char *root_real,
				struct tfp_snapshot **out, struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_snapshot_free(struct tfp_snapshot *snapshot);

#endif
