/* SPDX-License-Identifier: Apache-2.0 */
#include "store/logdir_parts.h"

#include "base/str_map.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNNAMED_HOST "localhost" /* of a file that is called just xplane.pb */

struct host {
	struct tfp_capture_file file;
	bool unnamed; /* called just xplane.pb */
};

static int by_host(const void *a, const void *b)
{
	const struct host *x = a, *y = b;
	int order = strcmp(x->file.host, y->file.host);
	if (order == 0)
		order = (x->unnamed > y->unnamed) - (x->unnamed < y->unnamed);
	if (order == 0)
		order = (x->file.compression > y->file.compression) -
			(x->file.compression < y->file.compression);
	return order ? order : strcmp(x->file.name, y->file.name);
}

static bool make_hosts(struct tfp_scan *s, const struct tfp_found_folder *folder,
		       struct tfp_run *run)
{
	size_t count = folder->end - folder->first;
	struct host *hosts = tfp_arena_zalloc(&s->scratch, count, sizeof(*hosts));
	struct tfp_capture_file *kept = tfp_arena_alloc(s->arena, count * sizeof(*kept));
	if (!hosts || !kept)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct tfp_found *f = &s->found[folder->first + i];
		size_t size;
		enum tfp_compression compression;
		struct host *h = &hosts[i];
		if (!tfp_name_is_capture(f->name, &compression, &size)) {
			/* The one file that was asked for by name may be called anything. */
			tfp_name_compression(f->name, &size);
			tfp_name_ends_with(f->name, size, ".pb", &size);
		}
		h->unnamed = size == 0;
		h->file = (struct tfp_capture_file){
			.host = h->unnamed ? UNNAMED_HOST : tfp_scan_clean_copy(s, f->name, size),
			.path = f->path,
			.name = f->name,
			.compression = f->compression,
			.identity = f->identity,
		};
		if (!h->file.host)
			return false;
	}
	qsort(hosts, count, sizeof(*hosts), by_host);
	run->hosts = kept;
	for (size_t i = 0; i < count; i++) {
		const struct tfp_capture_file *file = &hosts[i].file;
		if (run->host_count && strcmp(kept[run->host_count - 1].host, file->host) == 0) {
			tfp_scan_note(s, "%s is not used: %s is there for the same host",
				      file->path, kept[run->host_count - 1].name);
			continue;
		}
		kept[run->host_count++] = *file;
		run->bytes += file->identity.bytes;
		if (run->host_count == 1 || file->identity.modified_ns > run->modified_ns)
			run->modified_ns = file->identity.modified_ns;
	}
	return true;
}

/* Tries to give a run this name. */
static bool take_name(struct tfp_scan *s, struct tfp_str_map *names, struct tfp_run *run,
		      const char *name, size_t size, uint32_t index)
{
	const char *clean = tfp_scan_clean_copy(s, name, size);
	if (!clean)
		return false;
	uint32_t owner = tfp_str_map_add(names, clean, strlen(clean), index);
	if (owner == TFP_STR_MAP_NONE)
		s->no_memory = true;
	if (owner != index)
		return false;
	run->name = clean;
	return true;
}

static void name_run(struct tfp_scan *s, struct tfp_str_map *names, const char *path,
		     struct tfp_run *run, uint32_t index)
{
	char name[PATH_MAX + 32];
	size_t head, host;
	enum tfp_compression compression;
	const char *tail = tfp_scan_after_profile(s, path, &head);
	if (tail)
		snprintf(name, sizeof(name), "%.*s%s", (int)head, path, tail);
	else
		snprintf(name, sizeof(name), "%s", path);
	if (!name[0] && s->dir->only) {
		/* One file: the folder it is in says something only if it is a run's. */
		size_t rest;
		char parent[PATH_MAX];
		snprintf(parent, sizeof(parent), "%s", s->root_real);
		*strrchr(parent, '/') = '\0';
		if (!tfp_name_ends_with(parent, strlen(parent), "/plugins/profile", &rest))
			snprintf(
				name, sizeof(name), "%.*s",
				(int)(tfp_name_is_capture(s->dir->only, &compression, &host) && host
					      ? host
					      : strlen(s->dir->only)),
				s->dir->only);
	}
	if (!name[0])
		snprintf(name, sizeof(name), "%s", tfp_path_last_part(s->root_real));
	if (!name[0])
		snprintf(name, sizeof(name), "captures"); /* the root is "/" */
	if (take_name(s, names, run, name, strlen(name), index) ||
	    (path[0] && take_name(s, names, run, path, strlen(path), index)))
		return;
	size_t size = strlen(name);
	for (unsigned n = 2; !run->name && !s->no_memory; n++) {
		snprintf(name + size, sizeof(name) - size, " (%u)", n);
		take_name(s, names, run, name, strlen(name), index);
	}
}

