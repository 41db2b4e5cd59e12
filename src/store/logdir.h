/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the captures below a directory.
 *
 * A scan of the log directory makes a snapshot, which is immutable and has counted references.
 * The next one is made when it is asked for and the last one is old. A scan reads names and
 * sizes only, never a capture's bytes. This module must not learn what a capture means.
 *
 *     struct tfp_logdir *dir;
 *     tfp_logdir_new(&dir, "runs", 0, &err);
 *     const struct tfp_logdir_snapshot *s;
 *     tfp_logdir_snapshot(dir, &s, &err);
 *     for (size_t i = 0; i < s->run_count; i++)
 *             puts(s->runs[i].name);
 *     tfp_logdir_snapshot_unref(s);
 *     tfp_logdir_free(dir);
 *
 * Runs are `<prefix>/plugins/profile/<run>/` holding `<host>.xplane.pb`, also
 * `.gz` and `.zst`; the name of a run is `<run>` or `<prefix>/<run>`
 * (reference: XProf's run names). The directory given may also be a run folder
 * itself, a `plugins/profile` folder, a folder of loose captures (one run,
 * named as the folder) or one capture file.
 */
#ifndef TFP_STORE_LOGDIR_H
#define TFP_STORE_LOGDIR_H

#include "base/error.h"
#include "store/file_identity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tfp_compression { TFP_PLAIN, TFP_GZIP, TFP_ZSTD };

struct tfp_capture_file {
	const char *host; /* file name without ".xplane.pb[.gz|.zst]" */
	const char *path; /* relative to the root, as tfp_logdir_open takes it */
	const char *name; /* last part of path */
	enum tfp_compression compression;
	bool is_events; /* a file of TensorBoard's events, not a capture */
	struct tfp_file_identity identity;
};

enum tfp_run_kind {
	TFP_RUN_CAPTURE, /* XSpace files */
	TFP_RUN_GRAPH,   /* event files, which may hold steps of a graph */
};

struct tfp_run {
	const char *name; /* unique within the snapshot */
	enum tfp_run_kind kind;
	const struct tfp_capture_file *hosts; /* ascending by host, no duplicates */
	size_t host_count;
	uint64_t bytes;      /* of all files */
	int64_t modified_ns; /* of the newest file */
};

struct tfp_logdir_snapshot {
	const struct tfp_run *runs; /* descending by name, as XProf lists them */
	size_t run_count;
	/* Folders with event files (`*tfevents*`), in the same order. Most such files hold no run;
	 * which do only their bytes tell (session/graph_runs.h). */
	const struct tfp_run *event_runs;
	size_t event_run_count;
	size_t folders, files; /* looked at */
	bool truncated;        /* a limit on depth or number was reached, or a folder
				* could not be read: see notes */
	/* For a person: folders that could not be read, links not followed,
	 * empty run folders, and where nothing was found what was there instead. */
	const char *const *notes;
	size_t note_count;
	uint64_t generation; /* differs between snapshots that differ */
};

enum { TFP_LOGDIR_FOLLOW_SYMLINKS = 1 };

struct tfp_logdir;

/* Opens a directory or file. TFP_NOT_FOUND when there is nothing at path, with
 * a hint. Does not scan yet. Owned by the caller. */
enum tfp_status tfp_logdir_new(struct tfp_logdir **out, const char *path, unsigned flags,
			       struct tfp_error *err) TFP_CHECK;
/* No snapshot of it may be in use any more. Accepts NULL. */
void tfp_logdir_free(struct tfp_logdir *dir);
/* The path as it was given, or, once it is hidden, its last part. */
const char *tfp_logdir_path(const struct tfp_logdir *dir);
/* The absolute path, for commands that a person may run elsewhere. NULL once it is hidden. */
const char *tfp_logdir_absolute_path(const struct tfp_logdir *dir);
/* From now on texts do not tell where the directory lies, because others than its owner read them.
 * Call it before any other thread uses the directory. */
void tfp_logdir_hide_path(struct tfp_logdir *dir);
/* If the path is hidden, shortens it in a text, in place. Thread-safe. */
void tfp_logdir_redact(struct tfp_logdir *dir, char *text);

/* Whether the directory can be opened and read now, without a scan. The error names no path. */
enum tfp_status tfp_logdir_check(const struct tfp_logdir *dir, struct tfp_error *err) TFP_CHECK;

/* The present state, at most a second or ten times the scan's own duration
 * old. TFP_UNAVAILABLE while the directory is not there or cannot be read. Thread-safe. Give it
 * back with tfp_logdir_snapshot_unref. */
enum tfp_status tfp_logdir_snapshot(struct tfp_logdir *dir, const struct tfp_logdir_snapshot **out,
				    struct tfp_error *err) TFP_CHECK;
/* The same without looking at the disk: NULL when the last one is too old. */
const struct tfp_logdir_snapshot *tfp_logdir_snapshot_at_hand(struct tfp_logdir *dir);
/* One more reference; returns the snapshot. */
const struct tfp_logdir_snapshot *
tfp_logdir_snapshot_ref(const struct tfp_logdir_snapshot *snapshot);
void tfp_logdir_snapshot_unref(const struct tfp_logdir_snapshot *snapshot);

/* Makes the next snapshot look anew, for changes that must be seen at once. */
void tfp_logdir_expire(struct tfp_logdir *dir);

/* Absolute path of the folder in which a new run belongs, so that it is listed
 * under its own name. The folder need not be there. TFP_BAD_QUERY when the
 * directory is one run or one file only. */
enum tfp_status tfp_logdir_runs_folder(const struct tfp_logdir *dir, char *out, size_t size,
				       struct tfp_error *err) TFP_CHECK;

/* A run, or a folder with event files; NULL when there is none. */
const struct tfp_run *tfp_logdir_find_run(const struct tfp_logdir_snapshot *snapshot,
					  const char *name);

/* Opens a capture file of a snapshot for reading, never outside the directory
 * (links that lead out are refused unless they are followed), and tells its
 * present identity. *fd is the caller's. */
enum tfp_status tfp_logdir_open(struct tfp_logdir *dir, const struct tfp_capture_file *file,
				int *fd, struct tfp_file_identity *identity,
				struct tfp_error *err) TFP_CHECK;

#endif
