/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/loading.h"

#include "base/alloc.h"
#include "base/mapped_file.h"
#include "tfprof/checkpoint.h"
#include "tfprof/event_file.h"
#include "tfprof/message_rules.h"
#include "tfprof/messages.h"
#include "tfprof/output.h"
#include "tfprof/sources.h"
#include "tfprof/text_message.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MESSAGE_MAX ((size_t)1 << 31) /* protobuf writes no larger one */

struct tfp_loaded_file {
	struct tfp_loaded_file *next;
	struct tfp_mapped_file mapped;
};

/* The original's words for what is wrong with a file. */
struct trouble {
	char text[1024];
	char more[2048]; /* what we know beyond */
};

static enum tfp_status map(struct tfp_loaded_profile *l, const char *path, struct tfp_span *bytes,
			   struct trouble *trouble)
{
	struct tfp_error err;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	trouble->more[0] = '\0';
	if (fd < 0) {
		snprintf(trouble->text, sizeof(trouble->text), "%s: %s; %s", tfp_errno_kind(errno),
			 path, strerror(errno));
		return errno == ENOENT ? TFP_NOT_FOUND : TFP_IO;
	}
	struct tfp_loaded_file *file = tfp_calloc(1, sizeof(*file));
	tfp_error_init(&err);
	enum tfp_status status = file ? tfp_mapped_file_open(&file->mapped, fd, path, &err)
				      : tfp_fail(&err, TFP_NO_MEMORY, "no memory for a file");
	close(fd);
	if (status != TFP_OK) {
		snprintf(trouble->text, sizeof(trouble->text), "%s: %s",
			 status == TFP_NO_MEMORY ? "Resource exhausted" : "Failed precondition",
			 err.message);
		tfp_free(file);
		return status;
	}
	file->next = l->files;
	l->files = file;
	*bytes = (struct tfp_span){file->mapped.data, file->mapped.size};
	return TFP_OK;
}

static enum tfp_status no_message(struct trouble *trouble, const struct tfp_error *binary,
				  const struct tfp_error *text)
{
	char one[1000], other[1000] = "";
	if (text)
		tfp_error_text(text, other, sizeof(other));
	snprintf(trouble->text, sizeof(trouble->text),
		 "Invalid argument: Cannot parse proto file.");
	snprintf(trouble->more, sizeof(trouble->more), "%s%s%s",
		 tfp_error_text(binary, one, sizeof(one)), text ? "\n" : "", other);
	return TFP_BAD_INPUT;
}

/* As text; *bytes becomes the message, which the profile keeps. */
static enum tfp_status from_text(struct tfp_loaded_profile *l, const struct tfp_message_rule *rule,
				 struct tfp_span *bytes, struct tfp_error *err)
{
	struct tfp_buf out;
	tfp_buf_init(&out, MESSAGE_MAX);
	enum tfp_status status =
		tfp_text_message(rule, (const char *)bytes->data, bytes->size, &out, err);
	if (status != TFP_OK) {
		tfp_buf_release(&out);
		return status;
	}
	tfp_buf_text(&out);
	bytes->data = (const uint8_t *)tfp_buf_take(&out, &bytes->size);
	if (!bytes->data)
		return TFP_OK;
	return tfp_profile_keep(&l->profile, (void *)(uintptr_t)bytes->data, err);
}

/* A message in a file, as text or binary, whichever it is; binary_first: which is tried first. */
static enum tfp_status read_message(struct tfp_loaded_profile *l, const char *path,
				    const struct tfp_message_rule *rule, bool binary_first,
				    struct tfp_span *bytes, struct trouble *trouble)
{
	struct tfp_error binary, text;
	enum tfp_status status = map(l, path, bytes, trouble);
	if (status != TFP_OK)
		return status;
	tfp_error_init(&binary);
	tfp_error_init(&text);
	if (binary_first && tfp_message_check(rule, *bytes, &binary) == TFP_OK)
		return TFP_OK;
	if (from_text(l, rule, bytes, &text) == TFP_OK)
		return TFP_OK;
	if (!binary_first && tfp_message_check(rule, *bytes, &binary) == TFP_OK)
		return TFP_OK;
	return no_message(trouble, &binary, &text);
}

static void tell(const char *before, const char *path, const struct trouble *trouble)
{
	if (path)
		fprintf(stderr, "%s %s. Status: %s\n", before, path, trouble->text);
	else
		fprintf(stderr, "%s %s\n", before, trouble->text);
	if (trouble->more[0])
		fprintf(stderr, "%s\n", trouble->more);
}

/* An error of a source that was checked before: no memory. */
static enum tfp_status told(enum tfp_status status, const struct tfp_error *err)
{
	char text[1500];
	if (status != TFP_OK)
		fprintf(stderr, "tfprof: %s\n", tfp_error_text(err, text, sizeof(text)));
	return status;
}

