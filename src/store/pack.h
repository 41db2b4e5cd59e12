/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compressing as bytes come, in pieces:
 *
 *     struct tfp_gzip *gzip;
 *     tfp_gzip_new(&gzip, &to, &err);
 *     write_much(tfp_gzip_sink(gzip));
 *     tfp_gzip_finish(gzip, &err);
 *     tfp_gzip_free(gzip);
 */
#ifndef TFP_STORE_PACK_H
#define TFP_STORE_PACK_H

#include "base/sink.h"

struct tfp_gzip;

/* Writes to `to`, which must outlive it. */
enum tfp_status tfp_gzip_new(struct tfp_gzip **out, const struct tfp_sink *to,
			     struct tfp_error *err) TFP_CHECK;
/* The sink to write to. It lives as long as the packer. */
const struct tfp_sink *tfp_gzip_sink(struct tfp_gzip *gzip);
/* Writes the rest. Nothing may be written after it. */
enum tfp_status tfp_gzip_finish(struct tfp_gzip *gzip, struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_gzip_free(struct tfp_gzip *gzip);

/* Calls write with the sink of a new packer, and finishes it: all of the above in one. */
enum tfp_status tfp_gzip_all(const struct tfp_sink *to,
			     enum tfp_status (*write)(void *context, const struct tfp_sink *sink,
						      struct tfp_error *err),
			     void *context, struct tfp_error *err) TFP_CHECK;

#endif
