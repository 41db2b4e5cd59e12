/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a running program reports about itself, as text. Only the runtimes of TPUs can be
 * asked that.
 */
#ifndef TFP_REMOTE_MONITOR_H
#define TFP_REMOTE_MONITOR_H

#include "base/buf.h"
#include "base/error.h"
#include "remote/target.h"

#include <stdint.h>

/* Blocks while the program watches itself for the duration. level: 1 or 2, how much it tells.
 * The report is appended to text. TFP_NOT_APPLICABLE for a program that cannot be monitored. */
enum tfp_status tfp_monitor(const struct tfp_target *target, uint32_t duration_ms, int level,
			    struct tfp_buf *text, struct tfp_error *err) TFP_CHECK;

#endif
