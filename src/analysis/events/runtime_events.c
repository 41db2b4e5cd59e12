/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/events/runtime_events.h"

#include "analysis/events/op_name.h"
#include "base/alloc.h"

enum tfp_runtime_event tfp_runtime_event_of(struct tfp_str name)
{
	static const struct {
		const char *name;
		enum tfp_runtime_event type;
	} known[] = {
		{"TraceContext", TFP_EVENT_TRACE_CONTEXT},
		{"FunctionRun", TFP_EVENT_FUNCTION_RUN},
		{"SessionRun", TFP_EVENT_SESSION_RUN},
		{"RunGraph", TFP_EVENT_RUN_GRAPH},
		{"ExecutorState::Process", TFP_EVENT_EXECUTOR_PROCESS},
		{"IteratorGetNextOp::DoCompute", TFP_EVENT_GET_NEXT},
		{"IteratorGetNextAsOptionalOp::DoCompute", TFP_EVENT_GET_NEXT_OPTIONAL},
		{"EagerExecute", TFP_EVENT_EAGER_EXECUTE},
		{"InstantiatedCapturedFunction::Run", TFP_EVENT_CAPTURED_FUNCTION},
		{"InstantiatedCapturedFunction::RunWithBorrowedArgs", TFP_EVENT_CAPTURED_FUNCTION},
		{"InstantiatedCapturedFunction::RunInstantiated", TFP_EVENT_CAPTURED_FUNCTION},
		{"InstantiatedCapturedFunction::RunAsync", TFP_EVENT_CAPTURED_FUNCTION},
		{"ProcessBatch", TFP_EVENT_PROCESS_BATCH},
		{"OrbaxServing::ProcessBatch", TFP_EVENT_PROCESS_BATCH},
		{"BatchingSessionRun", TFP_EVENT_BATCHING_SESSION_RUN},
		{"TpuExecuteOp", TFP_EVENT_TPU_EXECUTE_OP},
		{"EnqueueRequestLocked", TFP_EVENT_ENQUEUE_REQUEST},
		{"RunProgramRequest", TFP_EVENT_DEQUEUE_REQUEST},
		{"HostCallbackRequest", TFP_EVENT_DEQUEUE_REQUEST},
		{"TransferH2DRequest", TFP_EVENT_DEQUEUE_REQUEST},
		{"TransferPreprocessedH2DRequest", TFP_EVENT_DEQUEUE_REQUEST},
		{"TransferD2HRequest", TFP_EVENT_DEQUEUE_REQUEST},
		{"OnDeviceSendRequest", TFP_EVENT_DEQUEUE_REQUEST},
		{"OnDeviceRecvRequest", TFP_EVENT_DEQUEUE_REQUEST},
		{"OnDeviceSendRecvLocalRequest", TFP_EVENT_DEQUEUE_REQUEST},
		{"OnDeviceSendRequestMulti", TFP_EVENT_DEQUEUE_REQUEST},
		{"OnDeviceRecvRequestMulti", TFP_EVENT_DEQUEUE_REQUEST},
		{"CustomWait", TFP_EVENT_DEQUEUE_REQUEST},
		{"PjrtAsyncWait", TFP_EVENT_DEQUEUE_REQUEST},
		{"DoEnqueueProgram", TFP_EVENT_ENQUEUE_PROGRAM},
		{"CompleteCallbacks", TFP_EVENT_COMPLETE_PROGRAM},
		{"ThreadpoolListener::StartRegion", TFP_EVENT_START_REGION},
		{"ThreadpoolListener::StopRegion", TFP_EVENT_STOP_REGION},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (tfp_str_equal(name, known[i].name))
			return known[i].type;
	}
	return tfp_op_name_parse(name).category == TFP_OP_TENSORFLOW ? TFP_EVENT_TF_OP
								     : TFP_EVENT_OTHER;
}

uint8_t *tfp_runtime_events_of(const struct tfp_plane *plane)
{
	uint8_t *types = tfp_malloc(plane->event_meta_count);
	for (size_t m = 0; types && m < plane->event_meta_count; m++)
		types[m] = (uint8_t)tfp_runtime_event_of(plane->event_metas[m].name);
	return types;
}
