/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The capture of one host: when its threads and its devices did what in every
 * step, written as events. What other hosts do matters where reductions wait
 * for the slowest, and is worked out from the same numbers on every host.
 */
#ifndef TFP_SYNTH_HOST_H
#define TFP_SYNTH_HOST_H

#include "base/error.h"
#include "synth/model.h"
#include "synth/options.h"

#include <stdint.h>

/* Writes the capture of o's host number host to fd from position 0 on. */
enum tfp_status tfp_synth_host_write(const struct tfp_synth_options *o,
				     const struct tfp_synth_model *m, unsigned host, int fd,
				     struct tfp_error *err) TFP_CHECK;

/* Bytes that such a capture has with o->steps steps; costs as much time as
 * writing half of it. */
enum tfp_status tfp_synth_host_size(const struct tfp_synth_options *o,
				    const struct tfp_synth_model *m, unsigned host, uint64_t *bytes,
				    struct tfp_error *err) TFP_CHECK;

#endif
