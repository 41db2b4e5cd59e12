/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a writer puts bytes, piece after piece: a buffer, a file, a client that
 * may be slow or gone.
 */
#ifndef TFP_BASE_SINK_H
#define TFP_BASE_SINK_H

#include "base/error.h"

#include <stddef.h>

struct tfp_sink {
	/* Takes all bytes or fails; after a failure nothing more is written. */
	enum tfp_status (*write)(void *context, const void *bytes, size_t size,
				 struct tfp_error *err);
	void *context;
};

#endif
