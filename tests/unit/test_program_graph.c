/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbourhoods of a small program, worked out by hand, and their DOT. */
#include "analysis/hlo/hlo_dot.h"
#include "testing.h"
#include "tools/program_graph.h"
#include "wire/pb_writer.h"

#include <string.h>

enum { NAME = 1, OPCODE = 2, SHAPE = 3, PARAMETER = 9, KIND = 11, ID = 35, OPERANDS = 36 };
enum { CONTROLS = 37, CALLED = 38, F32 = 11 };

static struct tfp_buf bytes;
static struct tfp_hlo_program program;

static void put_op(int64_t id, const char *name, const char *opcode, const char *operands,
		   int64_t called, int64_t control)
{
	size_t op = tfp_pb_begin(&bytes, 2);
	tfp_pb_put_text(&bytes, NAME, name);
	tfp_pb_put_text(&bytes, OPCODE, opcode);
	tfp_pb_put_int(&bytes, ID, id);
	size_t shape = tfp_pb_begin(&bytes, SHAPE);
	tfp_pb_put_uint(&bytes, 2, F32);
	tfp_pb_put_int(&bytes, 3, 8);
	size_t layout = tfp_pb_begin(&bytes, 5);
	tfp_pb_put_int(&bytes, 1, 0);
	tfp_pb_end(&bytes, layout);
	tfp_pb_end(&bytes, shape);
	for (; *operands; operands++)
		tfp_pb_put_int(&bytes, OPERANDS, *operands - '0');
	if (called)
		tfp_pb_put_int(&bytes, CALLED, called);
	if (control)
		tfp_pb_put_int(&bytes, CONTROLS, control);
	if (strcmp(opcode, "fusion") == 0)
		tfp_pb_put_text(&bytes, KIND, "kLoop");
	tfp_pb_end(&bytes, op);
}

static size_t begin_computation(int64_t id, const char *name, int64_t root)
{
	size_t computation = tfp_pb_begin(&bytes, 3);
	tfp_pb_put_text(&bytes, 1, name);
	tfp_pb_put_int(&bytes, 5, id);
	tfp_pb_put_int(&bytes, 6, root);
	return computation;
}

/* x -> a -> f (a fusion: p -> sine) -> z (takes it twice) -> t; y beside, ordered after a.
 * Instructions are numbered p 0, sine 1, x 2, a 3, y 4, f 5, z 6, t 7. */
static int set_up(void **state)
{
	struct tfp_error err;
	(void)state;
	tfp_buf_init(&bytes, 1 << 20);
	size_t module = tfp_pb_begin(&bytes, 1);
	tfp_pb_put_text(&bytes, 1, "m");
	tfp_pb_put_int(&bytes, 6, 2);
	size_t computation = begin_computation(1, "fused", 2);
	put_op(1, "p", "parameter", "", 0, 0);
	put_op(2, "sine", "sine", "1", 0, 0);
	tfp_pb_end(&bytes, computation);
	computation = begin_computation(2, "main", 6);
	put_op(1, "x", "parameter", "", 0, 0);
	put_op(2, "a", "negate", "1", 0, 0);
	put_op(3, "y", "negate", "1", 0, 2);
	put_op(4, "f", "fusion", "2", 1, 0);
	put_op(5, "z", "add", "44", 0, 0);
	put_op(6, "t", "negate", "5", 0, 0);
	tfp_pb_end(&bytes, computation);
	tfp_pb_end(&bytes, module);
	return tfp_hlo_program_init(&program, (struct tfp_str){bytes.data, bytes.size}, &err) !=
	       TFP_OK;
}

static int tear_down(void **state)
{
	(void)state;
	tfp_hlo_program_release(&program);
	tfp_buf_release(&bytes);
	return 0;
}

/* "5:f0 3:a1": places and names with hops; edges "3>5". */
static void check(const struct tfp_graph_request *request, const char *nodes, const char *edges,
		  uint64_t cut)
{
	struct tfp_program_graph graph;
	struct tfp_error err;
	struct tfp_buf text;
	tfp_buf_init(&text, 1 << 16);
	assert_int_equal(tfp_program_graph_init(&graph, &program, request, &err), TFP_OK);
	for (size_t i = 0; i < graph.node_count; i++) {
		const struct tfp_graph_node *n = &graph.nodes[i];
		struct tfp_str name = program.instructions[n->instruction].name;
		tfp_buf_printf(&text, "%s%.*s%u-%u-%u", i ? " " : "", (int)name.size, name.data,
			       n->hops, n->hidden_operands, n->hidden_users);
	}
	assert_string_equal(tfp_buf_text(&text), nodes);
	tfp_buf_clear(&text);
	for (size_t i = 0; i < graph.edge_count; i++) {
		static const char kinds[] = "dcer";
		const struct tfp_graph_edge *e = &graph.edges[i];
		struct tfp_str from = program.instructions[e->from].name;
		struct tfp_str to = program.instructions[e->to].name;
		tfp_buf_printf(&text, "%s%.*s>%.*s%c%u", i ? " " : "", (int)from.size, from.data,
			       (int)to.size, to.data, kinds[e->kind], e->operand);
	}
	assert_string_equal(tfp_buf_text(&text), edges);
	assert_int_equal(graph.cut, cut);
	tfp_program_graph_release(&graph);
	tfp_buf_release(&text);
}

