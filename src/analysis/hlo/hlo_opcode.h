/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations of HLO, by the names that HloInstructionProto has (XLA, hlo_opcode.h).
 * Names that are not among them are TFP_HLO_OTHER: a newer XLA may have more.
 */
#ifndef TFP_ANALYSIS_HLO_HLO_OPCODE_H
#define TFP_ANALYSIS_HLO_HLO_OPCODE_H

#include "store/capture.h"

#include <stdbool.h>

/* X(NAME, "name", elementwise): sorted by name. */
#define TFP_HLO_OPCODES(X)                                                                         \
	X(ABS, "abs", true)                                                                        \
	X(ADD, "add", true)                                                                        \
	X(ADD_DEPENDENCY, "add-dependency", false)                                                 \
	X(AFTER_ALL, "after-all", false)                                                           \
	X(ALL_GATHER, "all-gather", false)                                                         \
	X(ALL_GATHER_DONE, "all-gather-done", false)                                               \
	X(ALL_GATHER_START, "all-gather-start", false)                                             \
	X(ALL_REDUCE, "all-reduce", false)                                                         \
	X(ALL_REDUCE_DONE, "all-reduce-done", false)                                               \
	X(ALL_REDUCE_START, "all-reduce-start", false)                                             \
	X(ALL_TO_ALL, "all-to-all", false)                                                         \
	X(AND, "and", true)                                                                        \
	X(ASYNC_DONE, "async-done", false)                                                         \
	X(ASYNC_START, "async-start", false)                                                       \
	X(ASYNC_UPDATE, "async-update", false)                                                     \
	X(ATAN2, "atan2", true)                                                                    \
	X(BITCAST, "bitcast", false)                                                               \
	X(BITCAST_CONVERT, "bitcast-convert", true)                                                \
	X(BROADCAST, "broadcast", false)                                                           \
	X(CALL, "call", false)                                                                     \
	X(CBRT, "cbrt", true)                                                                      \
	X(CEIL, "ceil", true)                                                                      \
	X(CHOLESKY, "cholesky", false)                                                             \
	X(CLAMP, "clamp", true)                                                                    \
	X(COLLECTIVE_BROADCAST, "collective-broadcast", false)                                     \
	X(COLLECTIVE_PERMUTE, "collective-permute", false)                                         \
	X(COLLECTIVE_PERMUTE_DONE, "collective-permute-done", false)                               \
	X(COLLECTIVE_PERMUTE_START, "collective-permute-start", false)                             \
	X(COMPARE, "compare", true)                                                                \
	X(COMPLEX, "complex", true)                                                                \
	X(CONCATENATE, "concatenate", false)                                                       \
	X(CONDITIONAL, "conditional", false)                                                       \
	X(CONSTANT, "constant", true)                                                              \
	X(CONVERT, "convert", true)                                                                \
	X(CONVOLUTION, "convolution", false)                                                       \
	X(COPY, "copy", true)                                                                      \
	X(COPY_DONE, "copy-done", false)                                                           \
	X(COPY_START, "copy-start", false)                                                         \
	X(COSINE, "cosine", true)                                                                  \
	X(COUNT_LEADING_ZEROS, "count-leading-zeros", true)                                        \
	X(CUSTOM_CALL, "custom-call", false)                                                       \
	X(DIVIDE, "divide", true)                                                                  \
	X(DOMAIN, "domain", false)                                                                 \
	X(DOT, "dot", false)                                                                       \
	X(DYNAMIC_RESHAPE, "dynamic-reshape", false)                                               \
	X(DYNAMIC_SLICE, "dynamic-slice", false)                                                   \
	X(DYNAMIC_UPDATE_SLICE, "dynamic-update-slice", false)                                     \
	X(ERF, "erf", true)                                                                        \
	X(EXPONENTIAL, "exponential", true)                                                        \
	X(EXPONENTIAL_MINUS_ONE, "exponential-minus-one", true)                                    \
	X(FFT, "fft", false)                                                                       \
	X(FLOOR, "floor", true)                                                                    \
	X(FUSION, "fusion", false)                                                                 \
	X(GATHER, "gather", false)                                                                 \
	X(GET_DIMENSION_SIZE, "get-dimension-size", false)                                         \
	X(GET_TUPLE_ELEMENT, "get-tuple-element", false)                                           \
	X(IMAG, "imag", true)                                                                      \
	X(INFEED, "infeed", false)                                                                 \
	X(IOTA, "iota", false)                                                                     \
	X(IS_FINITE, "is-finite", true)                                                            \
	X(LOG, "log", true)                                                                        \
	X(LOG_PLUS_ONE, "log-plus-one", true)                                                      \
	X(LOGISTIC, "logistic", true)                                                              \
	X(MAP, "map", false)                                                                       \
	X(MAXIMUM, "maximum", true)                                                                \
	X(MINIMUM, "minimum", true)                                                                \
	X(MULTIPLY, "multiply", true)                                                              \
	X(NEGATE, "negate", true)                                                                  \
	X(NOT, "not", true)                                                                        \
	X(OPT_BARRIER, "opt-barrier", false)                                                       \
	X(OR, "or", true)                                                                          \
	X(OUTFEED, "outfeed", false)                                                               \
	X(PAD, "pad", false)                                                                       \
	X(PARAMETER, "parameter", false)                                                           \
	X(PARTITION_ID, "partition-id", false)                                                     \
	X(POPCNT, "popcnt", true)                                                                  \
	X(POWER, "power", true)                                                                    \
	X(RAGGED_ALL_TO_ALL, "ragged-all-to-all", false)                                           \
	X(RAGGED_DOT, "ragged-dot", false)                                                         \
	X(REAL, "real", true)                                                                      \
	X(RECV, "recv", false)                                                                     \
	X(RECV_DONE, "recv-done", false)                                                           \
	X(REDUCE, "reduce", false)                                                                 \
	X(REDUCE_PRECISION, "reduce-precision", true)                                              \
	X(REDUCE_SCATTER, "reduce-scatter", false)                                                 \
	X(REDUCE_WINDOW, "reduce-window", false)                                                   \
	X(REMAINDER, "remainder", true)                                                            \
	X(REPLICA_ID, "replica-id", false)                                                         \
	X(RESHAPE, "reshape", false)                                                               \
	X(REVERSE, "reverse", false)                                                               \
	X(RNG, "rng", true)                                                                        \
	X(RNG_BIT_GENERATOR, "rng-bit-generator", false)                                           \
	X(RNG_GET_AND_UPDATE_STATE, "rng-get-and-update-state", false)                             \
	X(ROUND_NEAREST_AFZ, "round-nearest-afz", true)                                            \
	X(ROUND_NEAREST_EVEN, "round-nearest-even", true)                                          \
	X(RSQRT, "rsqrt", true)                                                                    \
	X(SCALED_DOT, "scaled-dot", false)                                                         \
	X(SCAN, "scan", false)                                                                     \
	X(SCATTER, "scatter", false)                                                               \
	X(SELECT, "select", true)                                                                  \
	X(SELECT_AND_SCATTER, "select-and-scatter", false)                                         \
	X(SEND, "send", false)                                                                     \
	X(SEND_DONE, "send-done", false)                                                           \
	X(SET_DIMENSION_SIZE, "set-dimension-size", false)                                         \
	X(SHIFT_LEFT, "shift-left", true)                                                          \
	X(SHIFT_RIGHT_ARITHMETIC, "shift-right-arithmetic", true)                                  \
	X(SHIFT_RIGHT_LOGICAL, "shift-right-logical", true)                                        \
	X(SIGN, "sign", true)                                                                      \
	X(SINE, "sine", true)                                                                      \
	X(SLICE, "slice", false)                                                                   \
	X(SORT, "sort", false)                                                                     \
	X(SQRT, "sqrt", true)                                                                      \
	X(STOCHASTIC_CONVERT, "stochastic-convert", true)                                          \
	X(SUBTRACT, "subtract", true)                                                              \
	X(TAN, "tan", true)                                                                        \
	X(TANH, "tanh", true)                                                                      \
	X(TOPK, "topk", false)                                                                     \
	X(TRANSPOSE, "transpose", false)                                                           \
	X(TRIANGULAR_SOLVE, "triangular-solve", false)                                             \
	X(TUPLE, "tuple", false)                                                                   \
	X(WHILE, "while", false)                                                                   \
	X(XOR, "xor", true)

enum tfp_hlo_opcode {
#define X(name, text, elementwise) TFP_HLO_##name,
	TFP_HLO_OPCODES(X)
#undef X
		TFP_HLO_OTHER
};

enum tfp_hlo_opcode tfp_hlo_opcode_of(struct tfp_str name);
/* Whether each element of the result depends on the same element of each operand alone, as
 * far as the opcode tells: bitcast-convert between widths, map and fusion need a look at the
 * instruction. */
bool tfp_hlo_opcode_elementwise(enum tfp_hlo_opcode opcode);

#endif
