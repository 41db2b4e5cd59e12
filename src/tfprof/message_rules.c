/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of each message, in the order in which messages need each other. */
#include "tfprof/message_rules.h"

#include "base/utf8.h"
#include "wire/pb_cursor.h"

#include <string.h>

#define ONE(name, number, kind)                                                                    \
	{                                                                                          \
		name, number, TFP_FIELD_##kind, false, NULL, NULL                                  \
	}
#define MANY(name, number, kind)                                                                   \
	{                                                                                          \
		name, number, TFP_FIELD_##kind, true, NULL, NULL                                   \
	}
#define ONE_OF(name, number, rule)                                                                 \
	{                                                                                          \
		name, number, TFP_FIELD_MESSAGE, false, &(rule), NULL                              \
	}
#define MANY_OF(name, number, rule)                                                                \
	{                                                                                          \
		name, number, TFP_FIELD_MESSAGE, true, &(rule), NULL                               \
	}
#define ONE_TYPE(name, number)                                                                     \
	{                                                                                          \
		name, number, TFP_FIELD_ENUM, false, NULL, data_types                              \
	}
#define MANY_TYPES(name, number)                                                                   \
	{                                                                                          \
		name, number, TFP_FIELD_ENUM, true, NULL, data_types                               \
	}
#define RULE(fields, name)                                                                         \
	{                                                                                          \
		name, fields, sizeof(fields) / sizeof((fields)[0])                                 \
	}

static const struct tfp_enum_word data_types[] = {
	{"DT_INVALID", 0},
	{"DT_FLOAT", 1},
	{"DT_DOUBLE", 2},
	{"DT_INT32", 3},
	{"DT_UINT8", 4},
	{"DT_INT16", 5},
	{"DT_INT8", 6},
	{"DT_STRING", 7},
	{"DT_COMPLEX64", 8},
	{"DT_INT64", 9},
	{"DT_BOOL", 10},
	{"DT_QINT8", 11},
	{"DT_QUINT8", 12},
	{"DT_QINT32", 13},
	{"DT_BFLOAT16", 14},
	{"DT_QINT16", 15},
	{"DT_QUINT16", 16},
	{"DT_UINT16", 17},
	{"DT_COMPLEX128", 18},
	{"DT_HALF", 19},
	{"DT_RESOURCE", 20},
	{"DT_VARIANT", 21},
	{"DT_UINT32", 22},
	{"DT_UINT64", 23},
	{"DT_FLOAT8_E5M2", 24},
	{"DT_FLOAT8_E4M3FN", 25},
	{"DT_INT4", 29},
	{"DT_UINT4", 30},
	{"DT_FLOAT_REF", 101},
	{"DT_DOUBLE_REF", 102},
	{"DT_INT32_REF", 103},
	{"DT_UINT8_REF", 104},
	{"DT_INT16_REF", 105},
	{"DT_INT8_REF", 106},
	{"DT_STRING_REF", 107},
	{"DT_COMPLEX64_REF", 108},
	{"DT_INT64_REF", 109},
	{"DT_BOOL_REF", 110},
	{"DT_QINT8_REF", 111},
	{"DT_QUINT8_REF", 112},
	{"DT_QINT32_REF", 113},
	{"DT_BFLOAT16_REF", 114},
	{"DT_QINT16_REF", 115},
	{"DT_QUINT16_REF", 116},
	{"DT_UINT16_REF", 117},
	{"DT_COMPLEX128_REF", 118},
	{"DT_HALF_REF", 119},
	{"DT_RESOURCE_REF", 120},
	{"DT_VARIANT_REF", 121},
	{"DT_UINT32_REF", 122},
	{"DT_UINT64_REF", 123},
	{"DT_FLOAT8_E5M2_REF", 124},
	{"DT_FLOAT8_E4M3FN_REF", 125},
	{"DT_INT4_REF", 129},
	{"DT_UINT4_REF", 130},
	{NULL, 0},
};

/* Those that others need before their own turn. */
static const struct tfp_message_rule tensor_rule, attribute_rule;

/* map<string, string> */
static const struct tfp_field_rule string_entry_fields[] = {
	ONE("key", 1, STRING),
	ONE("value", 2, STRING),
};
static const struct tfp_message_rule string_entry_rule =
	RULE(string_entry_fields, "map<string, string>");

/* map<uint32, string> */
static const struct tfp_field_rule thread_name_entry_fields[] = {
	ONE("key", 1, UINT32),
	ONE("value", 2, STRING),
};
static const struct tfp_message_rule thread_name_entry_rule =
	RULE(thread_name_entry_fields, "map<uint32, string>");

