/* SPDX-License-Identifier: Apache-2.0 */
/* Advice: what a profile says about how well the program runs. */
#ifndef TFP_TFPROF_ADVISE_H
#define TFP_TFPROF_ADVISE_H

#include "tfprof/views.h"

/* Prints what each checker found, a section each. */
enum tfp_status tfp_advise(struct tfp_views *v, struct tfp_error *err) TFP_CHECK;

#endif
