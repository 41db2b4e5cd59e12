/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of events and stats that every capture of ours uses, as lists to
 * expand. Ids of stats are the same in all planes: position in the list, from
 * 1 on. For host.c and host_names.c.
 */
#ifndef TFP_SYNTH_VOCABULARY_H
#define TFP_SYNTH_VOCABULARY_H

/* Planes in which a stat is named. */
enum {
	ON_HOST = 1,
	ON_DEVICE = 2,
	ON_BOTH = 3,
	WHEN_RAW = 4,     /* not in grouped captures */
	WHEN_GROUPED = 8, /* only in those */
};

#define SYNTH_STATS(X)                                                                             \
	X(ID, "id", ON_HOST)                                                                       \
	X(STEP_NUM, "step_num", ON_HOST)                                                           \
	X(ITER_NUM, "iter_num", ON_HOST)                                                           \
	X(ROOT, "_r", ON_HOST)                                                                     \
	X(PRODUCER_TYPE, "_pt", ON_HOST)                                                           \
	X(PRODUCER_ID, "_p", ON_HOST)                                                              \
	X(CONSUMER_TYPE, "_ct", ON_HOST)                                                           \
	X(CONSUMER_ID, "_c", ON_HOST)                                                              \
	X(EAGER_OP, "eager_op", ON_HOST)                                                           \
	X(IS_FUNC, "is_func", ON_HOST)                                                             \
	X(FUNCTION_CALL, "tf_function_call", ON_HOST)                                              \
	X(TRACING_COUNT, "tracing_count", ON_HOST)                                                 \
	X(ELEMENT_ID, "element_id", ON_HOST)                                                       \
	X(PARENT_ID, "parent_id", ON_HOST)                                                         \
	X(SHAPE, "shape", ON_HOST)                                                                 \
	X(EQUATION, "equation", ON_BOTH)                                                           \
	X(ALLOCATOR, "allocator_name", ON_HOST)                                                    \
	X(BYTES_RESERVED, "bytes_reserved", ON_HOST)                                               \
	X(BYTES_ALLOCATED, "bytes_allocated", ON_HOST)                                             \
	X(BYTES_AVAILABLE, "bytes_available", ON_HOST)                                             \
	X(FRAGMENTATION, "fragmentation", ON_HOST)                                                 \
	X(PEAK_BYTES, "peak_bytes_in_use", ON_HOST)                                                \
	X(REQUESTED_BYTES, "requested_bytes", ON_HOST)                                             \
	X(ALLOCATION_BYTES, "allocation_bytes", ON_HOST)                                           \
	X(ADDRESS, "addr", ON_HOST)                                                                \
	X(REGION_TYPE, "region_type", ON_HOST)                                                     \
	X(DATA_TYPE, "data_type", ON_HOST)                                                         \
	X(TF_OP, "tf_op", ON_BOTH)                                                                 \
	X(DEVICE_ID, "device_id", ON_HOST)                                                         \
	X(CORRELATION_ID, "correlation_id", ON_BOTH)                                               \
	X(CONTEXT_ID, "context_id", ON_BOTH)                                                       \
	X(KERNEL_DETAILS, "kernel_details", ON_DEVICE)                                             \
	X(MEMCPY_DETAILS, "memcpy_details", ON_BOTH)                                               \
	X(MEMSET_DETAILS, "Memset_details", ON_DEVICE)                                             \
	X(OCCUPANCY, "theoretical_occupancy_pct", ON_DEVICE | WHEN_RAW)                            \
	X(OCCUPANCY_GRID, "occupancy_min_grid_size", ON_DEVICE | WHEN_RAW)                         \
	X(OCCUPANCY_BLOCK, "occupancy_suggested_block_size", ON_DEVICE | WHEN_RAW)                 \
	X(VENDOR, "device_vendor", ON_DEVICE | WHEN_RAW)                                           \
	X(DEVICE_NAME, "gpu_device_name", ON_DEVICE | WHEN_RAW)                                    \
	X(CLOCK_RATE, "clock_rate", ON_DEVICE)                                                     \
	X(CORE_COUNT, "core_count", ON_DEVICE)                                                     \
	X(MEMORY_BANDWIDTH, "memory_bandwidth", ON_DEVICE)                                         \
	X(MEMORY_SIZE, "memory_size", ON_DEVICE)                                                   \
	X(COMPUTE_MAJOR, "compute_cap_major", ON_DEVICE)                                           \
	X(COMPUTE_MINOR, "compute_cap_minor", ON_DEVICE)                                           \
	X(ANNOTATION, "annotation", ON_DEVICE | WHEN_GROUPED)                                      \
	X(LEVEL_0, "level 0", ON_DEVICE | WHEN_GROUPED)                                            \
	X(GROUP_ID, "group_id", ON_BOTH | WHEN_GROUPED)                                            \
	X(STEP_NAME, "step_name", ON_BOTH | WHEN_GROUPED)                                          \
	X(IS_EAGER, "is_eager", ON_BOTH | WHEN_GROUPED)

#define SYNTH_FUNCTION "__inference_train_function_31415"
#define SYNTH_PIPELINE "Iterator::Root::Prefetch"

