/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of several hosts: whose the tables show, which host is the slowest, and for which
 * of them a verdict holds (docs/tools/overview_page.md, "Several hosts").
 *
 *     status = tfp_run_summary(session, query, &run, &err);
 *     tfp_step_hosts_verdict(&run.step_hosts, TFP_ON_INPUT, &run.bottleneck, &text);
 */
#ifndef TFP_TOOLS_STEP_HOSTS_H
#define TFP_TOOLS_STEP_HOSTS_H

#include "analysis/steps/bottleneck.h"
#include "base/buf.h"
#include "session/session.h"
#include "tools/tool.h"

/* The verdict of a host by its own steps alone. */
struct tfp_host_verdict {
	uint32_t host;   /* place in the session */
	int64_t time_ps; /* of all steps together, of its longest core */
	struct tfp_bottleneck bottleneck;
};

struct tfp_step_hosts {
	struct tfp_host_verdict *list; /* of the hosts that have the steps, by place */
	size_t count;
	/* Most time_ps, of equal ones the first; NULL without steps. */
	const struct tfp_host_verdict *slowest;
	/* Place of the host whose steps the tables show; TFP_EVERY_HOST where they show the
	 * extremes over the cores of all, which only TPUs' do. */
	uint32_t shown;
	const struct tfp_session *session; /* borrowed: names */
};

/* query: steps_of=slowest shows the slowest host, steps_of=HOST another one; without it the
 * first, as XProf. TPUs' tables show every host in any case. TFP_BAD_QUERY for a name that
 * is no host's of the session. steps: of all hosts of the session, combined. out is released
 * by the caller in any case, and must not outlive the session. */
enum tfp_status tfp_step_hosts(const struct tfp_session *session, const struct tfp_query *query,
			       const struct tfp_steps *steps, bool is_tpu, bool uses_tf_data,
			       struct tfp_step_hosts *out, struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_step_hosts_release(struct tfp_step_hosts *hosts);

/* The name of the host's file, by which pickers and queries know it. */
const char *tfp_step_host_name(const struct tfp_step_hosts *hosts, uint32_t place);

enum tfp_judgement { TFP_ON_INPUT, TFP_ON_KERNEL_LAUNCH, TFP_ON_ALL_OTHERS, TFP_ON_COLLECTIVES };

/* Appends the words of shown, the verdict of the hosts that the tables show. Where several hosts
 * have the steps it names the host, and others for which the verdict holds. Where only other
 * hosts have a verdict it appends theirs; where none has, nothing. Valid UTF-8. */
void tfp_step_hosts_verdict(const struct tfp_step_hosts *hosts, enum tfp_judgement which,
			    const struct tfp_bottleneck *shown, struct tfp_buf *out);
/* Appends only the part about hosts, and nothing for a session of one. */
void tfp_step_hosts_sentence(const struct tfp_step_hosts *hosts, enum tfp_judgement which,
			     const struct tfp_bottleneck *shown, struct tfp_buf *out);

#endif
