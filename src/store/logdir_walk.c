/* SPDX-License-Identifier: Apache-2.0 */
#include "store/logdir_parts.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_ENTRIES 1000000u

static bool is_skipped_folder(const char *name)
{
	return name[0] == '.' || strcmp(name, "node_modules") == 0 ||
	       strcmp(name, "__pycache__") == 0;
}

/* Puts an entry of the folder in hand at the end of s->path. False when the path would be
 * too long, which is noted, or when there is no memory. */
static bool extend_path(struct tfp_scan *s, const char *name)
{
	size_t before = s->path.size;
	if (before)
		tfp_buf_putc(&s->path, '/');
	tfp_buf_puts(&s->path, name);
	if (!tfp_buf_failed(&s->path))
		return true;
	s->path.failed = false;
	s->path.size = before;
	if (before + strlen(name) + 2 < TFP_SCAN_MAX_PATH) {
		s->no_memory = true;
	} else {
		s->truncated = true;
		tfp_scan_note(s, "%s/%s: its path is too long", tfp_buf_text(&s->path), name);
	}
	return false;
}

/* The path of an entry of the folder in hand, in the scratch memory or the
 * snapshot's. NULL as extend_path says. */
static const char *entry_path(struct tfp_scan *s, struct tfp_arena *arena, const char *name)
{
	size_t before = s->path.size;
	const char *path = NULL;
	if (extend_path(s, name))
		path = tfp_scan_copy(s, arena, s->path.data, s->path.size);
	s->path.size = before;
	return path;
}

void tfp_scan_add_capture(struct tfp_scan *s, const char *path, enum tfp_compression compression,
			  const struct stat *st)
{
	if (!path || !tfp_scan_grow(s, &s->found, &s->founds, sizeof(*s->found)))
		return;
	struct tfp_found *f = &s->found[s->founds.count++];
	*f = (struct tfp_found){path, tfp_path_last_part(path), compression,
				tfp_file_identity_of(st)};
}

static void add_events(struct tfp_scan *s, const char *path, const struct stat *st)
{
	if (path && tfp_scan_grow(s, &s->events, &s->event_list, sizeof(*s->events)))
		s->events[s->event_list.count++] = (struct tfp_found){
			path, tfp_path_last_part(path), TFP_PLAIN, tfp_file_identity_of(st)};
}

static bool follows(const struct tfp_scan *s)
{
	return s->dir->flags & TFP_LOGDIR_FOLLOW_SYMLINKS;
}

static void see_link(struct tfp_scan *s, int folder, const char *name, bool capture,
		     enum tfp_compression compression)
{
	struct stat st;
	/* Most links are to files that are none of ours. */
	if (!capture &&
	    (is_skipped_folder(name) || fstatat(folder, name, &st, 0) != 0 || !S_ISDIR(st.st_mode)))
		return;
	const char *path = entry_path(s, s->arena, name);
	if (!path)
		return;
	int fd = tfp_open_beneath(s->root, s->root_real, follows(s), path, O_PATH);
	if (fd < 0) {
		if (errno == EXDEV)
			tfp_scan_note(s, "%s: a link that leads out of the folder is not followed",
				      path);
		else if (capture)
			tfp_scan_note(s, "%s: a link that cannot be followed: %s", path,
				      strerror(errno));
		return;
	}
	if (fstat(fd, &st) != 0) {
		tfp_scan_note(s, "%s: %s", path, strerror(errno));
	} else if (S_ISREG(st.st_mode)) {
		if (capture)
			tfp_scan_add_capture(s, path, compression, &st);
	} else if (S_ISDIR(st.st_mode) && follows(s)) {
		/* Without the option a folder that a link may lead to is beneath the
		 * root, so that the walk meets it anyway, under its own name. */
		if (tfp_scan_grow(s, &s->links, &s->link_list, sizeof(*s->links)))
			s->links[s->link_list.count++] = path;
	}
	close(fd);
}

