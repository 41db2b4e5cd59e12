/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces that TensorFlow's messages share: entries of maps, shapes, call stacks. All from bytes
 * that nobody has checked; what is damaged inside a piece ends that piece.
 */
#ifndef TFP_TFPROF_MESSAGES_H
#define TFP_TFPROF_MESSAGES_H

#include "tfprof/profile.h"
#include "wire/pb_cursor.h"

/* An entry of a map: a key that is a text or a number, and a value that is one of both or a
 * message. What is absent is empty, or 0. */
struct tfp_map_entry {
	struct tfp_str key;
	int64_t number_key;
	struct tfp_span value;
	int64_t number_value;
};

/* false when the entry is damaged. */
bool tfp_map_entry_read(struct tfp_span message, struct tfp_map_entry *entry);
/* The next field's message, text or bytes. */
bool tfp_read_span(struct tfp_pb_cursor *c, struct tfp_span *span);
bool tfp_read_text(struct tfp_pb_cursor *c, struct tfp_str *text);

/* The size of a TensorShapeProto.Dim, 0 without one; false when it is damaged. */
bool tfp_dimension_read(struct tfp_span message, int64_t *size);
/* A TensorShapeProto. A scalar becomes the shape 1, unknown rank becomes rank 0. Dimensions are
 * allocated in the profile's arena. False without memory, and for damaged bytes. */
bool tfp_shape_read(struct tfp_profile *p, struct tfp_span message, struct tfp_shape *shape);

/* A CodeDef: sets the node's frames. Files and functions are texts of the message, or of the
 * profile by their id. False as above. */
bool tfp_frames_read(struct tfp_profile *p, struct tfp_profile_node *node, struct tfp_span message);

/* An AttrValue: which of its members is set (a field number; the last counts), with its bytes
 * or number. */
struct tfp_attribute {
	uint32_t field; /* 0: none */
	struct tfp_span bytes;
	int64_t number;
};
enum {
	TFP_ATTR_LIST = 1,
	TFP_ATTR_TEXT,
	TFP_ATTR_INT,
	TFP_ATTR_FLOAT,
	TFP_ATTR_BOOL,
	TFP_ATTR_TYPE,
	TFP_ATTR_SHAPE,
	TFP_ATTR_TENSOR,
	TFP_ATTR_PLACEHOLDER,
	TFP_ATTR_FUNCTION,
};
bool tfp_attribute_read(struct tfp_span message, struct tfp_attribute *attribute);
/* A node's attribute of that name, found in its message. The last of a name counts. */
bool tfp_attribute_find(const struct tfp_profile_node *node, const char *name,
			struct tfp_attribute *attribute);

/* Sorts a node's output shapes by index; of several of one index the last stays. */
void tfp_outputs_sort(struct tfp_profile_node *node);

#endif
