/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Costs of HLO instructions against what XLA's analyses answered for the same modules:
 * files MODULE.hlo_proto.pb and MODULE.costs.tsv of tests/golden/hlo_costs (README.md there).
 */
#include "analysis/hlo/hlo_cost.h"
#include "base/alloc.h"
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_file(const char *module, const char *ending, size_t *size)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/%s%s", TFP_TEST_DATA, module, ending);
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	*size = (size_t)ftell(f);
	rewind(f);
	char *data = malloc(*size + 1);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, *size, f), *size);
	data[*size] = '\0';
	fclose(f);
	return data;
}

static uint32_t find(const struct tfp_hlo_program *p, const char *computation, const char *name)
{
	for (uint32_t i = 0; i < p->instruction_count; i++) {
		const struct tfp_hlo_op *op = &p->instructions[i];
		if (tfp_str_equal(op->name, name) &&
		    tfp_str_equal(p->computations[op->computation].name, computation))
			return i;
	}
	fail_msg("no instruction %s in %s", name, computation);
	return 0;
}

static int compare(const char *what, const char *name, const char *expected, int64_t got)
{
	/* A fraction that XLA's float has, it cuts off. */
	int64_t want = (int64_t)strtod(expected, NULL);
	if (want == got)
		return 0;
	print_message("%s %s: expected %s, got %lld\n", name, what, expected, (long long)got);
	return 1;
}

/* Lines of the table: program_id module computation comp_kind instruction opcode category
 * xla_flops xla_transcendentals xla_bytes gpu_flops_model gpu_flops_device gpu_bytes
 * gpu_bytes_read_hbm gpu_bytes_written_hbm ... */
static void check_module(const char *module)
{
	size_t size, table_size;
	char *bytes = read_file(module, ".hlo_proto.pb", &size);
	char *table = read_file(module, ".costs.tsv", &table_size);
	struct tfp_hlo_program program;
	struct tfp_hlo_cost *costs;
	struct tfp_error err;
	int differences = 0, rows = 0;
	if (tfp_hlo_program_init(&program, (struct tfp_str){bytes, size}, &err) != TFP_OK ||
	    tfp_hlo_cost_analyse(&program, &costs, &err) != TFP_OK)
		fail_msg("%s: %s", module, err.message);
	char *rest = table, *line = strsep(&rest, "\n");
	while ((line = strsep(&rest, "\n")) && *line) {
		char *cell[16];
		for (int i = 0; i < 16; i++)
			cell[i] = strsep(&line, "\t");
		uint32_t i = find(&program, cell[2], cell[4]);
		const struct tfp_hlo_cost *cost = &costs[i];
		rows++;
		if (!tfp_str_equal(program.instructions[i].opcode_name, cell[5]))
			differences++;
		differences += compare("flops", cell[4], cell[7], cost->flops);
		differences += compare("transcendentals", cell[4], cell[8], cost->transcendentals);
		differences += compare("bytes", cell[4], cell[9], cost->bytes);
		/* XLA knows nothing of these, we do (test_what_only_we_know). */
		if (cost->source == TFP_HLO_COST_OURS)
			continue;
		if (cost->source != TFP_HLO_COST_UNKNOWN) {
			differences += compare("GPU flops", cell[4], cell[10], cost->gpu_flops);
			differences +=
				compare("device flops", cell[4], cell[11], cost->gpu_device_flops);
		}
		differences += compare("GPU bytes", cell[4], cell[12], cost->gpu_bytes);
		differences += compare("read", cell[4], cell[13], cost->gpu_bytes_read);
		differences += compare("written", cell[4], cell[14], cost->gpu_bytes_written);
	}
	assert_int_equal(rows, program.instruction_count);
	assert_int_equal(differences, 0);
	tfp_free(costs);
	tfp_hlo_program_release(&program);
	free(bytes);
	free(table);
}

static void test_elementwise(void **state)
{
	(void)state;
	check_module("elementwise");
}

static void test_matmul_conv(void **state)
{
	(void)state;
	check_module("matmul_conv");
}

static void test_reduce_etc(void **state)
{
	(void)state;
	check_module("reduce_etc");
}

static void test_collectives(void **state)
{
	(void)state;
	check_module("collectives");
}

static void test_fusions(void **state)
{
	(void)state;
	check_module("fusions");
}

/* 2 x 8 x 128 x 32 x 64 operations; 131,072 and 32,768 bytes read, 65,536 written, by hand. */
static void test_what_only_we_know(void **state)
{
	size_t size;
	char *bytes = read_file("matmul_conv", ".hlo_proto.pb", &size);
	struct tfp_hlo_program program;
	struct tfp_hlo_cost *costs;
	struct tfp_error err;
	(void)state;
	assert_int_equal(tfp_hlo_program_init(&program, (struct tfp_str){bytes, size}, &err),
			 TFP_OK);
	assert_int_equal(tfp_hlo_cost_analyse(&program, &costs, &err), TFP_OK);
	const struct tfp_hlo_cost *gemm = &costs[find(&program, "main", "legacy")];
	assert_int_equal(gemm->source, TFP_HLO_COST_OURS);
	assert_int_equal(gemm->gpu_flops, 4194304);
	assert_int_equal(gemm->gpu_device_flops, 4194304);
	assert_int_equal(gemm->gpu_bytes, 229376);
	assert_int_equal(gemm->gpu_bytes_read, 163840);
	assert_int_equal(gemm->gpu_bytes_written, 65536);
	assert_int_equal(costs[find(&program, "main", "other")].source, TFP_HLO_COST_UNKNOWN);
	assert_int_equal(costs[find(&program, "main", "lt")].source, TFP_HLO_COST_XLA);
	tfp_free(costs);
	tfp_hlo_program_release(&program);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_elementwise), cmocka_unit_test(test_matmul_conv),
		cmocka_unit_test(test_reduce_etc),  cmocka_unit_test(test_collectives),
		cmocka_unit_test(test_fusions),     cmocka_unit_test(test_what_only_we_know),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
