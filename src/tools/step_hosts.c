/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/step_hosts.h"

#include "base/alloc.h"
#include "base/utf8.h"

#include <string.h>

/* A sentence names so many hosts of a kind, and of each name so many bytes. */
#define NAMED      3u
#define NAME_BYTES 64u
/* Less than this is no difference between hosts. */
#define NOTICED_PERCENT 1.0

void tfp_step_hosts_release(struct tfp_step_hosts *hosts)
{
	tfp_free(hosts->list);
}

const char *tfp_step_host_name(const struct tfp_step_hosts *hosts, uint32_t place)
{
	return hosts->session->hosts[place].host;
}

static enum tfp_status choose(struct tfp_step_hosts *out, const char *wanted, struct tfp_error *err)
{
	const struct tfp_session *session = out->session;
	if (!wanted || !wanted[0])
		return TFP_OK;
	if (strcmp(wanted, "slowest") == 0) {
		if (out->slowest && out->shown != TFP_EVERY_HOST)
			out->shown = out->slowest->host;
		return TFP_OK;
	}
	for (size_t h = 0; h < session->host_count; h++) {
		if (strcmp(session->hosts[h].host, wanted) == 0) {
			if (out->shown != TFP_EVERY_HOST)
				out->shown = (uint32_t)h;
			return TFP_OK;
		}
	}
	tfp_fail(err, TFP_BAD_QUERY, "steps_of: there is no host \"%.200s\" here", wanted);
	tfp_error_set_hint(err, "it is \"slowest\" or one of the hosts that were asked for");
	return TFP_BAD_QUERY;
}

static void judge(const struct tfp_steps *steps, bool is_tpu, bool uses_tf_data,
		  struct tfp_host_verdict *v)
{
	struct tfp_step_totals totals;
	v->time_ps = tfp_host_time_ps(steps, v->host);
	if (is_tpu) {
		tfp_tpu_bottleneck(steps, v->host, uses_tf_data, &v->bottleneck);
		return;
	}
	tfp_step_totals(steps, v->host, &totals);
	tfp_bottleneck(&totals, uses_tf_data, &v->bottleneck);
}

enum tfp_status tfp_step_hosts(const struct tfp_session *session, const struct tfp_query *query,
			       const struct tfp_steps *steps, bool is_tpu, bool uses_tf_data,
			       struct tfp_step_hosts *out, struct tfp_error *err)
{
	*out = (struct tfp_step_hosts){.session = session, .shown = is_tpu ? TFP_EVERY_HOST : 0};
	bool *takes_part = tfp_calloc(session->host_count + 1, sizeof(*takes_part));
	out->list = tfp_calloc(session->host_count + 1, sizeof(*out->list));
	if (!takes_part || !out->list) {
		tfp_free(takes_part);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the verdicts of hosts");
	}
	for (size_t c = 0; c < steps->core_count; c++) {
		if (steps->cores[c].host < session->host_count)
			takes_part[steps->cores[c].host] = true;
	}
	for (size_t h = 0; h < session->host_count; h++) {
		struct tfp_host_verdict *v = &out->list[out->count];
		if (!takes_part[h])
			continue;
		v->host = (uint32_t)h;
		judge(steps, is_tpu, uses_tf_data, v);
		out->count++;
	}
	tfp_free(takes_part);
	for (size_t i = 0; i < out->count; i++) {
		if (!out->slowest || out->list[i].time_ps > out->slowest->time_ps)
			out->slowest = &out->list[i];
	}
	return choose(out, tfp_query_get(query, "steps_of"), err);
}

/* ---- sentences ---- */

static const struct tfp_verdict *of(const struct tfp_bottleneck *b, enum tfp_judgement which)
{
	switch (which) {
	case TFP_ON_INPUT:
		return &b->input;
	case TFP_ON_KERNEL_LAUNCH:
		return &b->kernel_launch;
	case TFP_ON_ALL_OTHERS:
		return &b->all_others;
	case TFP_ON_COLLECTIVES:
		break;
	}
	return &b->collectives;
}