/* ---- each source ---- */

static enum tfp_status load_graph(struct tfp_loaded_profile *l, const char *path,
				  struct tfp_error *err)
{
	struct trouble trouble;
	struct tfp_span bytes;
	enum tfp_status status =
		read_message(l, path, &tfp_graph_def_rule, false, &bytes, &trouble);
	if (status != TFP_OK) {
		tell("Failed to read graph_path:", NULL, &trouble);
		return status;
	}
	return told(tfp_graph_def_read(&l->profile, bytes, err), err);
}

static enum tfp_status load_op_log(struct tfp_loaded_profile *l, const char *path,
				   struct tfp_error *err)
{
	struct trouble trouble;
	struct tfp_span bytes;
	enum tfp_status status = map(l, path, &bytes, &trouble);
	char text[1500];
	if (status != TFP_OK) {
		tell("Failed to read op_log_path:", NULL, &trouble);
		return status;
	}
	status = tfp_message_check(&tfp_op_log_rule, bytes, err);
	if (status != TFP_OK) {
		fprintf(stderr, "Failed to parse op_log_path\n%s\n",
			tfp_error_text(err, text, sizeof(text)));
		return status;
	}
	return told(tfp_op_log_read(&l->profile, bytes, err), err);
}

static enum tfp_status add_run(struct tfp_loaded_profile *l, int64_t step, struct tfp_span bytes,
			       struct tfp_error *err)
{
	bool present;
	enum tfp_status status =
		told(tfp_run_metadata_read(&l->profile, step, bytes, &present, err), err);
	if (status != TFP_OK)
		return status;
	if (!present)
		fprintf(stderr, "Invalid RunMetadata for step %" PRId64 "\n", step);
	printf("run graph coverage: %.2f\n", tfp_profile_coverage(&l->profile));
	return TFP_OK;
}

static enum tfp_status load_run(struct tfp_loaded_profile *l, int64_t step, const char *path,
				struct tfp_error *err)
{
	struct trouble trouble;
	struct tfp_span bytes;
	enum tfp_status status =
		read_message(l, path, &tfp_run_metadata_rule, true, &bytes, &trouble);
	if (status != TFP_OK) {
		tell("Failed to read run_meta_path", path, &trouble);
		return status;
	}
	return add_run(l, step, bytes, err);
}

static enum tfp_status load_events(struct tfp_loaded_profile *l, const char *path, bool graph,
				   struct tfp_error *err)
{
	struct trouble trouble;
	struct tfp_event_file file;
	struct tfp_span bytes;
	char text[1500];
	enum tfp_status status = map(l, path, &bytes, &trouble);
	if (status != TFP_OK) {
		tell("Failed to read event_path", path, &trouble);
		return status;
	}
	status = tfp_event_file_read(&file, bytes, err);
	if (status != TFP_OK) {
		tfp_error_set_file(err, path);
		fprintf(stderr, "tfprof: %s\n", tfp_error_text(err, text, sizeof(text)));
		return status;
	}
	if (file.damaged_at < bytes.size)
		fprintf(stderr, "%s: damaged from byte %" PRIu64 " on; what is before was read\n",
			path, file.damaged_at);
	if (graph && file.has_graph) {
		status = tfp_message_check(&tfp_graph_def_rule, file.graph, err);
		if (status == TFP_OK)
			status = tfp_graph_def_read(&l->profile, file.graph, err);
	}
	/* Runs at a step that has been are one later: each is a step of its own. */
	for (size_t i = 0; !graph && status == TFP_OK && i < file.count; i++) {
		int64_t step = file.runs[i].step < 0 ? 0 : file.runs[i].step;
		while (step < INT64_MAX && tfp_profile_has_step(&l->profile, step))
			step++;
		status = tfp_message_check(&tfp_run_metadata_rule, file.runs[i].metadata, err);
		if (status == TFP_OK)
			status = add_run(l, step, file.runs[i].metadata, err);
	}
	if (status != TFP_OK) {
		tfp_error_set_file(err, path);
		fprintf(stderr, "tfprof: %s\n", tfp_error_text(err, text, sizeof(text)));
	}
	tfp_event_file_release(&file);
	return status;
}

