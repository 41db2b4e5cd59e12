/* SPDX-License-Identifier: Apache-2.0 */
#include "synth/options.h"

#include <stdio.h>

void tfp_synth_options_init(struct tfp_synth_options *o)
{
	*o = (struct tfp_synth_options){
		.hosts = 1,
		.devices = 2,
		.steps = 30,
		.events_per_step = 3000,
		.compression = TFP_SYNTH_PLAIN,
		.layers = 6,
		.seed = 1,
		.run = "2026_01_15_10_00_00",
	};
}

void tfp_synth_options_demo(struct tfp_synth_options *o)
{
	tfp_synth_options_init(o);
	o->hosts = 4;
	o->steps = 26;
	o->events_per_step = 800;
	o->counter_samples = 10;
}

void tfp_synth_options_jax(struct tfp_synth_options *o)
{
	tfp_synth_options_init(o);
	o->hosts = 2;
	o->steps = 12;
	o->jax = true;
	snprintf(o->run, sizeof(o->run), "2026_01_15_09_00_00");
}

void tfp_synth_host_name(unsigned host, char out[TFP_SYNTH_HOST_NAME_SIZE])
{
	snprintf(out, TFP_SYNTH_HOST_NAME_SIZE, "worker-%02u", host);
}
