/* SPDX-License-Identifier: Apache-2.0 */
/* The made-up compiled program, read by the reader of real ones. The costs are computed
 * by hand from the sizes in train_step.c. */
#include "analysis/hlo/hlo_cost.h"
#include "base/alloc.h"
#include "synth/train_step.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define TOKENS INT64_C(16384)
#define WIDTH  INT64_C(2048)
#define HIDDEN INT64_C(8192)
#define WORDS  INT64_C(32000)

struct made {
	struct tfp_synth_train_step step;
	struct tfp_hlo_program program;
	struct tfp_hlo_cost *costs;
};

static struct made make(unsigned layers, bool unrolled)
{
	struct tfp_synth_train_options o = {.layers = layers, .unrolled = unrolled, .replicas = 4};
	struct made m = {.costs = NULL};
	struct tfp_error err;

	tfp_error_init(&err);
	if (tfp_synth_train_step_init(&m.step, &o, &err) != TFP_OK ||
	    tfp_hlo_program_init(&m.program,
				 (struct tfp_str){tfp_buf_text(&m.step.proto), m.step.proto.size},
				 &err) != TFP_OK ||
	    tfp_hlo_cost_analyse(&m.program, &m.costs, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return m;
}

static void unmake(struct made *m)
{
	tfp_free(m->costs);
	tfp_hlo_program_release(&m->program);
	tfp_synth_train_step_release(&m->step);
}

static uint32_t find(const struct made *m, const char *name)
{
	for (uint32_t i = 0; i < m->program.instruction_count; i++) {
		struct tfp_str text = m->program.instructions[i].name;

		if (text.size == strlen(name) && memcmp(text.data, name, text.size) == 0)
			return i;
	}
	fail_msg("no instruction %s", name);
	return 0;
}

static void every_kernel_belongs_to_an_instruction(void **state)
{
	struct made m = make(3, false);

	(void)state;
	for (size_t i = 0; i < m.step.work_count; i++) {
		uint32_t op = find(&m, m.step.works[i].hlo_op);

		assert_false(
			m.program.computations[m.program.instructions[op].computation].is_fused);
	}
	unmake(&m);
}

/* The work of a kernel, by its place among those of one kind. */
static int64_t flops_of(const struct made *m, const char *kind, const char *scope)
{
	for (size_t i = 0; i < m->step.work_count; i++)
		if (strstr(m->step.works[i].op_name, scope) &&
		    strstr(m->step.works[i].op_name, kind))
			return m->costs[find(m, m->step.works[i].hlo_op)].gpu_flops;
	fail_msg("no kernel for %s in %s", kind, scope);
	return 0;
}

static void products_cost_what_their_sizes_say(void **state)
{
	struct made m = make(2, false);

	(void)state;
	/* bf16[T,W] x bf16[W,3W], and so on: 2 * rows * columns * contracted. */
	assert_int_equal(flops_of(&m, "attention/qkv/dot_general", "jit(main)/jvp("),
			 2 * TOKENS * 3 * WIDTH * WIDTH);
	assert_int_equal(flops_of(&m, "attention/out/dot_general", "jit(main)/jvp("),
			 2 * TOKENS * WIDTH * WIDTH);
	assert_int_equal(flops_of(&m, "mlp/up/dot_general", "jit(main)/jvp("),
			 2 * TOKENS * HIDDEN * WIDTH);
	assert_int_equal(flops_of(&m, "unembed/dot_general", "jit(main)/jvp("),
			 2 * TOKENS * WORDS * WIDTH);
	unmake(&m);
}

static void attention_costs_what_its_mask_leaves(void **state)
{
	struct made m = make(2, false);
	/* 8 * 16 heads of 2048 queries, of which each sees the keys up to its own: 1 + 2 + ... +
	 * 2048. Forward two products over vectors of 128, backward five. */
	int64_t pairs = INT64_C(8) * 16 * (INT64_C(2048) * 2049 / 2);
	int64_t forward = 2 * pairs * (128 + 128), backward = 2 * pairs * 5 * 128;

	(void)state;
	assert_int_equal(flops_of(&m, "attention/dot_product_attention", "jit(main)/jvp("),
			 (int64_t)(float)forward);
	assert_int_equal(flops_of(&m, "attention/dot_product_attention_bwd", "transpose("),
			 (int64_t)(float)backward);
	for (size_t i = 0; i < m.step.work_count; i++) {
		const struct tfp_hlo_cost *cost = &m.costs[find(&m, m.step.works[i].hlo_op)];

		assert_int_not_equal(cost->source, TFP_HLO_COST_UNKNOWN);
		if (!strstr(m.step.works[i].op_name, "dot_product_attention"))
			continue;
		assert_int_equal(cost->source, TFP_HLO_COST_OURS);
		/* What is written: the result and the statistics, or three gradients. */
		assert_int_equal(cost->gpu_bytes_written,
				 strstr(m.step.works[i].op_name, "_bwd")
					 ? 3 * TOKENS * WIDTH * 2
					 : TOKENS * WIDTH * 2 + INT64_C(8) * 16 * 2048 * 4);
	}
	unmake(&m);
}

static void updates_in_place_move_one_layer(void **state)
{
	struct made m = make(5, false);
	const struct tfp_hlo_cost *cost = &m.costs[find(&m, "loop_dynamic_update_slice_fusion")];

	(void)state;
	/* The first one keeps a layer's input, bf16[T,W]: it is read, and written into its place
	 * of bf16[5,T,W]; with the layer's number. */
	assert_int_equal(cost->gpu_bytes_written, TOKENS * WIDTH * 2);
	assert_true(cost->gpu_bytes_read >= TOKENS * WIDTH * 2);
	assert_true(cost->gpu_bytes_read <= TOKENS * WIDTH * 2 + 64);
	unmake(&m);
}

static void unrolled_layers_have_instructions_of_their_own(void **state)
{
	struct made few = make(2, true), more = make(4, true), looped = make(4, false);

	(void)state;
	assert_int_equal(few.step.order_count, few.step.work_count);
	assert_true(more.step.work_count > few.step.work_count);
	assert_true(looped.step.work_count < more.step.work_count);
	/* Both do the same, but for the loop's counters: one in each turn of both loops. */
	assert_int_equal(looped.step.order_count, more.step.order_count + 2 * 4);
	unmake(&few);
	unmake(&more);
	unmake(&looped);
}

static void any_allocation_may_fail(void **state)
{
	enum tfp_status status = TFP_NO_MEMORY;
	uint64_t n;

	(void)state;
	for (n = 1; status != TFP_OK && n < 5000; n++) {
		struct tfp_synth_train_options o = {.layers = 1, .replicas = 2};
		struct tfp_synth_train_step step;
		struct tfp_error err;

		tfp_error_init(&err);
		tfp_alloc_fail_at(n);
		status = tfp_synth_train_step_init(&step, &o, &err);
		tfp_alloc_fail_at(0);
		if (status == TFP_OK)
			tfp_synth_train_step_release(&step);
	}
	assert_int_equal(status, TFP_OK);
	assert_true(n > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kernel_belongs_to_an_instruction),
		cmocka_unit_test(products_cost_what_their_sizes_say),
		cmocka_unit_test(attention_costs_what_its_mask_leaves),
		cmocka_unit_test(updates_in_place_move_one_layer),
		cmocka_unit_test(unrolled_layers_have_instructions_of_their_own),
		cmocka_unit_test(any_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