static void put_name(struct tfp_buf *out, const struct tfp_step_hosts *hosts, uint32_t place)
{
	const char *name = tfp_step_host_name(hosts, place);
	size_t size = strlen(name),
	       kept = tfp_utf8_prefix(name, size < NAME_BYTES ? size : NAME_BYTES);
	tfp_utf8_repair(out, name, kept);
	if (kept < size)
		tfp_buf_puts(out, "…");
}

static void put_names(struct tfp_buf *out, const struct tfp_step_hosts *hosts, const bool *chosen,
		      size_t count)
{
	size_t named = 0;
	for (size_t i = 0; i < hosts->count && named < NAMED; i++) {
		if (!chosen[i])
			continue;
		if (named)
			tfp_buf_puts(out, named + 1 == count ? " and " : ", ");
		put_name(out, hosts, hosts->list[i].host);
		named++;
	}
	if (count > named)
		tfp_buf_printf(out, " and %zu more", count - named);
}

/* The share that a verdict judges, in percent of the step time: "POTENTIALLY" is about all
 * others. */
static double judged_percent(const struct tfp_bottleneck *b, enum tfp_judgement which)
{
	if (which == TFP_ON_INPUT && b->input.word && strcmp(b->input.word, "POTENTIALLY") == 0)
		return b->all_others.percent;
	return of(b, which)->percent;
}

/* Of the chosen hosts the one that the verdict fits best, where that is not the one whose
 * percentage has just been given. */
static void put_most(struct tfp_buf *out, const struct tfp_step_hosts *hosts,
		     enum tfp_judgement which, const bool *chosen, double given)
{
	const struct tfp_host_verdict *most = NULL;
	double percent = given + NOTICED_PERCENT;
	for (size_t i = 0; i < hosts->count; i++) {
		double own = judged_percent(&hosts->list[i].bottleneck, which);
		if (!chosen[i] || own < percent)
			continue;
		most = &hosts->list[i];
		percent = own;
	}
	if (!most)
		return;
	tfp_buf_puts(out, ", most for ");
	put_name(out, hosts, most->host);
	tfp_buf_printf(out, " (%.1f%%)", percent);
}

static size_t with_word(const struct tfp_step_hosts *hosts, const char *word, bool *chosen)
{
	size_t count = 0;
	for (size_t i = 0; i < hosts->count; i++) {
		const char *own = hosts->list[i].bottleneck.input.word;
		chosen[i] = own && strcmp(own, word) == 0;
		count += chosen[i];
	}
	return count;
}

static void whose(const struct tfp_step_hosts *hosts, struct tfp_buf *out)
{
	if (hosts->shown == TFP_EVERY_HOST) {
		tfp_buf_printf(out, "This verdict is for the slowest cores of %zu hosts",
			       hosts->count);
		return;
	}
	tfp_buf_puts(out, "This verdict is for ");
	put_name(out, hosts, hosts->shown);
	if (hosts->slowest->host == hosts->shown) {
		tfp_buf_printf(out, ", the slowest of %zu hosts", hosts->count);
		return;
	}
	tfp_buf_printf(out, ", one of %zu hosts (the slowest is ", hosts->count);
	put_name(out, hosts, hosts->slowest->host);
	tfp_buf_putc(out, ')');
}

static void on_input(const struct tfp_step_hosts *hosts, const struct tfp_bottleneck *shown,
		     bool *chosen, struct tfp_buf *out)
{
	static const char *const words[] = {"HIGHLY", "MODERATELY", "POTENTIALLY", "NOT"};
	const char *word = shown->input.word;
	/* Where nothing is wrong, the host closest to a fault does not matter. */
	double given = strcmp(word, "NOT") == 0 ? 100 : judged_percent(shown, TFP_ON_INPUT);
	size_t same = with_word(hosts, word, chosen);
	whose(hosts, out);
	if (same == hosts->count) {
		tfp_buf_printf(out, ", and holds for all %zu", same);
		put_most(out, hosts, TFP_ON_INPUT, chosen, given);
	} else if (same > 1) {
		tfp_buf_printf(out, ", and holds for %zu of them (", same);
		put_names(out, hosts, chosen, same);
		tfp_buf_putc(out, ')');
		put_most(out, hosts, TFP_ON_INPUT, chosen, given);
	} else {
		tfp_buf_puts(out, same ? ", and holds for no other host"
				       : ", and holds for no single host");
	}
	for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
		size_t count = with_word(hosts, words[w], chosen);
		if (!count || strcmp(words[w], word) == 0)
			continue;
		tfp_buf_puts(out, "; ");
		put_names(out, hosts, chosen, count);
		tfp_buf_printf(out, " %s %s input-bound", count == 1 ? "is" : "are", words[w]);
	}
	tfp_buf_putc(out, '.');
}

