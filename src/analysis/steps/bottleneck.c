/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/steps/bottleneck.h"

#include <stdio.h>
#include <string.h>

static void judge(struct tfp_verdict *v, double percent, const char *what)
{
	v->percent = percent;
	v->class = percent >= TFP_MUCH ? "high" : percent >= TFP_SOME ? "moderate" : "no";
	if (percent >= TFP_SOME)
		snprintf(v->statement, sizeof(v->statement),
			 "%.1f%% of the sampled step time goes to \"%s\".", percent, what);
}

static void nothing_measured(struct tfp_bottleneck *out)
{
	out->input.class = "unknown";
	snprintf(out->input.statement, sizeof(out->input.statement),
		 "No step was measured, so it is not known where the time goes.");
	out->kernel_launch.class = out->all_others.class = out->collectives.class = "no";
}

static void advise(struct tfp_bottleneck *out, bool uses_tf_data)
{
	bool on_input =
		strcmp(out->input.class, "host") == 0 || strcmp(out->input.class, "both") == 0;
	if (!on_input)
		out->next_step = "The rest of this page matters little for this program.";
	else if (uses_tf_data)
		out->next_step = "Section 3 shows what the host spends its input time on.";
	else
		out->next_step = "Consider the tf.data API (https://www.tensorflow.org/guide/data) "
				 "for the input; section 3 has nothing on this program.";
}

/* The test of the input share; false when the program is not bound by its input. */
static bool judge_input(struct tfp_verdict *v, double percent)
{
	bool highly = percent >= TFP_HIGHLY_INPUT_BOUND;
	v->percent = percent;
	if (percent < TFP_MODERATELY_INPUT_BOUND)
		return false;
	v->class = highly ? "host" : "both";
	v->word = highly ? "HIGHLY" : "MODERATELY";
	snprintf(v->statement, sizeof(v->statement),
		 "The program is %s input-bound: it waits for input for %.1f%% of the sampled step "
		 "time. %s",
		 highly ? "HIGHLY" : "MODERATELY", percent,
		 highly ? "Reduce the input time first."
			: "Reduce both the input time and the rest.");
	return true;
}

static void not_input_bound(struct tfp_verdict *v, double percent)
{
	v->class = "device";
	v->word = "NOT";
	snprintf(v->statement, sizeof(v->statement),
		 "The program is NOT input-bound: it waits for input for %.1f%% of the sampled "
		 "step time. Reduce the rest.",
		 percent);
}

void tfp_bottleneck(const struct tfp_step_totals *totals, bool uses_tf_data,
		    struct tfp_bottleneck *out)
{
	*out = (struct tfp_bottleneck){0};
	if (totals->step_ms <= 0) {
		nothing_measured(out);
		advise(out, uses_tf_data);
		return;
	}
	double share[TFP_STEP_CATEGORY_COUNT];
	for (unsigned c = 0; c < TFP_STEP_CATEGORY_COUNT; c++)
		share[c] = 100 * totals->category_ms[c] / totals->step_ms;
	double others = share[TFP_STEP_ALL_OTHERS];
	judge(&out->collectives, share[TFP_STEP_COLLECTIVES], "Device collective communication");
	judge(&out->kernel_launch, share[TFP_STEP_KERNEL_LAUNCH], "Kernel launch");
	judge(&out->all_others, others, "All others");
	if (uses_tf_data && out->kernel_launch.percent >= TFP_SOME) {
		size_t n = strlen(out->kernel_launch.statement);
		snprintf(out->kernel_launch.statement + n, sizeof(out->kernel_launch.statement) - n,
			 " tf.data may be taking the CPU from the threads that launch kernels: try "
			 "the environment variable TF_GPU_THREAD_MODE=gpu_private.");
	}
	struct tfp_verdict *input = &out->input;
	if (!judge_input(input, share[TFP_STEP_INPUT])) {
		if (others >= TFP_SOME) {
			input->class = "both";
			input->word = "POTENTIALLY";
			snprintf(input->statement, sizeof(input->statement),
				 "The program is POTENTIALLY input-bound: %.1f%% of the sampled "
				 "step time goes to \"All others\", which may be I/O, Python, or "
				 "both.",
				 others);
			/* Said once. */
			out->all_others.class = "no";
			out->all_others.statement[0] = '\0';
		} else {
			not_input_bound(input, share[TFP_STEP_INPUT]);
		}
	}
	advise(out, uses_tf_data);
}

void tfp_tpu_bottleneck(const struct tfp_steps *steps, uint32_t host, bool uses_tf_data,
			struct tfp_bottleneck *out)
{
	double step_ms = 0, infeed_ms = 0, outfeed_ms = 0, idle_ms = 0, all_reduce_ms = 0;
	*out = (struct tfp_bottleneck){0};
	for (size_t s = 0; s < steps->count; s++) {
		struct tfp_tpu_step_view view;
		tfp_tpu_step_view(steps, s, host, &view);
		step_ms += view.step_ms;
		infeed_ms += view.infeed_ms;
		outfeed_ms += view.outfeed_ms;
		idle_ms += view.idle_ms;
		all_reduce_ms += view.all_reduce_ms;
	}
	if (step_ms <= 0) {
		nothing_measured(out);
		advise(out, uses_tf_data);
		return;
	}
	double infeed = 100 * infeed_ms / step_ms, outfeed = 100 * outfeed_ms / step_ms;
	double idle = 100 * idle_ms / step_ms, all_reduce = 100 * all_reduce_ms / step_ms;
	out->kernel_launch.class = "no";
	out->all_others.class = idle >= TFP_SOME ? "yes" : "no";
	out->all_others.percent = idle;
	if (idle >= TFP_SOME)
		snprintf(out->all_others.statement, sizeof(out->all_others.statement),
			 "The TensorCores are idle for %.1f%% of the sampled step time without "
			 "waiting for input: let a host training loop run several steps at a time.",
			 idle);
	out->collectives.class = all_reduce - infeed >= 6 ? "yes" : "no";
	out->collectives.percent = all_reduce;
	if (all_reduce - infeed >= 6)
		snprintf(out->collectives.statement, sizeof(out->collectives.statement),
			 "%.1f%% of the sampled step time goes to all-reduce.", all_reduce);
	if (!judge_input(&out->input, infeed))
		not_input_bound(&out->input, infeed);
	if (outfeed >= TFP_MODERATELY_INPUT_BOUND)
		snprintf(out->output_statement, sizeof(out->output_statement),
			 "The program is %s output-bound: %.1f%% of the sampled step time goes to "
			 "output.",
			 outfeed >= TFP_HIGHLY_INPUT_BOUND ? "HIGHLY" : "MODERATELY", outfeed);
	advise(out, uses_tf_data);
}

const char *tfp_step_diagnostic(const struct tfp_steps *steps)
{
	if (steps->count > 0)
		return NULL;
	if (steps->intersection_empty)
		return "The hosts have no step in common: their sequences of steps differ too much "
		       "in time, so no step time is known.";
	if (steps->module_steps)
		return "No step was marked in this capture, so the step time is not known. "
		       "Executions of its XLA module can be used as steps (step_source=module), "
		       "but it is better to mark the steps.";
	return "No step was marked in this capture, so the step time is not known. Either the "
	       "program does not mark its steps (Keras does it by itself), or the capture is "
	       "shorter than one step: mark the steps, or profile for longer.";
}