/* map<uint32, uint32> */
static const struct tfp_field_rule argument_id_entry_fields[] = {
	ONE("key", 1, UINT32),
	ONE("value", 2, UINT32),
};
static const struct tfp_message_rule argument_id_entry_rule =
	RULE(argument_id_entry_fields, "map<uint32, uint32>");

/* map<int64, string> */
static const struct tfp_field_rule id_text_entry_fields[] = {
	ONE("key", 1, INT64),
	ONE("value", 2, STRING),
};
static const struct tfp_message_rule id_text_entry_rule =
	RULE(id_text_entry_fields, "map<int64, string>");

/* TensorShapeProto.Dim */
static const struct tfp_field_rule dimension_fields[] = {
	ONE("size", 1, INT64),
	ONE("name", 2, STRING),
};
static const struct tfp_message_rule dimension_rule =
	RULE(dimension_fields, "TensorShapeProto.Dim");

/* TensorShapeProto */
static const struct tfp_field_rule tensor_shape_fields[] = {
	MANY_OF("dim", 2, dimension_rule),
	ONE("unknown_rank", 3, BOOL),
};
static const struct tfp_message_rule tensor_shape_rule =
	RULE(tensor_shape_fields, "TensorShapeProto");

/* ResourceHandleProto.DtypeAndShape */
static const struct tfp_field_rule type_and_shape_fields[] = {
	ONE_TYPE("dtype", 1),
	ONE_OF("shape", 2, tensor_shape_rule),
};
static const struct tfp_message_rule type_and_shape_rule =
	RULE(type_and_shape_fields, "ResourceHandleProto.DtypeAndShape");

/* ResourceHandleProto */
static const struct tfp_field_rule resource_handle_fields[] = {
	ONE("device", 1, STRING),
	ONE("container", 2, STRING),
	ONE("name", 3, STRING),
	ONE("hash_code", 4, UINT64),
	ONE("maybe_type_name", 5, STRING),
	MANY_OF("dtypes_and_shapes", 6, type_and_shape_rule),
};
static const struct tfp_message_rule resource_handle_rule =
	RULE(resource_handle_fields, "ResourceHandleProto");

/* VariantTensorDataProto */
static const struct tfp_field_rule variant_fields[] = {
	ONE("type_name", 1, STRING),
	ONE("metadata", 2, BYTES),
	MANY_OF("tensors", 3, tensor_rule),
};
static const struct tfp_message_rule variant_rule = RULE(variant_fields, "VariantTensorDataProto");

/* TensorProto */
static const struct tfp_field_rule tensor_fields[] = {
	ONE_TYPE("dtype", 1),
	ONE_OF("tensor_shape", 2, tensor_shape_rule),
	ONE("version_number", 3, INT32),
	ONE("tensor_content", 4, BYTES),
	MANY("float_val", 5, FLOAT),
	MANY("double_val", 6, DOUBLE),
	MANY("int_val", 7, INT32),
	MANY("string_val", 8, BYTES),
	MANY("scomplex_val", 9, FLOAT),
	MANY("int64_val", 10, INT64),
	MANY("bool_val", 11, BOOL),
	MANY("dcomplex_val", 12, DOUBLE),
	MANY("half_val", 13, INT32),
	MANY_OF("resource_handle_val", 14, resource_handle_rule),
	MANY_OF("variant_val", 15, variant_rule),
	MANY("uint32_val", 16, UINT32),
	MANY("uint64_val", 17, UINT64),
	ONE("float8_val", 18, BYTES),
};
static const struct tfp_message_rule tensor_rule = RULE(tensor_fields, "TensorProto");

/* map<string, AttrValue> */
static const struct tfp_field_rule attribute_entry_fields[] = {
	ONE("key", 1, STRING),
	ONE_OF("value", 2, attribute_rule),
};
static const struct tfp_message_rule attribute_entry_rule =
	RULE(attribute_entry_fields, "map<string, AttrValue>");

/* NameAttrList */
static const struct tfp_field_rule function_name_fields[] = {
	ONE("name", 1, STRING),
	MANY_OF("attr", 2, attribute_entry_rule),
};
static const struct tfp_message_rule function_name_rule =
	RULE(function_name_fields, "NameAttrList");

