/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile from the files that somebody names, with the original's messages where one cannot be
 * read.
 */
#ifndef TFP_TFPROF_LOADING_H
#define TFP_TFPROF_LOADING_H

#include "tfprof/profile.h"

/* Files; NULL: none. Lists have commas between them. */
struct tfp_profile_paths {
	const char *profile;      /* ProfileProto */
	const char *graph;        /* GraphDef, text or binary */
	const char *run_metadata; /* list: RunMetadata, binary or text; steps 0, 1, ... */
	const char *op_log;       /* OpLogProto */
	const char *events;       /* list: TensorBoard's event files */
	const char *checkpoint;   /* prefix */
};

struct tfp_loaded_profile {
	struct tfp_profile profile;
	struct tfp_checkpoint *checkpoint; /* NULL: none */
	struct tfp_loaded_file *files;     /* names point into them */
};

/* What went wrong is told on standard error, too (err has it as well if it is not the file's
 * fault); *fatal: whether to go on makes no sense. A profile that cannot be read is not fatal,
 * and empty, as in the original. The coverage of each RunMetadata goes to standard output. */
enum tfp_status tfp_profile_load(struct tfp_loaded_profile *l,
				 const struct tfp_profile_paths *paths, bool *fatal,
				 struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_profile_unload(struct tfp_loaded_profile *l);

#endif
