/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts that the reports about steps have in common.
 */
#ifndef TFP_REPORT_STEP_REPORT_H
#define TFP_REPORT_STEP_REPORT_H

#include "report/reports.h"

/* The messages of a table of diagnostics, without the one about missing steps where
 * steps_missing: tfp_report_no_steps says that at length. */
void tfp_report_messages(struct tfp_report *r, const struct tfp_table *diagnostics,
			 bool steps_missing);
/* Says what the steps are where they are not marked ones. */
void tfp_report_step_source(struct tfp_report *r, const struct tfp_table *steps);
/* Says why there is no step, and what to do about it. rest: what there is all the same. */
void tfp_report_no_steps(struct tfp_report *r, const struct tfp_table *steps, const char *rest);
/* "10.631 ms, one step", of the steps of tfp_step_table, of which there is one at least. */
void tfp_report_average_step(struct tfp_report *r, const struct tfp_table *steps);
/* The parts of an average step, as a table in source->more. */
void tfp_report_step_parts(const struct tfp_report_source *source, struct tfp_report *r,
			   const struct tfp_table *steps);

#endif