/* AttrValue.ListValue */
static const struct tfp_field_rule attribute_list_fields[] = {
	MANY("s", 2, BYTES),
	MANY("i", 3, INT64),
	MANY("f", 4, FLOAT),
	MANY("b", 5, BOOL),
	MANY_TYPES("type", 6),
	MANY_OF("shape", 7, tensor_shape_rule),
	MANY_OF("tensor", 8, tensor_rule),
	MANY_OF("func", 9, function_name_rule),
};
static const struct tfp_message_rule attribute_list_rule =
	RULE(attribute_list_fields, "AttrValue.ListValue");

/* AttrValue */
static const struct tfp_field_rule attribute_fields[] = {
	ONE_OF("list", 1, attribute_list_rule),
	ONE("s", 2, BYTES),
	ONE("i", 3, INT64),
	ONE("f", 4, FLOAT),
	ONE("b", 5, BOOL),
	ONE_TYPE("type", 6),
	ONE_OF("shape", 7, tensor_shape_rule),
	ONE_OF("tensor", 8, tensor_rule),
	ONE("placeholder", 9, STRING),
	ONE_OF("func", 10, function_name_rule),
};
static const struct tfp_message_rule attribute_rule = RULE(attribute_fields, "AttrValue");

/* NodeDef.ExperimentalDebugInfo */
static const struct tfp_field_rule node_origin_fields[] = {
	MANY("original_node_names", 1, STRING),
	MANY("original_func_names", 2, STRING),
};
static const struct tfp_message_rule node_origin_rule =
	RULE(node_origin_fields, "NodeDef.ExperimentalDebugInfo");

/* NodeDef */
static const struct tfp_field_rule node_def_fields[] = {
	ONE("name", 1, STRING),
	ONE("op", 2, STRING),
	MANY("input", 3, STRING),
	ONE("device", 4, STRING),
	MANY_OF("attr", 5, attribute_entry_rule),
	ONE_OF("experimental_debug_info", 6, node_origin_rule),
};
static const struct tfp_message_rule node_def_rule = RULE(node_def_fields, "NodeDef");

/* VersionDef */
static const struct tfp_field_rule versions_fields[] = {
	ONE("producer", 1, INT32),
	ONE("min_consumer", 2, INT32),
	MANY("bad_consumers", 3, INT32),
};
static const struct tfp_message_rule versions_rule = RULE(versions_fields, "VersionDef");

/* OpDef.ArgDef */
static const struct tfp_field_rule argument_fields[] = {
	ONE("name", 1, STRING),
	ONE("description", 2, STRING),
	ONE_TYPE("type", 3),
	ONE("type_attr", 4, STRING),
	ONE("number_attr", 5, STRING),
	ONE("type_list_attr", 6, STRING),
	MANY_OF("handle_data", 7, type_and_shape_rule),
	ONE("is_ref", 16, BOOL),
};
static const struct tfp_message_rule argument_rule = RULE(argument_fields, "OpDef.ArgDef");

/* OpDef.AttrDef */
static const struct tfp_field_rule op_attribute_fields[] = {
	ONE("name", 1, STRING),
	ONE("type", 2, STRING),
	ONE_OF("default_value", 3, attribute_rule),
	ONE("description", 4, STRING),
	ONE("has_minimum", 5, BOOL),
	ONE("minimum", 6, INT64),
	ONE_OF("allowed_values", 7, attribute_rule),
};
static const struct tfp_message_rule op_attribute_rule = RULE(op_attribute_fields, "OpDef.AttrDef");

/* OpDeprecation */
static const struct tfp_field_rule deprecation_fields[] = {
	ONE("version", 1, INT32),
	ONE("explanation", 2, STRING),
};
static const struct tfp_message_rule deprecation_rule = RULE(deprecation_fields, "OpDeprecation");

/* OpDef */
static const struct tfp_field_rule op_def_fields[] = {
	ONE("name", 1, STRING),
	MANY_OF("input_arg", 2, argument_rule),
	MANY_OF("output_arg", 3, argument_rule),
	MANY_OF("attr", 4, op_attribute_rule),
	ONE("summary", 5, STRING),
	ONE("description", 6, STRING),
	ONE_OF("deprecation", 8, deprecation_rule),
	ONE("is_aggregate", 16, BOOL),
	ONE("is_stateful", 17, BOOL),
	ONE("is_commutative", 18, BOOL),
	ONE("allows_uninitialized_input", 19, BOOL),
	MANY("control_output", 20, STRING),
	ONE("is_distributed_communication", 21, BOOL),
};
static const struct tfp_message_rule op_def_rule = RULE(op_def_fields, "OpDef");

