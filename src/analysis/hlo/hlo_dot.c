/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/hlo/hlo_dot.h"

#include "analysis/hlo/hlo_fields.h"
#include "analysis/hlo/hlo_text.h"
#include "base/alloc.h"
#include "base/progress.h"

#include <inttypes.h>
#include <string.h>

/* Who has more users is not followed to them (hlo_graph_dumper.cc, kMaxUsersToRender). */
#define USERS_MOST 16u
/* Shapes and lists of devices are cut there, as XLA does. */
#define SHAPE_MOST   64u
#define DEVICES_MOST 128u
/* Elements of a value that counts as large. */
#define LARGE_FROM 4096
/* Bytes of a label's part, and of the graph. */
#define PART_MOST  4096u
#define GRAPH_MOST ((size_t)1 << 29)
/* Computations are drawn at most so deep in one another. */
#define DEPTH_MOST 64u

enum filter { HIDDEN, NORMAL, CENTRE, SOME_OPERANDS, NO_OPERANDS, SOME_USERS };

struct dumper {
	const struct tfp_hlo_program *p;
	const struct tfp_hlo_dot_request *request;
	uint32_t computation; /* that is drawn */
	uint8_t *filter;      /* of its instructions; those of others are all shown */
	uint32_t *ids;        /* of instructions, then of computations; 0: none yet */
	bool *is_drawn;       /* instructions that are nodes */
	bool *is_begun;       /* computations that are clusters */
	uint32_t *fusions;    /* of each fused computation the fusion, else TFP_HLO_NONE */
	uint32_t next_id, nodes, left_out;
	struct tfp_hlo_frames frames;
	struct tfp_buf *out;
	struct tfp_buf edges, scratch;
};

/* ---- what is shown ---- */

static const struct tfp_hlo_op *op_of(const struct dumper *d, uint32_t i)
{
	return &d->p->instructions[i];
}

static enum filter filter_of(const struct dumper *d, uint32_t i)
{
	return op_of(d, i)->computation == d->computation ? (enum filter)d->filter[i] : NORMAL;
}

static bool is_shown(const struct dumper *d, uint32_t i)
{
	return filter_of(d, i) != HIDDEN;
}

static bool is_fused(const struct dumper *d, uint32_t i)
{
	return d->fusions[op_of(d, i)->computation] != TFP_HLO_NONE;
}

static bool is_effective_scalar(const struct dumper *d, uint32_t i)
{
	const struct tfp_hlo_shape *shape = tfp_hlo_shape_of(d->p, i);
	return shape->type != TFP_HLO_TYPE_TUPLE && shape->type != TFP_HLO_TYPE_TOKEN &&
	       shape->elements == 1;
}

/* "add" for a computation that does no more with its two parameters; else NULL
 * (MatchTrivialComputation). */
static const char *trivial_name(const struct dumper *d, uint32_t computation)
{
	const struct tfp_hlo_computation *c = &d->p->computations[computation];
	const struct tfp_hlo_op *root = op_of(d, c->root);
	struct tfp_str direction;
	if (c->count != 3 || root->operand_count != 2 || !is_effective_scalar(d, c->root))
		return NULL;
	uint32_t a = tfp_hlo_operand(d->p, c->root, 0), b = tfp_hlo_operand(d->p, c->root, 1);
	const struct tfp_hlo_op *x = op_of(d, a), *y = op_of(d, b);
	if (x->opcode != TFP_HLO_PARAMETER || y->opcode != TFP_HLO_PARAMETER ||
	    x->number + y->number != 1 || !is_effective_scalar(d, a) || !is_effective_scalar(d, b))
		return NULL;
	switch (root->opcode) {
	case TFP_HLO_ADD:
		return "add";
	case TFP_HLO_MULTIPLY:
		return "multiply";
	case TFP_HLO_MINIMUM:
		return "min";
	case TFP_HLO_MAXIMUM:
		return "max";
	case TFP_HLO_XOR:
		return "xor";
	case TFP_HLO_AND:
		return "and";
	case TFP_HLO_OR:
		return "or";
	case TFP_HLO_COMPARE:
		break;
	default:
		return NULL;
	}
	tfp_hlo_field(root->message, 63, &direction);
	if (tfp_str_equal(direction, "EQ"))
		return "equal-to";
	if (tfp_str_equal(direction, "NE"))
		return "not-equal-to";
	if (x->number != 0) /* the others change with the order */
		return NULL;
	return tfp_str_equal(direction, "LE")   ? "less-or-equal"
	       : tfp_str_equal(direction, "GE") ? "greater-or-equal"
	       : tfp_str_equal(direction, "GT") ? "greater-than"
	       : tfp_str_equal(direction, "LT") ? "less-than"
						: NULL;
}

static bool shows_computation(const struct dumper *d, uint32_t computation)
{
	uint32_t fusion = d->fusions[computation];
	if (fusion != TFP_HLO_NONE) {
		enum filter f = filter_of(d, fusion);
		return f != HIDDEN && f != SOME_OPERANDS && f != NO_OPERANDS &&
		       !d->request->merges_fusions;
	}
	return !trivial_name(d, computation);
}

