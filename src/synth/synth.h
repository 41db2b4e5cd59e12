/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures of a program that never ran: a data-parallel training run over
 * several hosts and GPUs, with everything in it that a dashboard can show. For
 * demonstrations, tests and benchmarks; not a model of any machine.
 *
 *     struct tfp_synth_options o;
 *     tfp_synth_options_demo(&o);
 *     if (tfp_synth_write(&o, "/tmp/logs", &err) != TFP_OK) ...
 *
 * The same options give the same bytes. The story they tell: steps of even
 * length at first, then a stretch (from 45 % to 65 % of the steps) in which
 * every host waits for its input, one retracing of the training function at a
 * third of the way, and, with two hosts or more, one host whose input pipeline
 * is slower than a step throughout, so that the others wait for it in their
 * reductions. The first device of every host keeps a block of each of the first
 * steps for good, as a program does that collects its history.
 */
#ifndef TFP_SYNTH_SYNTH_H
#define TFP_SYNTH_SYNTH_H

#include "base/error.h"
#include "synth/options.h"

/* Writes logdir/plugins/profile/<run>/<host>.xplane.pb for every host, and
 * makes the folders that are missing. A file appears under its name only when
 * it is complete, and replaces an older one; files of hosts before the one
 * that failed stay. Errors name the file: TFP_BAD_QUERY for options out of
 * their range, TFP_IO, TFP_NO_MEMORY. Memory does not depend on steps, unless
 * grouped, which names every step. */
enum tfp_status tfp_synth_write(const struct tfp_synth_options *o, const char *logdir,
				struct tfp_error *err) TFP_CHECK;

#endif