/* FunctionDef.ArgAttrs */
static const struct tfp_field_rule argument_attributes_fields[] = {
	MANY_OF("attr", 1, attribute_entry_rule),
};
static const struct tfp_message_rule argument_attributes_rule =
	RULE(argument_attributes_fields, "FunctionDef.ArgAttrs");

/* map<uint32, FunctionDef.ArgAttrs> */
static const struct tfp_field_rule argument_entry_fields[] = {
	ONE("key", 1, UINT32),
	ONE_OF("value", 2, argument_attributes_rule),
};
static const struct tfp_message_rule argument_entry_rule =
	RULE(argument_entry_fields, "map<uint32, FunctionDef.ArgAttrs>");

/* FunctionDef */
static const struct tfp_field_rule function_def_fields[] = {
	ONE_OF("signature", 1, op_def_rule),
	MANY_OF("node_def", 3, node_def_rule),
	MANY_OF("ret", 4, string_entry_rule),
	MANY_OF("attr", 5, attribute_entry_rule),
	MANY_OF("control_ret", 6, string_entry_rule),
	MANY_OF("arg_attr", 7, argument_entry_rule),
	MANY_OF("resource_arg_unique_id", 8, argument_id_entry_rule),
};
static const struct tfp_message_rule function_def_rule = RULE(function_def_fields, "FunctionDef");

/* GradientDef */
static const struct tfp_field_rule gradient_def_fields[] = {
	ONE("function_name", 1, STRING),
	ONE("gradient_func", 2, STRING),
};
static const struct tfp_message_rule gradient_def_rule = RULE(gradient_def_fields, "GradientDef");

/* RegisteredGradient */
static const struct tfp_field_rule registered_gradient_fields[] = {
	ONE("gradient_func", 1, STRING),
	ONE("registered_op_type", 2, STRING),
};
static const struct tfp_message_rule registered_gradient_rule =
	RULE(registered_gradient_fields, "RegisteredGradient");

/* FunctionDefLibrary */
static const struct tfp_field_rule library_fields[] = {
	MANY_OF("function", 1, function_def_rule),
	MANY_OF("gradient", 2, gradient_def_rule),
	MANY_OF("registered_gradients", 3, registered_gradient_rule),
};
static const struct tfp_message_rule library_rule = RULE(library_fields, "FunctionDefLibrary");

/* GraphDef */
static const struct tfp_field_rule graph_def_fields[] = {
	MANY_OF("node", 1, node_def_rule),
	ONE_OF("library", 2, library_rule),
	ONE("version", 3, INT32),
	ONE_OF("versions", 4, versions_rule),
};
const struct tfp_message_rule tfp_graph_def_rule = RULE(graph_def_fields, "GraphDef");

/* AllocationRecord */
static const struct tfp_field_rule allocation_record_fields[] = {
	ONE("alloc_micros", 1, INT64),
	ONE("alloc_bytes", 2, INT64),
};
static const struct tfp_message_rule allocation_record_rule =
	RULE(allocation_record_fields, "AllocationRecord");

/* AllocatorMemoryUsed */
static const struct tfp_field_rule allocator_memory_fields[] = {
	ONE("allocator_name", 1, STRING),
	ONE("total_bytes", 2, INT64),
	ONE("peak_bytes", 3, INT64),
	ONE("live_bytes", 4, INT64),
	ONE("allocator_bytes_in_use", 5, INT64),
	MANY_OF("allocation_records", 6, allocation_record_rule),
};
static const struct tfp_message_rule allocator_memory_rule =
	RULE(allocator_memory_fields, "AllocatorMemoryUsed");

/* AllocationDescription */
static const struct tfp_field_rule allocation_description_fields[] = {
	ONE("requested_bytes", 1, INT64),     ONE("allocated_bytes", 2, INT64),
	ONE("allocator_name", 3, STRING),     ONE("allocation_id", 4, INT64),
	ONE("has_single_reference", 5, BOOL), ONE("ptr", 6, UINT64),
};
static const struct tfp_message_rule allocation_description_rule =
	RULE(allocation_description_fields, "AllocationDescription");

/* TensorDescription */
static const struct tfp_field_rule tensor_description_fields[] = {
	ONE_TYPE("dtype", 1),
	ONE_OF("shape", 2, tensor_shape_rule),
	ONE_OF("allocation_description", 4, allocation_description_rule),
};
static const struct tfp_message_rule tensor_description_rule =
	RULE(tensor_description_fields, "TensorDescription");