static int by_events(const void *a, const void *b)
{
	const struct tfp_capture_file *x = a, *y = b;
	int order = strcmp(x->host, y->host);
	return order ? order : strcmp(x->name, y->name);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct tfp_found_folder *)a)->path,
		      ((const struct tfp_found_folder *)b)->path);
}

static int by_name_descending(const void *a, const void *b)
{
	return strcmp(((const struct tfp_run *)b)->name, ((const struct tfp_run *)a)->name);
}

/* Files of events by name, each a host. */
static bool list_events(struct tfp_scan *s, const struct tfp_found_folder *folder,
			struct tfp_run *run)
{
	size_t count = folder->end - folder->first;
	struct tfp_capture_file *hosts = tfp_arena_alloc(s->arena, count * sizeof(*hosts));
	if (!hosts)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct tfp_found *f = &s->events[folder->first + i];
		hosts[i] = (struct tfp_capture_file){
			.host = tfp_scan_clean_copy(s, f->name, strlen(f->name)),
			.path = f->path,
			.name = f->name,
			.is_events = true,
			.identity = f->identity,
		};
		if (!hosts[i].host)
			return false;
		run->bytes += f->identity.bytes;
		if (i == 0 || f->identity.modified_ns > run->modified_ns)
			run->modified_ns = f->identity.modified_ns;
	}
	qsort(hosts, count, sizeof(*hosts), by_events);
	run->kind = TFP_RUN_GRAPH;
	run->hosts = hosts;
	run->host_count = count;
	return true;
}

static struct tfp_run *make_event_runs(struct tfp_scan *s, struct tfp_str_map *names, size_t *count)
{
	*count = s->event_folder_list.count;
	struct tfp_run *runs = tfp_arena_zalloc(s->arena, *count + 1, sizeof(*runs));
	if (!runs) {
		s->no_memory = true;
		return NULL;
	}
	if (*count)
		qsort(s->event_folders, *count, sizeof(*s->event_folders), by_path);
	for (size_t i = 0; i < *count && !s->no_memory; i++) {
		const struct tfp_found_folder *f = &s->event_folders[i];
		name_run(s, names, f->path, &runs[i], (uint32_t)(s->folder_list.count + i));
		if (!list_events(s, f, &runs[i]))
			s->no_memory = true;
	}
	if (*count && !s->no_memory)
		qsort(runs, *count, sizeof(*runs), by_name_descending);
	return runs;
}

static struct tfp_run *make_capture_runs(struct tfp_scan *s, struct tfp_str_map *names)
{
	size_t count = s->folder_list.count;
	struct tfp_run *runs = tfp_arena_zalloc(s->arena, count + 1, sizeof(*runs));
	if (!runs) {
		s->no_memory = true;
		return NULL;
	}
	if (count)
		qsort(s->folders, count, sizeof(*s->folders), by_path);
	/* Runs in their proper place have the first say on names. */
	for (int proper = 1; proper >= 0; proper--) {
		for (size_t i = 0; i < count && !s->no_memory; i++) {
			size_t head;
			const struct tfp_found_folder *f = &s->folders[i];
			if ((tfp_scan_after_profile(s, f->path, &head) != NULL) != proper)
				continue;
			name_run(s, names, f->path, &runs[i], (uint32_t)i);
			if (!make_hosts(s, f, &runs[i]))
				s->no_memory = true;
		}
	}
	if (count && !s->no_memory)
		qsort(runs, count, sizeof(*runs), by_name_descending);
	return runs;
}

void tfp_scan_make_runs(struct tfp_scan *s, struct tfp_logdir_snapshot *out)
{
	struct tfp_str_map names = {0};
	out->runs = make_capture_runs(s, &names);
	out->run_count = s->folder_list.count;
	/* What captures have taken as a name is theirs. */
	if (!s->no_memory)
		out->event_runs = make_event_runs(s, &names, &out->event_run_count);
	tfp_str_map_release(&names);
}
