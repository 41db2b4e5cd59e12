/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of events, by their names. */
#include "testing.h"

#include "analysis/steps/step_kinds.h"

static void test_kinds(void **state)
{
	static const struct {
		const char *name, *shape;
		enum tfp_step_event type;
	} gpu[] = {
		{"MEMCPYHtoD", "", TFP_STEP_HOST_TO_DEVICE},
		{"MemcpyH2D", "", TFP_STEP_HOST_TO_DEVICE},
		{"Memcpy HtoD (Pageable -> Device)", "", TFP_STEP_HOST_TO_DEVICE},
		{"CopyHostToDevice", "", TFP_STEP_HOST_TO_DEVICE},
		{"MemcpyD2H", "", TFP_STEP_DEVICE_TO_HOST},
		{"CopyDeviceToHost", "", TFP_STEP_DEVICE_TO_HOST},
		{"MemcpyD2D", "", TFP_STEP_DEVICE_TO_DEVICE},
		{"a:MemcpyH2D", "", TFP_STEP_DEVICE_COMPUTE_32},
		{"Memset 4", "", TFP_STEP_DEVICE_COMPUTE_32},
		{"ncclKernel_AllReduce", "", TFP_STEP_DEVICE_COLLECTIVES},
		{"NCCL", "", TFP_STEP_DEVICE_COLLECTIVES},
		{"volta_fp16_gemm", "", TFP_STEP_DEVICE_COMPUTE_16},
		{"gemm_half", "", TFP_STEP_DEVICE_COMPUTE_16},
		{"gemm_half", "float[2]", TFP_STEP_DEVICE_COMPUTE_32},
		{"gemm", "half[2]", TFP_STEP_DEVICE_COMPUTE_16},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(gpu); i++)
		assert_int_equal(
			tfp_step_type_of_gpu_event(str_of(gpu[i].name), str_of(gpu[i].shape)),
			gpu[i].type);
	static const struct {
		const char *name;
		bool has_gpu, correlated;
		enum tfp_step_event type;
	} host[] = {
		{"a/InfeedEnqueueTuple:InfeedEnqueueTuple", false, false, TFP_STEP_HOST_TO_DEVICE},
		{"MEMCPYHtoH", false, false, TFP_STEP_HOST_TO_HOST},
		{"ExecutorState::Process", true, false, TFP_STEP_HOST_PREPARE},
		{"executorstate::process", true, false, TFP_STEP_HOST_PREPARE},
		{"ExecutorState::Process", false, false, TFP_STEP_HOST_COMPUTE},
		{"cuLaunchKernel", true, true, TFP_STEP_HOST_PREPARE},
		{"cuLaunchKernel", false, true, TFP_STEP_HOST_COMPUTE},
		{"IteratorGetNext:IteratorGetNext", true, false, TFP_STEP_HOST_WAIT_INPUT},
		{"iteratorGetNextOp::DoCompute", true, false, TFP_STEP_HOST_WAIT_INPUT},
		{"a/MatMul:MatMul", true, false, TFP_STEP_HOST_COMPUTE},
	};
	for (size_t i = 0; i < COUNT(host); i++)
		assert_int_equal(tfp_step_type_of_host_event(str_of(host[i].name), host[i].has_gpu,
							     host[i].correlated),
				 host[i].type);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
