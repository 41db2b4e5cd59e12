/* SPDX-License-Identifier: Apache-2.0 */
/* The table of kernels that the made-up program launches. */
#ifndef TFP_SYNTH_KERNELS_H
#define TFP_SYNTH_KERNELS_H

enum tfp_synth_family {
	FAMILY_CONV,
	FAMILY_DGRAD,
	FAMILY_WGRAD,
	FAMILY_GEMM,
	FAMILY_SGEMM,
	FAMILY_SPLIT_K,
	FAMILY_NORM,
	FAMILY_NORM_GRAD,
	FAMILY_RELU,
	FAMILY_RELU_GRAD,
	FAMILY_BINARY,
	FAMILY_ADD_N,
	FAMILY_CAST,
	FAMILY_CAST_INPUT,
	FAMILY_REDUCE,
	FAMILY_BIAS,
	FAMILY_BIAS_GRAD,
	FAMILY_SOFTMAX,
	FAMILY_POOL,
	FAMILY_POOL_GRAD,
	FAMILY_TRANSPOSE,
	FAMILY_RANDOM,
	FAMILY_SELECT,
	FAMILY_UNARY,
	FAMILY_GATHER,
	FAMILY_LOSS,
	FAMILY_UPDATE,
	FAMILY_FINITE,
	FAMILY_NCCL,
	FAMILY_MEMSET,
	FAMILY_COPY,
	FAMILY_COUNT
};

enum tfp_synth_kernel_class {
	KERNEL_PLAIN,
	KERNEL_MEMSET,
	KERNEL_COPY, /* device to device */
};

struct tfp_synth_kernel {
	const char *name;
	enum tfp_synth_kernel_class class;
	unsigned registers, static_shared, dynamic_shared, block;
	double occupancy; /* percent */
};

struct tfp_synth_kernel_row {
	enum tfp_synth_family family;
	unsigned us; /* nominal duration */
	struct tfp_synth_kernel kernel;
};

unsigned tfp_synth_kernel_count(void);
/* index below tfp_synth_kernel_count(). */
const struct tfp_synth_kernel *tfp_synth_kernel_at(unsigned index);
const struct tfp_synth_kernel_row *tfp_synth_kernel_row_at(unsigned index);

#endif
