/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of several hosts as one (step_intersection.cc).
 */
#ifndef TFP_ANALYSIS_STEPS_STEPS_COMBINE_H
#define TFP_ANALYSIS_STEPS_STEPS_COMBINE_H

#include "analysis/steps/steps.h"

/* Appends the steps of one host to those of another. to is initialised by the caller. false
 * without memory. */
bool tfp_steps_copy(struct tfp_steps *to, const struct tfp_steps *from);

/* The steps that all hosts have, aligned so that they overlap most. The chief is the host
 * whose steps span the least time; every other host is shifted against it. One host: a copy,
 * numbers kept. Left out are hosts that are absent, hosts without an accelerator where another
 * has one, and hosts whose steps are executions of another module than the first one's. The
 * host of a core is its place in hosts. out is initialised by the caller. */
enum tfp_status tfp_steps_combine(const struct tfp_steps *hosts, size_t host_count,
				  struct tfp_steps *out, struct tfp_error *err) TFP_CHECK;

#endif
