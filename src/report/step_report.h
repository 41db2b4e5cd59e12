/*
 * What the reports about steps have in common.
 */
#ifndef TFP_REPORT_STEP_REPORT_H
#define TFP_REPORT_STEP_REPORT_H

#include "report/reports.h"

/* The messages of a table of diagnostics. That steps are missing is said at length by
 * tfp_report_no_steps. */
void tfp_report_messages(struct tfp_report *r, const struct tfp_table *diagnostics,
			 bool steps_missing);
/* Where steps are not marked ones: what they are. */
void tfp_report_step_source(struct tfp_report *r, const struct tfp_table *steps);
/* Why there is no step, what to do about it, and what there is all the same. */
void tfp_report_no_steps(struct tfp_report *r, const struct tfp_table *steps, const char *rest);
/* "10.631 ms, one step", of the steps of tfp_step_table, of which there is one at least. */
void tfp_report_average_step(struct tfp_report *r, const struct tfp_table *steps);
/* What a step's time goes to on average, as a table in source->more. */
void tfp_report_step_parts(const struct tfp_report_source *source, struct tfp_report *r,
			   const struct tfp_table *steps);

#endif
