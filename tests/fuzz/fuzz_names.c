/* SPDX-License-Identifier: Apache-2.0 */
/* Any lines as names of files below a log directory, and each also as a name that
 * somebody asks for: what is listed can be asked for under its name, and nothing else. */
#include "fuzz.h"

#include "base/utf8.h"
#include "remote/run_folder.h"
#include "tools/run_documents.h"

#include <string.h>
#include <unistd.h>

#define FILES_MAX 24

/* Only below the folder, and not too deep. */
static bool is_tame(const char *path)
{
	size_t depth = 0;
	for (const char *at = path; *at; depth++) {
		size_t n = strcspn(at, "/");
		if (n == 0 || n > 200 || (n <= 2 && strspn(at, ".") >= n))
			return false;
		at += n + (at[n] == '/');
	}
	return depth > 0 && depth < 12 && strlen(path) < 1000;
}

static void check_run(struct tfp_logdir *dir, const struct tfp_logdir_snapshot *s,
		      const struct tfp_run *run)
{
	struct tfp_session session;
	struct tfp_error err;
	MUST(tfp_utf8_valid(run->name, strlen(run->name)) && run->name[0]);
	MUST(tfp_logdir_find_run(s, run->name) == run);
	MUST(run->host_count > 0);
	struct tfp_capture_file *chosen = calloc(run->host_count, sizeof(*chosen));
	for (size_t i = 0; i < run->host_count; i++) {
		const struct tfp_capture_file *file = &run->hosts[i];
		struct tfp_file_identity identity;
		int fd;
		MUST(tfp_utf8_valid(file->host, strlen(file->host)) && file->host[0]);
		MUST(i == 0 || strcmp(run->hosts[i - 1].host, file->host) < 0);
		MUST(tfp_logdir_open(dir, file, &fd, &identity, &err) == TFP_OK);
		MUST(identity.inode == file->identity.inode);
		close(fd);
		MUST(tfp_session_init(&session, NULL, NULL, NULL, run, file->host, &err) == TFP_OK);
		MUST(session.host_count ==
		     (strcmp(file->host, TFP_ALL_HOSTS) == 0 ? run->host_count : (size_t)1));
		MUST(tfp_session_init(&session, NULL, NULL, NULL, run, NULL, &err) == TFP_OK);
		if (!strchr(file->host, ','))
			MUST(tfp_session_choose(&session, file->host, chosen, &err) == TFP_OK);
	}
	free(chosen);
}

static void ask_for(const struct tfp_logdir_snapshot *s, const char *name)
{
	char clean[TFP_RUN_NAME_MAX + 1];
	struct tfp_session session;
	struct tfp_error err;
	const struct tfp_run *run = tfp_logdir_find_run(s, name);
	MUST(!run || strcmp(run->name, name) == 0);
	for (size_t i = 0; i < s->run_count; i++) {
		run = &s->runs[i];
		struct tfp_capture_file *chosen = calloc(run->host_count, sizeof(*chosen));
		enum tfp_status status =
			tfp_session_init(&session, NULL, NULL, NULL, run, name, &err);
		MUST(status == TFP_OK || status == TFP_NOT_FOUND);
		MUST(tfp_session_init(&session, NULL, NULL, NULL, run, NULL, &err) == TFP_OK);
		status = tfp_session_choose(&session, name, chosen, &err);
		MUST(status == TFP_OK || status == TFP_NOT_FOUND || status == TFP_BAD_QUERY);
		MUST(session.host_count <= run->host_count);
		free(chosen);
	}
	tfp_run_name_clean(name, clean);
	MUST(!strchr(clean, '/') && clean[0] != '.' && strlen(clean) <= TFP_RUN_NAME_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tfp_logdir_snapshot *s;
	const char *names[FILES_MAX];
	struct tfp_run_info *info;
	struct tfp_logdir *dir;
	struct tfp_error err;
	struct tfp_buf json;
	size_t count = 0;
	char *text = malloc(size + 1), *rest = text;
	MUST(text);
	memcpy(text, data, size);
	text[size] = '\0';
	fuzz_empty_folder();
	for (char *line; count < FILES_MAX && (line = strsep(&rest, "\n"));) {
		names[count++] = line;
		if (is_tame(line))
			fuzz_write(line, "\x0a\x00", 2);
	}
	MUST(tfp_logdir_new(&dir, fuzz_folder(), 0, &err) == TFP_OK);
	MUST(tfp_logdir_snapshot(dir, &s, &err) == TFP_OK);
	MUST(tfp_run_info_new(&info, dir, 1 << 20, NULL, &err) == TFP_OK);
	for (size_t i = 0; i < s->run_count; i++) {
		MUST(i == 0 || strcmp(s->runs[i - 1].name, s->runs[i].name) > 0);
		check_run(dir, s, &s->runs[i]);
	}
	for (size_t i = 0; i < s->note_count; i++)
		MUST(tfp_utf8_valid(s->notes[i], strlen(s->notes[i])));
	for (size_t i = 0; i < count; i++)
		ask_for(s, names[i]);
	tfp_buf_init(&json, (size_t)1 << 24);
	MUST(tfp_runs_json(s, &json, &err) == TFP_OK);
	fuzz_check_json(json.data, json.size);
	tfp_buf_clear(&json);
	MUST(tfp_run_list_json(info, s, &json, &err) == TFP_OK);
	fuzz_check_json(json.data, json.size);
	tfp_buf_release(&json);
	tfp_run_info_free(info);
	tfp_logdir_snapshot_unref(s);
	tfp_logdir_free(dir);
	free(text);
	return 0;
}
