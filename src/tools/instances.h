/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every occurrence behind one row of a table, summed up: how the durations are
 * spread, and where the slowest are (docs/api.md, /instances).
 */
#ifndef TFP_TOOLS_INSTANCES_H
#define TFP_TOOLS_INSTANCES_H

#include "base/buf.h"
#include "base/error.h"
#include "session/session.h"
#include "store/capture.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TFP_SLOWEST 10

struct tfp_instance {
	const char *host;   /* borrowed */
	char *plane, *line; /* owned, UTF-8 */
	int64_t start_ps;   /* by the capture's clock at first, then by the run's */
	int64_t duration_ps;
	/* Its line until it is located, then NULL; its number there. */
	const struct tfp_line *in;
	size_t event;
	bool on_timeline;
	uint32_t host_index, track; /* in the run's list of hosts; in the capture's of tracks */
};

struct tfp_instances {
	int64_t *durations_ps;
	size_t count, room;
	struct tfp_instance slowest[TFP_SLOWEST]; /* longest first */
	size_t slowest_count;
	bool failed;
};

/* Zeroed memory is empty. host must outlive it. A failure for want of memory
 * shows when it is written. */
void tfp_instances_add(struct tfp_instances *all, const char *host, const struct tfp_plane *plane,
		       const struct tfp_line *line, size_t event);
/* After all events of a capture are added: finds the slowest of them on its timeline. host is the
 * name they were added with, in a run of the session. */
enum tfp_status tfp_instances_locate(struct tfp_instances *all, const struct tfp_session *session,
				     struct tfp_capture *capture, const char *host,
				     struct tfp_error *err) TFP_CHECK;
/* After the events of all captures are added: makes times the run's. The caller must hold no
 * capture (run_clock.h). */
enum tfp_status tfp_instances_on_clock(struct tfp_instances *all, const struct tfp_session *session,
				       struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_instances_release(struct tfp_instances *all);
/* Appends the document; sorts the durations for that. */
enum tfp_status tfp_instances_write(struct tfp_instances *all, struct tfp_buf *json,
				    struct tfp_error *err) TFP_CHECK;

#endif