static enum tfp_status load_profile(struct tfp_loaded_profile *l, const char *path, bool *fatal,
				    struct tfp_error *err)
{
	struct trouble trouble;
	struct tfp_span bytes;
	char text[1500];
	*fatal = false;
	if (map(l, path, &bytes, &trouble) != TFP_OK) {
		tell("Failed to read profile:", NULL, &trouble);
		return TFP_OK;
	}
	if (tfp_message_check(&tfp_profile_proto_rule, bytes, err) != TFP_OK) {
		fprintf(stderr, "Failed to parse profile\n%s\n",
			tfp_error_text(err, text, sizeof(text)));
		return TFP_OK;
	}
	enum tfp_status status = tfp_profile_proto_read(&l->profile, bytes, err);
	*fatal = status != TFP_OK;
	return told(status, err);
}

static enum tfp_status load_checkpoint(struct tfp_loaded_profile *l, const char *prefix,
				       struct tfp_error *err)
{
	return told(tfp_checkpoint_open(&l->checkpoint, prefix, err), err);
}

/* Each name in a list; *index counts them. */
static enum tfp_status for_each(struct tfp_loaded_profile *l, const char *list, int64_t *index,
				enum tfp_status (*load)(struct tfp_loaded_profile *l, int64_t index,
							const char *path, struct tfp_error *err),
				struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	while (list && status == TFP_OK && *list) {
		size_t size = strcspn(list, ",");
		if (size) {
			char *path = tfp_strndup(list, size);
			status = path ? load(l, (*index)++, path, err)
				      : told(tfp_fail(err, TFP_NO_MEMORY, "no memory"), err);
			tfp_free(path);
		}
		list += size + (list[size] == ',');
	}
	return status;
}

static enum tfp_status load_graph_of_events(struct tfp_loaded_profile *l, int64_t index,
					    const char *path, struct tfp_error *err)
{
	(void)index;
	return load_events(l, path, true, err);
}

static enum tfp_status load_runs_of_events(struct tfp_loaded_profile *l, int64_t index,
					   const char *path, struct tfp_error *err)
{
	(void)index;
	return load_events(l, path, false, err);
}

/* Variables of the checkpoint are a type of node. */
static bool mark_variables(struct tfp_loaded_profile *l)
{
	static const struct tfp_str type = {"_checkpoint_variables", 21};
	size_t count = l->checkpoint ? tfp_checkpoint_count(l->checkpoint) : 0;
	for (size_t i = 0; i < count; i++) {
		struct tfp_profile_node *node =
			tfp_profile_find(&l->profile, tfp_checkpoint_entry(l->checkpoint, i)->name);
		if (node && !tfp_profile_add_type(&l->profile, node, type))
			return false;
	}
	return true;
}

static enum tfp_status load_parts(struct tfp_loaded_profile *l,
				  const struct tfp_profile_paths *paths, struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	int64_t step = 0, ignored = 0;
	if (paths->graph)
		status = load_graph(l, paths->graph, err);
	if (status == TFP_OK)
		status = for_each(l, paths->events, &ignored, load_graph_of_events, err);
	if (status == TFP_OK && paths->op_log)
		status = load_op_log(l, paths->op_log, err);
	/* Nodes that only a run tells of are not marked, and none of a ProfileProto. */
	if (status == TFP_OK && !mark_variables(l))
		status = told(tfp_fail(err, TFP_NO_MEMORY, "no memory for the profile"), err);
	if (status == TFP_OK)
		status = for_each(l, paths->run_metadata, &step, load_run, err);
	if (status == TFP_OK)
		status = for_each(l, paths->events, &ignored, load_runs_of_events, err);
	return status;
}

enum tfp_status tfp_profile_load(struct tfp_loaded_profile *l,
				 const struct tfp_profile_paths *paths, bool *fatal,
				 struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	*l = (struct tfp_loaded_profile){.files = NULL};
	tfp_profile_init(&l->profile);
	*fatal = true;
	if (paths->checkpoint)
		status = load_checkpoint(l, paths->checkpoint, err);
	if (status == TFP_OK)
		status = paths->profile ? load_profile(l, paths->profile, fatal, err)
					: load_parts(l, paths, err);
	if (status == TFP_OK) {
		status = told(tfp_profile_finish(&l->profile, err), err);
		*fatal = status != TFP_OK;
	}
	for (const struct tfp_loaded_file *f = l->files; f && status == TFP_OK; f = f->next) {
		if (tfp_mapped_file_was_cut(&f->mapped)) {
			status = told(
				tfp_fail(err, TFP_CHANGING, "a file was cut while it was read"),
				err);
			*fatal = true;
		}
	}
	return status;
}

void tfp_profile_unload(struct tfp_loaded_profile *l)
{
	tfp_profile_release(&l->profile);
	tfp_checkpoint_free(l->checkpoint);
	while (l->files) {
		struct tfp_loaded_file *next = l->files->next;
		tfp_mapped_file_release(&l->files->mapped);
		tfp_free(l->files);
		l->files = next;
	}
	*l = (struct tfp_loaded_profile){.files = NULL};
}