static bool is_open_fusion(const struct dumper *d, uint32_t i)
{
	return op_of(d, i)->opcode == TFP_HLO_FUSION && op_of(d, i)->called_count > 0 &&
	       shows_computation(d, tfp_hlo_called(d->p, i, 0));
}

static bool is_broadcast_scalar(const struct dumper *d, uint32_t i)
{
	const struct tfp_hlo_op *op = op_of(d, i);
	if (!is_fused(d, i) || op->opcode != TFP_HLO_BROADCAST || op->operand_count == 0)
		return false;
	uint32_t operand = tfp_hlo_operand(d->p, i, 0);
	return op_of(d, operand)->opcode == TFP_HLO_CONSTANT && is_effective_scalar(d, operand);
}

/* What a fusion has in the place of its parameter; TFP_HLO_NONE for what is none. */
static uint32_t fusion_operand(const struct dumper *d, uint32_t i)
{
	const struct tfp_hlo_op *op = op_of(d, i);
	uint32_t fusion = d->fusions[op->computation];
	if (op->opcode != TFP_HLO_PARAMETER || fusion == TFP_HLO_NONE ||
	    op->number >= op_of(d, fusion)->operand_count)
		return TFP_HLO_NONE;
	return tfp_hlo_operand(d->p, fusion, op->number);
}

static bool is_constant_parameter(const struct dumper *d, uint32_t i)
{
	uint32_t operand = fusion_operand(d, i);
	return operand != TFP_HLO_NONE && op_of(d, operand)->opcode == TFP_HLO_CONSTANT;
}

static bool is_merged(const struct dumper *d, uint32_t i)
{
	const struct tfp_hlo_op *op = op_of(d, i);
	uint32_t shown = 0;
	if (op->opcode == TFP_HLO_GET_TUPLE_ELEMENT &&
	    d->p->computations[op->computation].root != i)
		return true;
	if (is_constant_parameter(d, i))
		return true;
	/* A loop's one big parameter, whose parts are taken. */
	if (op->opcode != TFP_HLO_PARAMETER || is_fused(d, i) ||
	    tfp_hlo_shape_of(d->p, i)->type != TFP_HLO_TYPE_TUPLE)
		return false;
	for (uint32_t u = 0; u < op->user_count; u++) {
		uint32_t user = d->p->users[op->first_user + u];
		if (!is_shown(d, user))
			continue;
		if (op_of(d, user)->opcode != TFP_HLO_GET_TUPLE_ELEMENT)
			return false;
		shown++;
	}
	return shown > 3;
}

/* The node that stands for a value. */
static uint32_t node_of(const struct dumper *d, uint32_t i)
{
	if (op_of(d, i)->opcode == TFP_HLO_GET_TUPLE_ELEMENT && op_of(d, i)->operand_count > 0)
		i = tfp_hlo_operand(d->p, i, 0);
	/* Called computations come before their callers, so this ends. */
	while (is_open_fusion(d, i))
		i = d->p->computations[tfp_hlo_called(d->p, i, 0)].root;
	return i;
}

static bool is_small(const struct dumper *d, uint32_t i)
{
	const struct tfp_hlo_shape *shape = tfp_hlo_shape_of(d->p, i);
	return shape->type == TFP_HLO_TYPE_OPAQUE || shape->type == TFP_HLO_TYPE_TOKEN ||
	       shape->elements < LARGE_FROM;
}

/* ---- writing ---- */

/* In a label, which is like HTML. */
static void put_html(struct tfp_buf *out, struct tfp_str s)
{
	for (size_t i = 0; i < s.size; i++) {
		if (s.data[i] == '<')
			tfp_buf_puts(out, "&lt;");
		else if (s.data[i] == '>')
			tfp_buf_puts(out, "&gt;");
		else if (s.data[i] == '&')
			tfp_buf_puts(out, "&amp;");
		else if ((unsigned char)s.data[i] >= ' ')
			tfp_buf_putc(out, s.data[i]);
	}
}

/* Between quotes. */
static void put_text(struct tfp_buf *out, struct tfp_str s)
{
	for (size_t i = 0; i < s.size; i++) {
		if (s.data[i] == '"' || s.data[i] == '\\')
			tfp_buf_putc(out, '\\');
		if (s.data[i] == '\n' || (unsigned char)s.data[i] >= ' ')
			tfp_buf_putc(out, s.data[i]);
	}
}

/* A newline begins the next line of a label. */
static void put_lines(struct tfp_buf *out, struct tfp_str s)
{
	while (s.size) {
		const char *end = memchr(s.data, '\n', s.size);
		size_t size = end ? (size_t)(end - s.data) : s.size;
		struct tfp_str line = {s.data, size};
		bool cut = size > DEVICES_MOST && (tfp_str_starts(line, "replica_groups=") ||
						   tfp_str_starts(line, "source_target_pairs="));
		if (cut)
			line.size = DEVICES_MOST - 3;
		if (line.size) {
			tfp_buf_puts(out, "<br/>");
			put_html(out, line);
			tfp_buf_puts(out, cut ? "..." : "");
		}
		s.data += end ? size + 1 : size;
		s.size -= end ? size + 1 : size;
	}
}