/* NodeOutput */
static const struct tfp_field_rule node_output_fields[] = {
	ONE("slot", 1, INT32),
	ONE_OF("tensor_description", 3, tensor_description_rule),
};
static const struct tfp_message_rule node_output_rule = RULE(node_output_fields, "NodeOutput");

/* MemoryStats */
static const struct tfp_field_rule memory_stats_fields[] = {
	ONE("temp_memory_size", 1, INT64),
	ONE("device_temp_memory_size", 2, INT64),
	ONE("persistent_memory_size", 3, INT64),
	ONE("device_persistent_memory_size", 4, INT64),
	MANY("persistent_tensor_alloc_ids", 5, INT64),
	MANY("device_persistent_tensor_alloc_ids", 6, INT64),
};
static const struct tfp_message_rule memory_stats_rule = RULE(memory_stats_fields, "MemoryStats");

/* NodeExecStats */
static const struct tfp_field_rule node_stats_fields[] = {
	ONE("node_name", 1, STRING),
	ONE("all_start_micros", 2, INT64),
	ONE("op_start_rel_micros", 3, INT64),
	ONE("op_end_rel_micros", 4, INT64),
	ONE("all_end_rel_micros", 5, INT64),
	MANY_OF("memory", 6, allocator_memory_rule),
	MANY_OF("output", 7, node_output_rule),
	ONE("timeline_label", 8, STRING),
	ONE("scheduled_micros", 9, INT64),
	ONE("thread_id", 10, UINT32),
	MANY_OF("referenced_tensor", 11, allocation_description_rule),
	ONE_OF("memory_stats", 12, memory_stats_rule),
	ONE("all_start_nanos", 13, INT64),
	ONE("op_start_rel_nanos", 14, INT64),
	ONE("op_end_rel_nanos", 15, INT64),
	ONE("all_end_rel_nanos", 16, INT64),
	ONE("scheduled_nanos", 17, INT64),
};
static const struct tfp_message_rule node_stats_rule = RULE(node_stats_fields, "NodeExecStats");

/* DeviceStepStats */
static const struct tfp_field_rule device_stats_fields[] = {
	ONE("device", 1, STRING),
	MANY_OF("node_stats", 2, node_stats_rule),
	MANY_OF("thread_names", 3, thread_name_entry_rule),
};
static const struct tfp_message_rule device_stats_rule =
	RULE(device_stats_fields, "DeviceStepStats");

/* StepStats */
static const struct tfp_field_rule step_stats_fields[] = {
	MANY_OF("dev_stats", 1, device_stats_rule),
};
static const struct tfp_message_rule step_stats_rule = RULE(step_stats_fields, "StepStats");

/* CostGraphDef.Node.InputInfo */
static const struct tfp_field_rule cost_input_fields[] = {
	ONE("preceding_node", 1, INT32),
	ONE("preceding_port", 2, INT32),
};
static const struct tfp_message_rule cost_input_rule =
	RULE(cost_input_fields, "CostGraphDef.Node.InputInfo");

/* CostGraphDef.Node.OutputInfo */
static const struct tfp_field_rule cost_output_fields[] = {
	ONE("size", 1, INT64),
	ONE("alias_input_port", 2, INT64),
	ONE_OF("shape", 3, tensor_shape_rule),
	ONE_TYPE("dtype", 4),
};
static const struct tfp_message_rule cost_output_rule =
	RULE(cost_output_fields, "CostGraphDef.Node.OutputInfo");

/* CostGraphDef.Node */
static const struct tfp_field_rule cost_node_fields[] = {
	ONE("name", 1, STRING),
	ONE("device", 2, STRING),
	ONE("id", 3, INT32),
	MANY_OF("input_info", 4, cost_input_rule),
	MANY_OF("output_info", 5, cost_output_rule),
	ONE("temporary_memory_size", 6, INT64),
	ONE("is_final", 7, BOOL),
	MANY("control_input", 8, INT32),
	ONE("compute_cost", 9, INT64),
	ONE("host_temp_memory_size", 10, INT64),
	ONE("device_temp_memory_size", 11, INT64),
	ONE("persistent_memory_size", 12, INT64),
	ONE("compute_time", 14, INT64),
	ONE("memory_time", 15, INT64),
	ONE("device_persistent_memory_size", 16, INT64),
	ONE("inaccurate", 17, BOOL),
};
static const struct tfp_message_rule cost_node_rule = RULE(cost_node_fields, "CostGraphDef.Node");

