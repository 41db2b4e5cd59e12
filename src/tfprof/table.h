/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a table: what stands above it, and a row for each node of a tree. */
#ifndef TFP_TFPROF_TABLE_H
#define TFP_TFPROF_TABLE_H

#include "base/buf.h"
#include "tfprof/options.h"
#include "tfprof/tree.h"

/* "node name | requested bytes | ...": the columns of a view. */
void tfp_put_legend(struct tfp_buf *out, enum tfp_view_command view,
		    const struct tfp_view_options *o);
/* "name (attributes)" with a blank line's end, indented by two blanks a level of what is shown. */
void tfp_put_row(struct tfp_buf *out, enum tfp_view_command view, const struct tfp_view_options *o,
		 const struct tfp_tree_node *node, size_t level);
/* Devices and types of the picked members, in order, each once, with '|' between them. False
 * without memory. */
bool tfp_put_group_devices(struct tfp_buf *out, const struct tfp_node_group *group);
bool tfp_put_group_types(struct tfp_buf *out, const struct tfp_node_group *group);
/* "0:3x4|1:unknown" with any text in between. */
void tfp_put_inputs(struct tfp_buf *out, const struct tfp_profile_node *node, const char *between);

/* Amounts that are columns when something is selected, in the order of a view; ends with
 * TFP_AMOUNT_COUNT. At most TFP_AMOUNT_COUNT + 1 entries. */
void tfp_amount_columns(enum tfp_view_command view, const struct tfp_view_options *o,
			enum tfp_amount columns[TFP_AMOUNT_COUNT + 1]);

#endif
