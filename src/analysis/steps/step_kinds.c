/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/steps/step_kinds.h"

#include "analysis/events/op_name.h"

#include <string.h>
#include <strings.h>

const char *tfp_step_category_name(enum tfp_step_category category)
{
	static const char *const texts[TFP_STEP_CATEGORY_COUNT] = {
		[TFP_STEP_DEVICE_COMPUTE] = "Device compute",
		[TFP_STEP_BETWEEN_DEVICES] = "Device to device",
		[TFP_STEP_COLLECTIVES] = "Device collective communication",
		[TFP_STEP_ON_HOST] = "Host compute",
		[TFP_STEP_KERNEL_LAUNCH] = "Kernel launch",
		[TFP_STEP_INPUT] = "Input",
		[TFP_STEP_OUTPUT] = "Output",
		[TFP_STEP_COMPILATION] = "Compilation",
		[TFP_STEP_ALL_OTHERS] = "All others",
	};
	return texts[category];
}

enum tfp_step_category tfp_step_category_of(enum tfp_step_event type)
{
	static const uint8_t category_of[TFP_STEP_EVENT_COUNT] = {
		[TFP_STEP_UNKNOWN] = TFP_STEP_ALL_OTHERS,
		[TFP_STEP_HOST_COMPUTE] = TFP_STEP_ON_HOST,
		[TFP_STEP_HOST_COMPILE] = TFP_STEP_COMPILATION,
		[TFP_STEP_HOST_TO_HOST] = TFP_STEP_ALL_OTHERS,
		[TFP_STEP_HOST_TO_DEVICE] = TFP_STEP_INPUT,
		[TFP_STEP_HOST_PREPARE] = TFP_STEP_KERNEL_LAUNCH,
		[TFP_STEP_DEVICE_COLLECTIVES] = TFP_STEP_COLLECTIVES,
		[TFP_STEP_HOST_WAIT_INPUT] = TFP_STEP_INPUT,
		[TFP_STEP_DEVICE_TO_DEVICE] = TFP_STEP_BETWEEN_DEVICES,
		[TFP_STEP_DEVICE_TO_HOST] = TFP_STEP_OUTPUT,
		[TFP_STEP_DEVICE_COMPUTE_32] = TFP_STEP_DEVICE_COMPUTE,
		[TFP_STEP_DEVICE_COMPUTE_16] = TFP_STEP_DEVICE_COMPUTE,
	};
	return (enum tfp_step_category)category_of[type];
}

static bool starts_any_case(struct tfp_str s, const char *text)
{
	size_t n = strlen(text);
	return s.size >= n && strncasecmp(s.data, text, n) == 0;
}

static bool contains(struct tfp_str s, const char *text)
{
	return s.size && memmem(s.data, s.size, text, strlen(text)) != NULL;
}

/* MEMCPYHtoD, MemcpyH2D, `Memcpy HtoD (...)`, ROCm's CopyHostToDevice: every spelling
 * since 2020 (tf2_and_xprof.md, "device copies"). A name with a colon is an op's. */
static bool copy_of_name(struct tfp_str name, enum tfp_step_copy *copy)
{
	static const struct {
		const char *text;
		enum tfp_step_copy copy;
	} ends[] = {{"HtoD", TFP_COPY_H2D},          {"H2D", TFP_COPY_H2D},
		    {"DtoH", TFP_COPY_D2H},          {"D2H", TFP_COPY_D2H},
		    {"DtoD", TFP_COPY_D2D},          {"D2D", TFP_COPY_D2D},
		    {"PtoP", TFP_COPY_D2D},          {"P2P", TFP_COPY_D2D},
		    {"HostToDevice", TFP_COPY_H2D},  {"DeviceToHost", TFP_COPY_D2H},
		    {"DeviceToDevice", TFP_COPY_D2D}};
	struct tfp_str rest = name;
	if (name.size == 0 || memchr(name.data, ':', name.size))
		return false;
	if (starts_any_case(rest, "Memcpy"))
		rest = (struct tfp_str){rest.data + 6, rest.size - 6};
	else if (starts_any_case(rest, "Copy"))
		rest = (struct tfp_str){rest.data + 4, rest.size - 4};
	else
		return false;
	while (rest.size && (rest.data[0] == ' ' || rest.data[0] == '_'))
		rest = (struct tfp_str){rest.data + 1, rest.size - 1};
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (starts_any_case(rest, ends[i].text)) {
			*copy = ends[i].copy;
			return true;
		}
	}
	return false;
}

enum tfp_step_event tfp_step_type_of_gpu_event(struct tfp_str name, struct tfp_str shape)
{
	enum tfp_step_copy copy;
	if (copy_of_name(name, &copy))
		return copy == TFP_COPY_H2D   ? TFP_STEP_HOST_TO_DEVICE
		       : copy == TFP_COPY_D2H ? TFP_STEP_DEVICE_TO_HOST
					      : TFP_STEP_DEVICE_TO_DEVICE;
	if (starts_any_case(name, "nccl"))
		return TFP_STEP_DEVICE_COLLECTIVES;
	if (shape.size)
		return contains(shape, "half") ? TFP_STEP_DEVICE_COMPUTE_16
					       : TFP_STEP_DEVICE_COMPUTE_32;
	return contains(name, "half") || contains(name, "fp16") ? TFP_STEP_DEVICE_COMPUTE_16
								: TFP_STEP_DEVICE_COMPUTE_32;
}

enum tfp_step_event tfp_step_type_of_host_event(struct tfp_str name, bool has_gpu,
						bool has_correlation_id)
{
	struct tfp_op_name op = tfp_op_name_parse(name);
	if (op.category == TFP_OP_MEMCPY_H2D ||
	    (op.category == TFP_OP_TENSORFLOW && tfp_str_starts(op.type, "InfeedEnqueue")))
		return TFP_STEP_HOST_TO_DEVICE;
	if (op.category == TFP_OP_MEMCPY_H2H)
		return TFP_STEP_HOST_TO_HOST;
	if (has_gpu && (has_correlation_id || starts_any_case(name, "ExecutorState::Process")))
		return TFP_STEP_HOST_PREPARE;
	if (starts_any_case(name, "IteratorGetNext"))
		return TFP_STEP_HOST_WAIT_INPUT;
	return TFP_STEP_HOST_COMPUTE;
}

enum tfp_tpu_part tfp_tpu_part_of_category(struct tfp_str category)
{
	static const struct {
		const char *name;
		enum tfp_tpu_part part;
	} table[] = {
		{"infeed", TFP_TPU_INFEED},           {"outfeed", TFP_TPU_OUTFEED},
		{"host send", TFP_TPU_HOST_TRANSFER}, {"host send-done", TFP_TPU_HOST_TRANSFER},
		{"host recv", TFP_TPU_HOST_TRANSFER}, {"host recv-done", TFP_TPU_HOST_TRANSFER},
		{"all-reduce", TFP_TPU_ALL_REDUCE},   {"all-reduce fusion", TFP_TPU_ALL_REDUCE},
		{"all-to-all", TFP_TPU_ALL_REDUCE},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (tfp_str_equal(category, table[i].name))
			return table[i].part;
	}
	return TFP_TPU_COMPUTE;
}
