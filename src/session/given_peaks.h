/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peaks of devices that a user gave in a file (--peaks), in place of what captures say.
 *
 *     [AMD GPU - gfx942]
 *     tflops = 1307.4
 *     hbm_gbs = 5300
 *     source = data sheet of the MI300X
 *
 * docs/reference/device_peaks.md has the format.
 */
#ifndef TFP_SESSION_GIVEN_PEAKS_H
#define TFP_SESSION_GIVEN_PEAKS_H

#include "analysis/events/run_env.h"
#include "base/error.h"
#include "store/capture.h"

#include <stddef.h>
#include <stdint.h>

struct tfp_given_peaks;

/* Reads a file; TFP_BAD_QUERY with the line where it is none of these. */
enum tfp_status tfp_given_peaks_read(struct tfp_given_peaks **out, const char *path,
				     struct tfp_error *err) TFP_CHECK;
/* The same of a text; name is for messages. */
enum tfp_status tfp_given_peaks_parse(struct tfp_given_peaks **out, struct tfp_str text,
				      const char *name, struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_given_peaks_free(struct tfp_given_peaks *given);

/* What the file says of the environment's device, put in the place of its peaks. Accepts
 * given == NULL: nothing. */
void tfp_given_peaks_apply(const struct tfp_given_peaks *given, struct tfp_run_env *env);

/* A number that tells one file's contents from another's; 0 for NULL. */
uint64_t tfp_given_peaks_stamp(const struct tfp_given_peaks *given);

#endif
