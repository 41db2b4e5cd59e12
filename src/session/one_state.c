/* SPDX-License-Identifier: Apache-2.0 */
#include "session/one_state.h"

#include "base/alloc.h"

#include <unistd.h>

/* States of files that are tried before it is given up. */
#define STATES_MAX 3

/* Tells one state of a host's file from another. */
static uint64_t state_of(const struct tfp_session *session, size_t host)
{
	struct tfp_logdir *dir = tfp_capture_cache_dir(session->cache);
	struct tfp_file_identity id = {0};
	int fd;
	if (tfp_logdir_open(dir, &session->hosts[host], &fd, &id, NULL) == TFP_OK)
		close(fd);
	return tfp_file_identity_hash(&id, 1);
}

/* Looks at all files. How many are in another state than in states, where the new ones are
 * put; first: the first of them. */
static size_t look_at_states(const struct tfp_session *session, uint64_t *states, size_t *first)
{
	size_t changed = 0;
	for (size_t i = session->host_count; i-- > 0;) {
		uint64_t now = state_of(session, i);
		if (now == states[i])
			continue;
		states[i] = now;
		*first = i;
		changed++;
	}
	return changed;
}

static enum tfp_status fail_changing(const struct tfp_session *session, size_t changed,
				     size_t first, struct tfp_error *err)
{
	const struct tfp_capture_file *file = &session->hosts[first];
	if (changed == 1)
		tfp_fail(err, TFP_CHANGING, "file %s of run %s is still being written", file->name,
			 session->run->name);
	else
		tfp_fail(err, TFP_CHANGING,
			 "file %s and %zu more of run %s are still being written", file->name,
			 changed - 1, session->run->name);
	tfp_error_set_file(err, file->path);
	if (changed < session->run->host_count)
		tfp_error_set_hint(err, "it will open when that is complete; hosts whose files are "
					"complete can be chosen meanwhile");
	else
		tfp_error_set_hint(err, "it will open when that is complete");
	return TFP_CHANGING;
}

enum tfp_status tfp_one_state(const struct tfp_session *session,
			      enum tfp_status (*make)(void *context, struct tfp_error *err),
			      void *context, struct tfp_error *err)
{
	uint64_t *states = tfp_calloc(session->host_count, sizeof(*states));
	size_t first = 0, changed = 0;
	enum tfp_status status = TFP_OK;
	if (!states)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the answer");
	look_at_states(session, states, &first);
	for (int attempts = 0; attempts < STATES_MAX; attempts++) {
		status = make(context, err);
		changed = look_at_states(session, states, &first);
		if (changed == 0 || status == TFP_CANCELLED || status == TFP_NO_MEMORY)
			break;
	}
	tfp_free(states);
	if (changed == 0 || status == TFP_CANCELLED || status == TFP_NO_MEMORY)
		return status;
	return fail_changing(session, changed, first, err);
}