static void test_hops(void **state)
{
	struct tfp_graph_request request = {.instruction = 5, .hops = 0, .limit = 100};
	(void)state;
	/* name hops - hidden operands - hidden users */
	check(&request, "f0-1-1", "", 0);
	request.hops = 1;
	check(&request, "f0-0-0 a1-1-0 z1-0-1", "a>fd0 f>zd0 f>zd1", 0);
	request.hops = 2;
	check(&request, "f0-0-0 a1-0-0 z1-0-0 x2-0-1 t2-0-0", "a>fd0 x>ad0 f>zd0 f>zd1 z>td0", 0);
	request.hops = 3;
	/* What only has to wait for another is an edge, and no way. */
	check(&request, "f0-0-0 a1-0-0 z1-0-0 x2-0-0 t2-0-0 y3-0-0",
	      "a>fd0 x>ad0 f>zd0 f>zd1 z>td0 x>yd0 a>yc0", 0);
}

static void test_limit(void **state)
{
	struct tfp_graph_request request = {.instruction = 5, .hops = 3, .limit = 2};
	(void)state;
	check(&request, "f0-0-1 a1-1-0", "a>fd0", 4);
}

static void test_opened(void **state)
{
	struct tfp_graph_request request = {
		.instruction = 5, .hops = 1, .limit = 100, .open = "other,f"};
	(void)state;
	check(&request, "f0-0-0 a1-1-0 z1-0-1 p0-0-0 sine0-0-0",
	      "a>fd0 a>pe0 sine>fr0 f>zd0 f>zd1 p>sined0", 0);
}

static void test_computation(void **state)
{
	struct tfp_graph_request request = {
		.instruction = TFP_HLO_NONE, .computation = 0, .limit = 100};
	(void)state;
	check(&request, "p0-0-0 sine0-0-0", "p>sined0", 0);
	request.limit = 1;
	check(&request, "p0-0-1", "", 1);
}

/* ---- DOT: nodes and edges by XLA's rules (hlo_graph_dumper.cc) ---- */

static struct tfp_str category(const void *context, uint32_t instruction)
{
	(void)context;
	(void)instruction;
	return (struct tfp_str){"loop fusion", 11};
}

static void check_dot(const struct tfp_hlo_dot_request *request, const char *const *has,
		      const char *const *has_not)
{
	struct tfp_error err;
	struct tfp_buf text;
	tfp_buf_init(&text, 1 << 20);
	assert_int_equal(tfp_hlo_write_dot(&program, request, &text, &err), TFP_OK);
	for (; *has; has++) {
		if (!strstr(tfp_buf_text(&text), *has))
			fail_msg("no %s in\n%s", *has, text.data);
	}
	for (; *has_not; has_not++) {
		if (strstr(tfp_buf_text(&text), *has_not))
			fail_msg("%s in\n%s", *has_not, text.data);
	}
	tfp_buf_release(&text);
}

static void test_dot(void **state)
{
	static const char *const around[] = {
		"Neighborhood of 1 nodes around f<br/>Computation main<br/>ENTRY computation",
		"Fused expression for <b>f</b><br/>loop fusion<br/>kind=kLoop",
		/* The fusion is what it is made of. */
		"\"a -> p\"", "\"p -> sine\"", "\"sine -> z\"  headlabel=\"0\"",
		"\"sine -> z\"  headlabel=\"1\"", "<b>Parameter 0</b>", "<b>a</b><br/>negate",
		"f32[8]", NULL};
	static const char *const not_around[] = {"<b>f</b><br/>fusion", "<b>t</b>", "\"x -> a\"",
						 NULL};
	static const char *const merged[] = {"<b>f</b><br/>fusion:kLoop", "shape=diamond",
					     "\"a -> f\"", NULL};
	static const char *const not_merged[] = {"<b>sine</b>", NULL};
	static const char *const whole[] = {
		"<b><br/>Computation fused (in fusion instruction f)</b>", "\"p -> sine\"",
		"label=<ROOT>", NULL};
	static const char *const nothing[] = {NULL};
	struct tfp_hlo_dot_request request = {.instruction = 5, .radius = 1, .category = category};
	(void)state;
	check_dot(&request, around, not_around);
	request.merges_fusions = true;
	check_dot(&request, merged, not_merged);
	request = (struct tfp_hlo_dot_request){.instruction = TFP_HLO_NONE, .computation = 0};
	check_dot(&request, whole, nothing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hops),   cmocka_unit_test(test_limit),
		cmocka_unit_test(test_opened), cmocka_unit_test(test_computation),
		cmocka_unit_test(test_dot),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
