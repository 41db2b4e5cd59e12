/* SPDX-License-Identifier: Apache-2.0 */
#include "synth/kernels.h"

#define EIGEN                                                                                      \
	"void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssignOp<"      \
	"Eigen::TensorMap<Eigen::Tensor<"
#define EIGEN_END ", Eigen::GpuDevice>, long>(Eigen::TensorEvaluator<Eigen::GpuDevice>, long)"

/* Names as the libraries of CUDA 11 and TensorFlow 2.1x spell them: of cuDNN,
 * cuBLAS, CUTLASS, Eigen, CUB, MLIR-generated ones and NCCL. Those of one
 * family stand together. */
static const struct tfp_synth_kernel_row rows[] = {
	/* clang-format off */
	{FAMILY_CONV, 90, {"ampere_fp16_s16816cudnn_fp16_128x128_ldg8_relu_f2f_exp_interior_nhwc_tn_v1", KERNEL_PLAIN, 234, 49152, 16384, 256, 12.5}},
	{FAMILY_CONV, 70, {"ampere_fp16_s16816cudnn_fp16_128x64_sliced1x2_ldg8_relu_f2f_exp_small_nhwc_tn_v1", KERNEL_PLAIN, 166, 49152, 24576, 256, 18.75}},
	{FAMILY_CONV, 110, {"sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32_stage5_warpsize2x2x1_g1_tensor16x8x16_kernel_cudnn", KERNEL_PLAIN, 238, 0, 81920, 128, 12.5}},
	{FAMILY_CONV, 60, {"cutlass_tensorop_f16_s16816fprop_optimized_f16_64x64_32x10_nhwc_align8", KERNEL_PLAIN, 128, 0, 81920, 128, 12.5}},
	{FAMILY_CONV, 95, {"volta_h884cudnn_256x64_ldg8_relu_exp_small_nhwc_tn_v1", KERNEL_PLAIN, 154, 57344, 0, 256, 18.75}},
	{FAMILY_CONV, 140, {"void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, 3, 1, false, false, true>(int, int, int, float const*, int, float*, float const*, kernel_conv_params, unsigned long long, int, float, float, int, float const*, float const*, bool, int, int)", KERNEL_PLAIN, 64, 6504, 0, 256, 50}},
	{FAMILY_DGRAD, 120, {"sm80_xmma_dgrad_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x64x32_stage5_warpsize2x2x1_g1_tensor16x8x16_kernel_cudnn", KERNEL_PLAIN, 192, 0, 61440, 128, 12.5}},
	{FAMILY_DGRAD, 100, {"cutlass_tensorop_f16_s16816dgrad_optimized_f16_128x64_32x6_nhwc_unity_stride_align8", KERNEL_PLAIN, 196, 0, 73728, 128, 12.5}},
	{FAMILY_DGRAD, 130, {"volta_fp16_s884cudnn_fp16_256x128_ldg8_dgrad_f2f_exp_small_nhwc2nchw_tt_v1", KERNEL_PLAIN, 242, 49152, 0, 256, 12.5}},
	{FAMILY_DGRAD, 85, {"void dgrad2d_grouped_direct_kernel<__half, float, 3, 3, true>(cudnnTensorStruct, __half const*, cudnnFilterStruct, __half const*, cudnnConvolutionStruct, cudnnTensorStruct, __half*)", KERNEL_PLAIN, 80, 12288, 0, 256, 37.5}},
	{FAMILY_WGRAD, 130, {"sm80_xmma_wgrad_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32_stage4_warpsize2x2x1_g1_tensor16x8x16_kernel_cudnn", KERNEL_PLAIN, 230, 0, 65536, 128, 12.5}},
	{FAMILY_WGRAD, 115, {"cutlass_tensorop_f16_s16816wgrad_optimized_f16_256x128_32x3_nhwc_align8", KERNEL_PLAIN, 238, 0, 73728, 256, 12.5}},
	{FAMILY_WGRAD, 125, {"volta_fp16_s884cudnn_fp16_256x64_ldg8_wgrad_idx_exp_interior_nhwc_nt_v1", KERNEL_PLAIN, 220, 49152, 0, 256, 12.5}},
	{FAMILY_WGRAD, 150, {"void wgrad_alg0_engine<float, 512, 6, 5, 3, 3, 3, false, 512>(int, int, int, float const*, int, float*, float const*, kernel_grad_params, unsigned long long, int, float, int, int, int, int)", KERNEL_PLAIN, 80, 9216, 0, 512, 37.5}},
	{FAMILY_GEMM, 60, {"ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn", KERNEL_PLAIN, 254, 0, 81920, 128, 12.5}},
	{FAMILY_GEMM, 55, {"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_tn", KERNEL_PLAIN, 174, 0, 98304, 128, 6.25}},
	{FAMILY_GEMM, 58, {"ampere_fp16_s16816gemm_fp16_256x128_ldg8_f2f_stages_64x3_nt", KERNEL_PLAIN, 252, 0, 147456, 256, 12.5}},
	{FAMILY_GEMM, 30, {"ampere_h16816gemm_128x64_ldg8_stages_32x6_tn", KERNEL_PLAIN, 168, 0, 73728, 128, 12.5}},
	{FAMILY_GEMM, 48, {"cutlass_80_tensorop_s1688gemm_256x64_16x4_nt_align4", KERNEL_PLAIN, 210, 0, 81920, 256, 12.5}},
	{FAMILY_GEMM, 26, {"void cutlass::Kernel<cutlass_80_wmma_tensorop_f16_s161616gemm_f16_32x32_64x1_nn_align8>(cutlass_80_wmma_tensorop_f16_s161616gemm_f16_32x32_64x1_nn_align8::Params)", KERNEL_PLAIN, 96, 0, 10240, 32, 25}},
	{FAMILY_SGEMM, 45, {"ampere_sgemm_128x64_nn", KERNEL_PLAIN, 122, 12288, 0, 128, 25}},
	{FAMILY_SGEMM, 38, {"ampere_sgemm_64x32_sliced1x4_nt", KERNEL_PLAIN, 85, 32768, 0, 128, 25}},
	{FAMILY_SGEMM, 12, {"void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4, false, false, cublasGemvParamsEx<int, cublasGemvTensorStridedBatched<float const>, cublasGemvTensorStridedBatched<float const>, cublasGemvTensorStridedBatched<float>, float> >", KERNEL_PLAIN, 72, 1040, 0, 128, 43.75}},
	{FAMILY_SPLIT_K, 6, {"void splitKreduce_kernel<32, 16, int, float, __half, float, __half, true, false, false>(cublasSplitKParams<float>, float const*, __half const*, __half*, float const*, float const*, __half const*, __half*, void*, long, float*, int*)", KERNEL_PLAIN, 32, 0, 0, 512, 100}},
	{FAMILY_SPLIT_K, 9, {"void cublasLt::splitKreduce_kernel<32, 16, int, float, __half, float, false, __half, __half, __half, true, false>(cublasLt::cublasSplitKParams<float>, float const*, __half const*, __half*)", KERNEL_PLAIN, 40, 0, 0, 512, 75}},
	{FAMILY_NORM, 48, {"void cudnn::bn_fw_tr_1C11_kernel_NCHW<__half, float, 512, true, 1>(cudnnTensorStruct, __half const*, cudnnTensorStruct, __half*, float const*, float const*, float, float, float*, float*, float*, float*, float, float)", KERNEL_PLAIN, 32, 2192, 0, 512, 100}},
	{FAMILY_NORM, 42, {"void cudnn::batchnorm_fwtr_nhwc_semiPersist<__half, float, float, true, false, 3, 512, 4, 2>(cudnn::BatchNormParams)", KERNEL_PLAIN, 56, 8448, 0, 512, 50}},
	{FAMILY_NORM, 20, {"void tensorflow::functor::(anonymous namespace)::FusedBatchNormInferenceKernel<Eigen::half, float, (tensorflow::TensorFormat)0, true, (tensorflow::functor::FusedBatchNormActivationMode)1>(int, int, int, Eigen::half const*)", KERNEL_PLAIN, 38, 0, 0, 512, 75}},
	{FAMILY_NORM_GRAD, 72, {"void cudnn::bn_bw_1C11_kernel_new<__half, float, float2, 512, true, 1>(float, float, float, float, cudnnTensorStruct, __half const*, cudnnTensorStruct, __half const*, cudnnTensorStruct, __half*)", KERNEL_PLAIN, 40, 4240, 0, 512, 75}},
	{FAMILY_NORM_GRAD, 66, {"void cudnn::batchnorm_bwtr_nhwc_semiPersist<__half, float, float, false, 3, 512, 4, 2>(cudnn::BatchNormBwdParams)", KERNEL_PLAIN, 64, 8704, 0, 512, 50}},
	{FAMILY_RELU, 14, {EIGEN "Eigen::half, 1, 1, long>, 16>, Eigen::TensorCwiseUnaryOp<Eigen::internal::scalar_max_op<Eigen::half const, 0>, Eigen::TensorMap<Eigen::Tensor<Eigen::half const, 1, 1, long>, 16> const> const>" EIGEN_END, KERNEL_PLAIN, 20, 0, 0, 1024, 100}},
	{FAMILY_RELU, 12, {"Relu_GPU_DT_HALF_DT_HALF_kernel", KERNEL_PLAIN, 16, 0, 0, 256, 100}},
	{FAMILY_RELU_GRAD, 19, {"void tensorflow::functor::ReluGradHalfKernelVector<8>(Eigen::half const*, Eigen::half const*, Eigen::half*, int)", KERNEL_PLAIN, 30, 0, 0, 512, 100}},
	{FAMILY_RELU_GRAD, 21, {"void tensorflow::functor::ReluGradHalfKernel<Eigen::half>(Eigen::half const*, Eigen::half const*, Eigen::half*, int)", KERNEL_PLAIN, 22, 0, 0, 512, 100}},
	{FAMILY_BINARY, 18, {"AddV2_GPU_DT_HALF_DT_HALF_kernel", KERNEL_PLAIN, 18, 0, 0, 256, 100}},
	{FAMILY_BINARY, 16, {"Mul_GPU_DT_HALF_DT_HALF_kernel", KERNEL_PLAIN, 18, 0, 0, 256, 100}},
	{FAMILY_BINARY, 17, {"Sub_GPU_DT_FLOAT_DT_FLOAT_kernel", KERNEL_PLAIN, 18, 0, 0, 256, 100}},
	{FAMILY_BINARY, 22, {EIGEN "float, 1, 1, int>, 16>, Eigen::TensorCwiseBinaryOp<Eigen::internal::scalar_sum_op<float const, float const>, Eigen::TensorMap<Eigen::Tensor<float const, 1, 1, int>, 16> const> const>" EIGEN_END, KERNEL_PLAIN, 26, 0, 0, 1024, 100}},
	{FAMILY_ADD_N, 24, {EIGEN "Eigen::half, 1, 1, long>, 16>, Eigen::TensorCwiseBinaryOp<Eigen::internal::scalar_sum_op<Eigen::half const, Eigen::half const> > const>" EIGEN_END, KERNEL_PLAIN, 28, 0, 0, 1024, 100}},
	{FAMILY_ADD_N, 15, {"void tensorflow::AddNKernel<float, 4>(float const**, float*, int)", KERNEL_PLAIN, 24, 0, 0, 256, 100}},
	{FAMILY_CAST, 9, {"Cast_GPU_DT_FLOAT_DT_HALF_kernel", KERNEL_PLAIN, 14, 0, 0, 256, 100}},
	{FAMILY_CAST, 11, {EIGEN "Eigen::half, 1, 1, long>, 16>, Eigen::TensorConversionOp<Eigen::half, Eigen::TensorMap<Eigen::Tensor<float const, 1, 1, long>, 16> const> const>" EIGEN_END, KERNEL_PLAIN, 16, 0, 0, 1024, 100}},
	{FAMILY_CAST_INPUT, 25, {"Cast_GPU_DT_UINT8_DT_FLOAT_kernel", KERNEL_PLAIN, 14, 0, 0, 256, 100}},
	{FAMILY_REDUCE, 13, {"void tensorflow::functor::ColumnReduceKernel<Eigen::half const*, Eigen::half*, cub::Sum>(Eigen::half const*, Eigen::half*, int, int, cub::Sum, std::iterator_traits<Eigen::half const*>::value_type)", KERNEL_PLAIN, 30, 4352, 0, 1024, 100}},
	{FAMILY_REDUCE, 10, {"void tensorflow::functor::BlockReduceKernel<float*, float*, 256, tensorflow::functor::Sum<float> >(float*, float*, int, tensorflow::functor::Sum<float>, std::iterator_traits<float*>::value_type)", KERNEL_PLAIN, 32, 48, 0, 256, 100}},
	{FAMILY_REDUCE, 11, {"void cub::DeviceSegmentedReduceKernel<cub::DeviceReducePolicy<float, int, cub::Sum>::Policy600, float const*, float*, int const*, int, cub::Sum, float>(float const*, float*, int const*, int const*, int, cub::Sum, float)", KERNEL_PLAIN, 36, 80, 0, 256, 87.5}},
	{FAMILY_REDUCE, 8, {"void tensorflow::functor::RowReduceKernel<float const*, float*, cub::Max>(float const*, float*, int, int, cub::Max, std::iterator_traits<float const*>::value_type)", KERNEL_PLAIN, 28, 8, 0, 128, 100}},
	{FAMILY_BIAS, 10, {"void tensorflow::BiasNHWCKernel<Eigen::half>(int, Eigen::half const*, Eigen::half const*, Eigen::half*, int)", KERNEL_PLAIN, 16, 0, 0, 1024, 100}},
	{FAMILY_BIAS_GRAD, 15, {"void tensorflow::BiasGradNHWC_SharedAtomics<Eigen::half>(int, Eigen::half const*, Eigen::half*, int)", KERNEL_PLAIN, 24, 0, 3072, 1024, 100}},
	{FAMILY_SOFTMAX, 33, {"void (anonymous namespace)::softmax_warp_forward<__half, float, 10, false>(__half*, __half const*, int, int, int)", KERNEL_PLAIN, 40, 0, 0, 128, 75}},
	{FAMILY_SOFTMAX, 30, {"void tensorflow::(anonymous namespace)::GenerateNormalizedProb<Eigen::half, float, 8>(Eigen::half const*, float const*, Eigen::half const*, Eigen::half*, int, int, bool)", KERNEL_PLAIN, 34, 0, 0, 128, 87.5}},
	{FAMILY_POOL, 55, {"void cudnn::pooling_fw_4d_kernel<__half, float, cudnn::maxpooling_func<float, (cudnnNanPropagation_t)0>, (cudnnPoolingMode_t)0, false>(cudnnTensorStruct, __half const*, cudnnTensorStruct, __half*, cudnnPoolingStruct, float, float, int, cudnn::reduced_divisor, cudnn::reduced_divisor)", KERNEL_PLAIN, 57, 0, 0, 256, 50}},
	{FAMILY_POOL_GRAD, 90, {"void cudnn::pooling_bw_4d_kernel<__half, float, cudnn::maxpooling_func<__half, (cudnnNanPropagation_t)0>, (cudnnPoolingMode_t)0, false>(cudnnTensorStruct, __half const*, cudnnTensorStruct, __half const*, cudnnTensorStruct, __half*)", KERNEL_PLAIN, 64, 0, 0, 256, 50}},
	{FAMILY_TRANSPOSE, 20, {"void tensorflow::functor::ShuffleInTensor3Simple<Eigen::half, 2, 1, 0, false>(int, Eigen::half const*, tensorflow::functor::Dimension<3>, Eigen::half*)", KERNEL_PLAIN, 18, 0, 0, 1024, 100}},
	{FAMILY_TRANSPOSE, 24, {"void tensorflow::functor::SwapDimension1And2InTensor3UsingTiles<unsigned short, 256, 32, 32, false>(unsigned short const*, tensorflow::functor::Dimension<3>, unsigned short*)", KERNEL_PLAIN, 30, 2112, 0, 256, 100}},
	{FAMILY_RANDOM, 22, {"void tensorflow::functor::FillPhiloxRandomKernelLaunch<tensorflow::random::UniformDistribution<tensorflow::random::PhiloxRandom, float> >(unsigned long const*, unsigned long const*, tensorflow::random::PhiloxRandom, tensorflow::random::UniformDistribution<tensorflow::random::PhiloxRandom, float>::ResultElementType*, long)", KERNEL_PLAIN, 38, 0, 0, 1024, 75}},
	{FAMILY_SELECT, 16, {"GreaterEqual_GPU_DT_FLOAT_DT_BOOL_kernel", KERNEL_PLAIN, 16, 0, 0, 256, 100}},
	{FAMILY_SELECT, 19, {"SelectV2_GPU_DT_HALF_DT_HALF_kernel", KERNEL_PLAIN, 22, 0, 0, 256, 100}},
	{FAMILY_UNARY, 17, {"Erf_GPU_DT_HALF_DT_HALF_kernel", KERNEL_PLAIN, 28, 0, 0, 256, 100}},
	{FAMILY_UNARY, 13, {"Rsqrt_GPU_DT_FLOAT_DT_FLOAT_kernel", KERNEL_PLAIN, 16, 0, 0, 256, 100}},
	{FAMILY_UNARY, 15, {"Exp_GPU_DT_HALF_DT_HALF_kernel", KERNEL_PLAIN, 24, 0, 0, 256, 100}},
	{FAMILY_UNARY, 12, {"Square_GPU_DT_FLOAT_DT_FLOAT_kernel", KERNEL_PLAIN, 14, 0, 0, 256, 100}},
	{FAMILY_GATHER, 12, {"void tensorflow::GatherOpKernel<Eigen::half, int, true>(Eigen::half const*, int const*, Eigen::half*, long, long, long, long)", KERNEL_PLAIN, 24, 0, 0, 256, 100}},
	{FAMILY_LOSS, 14, {"void tensorflow::(anonymous namespace)::SparseXentLossKernel<float, long>(float const*, long const*, float*, int, int)", KERNEL_PLAIN, 26, 0, 0, 256, 100}},
	{FAMILY_LOSS, 12, {EIGEN "float, 2, 1, int>, 16>, Eigen::TensorGeneratorOp<tensorflow::generator::SparseXentGradGenerator<float, long>, Eigen::TensorMap<Eigen::Tensor<float, 2, 1, int>, 16> const> const>" EIGEN_END, KERNEL_PLAIN, 32, 0, 0, 1024, 100}},
	{FAMILY_UPDATE, 9, {"void tensorflow::functor::ApplyAdamKernel<float>(int, float*, float*, float*, float const*, float const*, float const*, float const*, float const*, float const*, float const*, bool)", KERNEL_PLAIN, 36, 0, 0, 1024, 75}},
	{FAMILY_UPDATE, 6, {EIGEN "float, 1, 1, long>, 16>, Eigen::TensorCwiseBinaryOp<Eigen::internal::scalar_difference_op<float, float>, Eigen::TensorMap<Eigen::Tensor<float, 1, 1, long>, 16> const> const>" EIGEN_END, KERNEL_PLAIN, 24, 0, 0, 1024, 100}},
	{FAMILY_UPDATE, 7, {"void tensorflow::functor::SparseApplyMomentumKernel<float>(float*, float*, float const*, float const*, float const*, long, bool)", KERNEL_PLAIN, 28, 0, 0, 1024, 87.5}},
	{FAMILY_FINITE, 8, {"IsFinite_GPU_DT_FLOAT_DT_BOOL_kernel", KERNEL_PLAIN, 14, 0, 0, 256, 100}},
	{FAMILY_FINITE, 7, {"void tensorflow::functor::BlockReduceKernel<bool*, bool*, 256, tensorflow::functor::And>(bool*, bool*, int, tensorflow::functor::And, std::iterator_traits<bool*>::value_type)", KERNEL_PLAIN, 26, 40, 0, 256, 100}},
	{FAMILY_NCCL, 400, {"ncclKernel_AllReduce_RING_LL_Sum_half(ncclDevComm*, unsigned long, ncclWork*)", KERNEL_PLAIN, 96, 49664, 0, 512, 25}},
	{FAMILY_NCCL, 400, {"ncclKernel_AllReduce_TREE_LL128_Sum_float(ncclDevComm*, unsigned long, ncclWork*)", KERNEL_PLAIN, 96, 49664, 0, 640, 25}},
	{FAMILY_MEMSET, 2, {"Memset", KERNEL_MEMSET, 0, 0, 0, 0, 0}},
	{FAMILY_COPY, 12, {"MemcpyD2D", KERNEL_COPY, 0, 0, 0, 0, 0}},
	/* clang-format on */
};

unsigned tfp_synth_kernel_count(void)
{
	return sizeof(rows) / sizeof(rows[0]);
}

const struct tfp_synth_kernel *tfp_synth_kernel_at(unsigned index)
{
	return &rows[index].kernel;
}

const struct tfp_synth_kernel_row *tfp_synth_kernel_row_at(unsigned index)
{
	return &rows[index];
}