static struct tfp_str written(struct dumper *d)
{
	return (struct tfp_str){d->scratch.data, d->scratch.size};
}

static uint32_t id_of(struct dumper *d, uint32_t place)
{
	if (!d->ids[place])
		d->ids[place] = ++d->next_id;
	return d->ids[place];
}

static uint32_t instruction_id(struct dumper *d, uint32_t i)
{
	return id_of(d, i);
}

static uint32_t cluster_id(struct dumper *d, uint32_t computation)
{
	return id_of(d, d->p->instruction_count + computation);
}

/* ---- colours ---- */

struct colours {
	const char *style, *fill, *stroke, *font;
};

static const struct colours brown = {"filled", "#bcaaa4", "#8c7b75", "black"};

static struct colours colours_of(const struct dumper *d, uint32_t i)
{
	static const struct colours dark_blue = {"filled", "#1565c0", "#003c8f", "white"};
	static const struct colours dark_green = {"filled", "#2e7d32", "#005005", "white"};
	static const struct colours gray = {"filled", "#cfd8dc", "#9ea7aa", "black"};
	static const struct colours green = {"filled", "#c8e6c9", "#97b498", "black"};
	static const struct colours orange = {"filled", "#ffe0b2", "#cbae82", "black"};
	static const struct colours dark_orange = {"filled", "#ffb74d", "#c88719", "black"};
	static const struct colours purple = {"filled", "#e1bee7", "#af8eb5", "black"};
	static const struct colours yellow = {"filled", "#fff9c4", "#cbc693", "black"};
	static const struct colours blue = {"filled", "#bbdefb", "#8aacc8", "black"};
	static const struct colours white = {"filled", "white", "#9e9e9e", "black"};
	if (tfp_str_starts(op_of(d, i)->opcode_name, "batch-norm"))
		return purple;
	switch (op_of(d, i)->opcode) {
	case TFP_HLO_ALL_GATHER:
	case TFP_HLO_ALL_GATHER_START:
	case TFP_HLO_ALL_GATHER_DONE:
	case TFP_HLO_ALL_REDUCE:
	case TFP_HLO_ALL_REDUCE_START:
	case TFP_HLO_ALL_REDUCE_DONE:
	case TFP_HLO_REDUCE_SCATTER:
	case TFP_HLO_ALL_TO_ALL:
	case TFP_HLO_RAGGED_ALL_TO_ALL:
	case TFP_HLO_COLLECTIVE_BROADCAST:
	case TFP_HLO_COLLECTIVE_PERMUTE:
	case TFP_HLO_COLLECTIVE_PERMUTE_START:
	case TFP_HLO_COLLECTIVE_PERMUTE_DONE:
	case TFP_HLO_INFEED:
	case TFP_HLO_OUTFEED:
	case TFP_HLO_PARTITION_ID:
	case TFP_HLO_REPLICA_ID:
	case TFP_HLO_RECV:
	case TFP_HLO_RECV_DONE:
	case TFP_HLO_SEND:
	case TFP_HLO_SEND_DONE:
		return brown;
	case TFP_HLO_CONVOLUTION:
	case TFP_HLO_DOT:
	case TFP_HLO_FFT:
	case TFP_HLO_TRIANGULAR_SOLVE:
	case TFP_HLO_CHOLESKY:
		return dark_blue;
	case TFP_HLO_CALL:
	case TFP_HLO_CONDITIONAL:
	case TFP_HLO_CUSTOM_CALL:
	case TFP_HLO_WHILE:
		return dark_green;
	case TFP_HLO_DOMAIN:
	case TFP_HLO_FUSION:
	case TFP_HLO_MAP:
	case TFP_HLO_GET_DIMENSION_SIZE:
	case TFP_HLO_SET_DIMENSION_SIZE:
		return gray;
	case TFP_HLO_CONCATENATE:
	case TFP_HLO_DYNAMIC_SLICE:
	case TFP_HLO_DYNAMIC_RESHAPE:
	case TFP_HLO_RESHAPE:
	case TFP_HLO_REVERSE:
	case TFP_HLO_TRANSPOSE:
	case TFP_HLO_COPY:
	case TFP_HLO_COPY_START:
	case TFP_HLO_COPY_DONE:
		return green;
	case TFP_HLO_PARAMETER:
		return is_small(d, i) ? orange : dark_orange;
	case TFP_HLO_REDUCE:
	case TFP_HLO_REDUCE_WINDOW:
	case TFP_HLO_SCATTER:
	case TFP_HLO_SELECT_AND_SCATTER:
	case TFP_HLO_GATHER:
		return purple;
	case TFP_HLO_BROADCAST:
	case TFP_HLO_DYNAMIC_UPDATE_SLICE:
		return yellow;
	case TFP_HLO_ASYNC_START:
	case TFP_HLO_ASYNC_UPDATE:
	case TFP_HLO_ASYNC_DONE:
		return blue;
	default:
		return white;
	}
}