/* CostGraphDef.AggregatedCost */
static const struct tfp_field_rule total_cost_fields[] = {
	ONE("cost", 1, FLOAT),
	ONE("dimension", 2, STRING),
};
static const struct tfp_message_rule total_cost_rule =
	RULE(total_cost_fields, "CostGraphDef.AggregatedCost");

/* CostGraphDef */
static const struct tfp_field_rule cost_graph_fields[] = {
	MANY_OF("node", 1, cost_node_rule),
	MANY_OF("cost", 2, total_cost_rule),
};
static const struct tfp_message_rule cost_graph_rule = RULE(cost_graph_fields, "CostGraphDef");

/* RunMetadata.FunctionGraphs */
static const struct tfp_field_rule function_graphs_fields[] = {
	MANY_OF("partition_graphs", 1, tfp_graph_def_rule),
	ONE_OF("pre_optimization_graph", 2, tfp_graph_def_rule),
	ONE_OF("post_optimization_graph", 3, tfp_graph_def_rule),
};
static const struct tfp_message_rule function_graphs_rule =
	RULE(function_graphs_fields, "RunMetadata.FunctionGraphs");

/* SessionMetadata */
static const struct tfp_field_rule session_metadata_fields[] = {
	ONE("name", 1, STRING),
	ONE("version", 2, INT64),
};
static const struct tfp_message_rule session_metadata_rule =
	RULE(session_metadata_fields, "SessionMetadata");

/* RunMetadata */
static const struct tfp_field_rule run_metadata_fields[] = {
	ONE_OF("step_stats", 1, step_stats_rule),
	ONE_OF("cost_graph", 2, cost_graph_rule),
	MANY_OF("partition_graphs", 3, tfp_graph_def_rule),
	MANY_OF("function_graphs", 4, function_graphs_rule),
	ONE_OF("session_metadata", 5, session_metadata_rule),
};
const struct tfp_message_rule tfp_run_metadata_rule = RULE(run_metadata_fields, "RunMetadata");

/* CodeDef.Trace */
static const struct tfp_field_rule trace_fields[] = {
	ONE("file", 1, STRING),       ONE("lineno", 2, INT32),          ONE("function", 3, STRING),
	ONE("line", 4, STRING),       ONE("func_start_line", 5, INT32), ONE("file_id", 6, INT64),
	ONE("function_id", 7, INT64), ONE("line_id", 8, INT64),
};
static const struct tfp_message_rule trace_rule = RULE(trace_fields, "CodeDef.Trace");

/* CodeDef */
static const struct tfp_field_rule code_fields[] = {
	MANY_OF("traces", 1, trace_rule),
};
static const struct tfp_message_rule code_rule = RULE(code_fields, "CodeDef");

/* OpLogEntry */
static const struct tfp_field_rule log_entry_fields[] = {
	ONE("name", 1, STRING),
	ONE("float_ops", 2, INT64),
	MANY("types", 3, STRING),
	ONE_OF("code_def", 4, code_rule),
};
static const struct tfp_message_rule log_entry_rule = RULE(log_entry_fields, "OpLogEntry");

/* OpLogProto */
static const struct tfp_field_rule op_log_fields[] = {
	MANY_OF("log_entries", 1, log_entry_rule),
	MANY_OF("id_to_string", 2, id_text_entry_rule),
};
const struct tfp_message_rule tfp_op_log_rule = RULE(op_log_fields, "OpLogProto");

/* Tuple */
static const struct tfp_field_rule tuple_fields[] = {
	MANY("int64_values", 1, INT64),
};
static const struct tfp_message_rule tuple_rule = RULE(tuple_fields, "Tuple");

/* ExecTime */
static const struct tfp_field_rule exec_time_fields[] = {
	MANY_OF("times", 1, tuple_rule),
};
static const struct tfp_message_rule exec_time_rule = RULE(exec_time_fields, "ExecTime");

/* map<string, ExecTime> */
static const struct tfp_field_rule exec_time_entry_fields[] = {
	ONE("key", 1, STRING),
	ONE_OF("value", 2, exec_time_rule),
};
static const struct tfp_message_rule exec_time_entry_rule =
	RULE(exec_time_entry_fields, "map<string, ExecTime>");

/* Memory */
static const struct tfp_field_rule memory_fields[] = {
	ONE("bytes", 1, INT64),
	ONE("ptr", 2, UINT64),
};
static const struct tfp_message_rule memory_rule = RULE(memory_fields, "Memory");

