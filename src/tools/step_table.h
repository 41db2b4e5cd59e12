/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables that the overview and the input pipeline have in common: steps,
 * and diagnostics (docs/tools/overview_page.md, "[1] Steps").
 */
#ifndef TFP_TOOLS_STEP_TABLE_H
#define TFP_TOOLS_STEP_TABLE_H

#include "tools/data_table.h"
#include "tools/run_summary.h"

/* The next table of an answer is initialised, and released with the answer. */
void tfp_step_table(struct tfp_table *t, const struct tfp_run_summary *run);

/* all: the profiler's own errors and warnings as well, not only what is wrong with the
 * steps. */
void tfp_diagnostics_table(struct tfp_table *t, const struct tfp_run_summary *run, bool all);

/* Sets a property to a verdict and its hosts (step_hosts.h), or to "" where there is nothing to
 * say. */
void tfp_set_verdict(struct tfp_table *t, const char *key, const struct tfp_run_summary *run,
		     enum tfp_judgement which);
/* Where several hosts have the steps: step_hosts, slowest_host, hosts_statement, and unless
 * every host's are shown steps_of_host. */
void tfp_set_step_hosts(struct tfp_table *t, const struct tfp_run_summary *run);

/* Whether the run is a TPU's, whose steps are shown in another form. */
bool tfp_is_tpu_run(const struct tfp_run_summary *run);

/* Sets a property to a text made as printf makes it, at most 500 bytes. */
void tfp_set_property(struct tfp_table *t, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* tsl's SafeDivide: nothing divided by (nearly) nothing is nothing. */
double tfp_safe_divide(double a, double b);

#endif