#define SYNTH_EVENTS(X)                                                                            \
	X(FIT, "$training.py:1384 fit")                                                            \
	X(TRAIN, "train")                                                                          \
	X(BATCH_BEGIN, "$callbacks.py:436 on_train_batch_begin")                                   \
	X(BATCH_END, "$callbacks.py:453 on_train_batch_end")                                       \
	X(PROGRESS, "$generic_utils.py:921 update")                                                \
	X(TRAIN_FUNCTION, "train_function")                                                        \
	X(TRACING, "$func_graph.py:1161 func_graph_from_py_func")                                  \
	X(EXECUTE_CANCELABLE, "TFE_Py_ExecuteCancelable")                                          \
	X(EAGER_EXECUTE, "EagerExecute")                                                           \
	X(LOCAL_FUNCTION, "EagerLocalExecute: " SYNTH_FUNCTION)                                    \
	X(EAGER_KERNEL, "EagerKernelExecute")                                                      \
	X(FUNCTION_RUN, "FunctionRun")                                                             \
	X(UPDATE_METRICS, "update_metrics")                                                        \
	X(FAST_PATH, "TFE_Py_FastPathExecute_C")                                                   \
	X(LOCAL_AND, "EagerLocalExecute: LogicalAnd")                                              \
	X(OP_AND, "LogicalAnd:LogicalAnd")                                                         \
	X(LOCAL_ASSIGN, "EagerLocalExecute: AssignAddVariableOp")                                  \
	X(OP_ASSIGN, "AssignAddVariableOp:AssignAddVariableOp")                                    \
	X(LOCAL_READ, "EagerLocalExecute: ReadVariableOp")                                         \
	X(OP_READ, "ReadVariableOp:ReadVariableOp")                                                \
	X(EXECUTOR, "ExecutorState::Process")                                                      \
	X(OP_GET_NEXT, "IteratorGetNext:IteratorGetNext")                                          \
	X(GET_NEXT, "IteratorGetNextOp::DoCompute")                                                \
	X(IT_ROOT, "Iterator::Root")                                                               \
	X(IT_PREFETCH, SYNTH_PIPELINE)                                                             \
	X(PREFETCH_CONSUME, "PrefetchConsume")                                                     \
	X(PREFETCH_PRODUCE, "PrefetchProduce")                                                     \
	X(IT_MAP, SYNTH_PIPELINE "::Map")                                                          \
	X(CAPTURED, "InstantiatedCapturedFunction::Run")                                           \
	X(IT_BATCH, SYNTH_PIPELINE "::Map::BatchV2")                                               \
	X(IT_PARALLEL_MAP, SYNTH_PIPELINE "::Map::BatchV2::ParallelMapV2")                         \
	X(MAP_CONSUME, "ParallelMapConsume")                                                       \
	X(MAP_PRODUCE, "ParallelMapProduce")                                                       \
	X(IT_SHUFFLE, SYNTH_PIPELINE "::Map::BatchV2::ParallelMapV2::Shuffle")                     \
	X(IT_RECORD, SYNTH_PIPELINE "::Map::BatchV2::ParallelMapV2::Shuffle::TFRecord")            \
	X(CAPTURED_ASYNC, "InstantiatedCapturedFunction::RunAsync")                                \
	X(OP_DECODE, "DecodeJpeg:DecodeJpeg")                                                      \
	X(OP_CROP, "random_crop/RandomCrop:RandomCrop")                                            \
	X(OP_RESIZE, "resize/ResizeBilinear:ResizeBilinear")                                       \
	X(OP_FLIP, "random_flip_left_right/ReverseV2:ReverseV2")                                   \
	X(OP_CONTRAST, "adjust_contrast/AdjustContrastv2:AdjustContrastv2")                        \
	X(OP_HUE, "random_hue/AdjustHue:AdjustHue")                                                \
	X(OP_CLIP, "clip_by_value/Minimum:Minimum")                                                \
	X(OP_CAST, "to_uint8/Cast:Cast")                                                           \
	X(CU_LAUNCH, "cuLaunchKernel")                                                             \
	X(CU_LAUNCH_EX, "cuLaunchKernelExC")                                                       \
	X(CU_HTOD, "cuMemcpyHtoDAsync_v2")                                                         \
	X(CU_DTOH, "cuMemcpyDtoHAsync_v2")                                                         \
	X(CU_DTOD, "cuMemcpyDtoDAsync_v2")                                                         \
	X(CU_MEMSET, "cuMemsetD32Async")                                                           \
	X(CU_SYNC, "cuEventSynchronize")                                                           \
	X(ALLOCATION, "MemoryAllocation")                                                          \
	X(DEALLOCATION, "MemoryDeallocation")                                                      \
	X(COLLECTIVE_START, "BaseCollectiveExecutor::CompleteParamsAsync")                         \
	X(COLLECTIVE_RUN, "BaseCollectiveExecutor::ExecuteAsync")

#define SYNTH_AS_STAT(name, text, where) ST_##name,
enum synth_stat { ST_NONE, SYNTH_STATS(SYNTH_AS_STAT) ST_COUNT };
#define SYNTH_AS_EVENT(name, text) EV_##name,
enum synth_event { EV_NONE, SYNTH_EVENTS(SYNTH_AS_EVENT) EV_COUNT };

#endif
