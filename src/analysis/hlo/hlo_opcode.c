/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/hlo/hlo_opcode.h"

#include <string.h>

static const struct {
	const char *name;
	bool elementwise;
} opcodes[] = {
#define X(name, text, elementwise) {text, elementwise},
	TFP_HLO_OPCODES(X)
#undef X
};

enum tfp_hlo_opcode tfp_hlo_opcode_of(struct tfp_str name)
{
	size_t low = 0, high = TFP_HLO_OTHER;
	while (low < high) {
		size_t middle = low + (high - low) / 2, length = strlen(opcodes[middle].name);
		size_t common = length < name.size ? length : name.size;
		int order = common ? memcmp(opcodes[middle].name, name.data, common) : 0;
		if (order == 0)
			order = (length > name.size) - (length < name.size);
		if (order == 0)
			return (enum tfp_hlo_opcode)middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return TFP_HLO_OTHER;
}

bool tfp_hlo_opcode_elementwise(enum tfp_hlo_opcode opcode)
{
	return opcode < TFP_HLO_OTHER && opcodes[opcode].elementwise;
}