static bool is_said(const struct tfp_verdict *v)
{
	return v->class && strcmp(v->class, "no") != 0;
}

/* The verdict that is worded: of the hosts that are shown, else of the one with the most. */
static const struct tfp_verdict *said_of(const struct tfp_step_hosts *hosts,
					 enum tfp_judgement which,
					 const struct tfp_bottleneck *shown,
					 const struct tfp_host_verdict **other)
{
	const struct tfp_verdict *best = of(shown, which);
	*other = NULL;
	if (which == TFP_ON_INPUT || is_said(best))
		return best;
	/* "POTENTIALLY input-bound" has said it already. */
	if (which == TFP_ON_ALL_OTHERS && best->percent >= TFP_SOME)
		return best;
	for (size_t i = 0; hosts->count > 1 && i < hosts->count; i++) {
		const struct tfp_verdict *v = of(&hosts->list[i].bottleneck, which);
		if (is_said(v) && (!*other || v->percent > best->percent)) {
			best = v;
			*other = &hosts->list[i];
		}
	}
	return best;
}

static void on_the_rest(const struct tfp_step_hosts *hosts, enum tfp_judgement which,
			const struct tfp_verdict *v, const struct tfp_host_verdict *other,
			bool *chosen, struct tfp_buf *out)
{
	size_t count = 0;
	for (size_t i = 0; i < hosts->count; i++) {
		chosen[i] = is_said(of(&hosts->list[i].bottleneck, which));
		count += chosen[i];
	}
	if (other) {
		tfp_buf_puts(out, "This verdict is for ");
		put_name(out, hosts, other->host);
		tfp_buf_puts(out, "; it");
	} else {
		tfp_buf_puts(out, "It");
	}
	if (count == hosts->count)
		tfp_buf_printf(out, " holds for all %zu hosts", count);
	else
		tfp_buf_printf(out, " holds for %zu of %zu hosts", count, hosts->count);
	if (count < hosts->count && count > (other ? 1 : 0)) {
		tfp_buf_puts(out, " (");
		put_names(out, hosts, chosen, count);
		tfp_buf_putc(out, ')');
	}
	put_most(out, hosts, which, chosen, v->percent);
	tfp_buf_putc(out, '.');
}

/* Whether there is anything to say about hosts besides the verdict itself. */
static bool has_sentence(const struct tfp_step_hosts *hosts, enum tfp_judgement which,
			 const struct tfp_verdict *v)
{
	return hosts->count > 1 && v->statement[0] && (which != TFP_ON_INPUT || v->word);
}

static void say(const struct tfp_step_hosts *hosts, enum tfp_judgement which,
		const struct tfp_bottleneck *shown, bool with_verdict, struct tfp_buf *out)
{
	const struct tfp_host_verdict *other;
	const struct tfp_verdict *v = said_of(hosts, which, shown, &other);
	if (with_verdict)
		tfp_buf_puts(out, v->statement);
	if (!has_sentence(hosts, which, v))
		return;
	bool *chosen = tfp_calloc(hosts->count, sizeof(*chosen));
	if (!chosen) {
		out->failed = true;
		return;
	}
	if (with_verdict)
		tfp_buf_putc(out, ' ');
	if (which == TFP_ON_INPUT)
		on_input(hosts, shown, chosen, out);
	else
		on_the_rest(hosts, which, v, other, chosen, out);
	tfp_free(chosen);
}

void tfp_step_hosts_sentence(const struct tfp_step_hosts *hosts, enum tfp_judgement which,
			     const struct tfp_bottleneck *shown, struct tfp_buf *out)
{
	say(hosts, which, shown, false, out);
}

void tfp_step_hosts_verdict(const struct tfp_step_hosts *hosts, enum tfp_judgement which,
			    const struct tfp_bottleneck *shown, struct tfp_buf *out)
{
	say(hosts, which, shown, true, out);
}