static void put_colours(struct tfp_buf *out, struct colours c)
{
	tfp_buf_printf(out, "style=\"%s\", fontcolor=\"%s\", color=\"%s\", fillcolor=\"%s\"",
		       c.style, c.font, c.stroke, c.fill);
}

/* ---- labels ---- */

static void put_name(struct dumper *d, uint32_t i)
{
	const struct tfp_hlo_op *op = op_of(d, i);
	struct tfp_str kind;
	if (op->opcode == TFP_HLO_PARAMETER) {
		tfp_buf_printf(d->out, "<b>Parameter %" PRIu32 "</b>", op->number);
		return;
	}
	tfp_buf_puts(d->out, "<b>");
	put_html(d->out, op->name);
	tfp_buf_puts(d->out, "</b>");
	/* Mostly the name begins with the operation. */
	if (op->name.size >= op->opcode_name.size && op->opcode_name.size &&
	    memcmp(op->name.data, op->opcode_name.data, op->opcode_name.size) == 0)
		return;
	tfp_buf_puts(d->out, "<br/>");
	put_html(d->out, op->opcode_name);
	if (op->opcode == TFP_HLO_FUSION && tfp_hlo_field(op->message, 11, &kind)) {
		tfp_buf_putc(d->out, ':');
		put_html(d->out, kind);
	}
}

static void put_trivial(struct dumper *d, uint32_t i)
{
	const struct tfp_hlo_op *op = op_of(d, i);
	if (op->opcode == TFP_HLO_FUSION)
		return;
	for (uint32_t k = 0; k < op->called_count; k++) {
		const char *name = trivial_name(d, tfp_hlo_called(d->p, i, k));
		if (!name)
			continue;
		tfp_buf_puts(d->out, "<br/>Subcomputation");
		if (op->called_count > 1)
			tfp_buf_printf(d->out, " %" PRIu32, k);
		tfp_buf_printf(d->out, ": <b>%s</b>", name);
	}
}

static bool is_multidimensional(const struct tfp_hlo_shapes *shapes,
				const struct tfp_hlo_shape *shape, unsigned depth)
{
	bool any = shape->rank > 1;
	for (uint32_t i = 0; !any && depth < TFP_HLO_TUPLE_DEPTH_MAX && i < shape->part_count; i++)
		any = is_multidimensional(shapes, &shapes->list[shape->first_part + i], depth + 1);
	return any;
}

static void put_attributes(struct dumper *d, uint32_t i)
{
	tfp_buf_clear(&d->scratch);
	tfp_hlo_write_attributes(d->p, i, PART_MOST, &d->scratch);
	put_lines(d->out, written(d));
}

static void put_shape(struct dumper *d, uint32_t i)
{
	const struct tfp_hlo_shape *shape = tfp_hlo_shape_of(d->p, i);
	tfp_buf_clear(&d->scratch);
	if (op_of(d, i)->opcode != TFP_HLO_TUPLE && is_multidimensional(&d->p->shapes, shape, 0))
		tfp_hlo_write_shape(shape->message, &d->scratch);
	else
		tfp_hlo_write_plain_shape(shape->message, &d->scratch);
	struct tfp_str text = written(d);
	bool cut = text.size > SHAPE_MOST;
	if (cut)
		text.size = SHAPE_MOST - 3;
	tfp_buf_puts(d->out, "<br/>");
	put_html(d->out, text);
	tfp_buf_puts(d->out, cut ? "..." : "");
}

/* "s32[] 32": a constant as its users show it, in the shape that it is used in. */
static void put_constant(struct dumper *d, uint32_t constant, uint32_t as)
{
	enum { LITERAL = 8, ELEMENTS_MOST = 8, LITERAL_MOST = 64 };
	const struct tfp_hlo_op *op = op_of(d, constant);
	const struct tfp_hlo_shape *shape = tfp_hlo_shape_of(d->p, constant);
	struct tfp_str literal;
	tfp_buf_clear(&d->scratch);
	if (shape->type != TFP_HLO_TYPE_TUPLE && shape->elements <= ELEMENTS_MOST &&
	    tfp_hlo_field(op->message, LITERAL, &literal)) {
		tfp_hlo_write_plain_shape(tfp_hlo_shape_of(d->p, as)->message, &d->scratch);
		tfp_buf_putc(&d->scratch, ' ');
		size_t before = d->scratch.size;
		tfp_hlo_write_literal(literal, PART_MOST, &d->scratch);
		if (d->scratch.size - before <= LITERAL_MOST) {
			put_html(d->out, written(d));
			return;
		}
	}
	if (!tfp_str_starts(op->name, "constant"))
		tfp_buf_puts(d->out, "constant ");
	put_html(d->out, op->name);
	tfp_buf_clear(&d->scratch);
	tfp_buf_putc(&d->scratch, ' ');
	tfp_hlo_write_plain_shape(tfp_hlo_shape_of(d->p, as)->message, &d->scratch);
	put_html(d->out, written(d));
}