/* map<int32, Memory> */
static const struct tfp_field_rule memory_entry_fields[] = {
	ONE("key", 1, INT32),
	ONE_OF("value", 2, memory_rule),
};
static const struct tfp_message_rule memory_entry_rule =
	RULE(memory_entry_fields, "map<int32, Memory>");

/* ExecMemory */
static const struct tfp_field_rule exec_memory_fields[] = {
	ONE("memory_micros", 1, INT64),
	ONE("host_temp_bytes", 2, INT64),
	ONE("host_persistent_bytes", 3, INT64),
	ONE("accelerator_temp_bytes", 4, INT64),
	ONE("accelerator_persistent_bytes", 5, INT64),
	ONE("requested_bytes", 6, INT64),
	ONE("peak_bytes", 7, INT64),
	ONE("residual_bytes", 8, INT64),
	ONE("output_bytes", 9, INT64),
	ONE("allocator_bytes_in_use", 10, INT64),
	MANY_OF("output_memory", 11, memory_entry_rule),
};
static const struct tfp_message_rule exec_memory_rule = RULE(exec_memory_fields, "ExecMemory");

/* ExecProfile */
static const struct tfp_field_rule exec_profile_fields[] = {
	ONE("run_count", 1, INT64),
	ONE("all_start_micros", 2, INT64),
	ONE("latest_end_micros", 3, INT64),
	MANY_OF("accelerator_execs", 4, exec_time_entry_rule),
	MANY_OF("cpu_execs", 5, exec_time_entry_rule),
	MANY("devices", 6, STRING),
	MANY_OF("memory_execs", 7, exec_memory_rule),
	MANY_OF("allocations", 11, allocation_record_rule),
};
static const struct tfp_message_rule exec_profile_rule = RULE(exec_profile_fields, "ExecProfile");

/* map<int64, ExecProfile> */
static const struct tfp_field_rule exec_entry_fields[] = {
	ONE("key", 1, INT64),
	ONE_OF("value", 2, exec_profile_rule),
};
static const struct tfp_message_rule exec_entry_rule =
	RULE(exec_entry_fields, "map<int64, ExecProfile>");

/* map<int32, int64> */
static const struct tfp_field_rule input_entry_fields[] = {
	ONE("key", 1, INT32),
	ONE("value", 2, INT64),
};
static const struct tfp_message_rule input_entry_rule =
	RULE(input_entry_fields, "map<int32, int64>");

/* map<int64, int32> */
static const struct tfp_field_rule source_entry_fields[] = {
	ONE("key", 1, INT64),
	ONE("value", 2, INT32),
};
static const struct tfp_message_rule source_entry_rule =
	RULE(source_entry_fields, "map<int64, int32>");

/* map<int32, Tuple> */
static const struct tfp_field_rule shape_entry_fields[] = {
	ONE("key", 1, INT32),
	ONE_OF("value", 2, tuple_rule),
};
static const struct tfp_message_rule shape_entry_rule =
	RULE(shape_entry_fields, "map<int32, Tuple>");

/* ProfileNode */
static const struct tfp_field_rule profile_node_fields[] = {
	ONE("name", 1, STRING),
	MANY_OF("inputs", 2, input_entry_rule),
	MANY_OF("outputs", 3, input_entry_rule),
	MANY("shape", 4, INT64),
	MANY("op_types", 5, STRING),
	ONE("canonical_device", 6, STRING),
	ONE("host_device", 7, STRING),
	ONE("float_ops", 8, INT64),
	ONE("op", 9, STRING),
	ONE_OF("trace", 10, code_rule),
	MANY_OF("attrs", 11, attribute_entry_rule),
	MANY_OF("execs", 12, exec_entry_rule),
	ONE("id", 13, INT64),
	MANY_OF("src_output_index", 14, source_entry_rule),
	MANY_OF("output_shapes", 15, shape_entry_rule),
	MANY_OF("input_shapes", 16, shape_entry_rule),
};
static const struct tfp_message_rule profile_node_rule = RULE(profile_node_fields, "ProfileNode");

/* map<int64, ProfileNode> */
static const struct tfp_field_rule profile_node_entry_fields[] = {
	ONE("key", 1, INT64),
	ONE_OF("value", 2, profile_node_rule),
};
static const struct tfp_message_rule profile_node_entry_rule =
	RULE(profile_node_entry_fields, "map<int64, ProfileNode>");

