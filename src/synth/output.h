/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that appears under its name when it is complete, compressed or not.
 *
 *     tfp_synth_output_open(&out, path, compression, err)
 *     write to out.fd, anywhere
 *     tfp_synth_output_commit(&out, err)     or tfp_synth_output_abandon(&out)
 */
#ifndef TFP_SYNTH_OUTPUT_H
#define TFP_SYNTH_OUTPUT_H

#include "base/error.h"
#include "synth/options.h"

struct tfp_synth_output {
	int fd; /* of the uncompressed bytes */
	enum tfp_synth_compression compression;
	char *path;      /* where the file shall be */
	char *temporary; /* where the uncompressed bytes are */
};

/* Makes the temporary file beside path. */
enum tfp_status tfp_synth_output_open(struct tfp_synth_output *out, const char *path,
				      enum tfp_synth_compression compression,
				      struct tfp_error *err) TFP_CHECK;
/* Compresses if asked to, and gives the file its name. Closes and frees
 * everything, also on failure, and then leaves no file behind. */
enum tfp_status tfp_synth_output_commit(struct tfp_synth_output *out,
					struct tfp_error *err) TFP_CHECK;
/* Closes, frees and deletes. */
void tfp_synth_output_abandon(struct tfp_synth_output *out);

/* Makes a folder and those above it; one that exists is no error. */
enum tfp_status tfp_synth_make_folders(const char *path, struct tfp_error *err) TFP_CHECK;

#endif
