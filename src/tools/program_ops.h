/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device ops that the dashboards of programs show (op profile, HLO stats, roofline): those
 * of all hosts of a session, merged by program, with their texts; and what is left out.
 *
 * XProf shows instructions of programs, and ops that a framework named in the stat tf_op; all
 * other device time it takes for idle. So do these dashboards where a session has programs.
 * Where it has none, or with others=true, everything that ran is shown, by whatever names it.
 */
#ifndef TFP_TOOLS_PROGRAM_OPS_H
#define TFP_TOOLS_PROGRAM_OPS_H

#include "analysis/ops/op_rates.h"
#include "analysis/ops/op_texts.h"
#include "analysis/summary/op_stats.h"
#include "analysis/summary/step_works.h"
#include "session/query.h"
#include "session/session.h"
#include "tools/data_table.h"
#include "tools/parameter.h"

struct tfp_program_ops {
	struct tfp_op_stats stats; /* env has the peaks that count, also those asked for */
	struct tfp_op_texts texts;
	/* By self time, then by name; without IDLE. Of stats. */
	const struct tfp_op **list;
	size_t count;
	bool has_others;             /* all that ran is in the list */
	bool has_devices;            /* some device did something */
	uint64_t op_time_ps;         /* self time of the list */
	uint64_t total_time_ps;      /* with idle time */
	uint64_t busy_time_ps;       /* self time of all that ran, whether in the list or not */
	uint64_t no_hlo_time_ps;     /* of it, what belongs to no known HLO instruction */
	uint64_t no_cost_time_ps;    /* of the list, time of ops whose cost nobody knows */
	struct tfp_step_works works; /* where steps were asked for: those that all hosts have */
};

/* Parameters that every tool takes which shows these. */
#define TFP_PROGRAM_OPS_PARAMETERS                                                                 \
	TFP_TAKES(BOOLEAN, "others", NULL,                                                         \
		  "Also show device time that belongs to no known program; "                       \
		  "XProf counts it as idle. Default: only if no program is known."),               \
		TFP_TAKES(NUMBER, "peak_tflops", NULL,                                             \
			  "The peak compute rate of a device in TFLOP/s. It replaces "             \
			  "the capture's."),                                                       \
		TFP_TAKES(NUMBER, "peak_hbm_gbs", NULL,                                            \
			  "The peak bandwidth of its main memory (HBM) in GB/s."),                 \
		TFP_TAKES(NUMBER, "peak_sram_gbs", NULL,                                           \
			  "The peak bandwidth of its fast memory in GB/s: shared "                 \
			  "memory of GPUs, VMEM of TPUs.")

/* out is released by the caller in any case. */
enum tfp_status tfp_program_ops(const struct tfp_session *session, const struct tfp_query *query,
				struct tfp_program_ops *out, struct tfp_error *err) TFP_CHECK;
/* The same, with what was done in each step. step_source tells what a step is
 * (run_summary.h). */
enum tfp_status tfp_program_ops_of_steps(const struct tfp_session *session,
					 const struct tfp_query *query, struct tfp_program_ops *out,
					 struct tfp_error *err) TFP_CHECK;
void tfp_program_ops_release(struct tfp_program_ops *ops);

/* An op's texts; never NULL. */
const struct tfp_op_text *tfp_program_ops_text(const struct tfp_program_ops *ops,
					       const struct tfp_op *op);
/* IDLE as an op: what is left of the total. */
struct tfp_op tfp_program_ops_idle(const struct tfp_program_ops *ops);

/* What a table says of itself: device_type, peaks_source, peak_tflops and peak_hbm_gbs (empty where
 * nobody knows them), and in microseconds total_time_us, busy_time_us, no_hlo_time_us,
 * unknown_cost_time_us. */
void tfp_program_ops_properties(const struct tfp_program_ops *ops, struct tfp_table *table);
/* The source of an op in XProf's form: an HTML element with the stack as its title. Texts are
 * escaped. Nothing where none is known. */
void tfp_program_ops_add_source(struct tfp_table *table, const struct tfp_op_text *text);
/* "file:line", or "" where there is no file. */
void tfp_program_ops_add_place(struct tfp_table *table, struct tfp_str file, int32_t line);

#endif