static void see_entry(struct tfp_scan *s, int fd, const struct dirent *e, struct tfp_seen *seen)
{
	enum tfp_compression compression = TFP_PLAIN;
	size_t host;
	unsigned char type = e->d_type;
	struct stat st;
	bool capture = tfp_name_is_capture(e->d_name, &compression, &host), known = false;
	if (type == DT_UNKNOWN) {
		if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			return;
		known = true;
		type = IFTODT(st.st_mode);
	}
	if (type == DT_DIR) {
		seen->folders++;
		if (strcmp(e->d_name, "profile") == 0)
			seen->has_profile = true;
		if (is_skipped_folder(e->d_name))
			return;
		const char *name = tfp_scan_copy(s, &s->scratch, e->d_name, strlen(e->d_name));
		if (name && tfp_scan_grow(s, &s->pending, &s->pendings, sizeof(*s->pending)))
			s->pending[s->pendings.count++] = name;
		return;
	}
	s->file_total++;
	seen->files++;
	if (type == DT_LNK) {
		see_link(s, fd, e->d_name, capture, compression);
	} else if (capture && type == DT_REG) {
		/* A file that is gone already is none. */
		if (known || fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			tfp_scan_add_capture(s, entry_path(s, s->arena, e->d_name), compression,
					     &st);
	} else if (strstr(e->d_name, "tfevents")) {
		seen->event_files++;
		if (type == DT_REG && tfp_name_is_events(e->d_name) &&
		    (known || fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0))
			add_events(s, entry_path(s, s->arena, e->d_name), &st);
	} else if (!seen->partial && tfp_name_is_partial(e->d_name)) {
		seen->partial = tfp_scan_copy(s, &s->scratch, e->d_name, strlen(e->d_name));
	}
}

static void note_empty_run(struct tfp_scan *s, const struct tfp_seen *seen)
{
	size_t head;
	const char *run = tfp_scan_after_profile(s, seen->path, &head);
	/* A folder within a run may be anything, only the run's own counts. */
	if (!run || !run[0] || strchr(run, '/') || seen->folders)
		return;
	if (seen->partial)
		tfp_scan_note(s, "%s holds a half-written capture only: %s", seen->path,
			      seen->partial);
	else
		tfp_scan_note(s, "%s holds no capture (*.xplane.pb), but %zu other %s", seen->path,
			      seen->files, seen->files == 1 ? "file" : "files");
}

void tfp_scan_add_folder(struct tfp_scan *s, const char *path, size_t first)
{
	const char *kept = tfp_scan_copy(s, s->arena, path, strlen(path));
	if (kept && tfp_scan_grow(s, &s->folders, &s->folder_list, sizeof(*s->folders)))
		s->folders[s->folder_list.count++] =
			(struct tfp_found_folder){kept, first, s->founds.count};
}

static void add_event_folder(struct tfp_scan *s, size_t first)
{
	const char *kept = tfp_scan_copy(s, s->arena, tfp_buf_text(&s->path), s->path.size);
	if (kept &&
	    tfp_scan_grow(s, &s->event_folders, &s->event_folder_list, sizeof(*s->event_folders)))
		s->event_folders[s->event_folder_list.count++] =
			(struct tfp_found_folder){kept, first, s->event_list.count};
}

/* Reads the folder at s->path whole, and keeps fd, which is handed over, if it
 * has folders to visit. */
static void read_folder(struct tfp_scan *s, int fd)
{
	struct tfp_seen seen = {0};
	size_t first = s->founds.count, pending = s->pendings.count;
	size_t first_event = s->event_list.count;
	DIR *stream = fdopendir(fd);
	if (!stream) {
		s->truncated = true;
		tfp_scan_note(s, "%s cannot be read: %s", tfp_path_shown(tfp_buf_text(&s->path)),
			      strerror(errno));
		close(fd);
		return;
	}
	s->folder_total++;
	for (;;) {
		errno = 0;
		const struct dirent *e = readdir(stream);
		if (!e) {
			if (errno) {
				if (s->path.size == 0)
					s->root_error = errno;
				s->truncated = true;
				tfp_scan_note(s, "%s cannot be read: %s",
					      tfp_path_shown(tfp_buf_text(&s->path)),
					      strerror(errno));
			}
			break;
		}
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (s->file_total + s->folder_total + s->pendings.count >= MAX_ENTRIES) {
			if (!s->truncated)
				tfp_scan_note(s, "stopped after %u files and folders, in %s",
					      MAX_ENTRIES, tfp_path_shown(tfp_buf_text(&s->path)));
			s->truncated = true;
			break;
		}
		see_entry(s, fd, e, &seen);
		if (s->no_memory)
			break;
	}

	if (s->event_list.count > first_event)
		add_event_folder(s, first_event);
	bool explain = s->seen_count < TFP_SCAN_MAX_SEEN && s->founds.count == 0;
	size_t head;
	if (s->founds.count > first) {
		tfp_scan_add_folder(s, tfp_buf_text(&s->path), first);
	} else if (explain || tfp_scan_after_profile(s, tfp_buf_text(&s->path), &head)) {
		seen.path = tfp_scan_copy(s, &s->scratch, tfp_buf_text(&s->path), s->path.size);
		if (seen.path) {
			note_empty_run(s, &seen);
			if (explain)
				s->seen[s->seen_count++] = seen;
		}
	}
	if (s->pendings.count == pending) {
		closedir(stream);
	} else if (s->depth == TFP_SCAN_MAX_DEPTH) {
		s->truncated = true;
		tfp_scan_note(s, "%s: folders below are not searched: it is already %u levels deep",
			      tfp_buf_text(&s->path), TFP_SCAN_MAX_DEPTH);
		s->pendings.count = pending;
		closedir(stream);
	} else {
		s->frames[s->depth++] = (struct tfp_scan_frame){stream, s->path.size, pending};
	}
}

/* Whether a folder is met for the first time. Asked only when links are
 * followed: without them a tree has no second way to a folder. */
static bool first_visit(struct tfp_scan *s, int fd)
{
	struct stat st;
	if (!follows(s))
		return true;
	if (fstat(fd, &st) != 0)
		return false;
	if (s->visiteds.count >= s->visiteds.room / 2) {
		size_t room = s->visiteds.room ? s->visiteds.room * 2 : 64;
		struct tfp_directory_id *bigger = tfp_calloc(room, sizeof(*bigger));
		if (!bigger) {
			s->no_memory = true;
			return false;
		}
		for (size_t i = 0; i < s->visiteds.room; i++) {
			struct tfp_directory_id id = s->visited[i];
			if (!id.inode)
				continue;
			size_t j = tfp_hash_u64(id.inode ^ (uint64_t)id.device << 40) & (room - 1);
			while (bigger[j].inode)
				j = (j + 1) & (room - 1);
			bigger[j] = id;
		}
		tfp_free(s->visited);
		s->visited = bigger;
		s->visiteds.room = room;
	}
	size_t mask = s->visiteds.room - 1;
	size_t i = tfp_hash_u64(st.st_ino ^ (uint64_t)st.st_dev << 40) & mask;
	for (; s->visited[i].inode; i = (i + 1) & mask) {
		if (s->visited[i].inode == st.st_ino && s->visited[i].device == st.st_dev)
			return false;
	}
	s->visited[i] = (struct tfp_directory_id){st.st_dev, st.st_ino};
	s->visiteds.count++;
	return true;
}

/* Walks the folder at s->path. */
static void walk(struct tfp_scan *s, int fd)
{
	size_t bottom = s->depth;
	if (!first_visit(s, fd)) {
		close(fd);
		return;
	}
	read_folder(s, fd);
	while (s->depth > bottom) {
		struct tfp_scan_frame *f = &s->frames[s->depth - 1];
		if (s->no_memory || s->pendings.count == f->pending) {
			s->pendings.count = f->pending;
			closedir(f->stream);
			s->depth--;
			continue;
		}
		const char *name = s->pending[--s->pendings.count];
		s->path.size = f->path_size;
		if (!extend_path(s, name))
			continue;
		int child = openat(dirfd(f->stream), name,
				   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (child < 0) {
			/* Gone, or something else by now: the next scan will see it. */
			if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
				continue;
			s->truncated = true;
			tfp_scan_note(s, "%s cannot be read: %s", tfp_buf_text(&s->path),
				      strerror(errno));
		} else if (first_visit(s, child)) {
			read_folder(s, child);
		} else {
			close(child);
		}
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Links to folders come after the folders, so that a folder with two ways to
 * it is listed under its own name; new links may turn up on the way. */
static void walk_links(struct tfp_scan *s)
{
	for (size_t i = 0; i < s->link_list.count && !s->no_memory; i++) {
		if (i == 0)
			qsort(s->links, s->link_list.count, sizeof(*s->links), by_text);
		int fd = openat(s->root, s->links[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0) {
			tfp_scan_note(s, "%s cannot be read: %s", s->links[i], strerror(errno));
			continue;
		}
		tfp_buf_clear(&s->path);
		tfp_buf_puts(&s->path, s->links[i]);
		walk(s, fd);
	}
}

int tfp_scan_walk(struct tfp_scan *s)
{
	int fd = openat(s->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	walk(s, fd);
	walk_links(s);
	return s->root_error;
}
