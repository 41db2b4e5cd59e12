/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of a new run. It is made before any program is asked, so that a log directory that
 * cannot be written is noticed. It is hidden until it is complete, so that half a run is never
 * listed. It is removed if nothing came.
 *
 *     struct tfp_run_folder f;
 *     tfp_run_folder_make(&f, "logs/plugins/profile", "", &err);
 *     struct tfp_run_file file;
 *     tfp_run_file_open(&file, &f, "10.0.0.2_6009", &err);
 *     tfp_run_file_write(&file, bytes, size, &err);
 *     tfp_run_file_keep(&file, &err);
 *     tfp_run_folder_publish(&f, &err);
 *     tfp_run_folder_release(&f);
 */
#ifndef TFP_REMOTE_RUN_FOLDER_H
#define TFP_REMOTE_RUN_FOLDER_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TFP_RUN_NAME_MAX 120u

struct tfp_run_folder {
	char *parent; /* absolute path of the folder with runs */
	char name[TFP_RUN_NAME_MAX + 1];
	char hidden[TFP_RUN_NAME_MAX + 16]; /* the folder's name until it is published */
	int parent_fd, fd;
	unsigned kept; /* files */
};

struct tfp_run_file {
	struct tfp_run_folder *folder;
	char name[320], part[328];
	int fd; /* -1 when closed */
	uint64_t bytes;
};

/* Makes a run's name of a text: any character but letters, digits, '.', '_' and '-' becomes '_',
 * and so does a '.' in front. It is cut at TFP_RUN_NAME_MAX. out has room for one more. "" stays
 * "". */
void tfp_run_name_clean(const char *text, char *out);

/* Makes parent (with the two folders above it, but not its log directory) and a
 * new folder in it. An empty name is the local time, as the profilers name their
 * runs; a name is cleaned. TFP_BAD_QUERY when there is such a run; TFP_IO with a
 * hint when the log directory cannot be written. Release it in any case. */
enum tfp_status tfp_run_folder_make(struct tfp_run_folder *f, const char *parent, const char *name,
				    struct tfp_error *err) TFP_CHECK;
/* Gives the folder its name, or removes it if no file was kept. */
enum tfp_status tfp_run_folder_publish(struct tfp_run_folder *f, struct tfp_error *err) TFP_CHECK;
/* Removes the folder if it was not published. Accepts zeroed memory. */
void tfp_run_folder_release(struct tfp_run_folder *f);
/* Size of a file that another program put where the run will be, or -1. */
int64_t tfp_run_folder_foreign(const struct tfp_run_folder *f, const char *file);

/* A new file STEM.xplane.pb; a number is added to a stem that is taken. */
enum tfp_status tfp_run_file_open(struct tfp_run_file *file, struct tfp_run_folder *f,
				  const char *stem, struct tfp_error *err) TFP_CHECK;
enum tfp_status tfp_run_file_write(struct tfp_run_file *file, const void *bytes, size_t size,
				   struct tfp_error *err) TFP_CHECK;
/* Syncs the file and gives it its name. On failure removes it. */
enum tfp_status tfp_run_file_keep(struct tfp_run_file *file, struct tfp_error *err) TFP_CHECK;
/* Removes it, unless it was kept. Accepts a file that is closed. */
void tfp_run_file_drop(struct tfp_run_file *file);

#endif
