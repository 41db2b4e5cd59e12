/* SPDX-License-Identifier: Apache-2.0 */
#include "synth/synth.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "synth/host.h"
#include "synth/jax_host.h"
#include "synth/model.h"
#include "synth/output.h"
#include "synth/train_step.h"

#include <stdio.h>
#include <string.h>

static enum tfp_status check_number(const char *what, uint64_t value, uint64_t most,
				    struct tfp_error *err)
{
	if (value >= 1 && value <= most)
		return TFP_OK;
	return tfp_fail(err, TFP_BAD_QUERY, "%llu %s: must be 1 to %llu", (unsigned long long)value,
			what, (unsigned long long)most);
}

static enum tfp_status check(const struct tfp_synth_options *o, struct tfp_error *err)
{
	enum tfp_status status = check_number("hosts", o->hosts, TFP_SYNTH_HOSTS_MAX, err);

	if (status == TFP_OK)
		status = check_number("devices", o->devices, TFP_SYNTH_DEVICES_MAX, err);
	if (status == TFP_OK && o->bytes == 0)
		status = check_number("steps", o->steps, TFP_SYNTH_STEPS_MAX, err);
	if (status == TFP_OK)
		status = check_number("events per step", o->events_per_step, TFP_SYNTH_EVENTS_MAX,
				      err);
	if (status == TFP_OK)
		status = check_number("layers", o->layers, TFP_SYNTH_LAYERS_MAX, err);
	if (status == TFP_OK && o->jax && (o->bytes > 0 || o->grouped))
		status = tfp_fail(err, TFP_BAD_QUERY,
				  "a compiled program has neither a chosen size nor groups");
	if (status == TFP_OK && o->allocations > TFP_SYNTH_ALLOCATIONS_MAX)
		status = tfp_fail(err, TFP_BAD_QUERY, "%u allocations: must be 0 to %u",
				  o->allocations, TFP_SYNTH_ALLOCATIONS_MAX);
	if (status == TFP_OK && o->counter_samples > TFP_SYNTH_SAMPLES_MAX)
		status = tfp_fail(err, TFP_BAD_QUERY, "%u samples of counters: must be 0 to %u",
				  o->counter_samples, TFP_SYNTH_SAMPLES_MAX);
	if (status == TFP_OK && (o->run[0] == '\0' || o->run[0] == '.' || strchr(o->run, '/')))
		status = tfp_fail(err, TFP_BAD_QUERY,
				  "'%s' is not a name for a run: it must not be empty, start with "
				  "a dot or contain a slash",
				  o->run);
	return status;
}

/* Steps that bring a file near o->bytes. Offsets grow with time and take more
 * bytes then, so a straight line through two short captures falls short of the
 * mark; a second look from near it does not. */
static enum tfp_status choose_steps(struct tfp_synth_options *o, const struct tfp_synth_model *m,
				    struct tfp_error *err)
{
	uint64_t few, more, steps, target = o->bytes;
	unsigned low = 4, high = 12;
	enum tfp_status status;

	for (unsigned pass = 0; pass < 2; pass++) {
		o->steps = low;
		status = tfp_synth_host_size(o, m, 0, &few, err);
		if (status != TFP_OK)
			return status;
		o->steps = high;
		status = tfp_synth_host_size(o, m, 0, &more, err);
		if (status != TFP_OK)
			return status;
		if (target <= few)
			steps = 1 + (uint64_t)low * target / (few + 1);
		else
			steps = low + (target - few) * (high - low) / (more - few);
		if (steps > TFP_SYNTH_STEPS_MAX)
			return tfp_fail(err, TFP_BAD_QUERY,
					"%llu bytes would need %llu steps of this size, at most %u "
					"are made",
					(unsigned long long)target, (unsigned long long)steps,
					TFP_SYNTH_STEPS_MAX);
		o->steps = (unsigned)steps;
		high = steps > 400 ? 200 : (unsigned)steps / 2;
		if (high < 24)
			break;
	}
	return TFP_OK;
}

/* What runs: one of the two. */
struct program {
	struct tfp_synth_model model;
	struct tfp_synth_train_step train_step;
};

static enum tfp_status write_capture(const struct tfp_synth_options *o, const struct program *p,
				     unsigned host, int fd, struct tfp_error *err)
{
	return o->jax ? tfp_synth_jax_host_write(o, &p->train_step, host, fd, err)
		      : tfp_synth_host_write(o, &p->model, host, fd, err);
}

static enum tfp_status write_host(const struct tfp_synth_options *o, const struct program *p,
				  const char *folder, unsigned host, struct tfp_error *err)
{
	static const char *const endings[] = {"", ".gz", ".zst"};
	char name[TFP_SYNTH_HOST_NAME_SIZE];
	struct tfp_synth_output out;
	struct tfp_buf path;
	enum tfp_status status;

	tfp_synth_host_name(host, name);
	tfp_buf_init(&path, 1 << 16);
	tfp_buf_printf(&path, "%s/%s.xplane.pb%s", folder, name, endings[o->compression]);
	if (tfp_buf_failed(&path)) {
		tfp_buf_release(&path);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a path");
	}
	status = tfp_synth_output_open(&out, tfp_buf_text(&path), o->compression, err);
	if (status == TFP_OK) {
		status = write_capture(o, p, host, out.fd, err);
		if (status == TFP_OK)
			status = tfp_synth_output_commit(&out, err);
		else
			tfp_synth_output_abandon(&out);
	}
	if (status != TFP_OK)
		tfp_error_set_file(err, tfp_buf_text(&path));
	tfp_buf_release(&path);
	return status;
}

static enum tfp_status make_program(struct tfp_synth_options *o, struct program *p,
				    struct tfp_error *err)
{
	enum tfp_status status;

	if (o->jax)
		return tfp_synth_train_step_init(
			&p->train_step,
			&(struct tfp_synth_train_options){.layers = o->layers,
							  .unrolled = o->unrolled,
							  .replicas = o->hosts * o->devices},
			err);
	status = tfp_synth_model_init(&p->model, o->seed, o->devices, o->events_per_step, err);
	if (status == TFP_OK && o->bytes > 0)
		status = choose_steps(o, &p->model, err);
	return status;
}

enum tfp_status tfp_synth_write(const struct tfp_synth_options *options, const char *logdir,
				struct tfp_error *err)
{
	struct tfp_synth_options o = *options;
	struct program p = {0};
	struct tfp_buf folder;
	enum tfp_status status = check(&o, err);

	if (status != TFP_OK)
		return status;
	tfp_buf_init(&folder, 1 << 16);
	tfp_buf_printf(&folder, "%s/plugins/profile/%s", logdir, o.run);
	if (tfp_buf_failed(&folder)) {
		tfp_buf_release(&folder);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a path");
	}
	status = make_program(&o, &p, err);
	if (status == TFP_OK)
		status = tfp_synth_make_folders(tfp_buf_text(&folder), err);
	for (unsigned host = 0; status == TFP_OK && host < o.hosts; host++)
		status = write_host(&o, &p, tfp_buf_text(&folder), host, err);
	tfp_synth_model_release(&p.model);
	tfp_synth_train_step_release(&p.train_step);
	tfp_buf_release(&folder);
	return status;
}