static void put_tuple_element(struct dumper *d, uint32_t i)
{
	const struct tfp_hlo_op *op = op_of(d, i);
	tfp_buf_printf(d->out, "tuple-element %" PRIu32 " of ", op->number);
	if (op->operand_count)
		put_html(d->out, op_of(d, tfp_hlo_operand(d->p, i, 0))->name);
	tfp_buf_clear(&d->scratch);
	tfp_buf_putc(&d->scratch, ' ');
	tfp_hlo_write_shape(tfp_hlo_shape_of(d->p, i)->message, &d->scratch);
	put_html(d->out, written(d));
}

/* Operands that are no nodes of their own. */
static void put_operands(struct dumper *d, uint32_t i)
{
	const struct tfp_hlo_op *op = op_of(d, i);
	for (uint32_t o = 0; o < op->operand_count; o++) {
		uint32_t operand = tfp_hlo_operand(d->p, i, o);
		bool is_constant = op_of(d, operand)->opcode == TFP_HLO_CONSTANT;
		bool is_broadcast = is_broadcast_scalar(d, operand);
		if (!is_constant && !is_broadcast && !is_merged(d, operand))
			continue;
		if (op->operand_count > 1)
			tfp_buf_printf(d->out, "<br/><b>operand %" PRIu32 "</b> = ", o);
		else
			tfp_buf_puts(d->out, "<br/><b>operand</b> = ");
		if (is_constant)
			put_constant(d, operand, operand);
		else if (is_broadcast)
			put_constant(d, tfp_hlo_operand(d->p, operand, 0), operand);
		else if (is_constant_parameter(d, operand))
			put_constant(d, fusion_operand(d, operand), fusion_operand(d, operand));
		else if (op_of(d, operand)->opcode == TFP_HLO_PARAMETER)
			tfp_buf_printf(d->out, "Parameter %" PRIu32, op_of(d, operand)->number);
		else
			put_tuple_element(d, operand);
	}
	uint32_t outer = fusion_operand(d, i);
	if (outer != TFP_HLO_NONE && op_of(d, outer)->opcode == TFP_HLO_GET_TUPLE_ELEMENT) {
		tfp_buf_puts(d->out, "<br/>");
		put_tuple_element(d, outer);
	}
}

static void put_configuration(struct dumper *d, uint32_t i)
{
	if (!d->request->has_configuration)
		return;
	tfp_buf_clear(&d->scratch);
	tfp_hlo_write_backend_config(op_of(d, i), &d->scratch);
	struct tfp_str text = written(d);
	if (text.size < 2)
		return;
	tfp_buf_puts(d->out, "<br/>");
	put_html(d->out, (struct tfp_str){text.data + 2, text.size - 2}); /* after ", " */
}

static bool put_tooltip(struct dumper *d, uint32_t i)
{
	const struct tfp_hlo_op *op = op_of(d, i);
	struct tfp_hlo_metadata m = tfp_hlo_metadata(op);
	struct tfp_buf *out = d->out;
	size_t start = out->size;
	put_text(out, m.op_name);
	if (m.op_type.size) {
		tfp_buf_puts(out, out->size > start ? "\nop_type: " : "op_type: ");
		put_text(out, m.op_type);
	}
	if (m.source_file.size && m.source_line) {
		tfp_buf_puts(out, out->size > start ? "\nsource: " : "source: ");
		put_text(out, m.source_file);
		tfp_buf_printf(out, ":%" PRId32, m.source_line);
	}
	int64_t number = m.stack_frame;
	for (int depth = 0; depth < TFP_HLO_STACK_MAX; depth++) {
		if (number <= 0 || number > d->frames.count || d->frames.list[number - 1].is_empty)
			break;
		const struct tfp_hlo_frame *f = &d->frames.list[number - 1];
		if (out->size > start)
			tfp_buf_putc(out, '\n');
		put_text(out, f->file);
		tfp_buf_putc(out, ':');
		put_text(out, f->function);
		tfp_buf_printf(out, ":%" PRId32 ":%" PRId32, f->line, f->column);
		number = f->parent;
	}
	return !tfp_buf_failed(out);
}

/* ---- edges ---- */

static void add_edge(struct dumper *d, uint32_t from, uint32_t to, uint32_t operand,
		     bool is_control)
{
	struct tfp_buf *out = &d->edges;
	from = node_of(d, from);
	/* What was left out for its number is no end of an edge. */
	if (!is_shown(d, from) || !d->is_drawn[from] ||
	    op_of(d, from)->opcode == TFP_HLO_CONSTANT || is_broadcast_scalar(d, from) ||
	    is_merged(d, from))
		return;
	tfp_buf_printf(out, "n%" PRIu32 " -> n%" PRIu32 " [arrowhead=%s tooltip=\"",
		       instruction_id(d, from), instruction_id(d, to),
		       is_small(d, from) ? "empty" : "normal");
	put_text(out, op_of(d, from)->name);
	tfp_buf_puts(out, " -> ");
	put_text(out, op_of(d, to)->name);
	tfp_buf_puts(out, "\" ");
	if (is_control)
		tfp_buf_puts(out, "style=\"dotted\" color=\"gray\" label=\"ctrl\"");
	else if (op_of(d, to)->operand_count > 1)
		tfp_buf_printf(out, " headlabel=\"%" PRIu32 "\", labeldistance=2", operand);
	tfp_buf_puts(out, "];\n");
}

