/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree of what is shown: scopes, nodes and their inputs, or lines of code. One model for all
 * views that are trees, wherever its nodes come from.
 *
 * A view adds nodes and children once; each command then goes through four steps:
 *
 *   account   from the leaves up: each node's own amounts, whether it is accounted, and totals
 *             of what is kept; the root's total is that of the whole model
 *   start     the first nodes on each way down that match become the root's children
 *   show      which nodes are displayed; those of a hidden one move up to its parent
 *   sort      the displayed children of each
 *
 * Children may be shared and form circles (graphs): each node counts once, where it is met first.
 * Nothing is recursive.
 */
#ifndef TFP_TFPROF_TREE_H
#define TFP_TFPROF_TREE_H

#include "tfprof/name_match.h"
#include "tfprof/options.h"
#include "tfprof/profile.h"

#define TFP_ROOT_NAME "_TFProfRoot"

/* The nodes of a model that a line of code or a type of operation stands for. */
struct tfp_node_group {
	const struct tfp_profile_node **members; /* by name; owned */
	uint32_t *times; /* owned; how often each was picked, by as many expressions */
	size_t count, room;
	size_t picked; /* members that were picked at all */
};

#define TFP_AMOUNT_BIT(amount) (UINT32_C(1) << (amount))

enum tfp_taken_flag {
	TFP_FORWARD = 1,
	TFP_BACKWARD = 2,
	TFP_REMATERIALISED = 4,
	TFP_ON_DEVICE = 8,
	TFP_ON_HOST = 16,
};

/* What a node of a capture took. */
struct tfp_taken {
	int64_t amounts[TFP_AMOUNT_COUNT];
	/* Bits of amounts: those that the capture tells, and those that it should and does not. */
	uint32_t known, lacking;
	uint8_t flags;               /* enum tfp_taken_flag */
	const struct tfp_str *types; /* what the node can be accounted by */
	size_t type_count;
};

struct tfp_tree_node {
	struct tfp_str name;
	size_t place;                        /* in tfp_tree.nodes, until somebody sorts them */
	const struct tfp_profile_node *node; /* NULL: none stands behind it alone */
	struct tfp_str type;                 /* of what has no node */
	struct tfp_node_group group;         /* of lines of code */
	const struct tfp_frame *frame;       /* a line's first frame; NULL of the root */
	bool gradient;                       /* a line of the backward pass */
	const struct tfp_taken *taken;       /* of captures, in place of node; borrowed */
	struct tfp_str label;                /* of captures: what tells it from its siblings */
	struct tfp_tree_node **children;     /* owned */
	size_t child_count, child_room;

	/* What the last command made of it. */
	int64_t own[TFP_AMOUNT_COUNT], total[TFP_AMOUNT_COUNT];
	/* Of captures: which amounts are known, and of which total some part is not. */
	uint32_t known_own, known_total, partial;
	uint8_t flags; /* enum tfp_taken_flag, of all that is below */
	bool accounted, visited, shown;
	size_t next_child;
	size_t depth;
	struct tfp_tree_node *parent;
	struct tfp_tree_node *kept_first, *kept_last, *kept_next, *kept_parent;
	struct tfp_tree_node *shown_first, *shown_last, *shown_next, *shown_parent;
};

enum tfp_tree_kind {
	TFP_TREE_SCOPE, /* what has accounted descendants is kept */
	TFP_TREE_GRAPH, /* what is not accounted is replaced by its children */
	TFP_TREE_CODE,  /* as scopes; what is trimmed goes with all that is below it */
};

struct tfp_tree {
	enum tfp_tree_kind kind;
	/* Nodes are those of a capture: unknown amounts are not 0, minima are held against totals,
	 * and rows that are equal are sorted by name. */
	bool captured;
	struct tfp_tree_node **nodes; /* owned; the root first */
	size_t count, room;
};

/* Options that say how much of an amount a row has at least. Flops, parameters and runs are not
 * among them: views count these in their own ways. */
struct tfp_minimum {
	enum tfp_view_number number;
	enum tfp_amount amount;
};
#define TFP_MINIMA 7
extern const struct tfp_minimum tfp_minima[TFP_MINIMA];

/* The regular expressions of a command. */
struct tfp_filters {
	struct tfp_name_match account, start, trim, show, hide;
};
enum tfp_status tfp_filters_init(struct tfp_filters *f, const struct tfp_view_options *o,
				 struct tfp_error *err) TFP_CHECK;
/* The same, but what is no expression is TFP_BAD_QUERY. */
enum tfp_status tfp_filters_init_strict(struct tfp_filters *f, const struct tfp_view_options *o,
					struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_filters_release(struct tfp_filters *f);

/* A tree with a root; TFP_NO_MEMORY. */
enum tfp_status tfp_tree_init(struct tfp_tree *t, enum tfp_tree_kind kind,
			      struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_tree_release(struct tfp_tree *t);
/* NULL, or false, without memory. */
struct tfp_tree_node *tfp_tree_add(struct tfp_tree *t, struct tfp_str name);
bool tfp_tree_add_child(struct tfp_tree_node *parent, struct tfp_tree_node *child);

static inline struct tfp_tree_node *tfp_tree_root(const struct tfp_tree *t)
{
	return t->nodes[0];
}

/* Makes what a command shows: follow shown_first and shown_next from the root. */
enum tfp_status tfp_tree_show(struct tfp_tree *t, const struct tfp_view_options *o,
			      struct tfp_filters *f, struct tfp_error *err) TFP_CHECK;
/* The next of what is shown, parents before children, or NULL; begins with the root. */
struct tfp_tree_node *tfp_tree_next(const struct tfp_tree_node *node);

/* false without memory. A member that is there is not added again if it is the last. */
bool tfp_node_group_add(struct tfp_node_group *g, const struct tfp_profile_node *node);
/* Sorts members by name, each once; and makes room for what account writes. */
bool tfp_node_group_finish(struct tfp_node_group *g);
void tfp_node_group_release(struct tfp_node_group *g);
/* Picks members by their types and sums what they took: twice what two expressions match, as
 * the original does. Whether there were any, or there need not be. */
bool tfp_node_group_account(struct tfp_node_group *g, struct tfp_name_match *types, int64_t step,
			    int64_t own[TFP_AMOUNT_COUNT]);
/* Adds amounts, wrapping. */
void tfp_amounts_add(int64_t to[TFP_AMOUNT_COUNT], const int64_t more[TFP_AMOUNT_COUNT]);

/* Whether a row has enough of everything, and its name is to be shown. parameters, flops and
 * occurrence: what min_params, min_float_ops and min_occurrence are held against. */
bool tfp_is_shown(const struct tfp_view_options *o, struct tfp_filters *f, struct tfp_str name,
		  const int64_t total[TFP_AMOUNT_COUNT], int64_t parameters, int64_t flops,
		  int64_t depth);

/* By which amount rows are sorted; TFP_AMOUNT_COUNT: by name. */
enum tfp_amount tfp_order_amount(const struct tfp_view_options *o);

#endif