/* ProfileProto */
static const struct tfp_field_rule profile_proto_fields[] = {
	MANY_OF("nodes", 1, profile_node_entry_rule),
	ONE("has_trace", 2, BOOL),
	MANY("steps", 3, INT64),
	MANY_OF("id_to_string", 4, id_text_entry_rule),
	ONE("miss_accelerator_stream", 5, BOOL),
};
const struct tfp_message_rule tfp_profile_proto_rule = RULE(profile_proto_fields, "ProfileProto");

const struct tfp_field_rule *tfp_field_by_number(const struct tfp_message_rule *rule,
						 uint32_t number)
{
	for (size_t i = 0; i < rule->count; i++) {
		if (rule->fields[i].number == number)
			return &rule->fields[i];
	}
	return NULL;
}

const struct tfp_field_rule *tfp_field_by_name(const struct tfp_message_rule *rule,
					       struct tfp_str name)
{
	for (size_t i = 0; i < rule->count; i++) {
		if (tfp_str_equal(name, rule->fields[i].name))
			return &rule->fields[i];
	}
	return NULL;
}

/* ---- whether bytes are a message ---- */

struct check {
	const struct tfp_message_rule *at; /* what was wrong, in which message */
	const uint8_t *damage_at;
	const char *why;
};

static bool wrong(struct check *k, const struct tfp_message_rule *rule, const uint8_t *at,
		  const char *why)
{
	if (!k->why)
		*k = (struct check){rule, at, why};
	return false;
}

static bool is_number(enum tfp_field_kind kind)
{
	return kind <= TFP_FIELD_ENUM;
}

/* Repeated numbers in one piece. */
static bool check_packed(struct check *k, const struct tfp_message_rule *rule,
			 const struct tfp_field_rule *field, struct tfp_span span)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(span.data, span.size);
	uint64_t value;
	if (!is_number(field->kind)) {
		size_t unit = field->kind == TFP_FIELD_FLOAT ? 4 : 8;
		return span.size % unit == 0 ||
		       wrong(k, rule, span.data, "a list of numbers is cut");
	}
	while (c.at != c.end && tfp_pb_varint(&c, &value))
		;
	return !c.damage || wrong(k, rule, c.damage_at, tfp_pb_damage_text(c.damage));
}

static bool check_message(struct check *k, const struct tfp_message_rule *rule,
			  struct tfp_span bytes, unsigned depth);

static bool check_value(struct check *k, const struct tfp_message_rule *rule,
			const struct tfp_field_rule *field, struct tfp_span span, unsigned depth)
{
	switch (field->kind) {
	case TFP_FIELD_MESSAGE:
		return check_message(k, field->message, span, depth + 1);
	case TFP_FIELD_STRING:
		return tfp_utf8_valid((const char *)span.data, span.size) ||
		       wrong(k, rule, span.data, "a text is not UTF-8");
	case TFP_FIELD_BYTES:
		return true;
	default:
		return !field->repeated || check_packed(k, rule, field, span);
	}
}

static bool check_message(struct check *k, const struct tfp_message_rule *rule,
			  struct tfp_span bytes, unsigned depth)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(bytes.data, bytes.size);
	uint32_t tag;
	if (depth > TFP_MESSAGE_DEPTH)
		return wrong(k, rule, bytes.data, "too many messages inside one another");
	while (tfp_pb_next(&c, &tag)) {
		const struct tfp_field_rule *field = tfp_field_by_number(rule, TFP_PB_FIELD(tag));
		struct tfp_span span;
		if (!field || TFP_PB_WIRE(tag) != TFP_PB_BYTES)
			tfp_pb_skip(&c, tag);
		else if (tfp_pb_bytes(&c, &span.data, &span.size) &&
			 !check_value(k, rule, field, span, depth))
			return false;
	}
	return !c.damage || wrong(k, rule, c.damage_at, tfp_pb_damage_text(c.damage));
}

enum tfp_status tfp_message_check(const struct tfp_message_rule *rule, struct tfp_span bytes,
				  struct tfp_error *err)
{
	struct check k = {NULL, NULL, NULL};
	if (check_message(&k, rule, bytes, 0))
		return TFP_OK;
	tfp_fail(err, TFP_BAD_INPUT, "this is no %s: in %s, %s", rule->name, k.at->name, k.why);
	tfp_error_set_offset(err, (uint64_t)(k.damage_at - bytes.data));
	return TFP_BAD_INPUT;
}