static void add_edges_into(struct dumper *d, uint32_t i)
{
	const struct tfp_hlo_op *op = op_of(d, i);
	if (op->opcode == TFP_HLO_PARAMETER && is_fused(d, i)) {
		uint32_t outer = fusion_operand(d, i);
		/* In the outermost computation it would come from what is not drawn. */
		if (op->computation != d->computation && outer != TFP_HLO_NONE)
			add_edge(d, outer, i, 0, false);
		return;
	}
	if (filter_of(d, i) != NO_OPERANDS) {
		for (uint32_t o = 0; o < op->operand_count; o++)
			add_edge(d, tfp_hlo_operand(d->p, i, o), i, o, false);
	}
	for (uint32_t k = 0; k < op->control_count; k++)
		add_edge(d, d->p->controls[op->first_control + k], i, 0, true);
}

/* ---- nodes ---- */

static void draw_instruction(struct dumper *d, uint32_t i)
{
	static const struct colours dashed = {"filled,dashed", "white", "#757575", "#757575"};
	static const struct colours red = {"filled", "#b71c1c", "#7f0000", "white"};
	const struct tfp_hlo_op *op = op_of(d, i);
	enum filter filter = filter_of(d, i);
	struct colours colours = colours_of(d, i);
	const char *shape = op->opcode == TFP_HLO_WHILE ? "ellipse" : "rect";
	if ((op->opcode == TFP_HLO_CONSTANT || is_broadcast_scalar(d, i)) &&
	    d->p->computations[op->computation].root != i)
		return;
	if (is_merged(d, i) || is_open_fusion(d, i))
		return;
	if (d->nodes == TFP_HLO_DOT_NODES_MAX) {
		d->left_out++;
		return;
	}
	d->nodes++;
	d->is_drawn[i] = true;
	if (filter == SOME_OPERANDS || filter == NO_OPERANDS || filter == SOME_USERS)
		colours = dashed;
	if (filter == CENTRE) {
		colours = red;
		shape = "diamond";
	}
	tfp_buf_printf(d->out, "n%" PRIu32 " [label=<", instruction_id(d, i));
	add_edges_into(d, i);
	put_name(d, i);
	put_trivial(d, i);
	put_attributes(d, i);
	put_shape(d, i);
	put_operands(d, i);
	put_configuration(d, i);
	tfp_buf_printf(d->out, ">, shape=%s, tooltip=\"", shape);
	put_tooltip(d, i);
	tfp_buf_puts(d->out, "\", ");
	put_colours(d->out, colours);
	tfp_buf_puts(d->out, "];\n");
}

static bool draw_computation(struct dumper *d, uint32_t computation, unsigned depth);

static void begin_cluster(struct dumper *d, uint32_t caller, uint32_t computation)
{
	struct tfp_buf *out = d->out;
	tfp_buf_printf(out, "subgraph cluster_n%" PRIu32 " {\n", cluster_id(d, computation));
	if (op_of(d, caller)->opcode == TFP_HLO_FUSION) {
		bool is_centre = filter_of(d, caller) == CENTRE;
		tfp_buf_printf(out,
			       "style=\"rounded,filled,bold\"; fillcolor=\"%s\"; "
			       "color=\"%s;\"\nlabel = <Fused expression for <b>",
			       is_centre ? "#ffcdd2" : "#f5f5f5",
			       is_centre ? "#b71c1c" : "#c2c2c2");
		put_html(out, op_of(d, caller)->name);
		tfp_buf_puts(out, "</b><br/>");
		if (d->request->category)
			put_html(out, d->request->category(d->request->context, caller));
		put_attributes(d, caller);
		put_configuration(d, caller);
	} else {
		tfp_buf_puts(out, "style=rounded; color=black;\nlabel = <Subcomputation for <b>");
		put_html(out, op_of(d, caller)->name);
		tfp_buf_puts(out, "</b><br/>");
		put_html(out, d->p->computations[computation].name);
	}
	tfp_buf_puts(out, ">;\nlabelloc = t;\ntooltip = \" \";\n");
}

/* false: the answer is not wanted any more. */
static bool draw_called(struct dumper *d, uint32_t caller, uint32_t computation, unsigned depth)
{
	const struct tfp_hlo_computation *c = &d->p->computations[computation];
	bool is_new = !d->is_begun[computation], goes_on = true;
	if (is_new) {
		d->is_begun[computation] = true;
		begin_cluster(d, caller, computation);
		goes_on = draw_computation(d, computation, depth + 1);
		tfp_buf_printf(d->out, "\n}  // cluster_n%" PRIu32 "\n\n",
			       cluster_id(d, computation));
	}
	uint32_t from = node_of(d, c->root);
	if (op_of(d, caller)->opcode == TFP_HLO_FUSION || !d->is_drawn[from])
		return goes_on;
	tfp_buf_printf(&d->edges,
		       "n%" PRIu32 " -> n%" PRIu32 " [ltail=\"cluster_n%" PRIu32
		       "\", style=\"dashed\" tooltip=\"",
		       instruction_id(d, from), instruction_id(d, caller),
		       cluster_id(d, computation));
	put_text(&d->edges, c->name);
	tfp_buf_puts(&d->edges, " -> ");
	put_text(&d->edges, op_of(d, caller)->name);
	tfp_buf_puts(&d->edges, "\"];\n");
	return goes_on;
}

