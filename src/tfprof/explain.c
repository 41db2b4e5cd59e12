/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/explain.h"

#include <string.h>

struct words {
	const char *ours, *theirs;
};

static const struct words cpu_time = {
	"cpu execution time: from the beginning of the op to its end on the host, waiting and the "
	"launch of asynchronous work included.",
	"cpu execution time: The time from the start to the end of the operation. It's the sum of "
	"actual cpu run time plus the time that it spends waiting if part of computation is "
	"launched asynchronously.",
};
static const struct words accelerator_time = {
	"accelerator execution time: kernels and copies on the device, as the device timed them.",
	"accelerator execution time: Time spent executing on the accelerator. This is normally "
	"measured by the actual hardware library.",
};
static const struct words total_time = {
	"total execution time: accelerator and cpu execution time together.",
	"total execution time: Sum of accelerator execution time and cpu execution time.",
};

static const struct words columns[TFP_SELECTABLE] = {
	[TFP_SELECT_BYTES] = {"requested bytes: all memory that the op asked for, freed or not.",
			      "requested bytes: The memory requested by the operation, "
			      "accumulatively."},
	[TFP_SELECT_DEVICE] = {"device: where the op ran first.",
			       "device: which device is placed on."},
	[TFP_SELECT_FLOAT_OPS] = {"flops: floating point operations of all runs, by the op's "
				  "formula and shapes.",
				  "flops: Number of float operations. Note: Please read the "
				  "implementation for the math behind it."},
	[TFP_SELECT_INPUT_SHAPES] = {"input shape: the shape of each input.",
				     "input shape: The shape of input tensors"},
	[TFP_SELECT_OCCURRENCE] = {"occurrence: how often the op ran, and how often the graph has "
				   "it.",
				   "occurrence: The number of times it occurs"},
	[TFP_SELECT_OP_TYPES] = {"op_types: the op, its device, and the words that the program "
				 "gave it; account_type_regexes is about these.",
				 "op_types: The attributes of the operation, includes the Kernel "
				 "name device placed on and user-defined strings."},
	[TFP_SELECT_OUTPUT_BYTES] = {"output bytes: the tensors that the op gave on, whoever "
				     "allocated them.",
				     "output bytes: The memory that is output from the operation "
				     "(not necessarilty allocated by the operation)"},
	[TFP_SELECT_PARAMS] = {"param: elements of the variables.",
			       "param: Number of parameters (in the Variable)."},
	[TFP_SELECT_PEAK_BYTES] = {"peak bytes: the most memory that the op held at a time.",
				   "peak bytes: The peak amount of memory that the operation is "
				   "holding at some point."},
	[TFP_SELECT_RESIDUAL_BYTES] = {"residual bytes: memory that was still held when the op had "
				       "ended.",
				       "residual bytes: The memory not de-allocated after the "
				       "operation finishes."},
	[TFP_SELECT_TENSOR_VALUE] = {"tensor_value: values of variables, from the checkpoint.",
				     "tensor_value: Not supported now."},
};

static const struct words views[] = {
	[TFP_VIEW_SCOPE] = {"scope: the nodes by the parts of their names, as files in folders.",
			    "scope: The nodes in the model graph are organized by their names, "
			    "which is hierarchical like filesystem."},
	/* The original has the sentence of the scopes here. */
	[TFP_VIEW_GRAPH] = {"graph: below each node stand those that feed it.",
			    "scope: The nodes in the model graph are organized by their names, "
			    "which is hierarchical like filesystem."},
	[TFP_VIEW_CODE] = {"code: the lines of the Python program, outermost call first, with the "
			   "nodes that they made.",
			   "code: When python trace is available, the nodes are python lines and "
			   "their are organized by the python call stack."},
	[TFP_VIEW_OP] = {"op: all nodes of one operation together. In brackets: share of this row "
			 "and those below it, share of this row.",
			 "op: The nodes are operation kernel type, such as MatMul, Conv2D. Graph "
			 "nodes belonging to the same type are aggregated together."},
};

/* The first line is how scripts know it. */
static const struct words missing = {
	"The devices' own times are not in this profile: accelerator execution time is absent, "
	"and cpu execution time is only that of launches.\n"
	"Usually the profiling library of the GPU (CUPTI) was not found when this was recorded.",
	"It's likely a gpu tracing issue rather than tf-profiler issue.\n"
	"If you found your operation missing accelerator time, consider filing a bug to "
	"xprof-dev@!",
};

void tfp_put_explanation(struct tfp_buf *out, enum tfp_view_command view,
			 const struct tfp_view_options *o, bool misses_streams)
{
	bool theirs = o->output == TFP_OUT_FILE_TABLE;
#define SAY(words) (theirs ? (words).theirs : (words).ours)
	const char *list = o->texts[TFP_SELECT], *word;
	size_t size;
	if (misses_streams)
		tfp_buf_printf(out,
			       "\n\nFound accelerator operation but misses accelerator "
			       "stream stats!\n\n%s\n\n",
			       SAY(missing));
	tfp_buf_printf(out, "\nDoc:\n%s\n", SAY(views[view]));
	while ((word = tfp_next_word(&list, &size))) {
		size_t what = 0;
		while (what < TFP_SELECTABLE && (strlen(tfp_selected_words[what]) != size ||
						 memcmp(tfp_selected_words[what], word, size) != 0))
			what++;
		if (what == TFP_SELECTABLE)
			tfp_buf_printf(out, "Unknown select: %.*s\n", (int)size, word);
		else if (what == TFP_SELECT_MICROS)
			tfp_buf_printf(out, "%s\n%s\n%s\n", SAY(total_time), SAY(cpu_time),
				       SAY(accelerator_time));
		else if (what == TFP_SELECT_CPU_MICROS)
			tfp_buf_printf(out, "%s\n", SAY(cpu_time));
		else if (what == TFP_SELECT_ACCELERATOR_MICROS)
			tfp_buf_printf(out, "%s\n", SAY(accelerator_time));
		else
			tfp_buf_printf(out, "%s\n", SAY(columns[what]));
	}
	tfp_buf_puts(out, "\nProfile:\n");
#undef SAY
}
