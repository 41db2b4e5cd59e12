/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host's summary as bytes and back: an OpStats message (proto/op_stats.proto),
 * whose fields are numbered as XProf's.
 *
 *     struct tfp_buf bytes;
 *     tfp_buf_init(&bytes, TFP_OP_STATS_MESSAGE_MAX);
 *     tfp_op_stats_pack(&summary, TFP_SUMMARY_OPS, &bytes, &err);
 *     ...
 *     struct tfp_host_summary again = {0};
 *     tfp_op_stats_unpack(&again, TFP_SUMMARY_OPS, bytes.data, bytes.size, &err);
 *
 * Unpacking gives the summary that was packed: the same order, every number to
 * the last bit (but for the sign of a zero), texts byte by byte.
 */
#ifndef TFP_ANALYSIS_SUMMARY_OP_STATS_MESSAGE_H
#define TFP_ANALYSIS_SUMMARY_OP_STATS_MESSAGE_H

#include "analysis/summary/host_summary.h"
#include "base/buf.h"

/* Bytes of the largest message that is read. */
#define TFP_OP_STATS_MESSAGE_MAX ((size_t)128 << 20)

/* Appends the message of parts, which the summary must have. */
enum tfp_status tfp_op_stats_pack(const struct tfp_host_summary *summary, unsigned parts,
				  struct tfp_buf *out, struct tfp_error *err) TFP_CHECK;

/* Adds parts to a summary that has none of them. The bytes may be anything: TFP_BAD_INPUT
 * where they are no message, or one with numbers that no capture gives. Then
 * the caller releases the summary, as ever, and must not use its parts. */
enum tfp_status tfp_op_stats_unpack(struct tfp_host_summary *summary, unsigned parts,
				    const void *bytes, size_t size,
				    struct tfp_error *err) TFP_CHECK;

#endif