static bool draw_computation(struct dumper *d, uint32_t computation, unsigned depth)
{
	const struct tfp_hlo_computation *c = &d->p->computations[computation];
	for (uint32_t i = c->first; i < c->first + c->count; i++) {
		const struct tfp_hlo_op *op = op_of(d, i);
		if (!tfp_goes_on(i))
			return false;
		if (!is_shown(d, i))
			continue;
		for (uint32_t k = 0; depth < DEPTH_MOST && k < op->called_count; k++) {
			uint32_t called = tfp_hlo_called(d->p, i, k);
			if (shows_computation(d, called) && !draw_called(d, i, called, depth))
				return false;
		}
		draw_instruction(d, i);
	}
	return true;
}

static void draw_root(struct dumper *d)
{
	uint32_t from = node_of(d, d->p->computations[d->computation].root);
	if (!is_shown(d, from) || !d->is_drawn[from] ||
	    op_of(d, from)->opcode == TFP_HLO_CONSTANT || is_broadcast_scalar(d, from))
		return;
	uint32_t id = cluster_id(d, d->computation);
	tfp_buf_printf(d->out, "cluster_n%" PRIu32 " [label=<ROOT>, shape=circle, tooltip=\" \", ",
		       id);
	put_colours(d->out, brown);
	tfp_buf_puts(d->out, "];\n");
	tfp_buf_printf(&d->edges, "n%" PRIu32 " -> cluster_n%" PRIu32 " [tooltip=\" \"];\n",
		       instruction_id(d, from), id);
}

static void write_title(struct dumper *d)
{
	struct tfp_buf *out = d->out;
	uint32_t fusion = d->fusions[d->computation];
	tfp_buf_puts(out, "digraph G {\nrankdir = TB;\ncompound = true;\nlabel = <<b>");
	if (d->request->instruction != TFP_HLO_NONE) {
		tfp_buf_printf(out, "Neighborhood of %" PRIu32 " nodes around ",
			       d->request->radius);
		put_html(out, op_of(d, d->request->instruction)->name);
	}
	tfp_buf_puts(out, "<br/>Computation ");
	put_html(out, d->p->computations[d->computation].name);
	if (fusion != TFP_HLO_NONE) {
		tfp_buf_puts(out, " (in fusion instruction ");
		put_html(out, op_of(d, fusion)->name);
		tfp_buf_putc(out, ')');
	}
	if (d->computation == d->p->entry)
		tfp_buf_puts(out, "<br/>ENTRY computation");
	tfp_buf_puts(out, "</b>>;\nlabelloc = t;\ntooltip = \" \";\n\n");
}

/* ---- the neighbourhood ---- */

/* Instructions in the order in which they are reached. */
struct walk {
	struct step {
		uint32_t instruction, depth;
	} * list;
	size_t count, room;
	uint32_t *best; /* the least depth so far, one further; 0: not reached */
	bool *is_taken;
};

/* As XLA does: a bitcast is no step, so depths do not only grow along the list; what was taken
 * from it is not reached again, though there may be a shorter way. again: nevertheless. */
static bool reach(struct walk *w, uint32_t instruction, uint32_t depth, bool again)
{
	if ((w->is_taken[instruction] && !again) ||
	    (w->best[instruction] && w->best[instruction] <= depth + 1))
		return true;
	if (!TFP_GROW(w->list, w->count, w->room))
		return false;
	w->best[instruction] = depth + 1;
	w->list[w->count++] = (struct step){instruction, depth};
	return true;
}

static bool expand(struct dumper *d, struct walk *w, struct step at, bool *users_left)
{
	const struct tfp_hlo_op *op = op_of(d, at.instruction);
	bool ok = true;
	if (at.instruction == d->request->instruction || op->opcode != TFP_HLO_TUPLE) {
		for (uint32_t o = 0; ok && o < op->operand_count; o++) {
			uint32_t operand = tfp_hlo_operand(d->p, at.instruction, o);
			/* A bitcast is no step. */
			bool is_free = op->opcode == TFP_HLO_BITCAST ||
				       op_of(d, operand)->opcode == TFP_HLO_BITCAST;
			ok = reach(w, operand, at.depth + !is_free, false);
		}
	}
	for (uint32_t k = 0; ok && k < op->called_count; k++)
		ok = reach(w, d->p->computations[tfp_hlo_called(d->p, at.instruction, k)].root,
			   at.depth + 1, true);
	if (op->opcode == TFP_HLO_CONSTANT)
		return ok;
	*users_left = op->user_count > USERS_MOST;
	for (uint32_t u = 0; ok && !*users_left && u < op->user_count; u++)
		ok = reach(w, d->p->users[op->first_user + u], at.depth + 1, false);
	return ok;
}

static bool is_displayed(const struct dumper *d, const struct walk *w, uint32_t i)
{
	return w->best[i] || op_of(d, i)->opcode == TFP_HLO_CONSTANT ||
	       op_of(d, i)->computation != d->computation;
}

