/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The capture of one host of a JAX run: a compiled train step, called again and
 * again. As JAX's profiler writes it: kernels name their HLO instruction, and
 * the program itself lies beside them.
 */
#ifndef TFP_SYNTH_JAX_HOST_H
#define TFP_SYNTH_JAX_HOST_H

#include "base/error.h"
#include "synth/options.h"
#include "synth/train_step.h"

/* Writes the capture of o's host number host to fd from position 0 on. */
enum tfp_status tfp_synth_jax_host_write(const struct tfp_synth_options *o,
					 const struct tfp_synth_train_step *t, unsigned host,
					 int fd, struct tfp_error *err) TFP_CHECK;

#endif
