/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the files of TensorFlow's first profiler, and all views of what they say. The
 * input is a list of parts: a letter for what it is, two bytes of length, the bytes. */
#include "fuzz.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "tfprof/advise.h"
#include "tfprof/message_rules.h"
#include "tfprof/sources.h"
#include "tfprof/text_message.h"
#include "tfprof/views.h"

#include <string.h>

#define MESSAGE_MAX ((size_t)1 << 24)

static const struct {
	char letter; /* the small one: as text */
	const struct tfp_message_rule *rule;
} kinds[] = {
	{'G', &tfp_graph_def_rule},
	{'R', &tfp_run_metadata_rule},
	{'L', &tfp_op_log_rule},
	{'P', &tfp_profile_proto_rule},
};

static bool read_part(struct tfp_profile *p, char letter, int64_t step, struct tfp_span bytes,
		      const struct tfp_message_rule *rule)
{
	struct tfp_error err;
	bool present;
	tfp_error_init(&err);
	if (letter == 'P' && p->count)
		return true;
	if (tfp_message_check(rule, bytes, &err) != TFP_OK) {
		tfp_error_set_file(&err, "fuzz");
		fuzz_check_error(&err, bytes.size);
		return true;
	}
	enum tfp_status status = letter == 'G' ? tfp_graph_def_read(p, bytes, &err)
				 : letter == 'R'
					 ? tfp_run_metadata_read(p, step, bytes, &present, &err)
				 : letter == 'L' ? tfp_op_log_read(p, bytes, &err)
						 : tfp_profile_proto_read(p, bytes, &err);
	/* What was checked is read. */
	MUST(status == TFP_OK);
	return true;
}

static bool add_part(struct tfp_profile *p, char letter, int64_t step, struct tfp_span bytes)
{
	struct tfp_error err;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (letter == kinds[i].letter)
			return read_part(p, letter, step, bytes, kinds[i].rule);
		if (letter != (kinds[i].letter | 0x20))
			continue;
		struct tfp_buf wire;
		tfp_buf_init(&wire, MESSAGE_MAX);
		tfp_error_init(&err);
		if (tfp_text_message(kinds[i].rule, (const char *)bytes.data, bytes.size, &wire,
				     &err) != TFP_OK) {
			tfp_error_set_file(&err, "fuzz");
			fuzz_check_error(&err, bytes.size);
			tfp_buf_release(&wire);
			return true;
		}
		struct tfp_span made;
		tfp_buf_text(&wire);
		made.data = (const uint8_t *)tfp_buf_take(&wire, &made.size);
		MUST(tfp_message_check(kinds[i].rule, made, &err) == TFP_OK);
		MUST(tfp_profile_keep(p, (void *)(uintptr_t)made.data, &err) == TFP_OK);
		return read_part(p, kinds[i].letter, step, made, kinds[i].rule);
	}
	return false;
}

static void check_timeline(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct tfp_buf text;
	char piece[4096];
	size_t n;
	if (!file)
		return;
	tfp_buf_init(&text, MESSAGE_MAX);
	while ((n = fread(piece, 1, sizeof(piece), file)) > 0)
		tfp_buf_add(&text, piece, n);
	fclose(file);
	if (!tfp_buf_failed(&text))
		fuzz_check_json(tfp_buf_text(&text), text.size);
	tfp_buf_release(&text);
}

static const char *const lines[] = {
	"scope -max_depth 100 -order_by micros -output none -select bytes,micros,params,float_ops,"
	"device,op_types,occurrence,input_shapes,peak_bytes,residual_bytes,output_bytes",
	"graph -max_depth 100 -account_displayed_op_only -account_type_regexes .*cpu.*,M.* -output "
	"none -select bytes,params,input_shapes,occurrence -order_by bytes",
	"op -max_depth 100 -output none -order_by float_ops -select bytes,micros,params,float_ops,"
	"device,op_types,occurrence,input_shapes",
	"code -max_depth 100 -trim_name_regexes .*5.* -output none -select bytes,micros,params,"
	"float_ops,device,op_types,occurrence",
	"scope -max_depth 3 -start_name_regexes .*a.* -hide_name_regexes .*b -step 0 -output none",
	"graph -step 0 -output timeline:outfile=F",
	"scope -preset float_operation -output timeline:outfile=F",
	"code -max_depth 50 -select micros -output pprof:outfile=F",
};

static void show_all(struct tfp_profile *p)
{
	struct tfp_views views;
	struct tfp_error err;
	char path[300], timeline[310];
	snprintf(path, sizeof(path), "%s/out", fuzz_folder());
	tfp_views_init(&views, p, NULL);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct tfp_view_options o;
		enum tfp_view_command command;
		MUST(tfp_view_options_init(&o, &err) == TFP_OK);
		MUST(tfp_view_options_line(&o, lines[i], &command, &err) == TFP_OK);
		tfp_free(o.texts[TFP_OUT_FILE]);
		o.texts[TFP_OUT_FILE] = tfp_strdup(path);
		enum tfp_status status = tfp_views_show(&views, command, &o, &err);
		MUST(status == TFP_OK || status == TFP_NO_MEMORY);
		if (o.output == TFP_OUT_TIMELINE) {
			snprintf(timeline, sizeof(timeline), "%s_%d", path,
				 (int)o.numbers[TFP_STEP]);
			check_timeline(timeline);
		}
		tfp_view_options_release(&o);
	}
	enum tfp_status status = tfp_advise(&views, &err);
	MUST(status == TFP_OK || status == TFP_NO_MEMORY);
	tfp_views_release(&views);
	fuzz_empty_folder();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool quiet;
	struct tfp_profile p;
	struct tfp_error err;
	int64_t step = 0;
	if (!quiet)
		quiet = freopen("/dev/null", "w", stdout) != NULL;
	tfp_profile_init(&p);
	for (size_t at = 0; at + 3 <= size;) {
		size_t length = (size_t)data[at + 1] | (size_t)data[at + 2] << 8;
		size_t rest = size - at - 3;
		length = length < rest ? length : rest;
		step += add_part(&p, (char)data[at], step,
				 (struct tfp_span){data + at + 3, length});
		at += 3 + length;
	}
	MUST(tfp_profile_finish(&p, &err) == TFP_OK);
	show_all(&p);
	tfp_profile_release(&p);
	return 0;
}