static void mark_cut(struct dumper *d, const struct walk *w, uint32_t i)
{
	const struct tfp_hlo_op *op = op_of(d, i);
	bool any = false, all = true, users = true;
	for (uint32_t o = 0; o < op->operand_count; o++) {
		bool shown = is_displayed(d, w, tfp_hlo_operand(d->p, i, o));
		any |= shown;
		all &= shown;
	}
	if (any && !all)
		d->filter[i] = SOME_OPERANDS;
	else if (op->operand_count && !any)
		d->filter[i] = NO_OPERANDS;
	if (d->filter[i] != SOME_USERS)
		return;
	for (uint32_t u = 0; u < op->user_count; u++)
		users &= is_displayed(d, w, d->p->users[op->first_user + u]);
	if (users)
		d->filter[i] = NORMAL;
}

/* MakeNodeRadiusAroundFilter */
static bool find_neighbourhood(struct dumper *d)
{
	size_t count = (size_t)d->p->instruction_count + 1;
	struct walk w = {.best = tfp_calloc(count, sizeof(*w.best)),
			 .is_taken = tfp_calloc(count, sizeof(*w.is_taken))};
	bool ok = w.best && w.is_taken && reach(&w, d->request->instruction, 0, false);
	for (size_t n = 0; ok && n < w.count; n++) {
		struct step at = w.list[n];
		bool users_left = false;
		if (!tfp_goes_on(n)) {
			ok = false;
			break;
		}
		w.is_taken[at.instruction] = true;
		d->filter[at.instruction] = NORMAL;
		if (at.depth == d->request->radius)
			continue;
		ok = expand(d, &w, at, &users_left);
		if (users_left)
			d->filter[at.instruction] = SOME_USERS;
	}
	for (uint32_t i = 0; ok && i < d->p->instruction_count; i++) {
		if (w.best[i])
			mark_cut(d, &w, i);
	}
	if (ok)
		d->filter[d->request->instruction] = CENTRE;
	tfp_free(w.best);
	tfp_free(w.is_taken);
	tfp_free(w.list);
	return ok;
}

/* ---- */

static bool begin(struct dumper *d)
{
	const struct tfp_hlo_program *p = d->p;
	size_t count = (size_t)p->instruction_count + 1;
	d->filter = tfp_calloc(count, sizeof(*d->filter));
	d->ids = tfp_calloc(count + p->computation_count, sizeof(*d->ids));
	d->is_drawn = tfp_calloc(count, sizeof(*d->is_drawn));
	d->is_begun = tfp_calloc((size_t)p->computation_count + 1, sizeof(*d->is_begun));
	d->fusions = tfp_calloc((size_t)p->computation_count + 1, sizeof(*d->fusions));
	if (!d->filter || !d->ids || !d->is_drawn || !d->is_begun || !d->fusions)
		return false;
	for (uint32_t i = 0; i < p->computation_count; i++)
		d->fusions[i] = TFP_HLO_NONE;
	for (uint32_t i = p->instruction_count; i-- > 0;) {
		if (p->instructions[i].opcode == TFP_HLO_FUSION && p->instructions[i].called_count)
			d->fusions[tfp_hlo_called(p, i, 0)] = i;
	}
	if (d->request->instruction != TFP_HLO_NONE)
		return find_neighbourhood(d);
	memset(d->filter, NORMAL, p->instruction_count);
	return true;
}

enum tfp_status tfp_hlo_write_dot(const struct tfp_hlo_program *program,
				  const struct tfp_hlo_dot_request *request, struct tfp_buf *out,
				  struct tfp_error *err)
{
	struct dumper d = {.p = program, .request = request, .out = out};
	d.computation = request->instruction == TFP_HLO_NONE
				? request->computation
				: program->instructions[request->instruction].computation;
	tfp_buf_init(&d.edges, GRAPH_MOST);
	tfp_buf_init(&d.scratch, GRAPH_MOST);
	enum tfp_status status = tfp_hlo_frames_init(&d.frames, program, err);
	bool ok = status == TFP_OK && begin(&d);
	if (ok) {
		write_title(&d);
		ok = draw_computation(&d, d.computation, 0);
	}
	if (ok) {
		draw_root(&d);
		if (d.left_out)
			tfp_buf_printf(out, "// cut: %" PRIu32 " more instructions\n", d.left_out);
		if (d.edges.size)
			tfp_buf_add(out, d.edges.data, d.edges.size);
		tfp_buf_puts(out, "}\n");
	}
	if (status == TFP_OK && tfp_cancelled())
		status = tfp_fail_cancelled(err);
	else if (status == TFP_OK && (!ok || tfp_buf_failed(out) || tfp_buf_failed(&d.edges)))
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for a graph");
	tfp_hlo_frames_release(&d.frames);
	tfp_buf_release(&d.edges);
	tfp_buf_release(&d.scratch);
	tfp_free(d.filter);
	tfp_free(d.ids);
	tfp_free(d.is_drawn);
	tfp_free(d.is_begun);
	tfp_free(d.fusions);
	return status;
}
