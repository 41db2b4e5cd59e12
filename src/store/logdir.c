#include "store/logdir.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/str_map.h"
#include "base/utf8.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_DEPTH    64u
#define MAX_ENTRIES  1000000u
#define MAX_NOTES    100u
#define MAX_PATH     (PATH_MAX - 1)
#define MAX_BYTES    ((size_t)1 << 30) /* of names, for a snapshot or a scan */
#define MAX_SEEN     64u               /* folders remembered for an explanation */
#define MIN_AGE_NS   INT64_C(1000000000)
#define AGE_FACTOR   10
#define CAPTURE_NAME "xplane.pb"
#define UNNAMED_HOST "localhost" /* of a file that is called just xplane.pb */

struct tfp_logdir {
	char *path;
	char *root_path; /* absolute: the directory, or the one that holds the file */
	char *only;      /* the file's name when the directory is a file, or NULL */
	bool hidden;     /* path is the last part only */
	unsigned flags;

	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t scanned;
	bool scanning;
	int root;        /* -1 while root_path cannot be opened */
	char *root_real; /* root_path without links */
	struct snapshot *last;
	int64_t fresh_until_ns;
	bool expired; /* while a scan was under way */
};

struct snapshot {
	struct tfp_logdir_snapshot public; /* first: the caller's pointer is ours */
	atomic_uint references;
	struct tfp_arena arena;
};

/* A capture as the scan met it. */
struct found {
	const char *path, *name;
	enum tfp_compression compression;
	struct tfp_file_identity identity;
};

/* A folder that holds captures: found[first] to found[end - 1]. */
struct folder {
	const char *path;
	size_t first, end;
};

/* What else there is in a folder, for an explanation. */
struct seen {
	const char *path;
	size_t files, event_files, folders;
	const char *partial; /* name of a half-written capture */
	bool has_profile;    /* a sub-folder of that name */
};

/* A folder whose sub-folders are still to be visited. */
struct frame {
	DIR *stream;
	size_t path_size, pending;
};

struct directory_id {
	dev_t device;
	ino_t inode;
};

struct list {
	size_t count, room;
};

struct scan {
	struct tfp_logdir *dir;
	int root;
	const char *root_real;
	struct tfp_arena *arena; /* the snapshot's */
	struct tfp_arena scratch;
	struct tfp_buf path; /* of the folder in hand, relative, "" for the root */
	struct frame frames[MAX_DEPTH];
	size_t depth;
	const char **pending; /* names of sub-folders, those of the deepest frame last */
	struct found *found;
	struct folder *folders;
	const char **links;           /* paths of links to folders, when they are followed */
	struct directory_id *visited; /* a hash table, when links are followed */
	const char **notes;
	struct list pendings, founds, folder_list, link_list, visiteds, note_list;
	size_t notes_dropped;
	struct seen seen[MAX_SEEN];
	size_t seen_count;
	size_t folder_total, file_total;
	bool truncated, no_memory;
};

/* ---- names ---- */

static bool ends_with(const char *text, size_t size, const char *end, size_t *rest)
{
	size_t n = strlen(end);
	if (size < n || memcmp(text + size - n, end, n) != 0)
		return false;
	*rest = size - n;
	return true;
}

static enum tfp_compression compression_of(const char *name, size_t *stem)
{
	*stem = strlen(name);
	if (ends_with(name, *stem, ".gz", stem))
		return TFP_GZIP;
	if (ends_with(name, *stem, ".zst", stem))
		return TFP_ZSTD;
	return TFP_PLAIN;
}

/* Whether a file of that name is a capture; *host is the length of its host's
 * name, 0 when it has none. */
static bool is_capture_name(const char *name, enum tfp_compression *compression, size_t *host)
{
	size_t stem;
	*compression = compression_of(name, &stem);
	if (name[0] == '.' || !ends_with(name, stem, CAPTURE_NAME, host))
		return false;
	if (*host == 0)
		return true;
	if (name[*host - 1] != '.')
		return false;
	--*host;
	return true;
}

static bool is_partial_name(const char *name)
{
	return strstr(name, CAPTURE_NAME) &&
	       (name[0] == '.' || strstr(name, ".tmp") || strstr(name, ".part"));
}

static bool is_skipped_folder(const char *name)
{
	return name[0] == '.' || strcmp(name, "node_modules") == 0 ||
	       strcmp(name, "__pycache__") == 0;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* ---- memory of a scan ---- */

/* The array with room for one more, at the same place or another; NULL when there
 * is no memory, and the array is as it was. */
static void *grow(struct scan *s, void *array, struct list *list, size_t size)
{
	if (list->count < list->room)
		return array;
	size_t room = list->room ? list->room * 2 : 32;
	void *bigger = tfp_reallocarray(array, room, size);
	if (bigger)
		list->room = room;
	else
		s->no_memory = true;
	return bigger;
}

static const char *copy(struct scan *s, struct tfp_arena *arena, const char *text, size_t size)
{
	const char *c = tfp_arena_strndup(arena, text, size);
	if (!c)
		s->no_memory = true;
	return c;
}

/* A copy in the snapshot that is UTF-8. */
static const char *clean_copy(struct scan *s, const char *text, size_t size)
{
	if (tfp_utf8_valid(text, size))
		return copy(s, s->arena, text, size);
	struct tfp_buf buf;
	tfp_buf_init(&buf, 3 * size);
	tfp_utf8_repair(&buf, text, size);
	const char *c = NULL;
	if (tfp_buf_failed(&buf))
		s->no_memory = true;
	else
		c = copy(s, s->arena, tfp_buf_text(&buf), buf.size);
	tfp_buf_release(&buf);
	return c;
}

__attribute__((format(printf, 2, 3))) static void note(struct scan *s, const char *format, ...)
{
	if (s->note_list.count == MAX_NOTES) {
		s->notes_dropped++;
		return;
	}
	char text[PATH_MAX + 256];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	const char *clean = clean_copy(s, text, strlen(text));
	const char **notes = clean ? grow(s, s->notes, &s->note_list, sizeof(*s->notes)) : NULL;
	if (notes) {
		s->notes = notes;
		notes[s->note_list.count++] = clean;
	}
}

/* ---- opening ---- */

static int open_strictly(int root, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = {
		.flags = (uint64_t)flags | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve,
	};
	/* EAGAIN: a rename elsewhere in the tree made the kernel unsure. */
	for (int attempts = 0; attempts < 16; attempts++) {
		long fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
		if (fd >= 0)
			return (int)fd;
		if (errno != EAGAIN && errno != EINTR)
			break;
	}
	if (errno != ENOSYS && errno != EPERM && errno != E2BIG)
		return -1;

	/* Kernels before 5.6, and sandboxes: component by component, no links. */
	int at = root;
	for (;;) {
		size_t size = strcspn(path, "/");
		char part[NAME_MAX + 1];
		bool last = path[size] == '\0';
		int fd = -1;
		if (size == 0 || size > NAME_MAX ||
		    (path[0] == '.' && size <= 2 && (size == 1 || path[1] == '.'))) {
			errno = last && size == 0 ? EISDIR : EXDEV;
		} else {
			memcpy(part, path, size);
			part[size] = '\0';
			fd = openat(at, part,
				    O_NOFOLLOW | O_CLOEXEC | (last ? flags : O_PATH | O_DIRECTORY));
		}
		/* O_DIRECTORY on a link says ENOTDIR, for the caller it is a link. */
		if (fd < 0 && errno == ENOTDIR && !last)
			errno = ELOOP;
		int error = errno;
		if (at != root)
			close(at);
		errno = error;
		if (fd < 0 || last)
			return fd;
		at = fd;
		path += size + 1;
	}
}

/* Opens a path beneath the root. Links are followed as far as they end
 * beneath it. -1 and errno; EXDEV when the path leads out. */
static int open_beneath(int root, const char *root_real, bool follow, const char *path, int flags)
{
	if (follow)
		return openat(root, path, flags | O_CLOEXEC);
	int fd = open_strictly(root, path, flags, 0);
	if (fd >= 0 || (errno != EXDEV && errno != ELOOP))
		return fd;
	/* An absolute link may well end inside. Where it ends is asked by name,
	 * but what is opened is again beneath the root and without links, so
	 * that a change in between cannot lead out. */
	char full[2 * PATH_MAX], real[PATH_MAX];
	size_t size = strlen(root_real);
	if (snprintf(full, sizeof(full), "%s/%s", root_real, path) >= (int)sizeof(full) ||
	    !realpath(full, real))
		return -1;
	if (size == 1) /* the root is "/" */
		size = 0;
	if (strncmp(real, root_real, size) != 0 || real[size] != '/') {
		errno = EXDEV;
		return -1;
	}
	return open_strictly(root, real + size + 1, flags, RESOLVE_NO_SYMLINKS);
}

static void identify(const struct stat *st, struct tfp_file_identity *identity)
{
	*identity = (struct tfp_file_identity){
		.device = st->st_dev,
		.inode = st->st_ino,
		.bytes = st->st_size > 0 ? (uint64_t)st->st_size : 0,
		.modified_ns = tfp_clock_file_ns(st->st_mtim),
	};
}

/* ---- the walk ---- */

/* The path of an entry of the folder in hand, in the scratch memory or the
 * snapshot's. NULL when it is too long or there is no memory. */
static const char *entry_path(struct scan *s, struct tfp_arena *arena, const char *name)
{
	size_t before = s->path.size;
	const char *path = NULL;
	if (before)
		tfp_buf_putc(&s->path, '/');
	tfp_buf_puts(&s->path, name);
	if (tfp_buf_failed(&s->path))
		s->path.failed = false;
	else
		path = copy(s, arena, s->path.data, s->path.size);
	s->path.size = before;
	if (!path) {
		s->truncated = true;
		note(s, "%s/%s: its path is too long", tfp_buf_text(&s->path), name);
	}
	return path;
}

static void add_capture(struct scan *s, const char *path, enum tfp_compression compression,
			const struct stat *st)
{
	struct found *found = path ? grow(s, s->found, &s->founds, sizeof(*found)) : NULL;
	if (!found)
		return;
	s->found = found;
	struct found *f = &found[s->founds.count++];
	*f = (struct found){path, last_part(path), compression, {0}};
	identify(st, &f->identity);
}

static bool follows(const struct scan *s)
{
	return s->dir->flags & TFP_LOGDIR_FOLLOW_SYMLINKS;
}

static void see_link(struct scan *s, int folder, const char *name, bool capture,
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
	int fd = open_beneath(s->root, s->root_real, follows(s), path, O_PATH);
	if (fd < 0) {
		if (errno == EXDEV)
			note(s, "%s: a link that leads out of the folder is not followed", path);
		else if (capture)
			note(s, "%s: a link that cannot be followed: %s", path, strerror(errno));
		return;
	}
	if (fstat(fd, &st) != 0) {
		note(s, "%s: %s", path, strerror(errno));
	} else if (S_ISREG(st.st_mode)) {
		if (capture)
			add_capture(s, path, compression, &st);
	} else if (S_ISDIR(st.st_mode) && follows(s)) {
		/* Without the option a folder that a link may lead to is beneath the
		 * root, so that the walk meets it anyway, under its own name. */
		const char **links = grow(s, s->links, &s->link_list, sizeof(*links));
		if (links) {
			s->links = links;
			links[s->link_list.count++] = path;
		}
	}
	close(fd);
}

static void see_entry(struct scan *s, int fd, const struct dirent *e, struct seen *seen)
{
	enum tfp_compression compression = TFP_PLAIN;
	size_t host;
	unsigned char type = e->d_type;
	struct stat st;
	bool capture = is_capture_name(e->d_name, &compression, &host), known = false;
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
		const char *name = copy(s, &s->scratch, e->d_name, strlen(e->d_name));
		const char **pending =
			name ? grow(s, s->pending, &s->pendings, sizeof(*pending)) : NULL;
		if (pending) {
			s->pending = pending;
			pending[s->pendings.count++] = name;
		}
		return;
	}
	s->file_total++;
	seen->files++;
	if (type == DT_LNK) {
		see_link(s, fd, e->d_name, capture, compression);
	} else if (capture && type == DT_REG) {
		/* A file that is gone already is none. */
		if (known || fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			add_capture(s, entry_path(s, s->arena, e->d_name), compression, &st);
	} else if (strstr(e->d_name, "tfevents")) {
		seen->event_files++;
	} else if (!seen->partial && is_partial_name(e->d_name)) {
		seen->partial = copy(s, &s->scratch, e->d_name, strlen(e->d_name));
	}
}

/* Where the run's name begins in a folder's path: the part before
 * "plugins/profile" is path[0] to path[*head - 1], the part after begins at
 * the returned pointer. NULL when the folder is not in such a place. */
static const char *after_profile(const struct scan *s, const char *path, size_t *head)
{
	size_t size = strlen(s->root_real), rest;
	*head = 0;
	if (ends_with(s->root_real, size, "/plugins/profile", &rest))
		return path;
	if (ends_with(s->root_real, size, "/plugins", &rest) && strncmp(path, "profile", 7) == 0 &&
	    (path[7] == '/' || path[7] == '\0'))
		return path[7] ? path + 8 : path + 7;
	static const char pair[] = "plugins/profile";
	for (const char *p = path; (p = strstr(p, pair)); p++) {
		const char *end = p + sizeof(pair) - 1;
		if ((p == path || p[-1] == '/') && (*end == '/' || *end == '\0')) {
			*head = (size_t)(p - path);
			return *end ? end + 1 : end;
		}
	}
	return NULL;
}

/* A path for a person. */
static const char *shown(const char *path)
{
	return path[0] ? path : ".";
}

static void note_empty_run(struct scan *s, const struct seen *seen)
{
	size_t head;
	const char *run = after_profile(s, seen->path, &head);
	/* A folder within a run may be anything, only the run's own counts. */
	if (!run || !run[0] || strchr(run, '/') || seen->folders)
		return;
	if (seen->partial)
		note(s, "%s holds a half-written capture only: %s", seen->path, seen->partial);
	else
		note(s, "%s holds no capture (*.xplane.pb), but %zu other %s", seen->path,
		     seen->files, seen->files == 1 ? "file" : "files");
}

/* Makes a folder of the captures from first on. */
static void add_folder(struct scan *s, const char *path, size_t first)
{
	const char *kept = copy(s, s->arena, path, strlen(path));
	struct folder *folders =
		kept ? grow(s, s->folders, &s->folder_list, sizeof(*folders)) : NULL;
	if (folders) {
		s->folders = folders;
		folders[s->folder_list.count++] = (struct folder){kept, first, s->founds.count};
	}
}

/* Reads the folder at s->path whole, and keeps fd, which is handed over, if it
 * has folders to visit. */
static void read_folder(struct scan *s, int fd)
{
	struct seen seen = {0};
	size_t first = s->founds.count, pending = s->pendings.count;
	DIR *stream = fdopendir(fd);
	if (!stream) {
		s->truncated = true;
		note(s, "%s cannot be read: %s", shown(tfp_buf_text(&s->path)), strerror(errno));
		close(fd);
		return;
	}
	s->folder_total++;
	for (;;) {
		errno = 0;
		const struct dirent *e = readdir(stream);
		if (!e) {
			if (errno) {
				s->truncated = true;
				note(s, "%s cannot be read: %s", shown(tfp_buf_text(&s->path)),
				     strerror(errno));
			}
			break;
		}
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (s->file_total + s->folder_total + s->pendings.count >= MAX_ENTRIES) {
			if (!s->truncated)
				note(s, "stopped after %u files and folders, in %s", MAX_ENTRIES,
				     shown(tfp_buf_text(&s->path)));
			s->truncated = true;
			break;
		}
		see_entry(s, fd, e, &seen);
		if (s->no_memory)
			break;
	}

	bool explain = s->seen_count < MAX_SEEN && s->founds.count == 0;
	size_t head;
	if (s->founds.count > first) {
		add_folder(s, tfp_buf_text(&s->path), first);
	} else if (explain || after_profile(s, tfp_buf_text(&s->path), &head)) {
		seen.path = copy(s, &s->scratch, tfp_buf_text(&s->path), s->path.size);
		if (seen.path) {
			note_empty_run(s, &seen);
			if (explain)
				s->seen[s->seen_count++] = seen;
		}
	}
	if (s->pendings.count == pending) {
		closedir(stream);
	} else if (s->depth == MAX_DEPTH) {
		s->truncated = true;
		note(s, "%s: folders below are not looked at, it is %u deep already",
		     tfp_buf_text(&s->path), MAX_DEPTH);
		s->pendings.count = pending;
		closedir(stream);
	} else {
		s->frames[s->depth++] = (struct frame){stream, s->path.size, pending};
	}
}

/* Whether a folder is met for the first time. Asked only when links are
 * followed: without them a tree has no second way to a folder. */
static bool first_visit(struct scan *s, int fd)
{
	struct stat st;
	if (!follows(s))
		return true;
	if (fstat(fd, &st) != 0)
		return false;
	if (s->visiteds.count >= s->visiteds.room / 2) {
		size_t room = s->visiteds.room ? s->visiteds.room * 2 : 64;
		struct directory_id *bigger = tfp_calloc(room, sizeof(*bigger));
		if (!bigger) {
			s->no_memory = true;
			return false;
		}
		for (size_t i = 0; i < s->visiteds.room; i++) {
			struct directory_id id = s->visited[i];
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
	s->visited[i] = (struct directory_id){st.st_dev, st.st_ino};
	s->visiteds.count++;
	return true;
}

/* Walks the folder at s->path. */
static void walk(struct scan *s, int fd)
{
	size_t bottom = s->depth;
	if (!first_visit(s, fd)) {
		close(fd);
		return;
	}
	read_folder(s, fd);
	while (s->depth > bottom) {
		struct frame *f = &s->frames[s->depth - 1];
		if (s->no_memory || s->pendings.count == f->pending) {
			s->pendings.count = f->pending;
			closedir(f->stream);
			s->depth--;
			continue;
		}
		const char *name = s->pending[--s->pendings.count];
		s->path.size = f->path_size;
		if (f->path_size)
			tfp_buf_putc(&s->path, '/');
		tfp_buf_puts(&s->path, name);
		if (tfp_buf_failed(&s->path)) {
			s->path.failed = false;
			s->path.size = f->path_size;
			s->truncated = true;
			note(s, "%s/%s: its path is too long", tfp_buf_text(&s->path), name);
			continue;
		}
		int child = openat(dirfd(f->stream), name,
				   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (child < 0) {
			/* Gone, or something else by now: the next scan will see it. */
			if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
				continue;
			s->truncated = true;
			note(s, "%s cannot be read: %s", tfp_buf_text(&s->path), strerror(errno));
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
static void walk_links(struct scan *s)
{
	for (size_t i = 0; i < s->link_list.count && !s->no_memory; i++) {
		if (i == 0)
			qsort(s->links, s->link_list.count, sizeof(*s->links), by_text);
		int fd = openat(s->root, s->links[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0) {
			note(s, "%s cannot be read: %s", s->links[i], strerror(errno));
			continue;
		}
		tfp_buf_clear(&s->path);
		tfp_buf_puts(&s->path, s->links[i]);
		walk(s, fd);
	}
}

/* ---- from what was found to runs ---- */

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

static bool make_hosts(struct scan *s, const struct folder *folder, struct tfp_run *run)
{
	size_t count = folder->end - folder->first;
	struct host *hosts = tfp_arena_zalloc(&s->scratch, count, sizeof(*hosts));
	struct tfp_capture_file *kept = tfp_arena_alloc(s->arena, count * sizeof(*kept));
	if (!hosts || !kept)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct found *f = &s->found[folder->first + i];
		size_t size;
		enum tfp_compression compression;
		struct host *h = &hosts[i];
		if (!is_capture_name(f->name, &compression, &size)) {
			/* The one file that was asked for by name may be called anything. */
			compression_of(f->name, &size);
			ends_with(f->name, size, ".pb", &size);
		}
		h->unnamed = size == 0;
		h->file = (struct tfp_capture_file){
			.host = h->unnamed ? UNNAMED_HOST : clean_copy(s, f->name, size),
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
			note(s, "%s is not used: %s is there for the same host", file->path,
			     kept[run->host_count - 1].name);
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
static bool take_name(struct scan *s, struct tfp_str_map *names, struct tfp_run *run,
		      const char *name, size_t size, uint32_t index)
{
	const char *clean = clean_copy(s, name, size);
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

static void name_run(struct scan *s, struct tfp_str_map *names, const char *path,
		     struct tfp_run *run, uint32_t index)
{
	char name[PATH_MAX + 32];
	size_t head, host;
	enum tfp_compression compression;
	const char *tail = after_profile(s, path, &head);
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
		if (!ends_with(parent, strlen(parent), "/plugins/profile", &rest))
			snprintf(name, sizeof(name), "%.*s",
				 (int)(is_capture_name(s->dir->only, &compression, &host) && host
					       ? host
					       : strlen(s->dir->only)),
				 s->dir->only);
	}
	if (!name[0])
		snprintf(name, sizeof(name), "%s", last_part(s->root_real));
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

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct folder *)a)->path, ((const struct folder *)b)->path);
}

static int by_name_descending(const void *a, const void *b)
{
	return strcmp(((const struct tfp_run *)b)->name, ((const struct tfp_run *)a)->name);
}

static void make_runs(struct scan *s, struct tfp_logdir_snapshot *out)
{
	size_t count = s->folder_list.count;
	if (!count)
		return;
	struct tfp_run *runs = tfp_arena_zalloc(s->arena, count, sizeof(*runs));
	struct tfp_str_map names = {0};
	if (!runs) {
		s->no_memory = true;
		return;
	}
	qsort(s->folders, count, sizeof(*s->folders), by_path);
	/* Runs in their proper place have the first say on names. */
	for (int proper = 1; proper >= 0; proper--) {
		for (size_t i = 0; i < count && !s->no_memory; i++) {
			size_t head;
			const struct folder *f = &s->folders[i];
			if ((after_profile(s, f->path, &head) != NULL) != proper)
				continue;
			name_run(s, &names, f->path, &runs[i], (uint32_t)i);
			if (!make_hosts(s, f, &runs[i]))
				s->no_memory = true;
		}
	}
	tfp_str_map_release(&names);
	if (s->no_memory)
		return;
	qsort(runs, count, sizeof(*runs), by_name_descending);
	out->runs = runs;
	out->run_count = count;
}

/* ---- when nothing was found ---- */

static void note_folders_above(struct scan *s)
{
	static const char *const words[] = {"one level", "two levels", "three levels"};
	char up[16] = "";
	if (s->dir->hidden)
		return; /* it is about what lies outside */
	for (size_t level = 0; level < sizeof(words) / sizeof(words[0]); level++) {
		struct stat st;
		char profile[64];
		snprintf(up + strlen(up), sizeof(up) - strlen(up), "%s..", up[0] ? "/" : "");
		snprintf(profile, sizeof(profile), "%s/plugins/profile", up);
		bool there = fstatat(s->root, profile, &st, 0) == 0 && S_ISDIR(st.st_mode);
		int fd = there ? -1 : openat(s->root, up, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		DIR *stream = fd < 0 ? NULL : fdopendir(fd);
		if (fd >= 0 && !stream)
			close(fd);
		const struct dirent *e;
		for (unsigned n = 0; !there && stream && n < 10000 && (e = readdir(stream)); n++) {
			enum tfp_compression compression;
			size_t host;
			there = is_capture_name(e->d_name, &compression, &host);
		}
		if (stream)
			closedir(stream);
		if (there) {
			note(s, "there are captures %s up: did you mean %s/%s", words[level],
			     s->dir->path, up);
			return;
		}
	}
}

static void explain(struct scan *s)
{
	size_t rest;
	for (size_t i = 0; i < s->seen_count; i++) {
		const struct seen *seen = &s->seen[i];
		const char *path = seen->path;
		size_t size = strlen(path), head;
		const char *run = after_profile(s, path, &head);
		if (run && run[0])
			continue; /* has its note */
		if (run)
			note(s, "a folder %s/ without runs", path[0] ? path : "plugins/profile");
		else if (ends_with(path, size, "plugins", &rest) &&
			 (rest == 0 || path[rest - 1] == '/') && !seen->has_profile)
			note(s, "a folder %s/ without profile/", path);
		if (seen->partial)
			note(s, "a half-written capture %s in %s/", seen->partial, shown(path));
		if (seen->event_files)
			note(s, "%zu tfevents %s in %s/", seen->event_files,
			     seen->event_files == 1 ? "file" : "files", shown(path));
		size_t others = seen->files - seen->event_files - (seen->partial ? 1 : 0);
		if (others)
			note(s, "%s/ (%zu other %s)", shown(path), others,
			     others == 1 ? "file" : "files");
		if (!path[0] && !seen->files && !seen->folders)
			note(s, "the folder is empty");
	}
	if (s->folder_total > s->seen_count)
		note(s, "and %zu more folders", s->folder_total - s->seen_count);
	note_folders_above(s);
}

/* ---- snapshots ---- */

static uint64_t hash_text(const char *text, uint64_t seed)
{
	return tfp_hash_bytes(text, strlen(text), seed);
}

/* The content and not a counter, so that it says the same after a restart. */
static uint64_t content_hash(const struct tfp_logdir_snapshot *s)
{
	const uint64_t totals[] = {s->run_count, s->folders, s->files, s->truncated};
	uint64_t h = tfp_hash_bytes(totals, sizeof(totals), 0);
	for (size_t i = 0; i < s->run_count; i++) {
		const struct tfp_run *run = &s->runs[i];
		h = hash_text(run->name, h);
		for (size_t j = 0; j < run->host_count; j++) {
			const struct tfp_file_identity *id = &run->hosts[j].identity;
			const uint64_t numbers[] = {id->device, id->inode, id->bytes,
						    (uint64_t)id->modified_ns};
			h = hash_text(run->hosts[j].path, h);
			h = tfp_hash_bytes(numbers, sizeof(numbers), h);
		}
	}
	for (size_t i = 0; i < s->note_count; i++)
		h = hash_text(s->notes[i], h);
	return h;
}

static void scan_release(struct scan *s)
{
	tfp_arena_release(&s->scratch);
	tfp_buf_release(&s->path);
	tfp_free(s->pending);
	tfp_free(s->found);
	tfp_free(s->folders);
	tfp_free(s->links);
	tfp_free(s->visited);
	tfp_free(s->notes);
	tfp_free(s);
}

static void snapshot_free(struct snapshot *snapshot)
{
	if (snapshot) {
		tfp_arena_release(&snapshot->arena);
		tfp_free(snapshot);
	}
}

static enum tfp_status make_snapshot(struct tfp_logdir *dir, int root, const char *root_real,
				     struct snapshot **out, struct tfp_error *err)
{
	struct snapshot *snapshot = tfp_calloc(1, sizeof(*snapshot));
	struct scan *s = tfp_calloc(1, sizeof(*s));
	if (!snapshot || !s) {
		tfp_free(snapshot);
		tfp_free(s);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory to list %s", dir->path);
	}
	tfp_arena_init(&snapshot->arena, MAX_BYTES);
	tfp_arena_init(&s->scratch, MAX_BYTES);
	tfp_buf_init(&s->path, MAX_PATH);
	atomic_init(&snapshot->references, 1);
	s->dir = dir;
	s->root = root;
	s->root_real = root_real;
	s->arena = &snapshot->arena;
	if (root < 0) {
		note(s, "%s cannot be opened any more", dir->path);
	} else if (dir->only) {
		struct stat st;
		size_t stem;
		s->folder_total = 1;
		/* Named by the user, so it may be a link to anywhere. */
		if (fstatat(root, dir->only, &st, 0) != 0 || !S_ISREG(st.st_mode)) {
			note(s, "%s is not there any more", dir->path);
		} else {
			s->file_total = 1;
			add_capture(s, copy(s, s->arena, dir->only, strlen(dir->only)),
				    compression_of(dir->only, &stem), &st);
			add_folder(s, "", 0);
		}
	} else {
		int fd = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0) {
			s->truncated = true;
			note(s, "%s cannot be read: %s", dir->path, strerror(errno));
		} else {
			walk(s, fd);
			walk_links(s);
			if (s->founds.count == 0 && !s->no_memory)
				explain(s);
		}
	}
	struct tfp_logdir_snapshot *public = &snapshot->public;
	if (!s->no_memory)
		make_runs(s, public);
	if (s->notes_dropped) {
		s->note_list.count--;
		note(s, "and %zu more notes", s->notes_dropped + 1);
	}
	const char **notes = tfp_arena_alloc(s->arena, s->note_list.count * sizeof(*notes));
	if (!notes || s->no_memory) {
		scan_release(s);
		snapshot_free(snapshot);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory to list %s", dir->path);
	}
	if (s->note_list.count)
		memcpy(notes, s->notes, s->note_list.count * sizeof(*notes));
	public->notes = notes;
	public->note_count = s->note_list.count;
	public->folders = s->folder_total;
	public->files = s->file_total;
	public->truncated = s->truncated;
	public->generation = content_hash(public);
	scan_release(s);
	*out = snapshot;
	return TFP_OK;
}

/* Opens root_path anew, so that a directory that was removed and made again is
 * followed to its new self. Called by the one that scans. */
static void reopen_root(struct tfp_logdir *dir)
{
	struct stat now, before;
	int fd = open(dir->root_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *real = fd < 0 ? NULL : realpath(dir->root_path, NULL);
	if (!real && fd >= 0) {
		close(fd);
		fd = -1;
	}
	pthread_mutex_lock(&dir->lock);
	if (fd >= 0 && dir->root >= 0 && fstat(fd, &now) == 0 && fstat(dir->root, &before) == 0 &&
	    now.st_dev == before.st_dev && now.st_ino == before.st_ino &&
	    strcmp(real, dir->root_real) == 0) {
		close(fd);
		free(real);
	} else {
		if (dir->root >= 0)
			close(dir->root);
		free(dir->root_real);
		dir->root = fd;
		dir->root_real = real;
	}
	pthread_mutex_unlock(&dir->lock);
}

enum tfp_status tfp_logdir_snapshot(struct tfp_logdir *dir, const struct tfp_logdir_snapshot **out,
				    struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	struct snapshot *fresh = NULL, *old = NULL;
	*out = NULL;
	pthread_mutex_lock(&dir->lock);
	for (;;) {
		if (dir->last && tfp_clock_monotonic_ns() < dir->fresh_until_ns)
			goto found;
		if (!dir->scanning)
			break;
		pthread_cond_wait(&dir->scanned, &dir->lock);
	}
	dir->scanning = true;
	pthread_mutex_unlock(&dir->lock);

	int64_t start = tfp_clock_monotonic_ns();
	reopen_root(dir);
	/* Only the one that scans changes root, so it needs no lock to read it. */
	status = make_snapshot(dir, dir->root, dir->root_real ? dir->root_real : "", &fresh, err);
	int64_t end = tfp_clock_monotonic_ns();

	pthread_mutex_lock(&dir->lock);
	dir->scanning = false;
	pthread_cond_broadcast(&dir->scanned);
	if (status != TFP_OK)
		goto out;
	int64_t age = (end - start) * AGE_FACTOR;
	dir->fresh_until_ns = dir->expired ? end : end + (age > MIN_AGE_NS ? age : MIN_AGE_NS);
	dir->expired = false;
	if (dir->last && dir->last->public.generation == fresh->public.generation) {
		old = fresh;
	} else {
		old = dir->last;
		dir->last = fresh;
	}
found:
	atomic_fetch_add(&dir->last->references, 1);
	*out = &dir->last->public;
out:
	pthread_mutex_unlock(&dir->lock);
	tfp_logdir_snapshot_unref(old ? &old->public : NULL);
	return status;
}

const struct tfp_logdir_snapshot *tfp_logdir_snapshot_at_hand(struct tfp_logdir *dir)
{
	const struct tfp_logdir_snapshot *snapshot = NULL;
	pthread_mutex_lock(&dir->lock);
	if (dir->last && tfp_clock_monotonic_ns() < dir->fresh_until_ns)
		snapshot = tfp_logdir_snapshot_ref(&dir->last->public);
	pthread_mutex_unlock(&dir->lock);
	return snapshot;
}

const struct tfp_logdir_snapshot *
tfp_logdir_snapshot_ref(const struct tfp_logdir_snapshot *snapshot)
{
	struct snapshot *s = (struct snapshot *)(uintptr_t)snapshot;
	atomic_fetch_add(&s->references, 1);
	return snapshot;
}

void tfp_logdir_snapshot_unref(const struct tfp_logdir_snapshot *snapshot)
{
	struct snapshot *s = (struct snapshot *)(uintptr_t)snapshot;
	if (s && atomic_fetch_sub(&s->references, 1) == 1)
		snapshot_free(s);
}

const struct tfp_run *tfp_logdir_find_run(const struct tfp_logdir_snapshot *snapshot,
					  const char *name)
{
	size_t low = 0, high = snapshot->run_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(name, snapshot->runs[middle].name);
		if (order == 0)
			return &snapshot->runs[middle];
		if (order > 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* ---- the directory ---- */

static char *absolute_path(const char *path)
{
	struct tfp_buf buf;
	tfp_buf_init(&buf, 2 * PATH_MAX);
	if (path[0] != '/') {
		char *here = getcwd(NULL, 0);
		if (here) {
			tfp_buf_puts(&buf, here);
			tfp_buf_putc(&buf, '/');
		}
		free(here);
	}
	tfp_buf_puts(&buf, path);
	if (tfp_buf_failed(&buf)) {
		tfp_buf_release(&buf);
		return NULL;
	}
	while (buf.size > 1 && buf.data[buf.size - 1] == '/')
		buf.size--;
	return tfp_buf_take(&buf, NULL);
}

enum tfp_status tfp_logdir_new(struct tfp_logdir **out, const char *path, unsigned flags,
			       struct tfp_error *err)
{
	struct stat st;
	*out = NULL;
	if (stat(path, &st) != 0) {
		bool missing = errno == ENOENT || errno == ENOTDIR;
		enum tfp_status status =
			missing ? tfp_fail(err, TFP_NOT_FOUND, "there is no \"%s\"", path)
				: tfp_fail(err, TFP_IO, "cannot look at \"%s\": %s", path,
					   strerror(errno));
		if (missing)
			tfp_error_set_hint(err, "name a directory that holds captures "
						"(DIR/plugins/profile/RUN/HOST.xplane.pb) or one "
						"capture file");
		return status;
	}
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return tfp_fail(err, TFP_BAD_QUERY, "\"%s\" is neither a directory nor a file",
				path);
	struct tfp_logdir *dir = tfp_calloc(1, sizeof(*dir));
	if (!dir)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory to open \"%s\"", path);
	pthread_mutex_init(&dir->lock, NULL);
	pthread_cond_init(&dir->scanned, NULL);
	dir->root = -1;
	dir->flags = flags;
	dir->path = tfp_strdup(path);
	dir->root_path = absolute_path(path);
	bool ok = dir->path && dir->root_path;
	if (ok && S_ISREG(st.st_mode)) {
		char *slash = strrchr(dir->root_path, '/');
		dir->only = tfp_strdup(slash + 1);
		ok = dir->only != NULL;
		slash[slash == dir->root_path] = '\0';
	}
	if (!ok) {
		tfp_logdir_free(dir);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory to open \"%s\"", path);
	}
	reopen_root(dir);
	if (dir->root < 0) {
		int error = errno;
		tfp_logdir_free(dir);
		return tfp_fail(err, TFP_IO, "cannot open \"%s\": %s", path, strerror(error));
	}
	*out = dir;
	return TFP_OK;
}

void tfp_logdir_free(struct tfp_logdir *dir)
{
	if (!dir)
		return;
	if (dir->last)
		tfp_logdir_snapshot_unref(&dir->last->public);
	if (dir->root >= 0)
		close(dir->root);
	free(dir->root_real); /* from realpath */
	pthread_cond_destroy(&dir->scanned);
	pthread_mutex_destroy(&dir->lock);
	tfp_free(dir->only);
	tfp_free(dir->root_path);
	tfp_free(dir->path);
	tfp_free(dir);
}

const char *tfp_logdir_path(const struct tfp_logdir *dir)
{
	return dir->path;
}

/* errno of the first thing that fails, or 0. */
static int look_at_root(const struct tfp_logdir *dir, int fd)
{
	DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
	int error = 0;
	if (!entries) {
		error = errno;
		if (fd >= 0)
			close(fd);
		return error;
	}
	/* Some file systems open a folder that they cannot read. One without entries is fine. */
	errno = 0;
	if (!readdir(entries))
		error = errno;
	if (error == 0 && dir->only && faccessat(fd, dir->only, R_OK, AT_EACCESS) != 0)
		error = errno;
	closedir(entries);
	return error;
}

enum tfp_status tfp_logdir_check(const struct tfp_logdir *dir, struct tfp_error *err)
{
	/* By its path: the descriptor that is open would not notice that it was unmounted. */
	int error = look_at_root(dir, open(dir->root_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (error)
		return tfp_fail(err, TFP_IO, "cannot read the log directory: %s", strerror(error));
	return TFP_OK;
}

void tfp_logdir_hide_path(struct tfp_logdir *dir)
{
	const char *slash = strrchr(dir->root_path, '/');
	const char *name = dir->only ? dir->only : slash[1] ? slash + 1 : "/";
	char *path = tfp_strdup(name);
	if (path) {
		tfp_free(dir->path);
		dir->path = path;
	} else {
		dir->path[0] = '\0';
	}
	dir->hidden = true;
}

static void shorten(char *text, const char *path, const char *name)
{
	size_t n = path ? strlen(path) : 0, m = strlen(name);
	if (n < 2 || m > n)
		return; /* nothing lies above the root */
	for (char *at = text; (at = strstr(at, path)); at += m) {
		memcpy(at, name, m);
		memmove(at + m, at + n, strlen(at + n) + 1);
	}
}

void tfp_logdir_redact(struct tfp_logdir *dir, char *text)
{
	if (!dir->hidden || !strchr(text, '/'))
		return;
	/* Of a file, its folder is what lies outside. */
	const char *name = dir->only ? "" : dir->path;
	pthread_mutex_lock(&dir->lock);
	shorten(text, dir->root_real, name);
	pthread_mutex_unlock(&dir->lock);
	shorten(text, dir->root_path, name);
}

void tfp_logdir_expire(struct tfp_logdir *dir)
{
	pthread_mutex_lock(&dir->lock);
	dir->fresh_until_ns = 0;
	dir->expired = dir->scanning;
	pthread_mutex_unlock(&dir->lock);
}

/* Whether the path's last parts are these, which begin with a slash. */
static bool path_ends_with(const char *path, size_t size, const char *end)
{
	size_t n = strlen(end);
	return size >= n && memcmp(path + size - n, end, n) == 0;
}

enum tfp_status tfp_logdir_runs_folder(const struct tfp_logdir *dir, char *out, size_t size,
				       struct tfp_error *err)
{
	const char *more = "/plugins/profile";
	char path[PATH_MAX];
	if (!realpath(dir->root_path, path))
		return tfp_fail(err, TFP_IO, "cannot open \"%s\": %s", dir->path, strerror(errno));
	size_t length = strcmp(path, "/") == 0 ? 0 : strlen(path);
	const char *slash = memrchr(path, '/', length);
	if (dir->only || (slash && path_ends_with(path, (size_t)(slash - path), more))) {
		tfp_fail(err, TFP_BAD_QUERY, "\"%s\" is one %s, no place for a new run", dir->path,
			 dir->only ? "file" : "run");
		tfp_error_set_hint(err, "start with the log directory");
		return TFP_BAD_QUERY;
	}
	if (path_ends_with(path, length, more))
		more = "";
	else if (path_ends_with(path, length, "/plugins"))
		more = "/profile";
	int n = snprintf(out, size, "%.*s%s", (int)length, path, more);
	if (n < 0 || (size_t)n >= size)
		return tfp_fail(err, TFP_TOO_LARGE, "the log directory's path is too long");
	return TFP_OK;
}

enum tfp_status tfp_logdir_open(struct tfp_logdir *dir, const struct tfp_capture_file *file,
				int *out, struct tfp_file_identity *identity, struct tfp_error *err)
{
	enum tfp_status status;
	struct stat st;
	char real[PATH_MAX] = "";
	int root = -1, fd = -1;
	*out = -1;
	pthread_mutex_lock(&dir->lock);
	if (dir->root >= 0) {
		root = fcntl(dir->root, F_DUPFD_CLOEXEC, 0);
		snprintf(real, sizeof(real), "%s", dir->root_real);
	} else {
		errno = ENOENT;
	}
	pthread_mutex_unlock(&dir->lock);
	/* Not blocking: a fifo put in the file's place must not hold us. */
	if (root >= 0)
		fd = open_beneath(root, real,
				  dir->only || (dir->flags & TFP_LOGDIR_FOLLOW_SYMLINKS),
				  file->path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	int error = errno;
	if (root >= 0)
		close(root);
	if (fd < 0) {
		if (error == ENOENT || error == ENOTDIR) {
			status = tfp_fail(err, TFP_NOT_FOUND, "the file is not there any more");
		} else if (error == EXDEV || error == ELOOP) {
			status = tfp_fail(err, TFP_NOT_FOUND,
					  "it leads out of the log directory and is not opened");
			tfp_error_set_hint(err, "--follow-symlinks allows links that lead out");
		} else {
			status = tfp_fail(err, TFP_IO, "cannot open it: %s", strerror(error));
		}
	} else if (fstat(fd, &st) != 0) {
		status = tfp_fail(err, TFP_IO, "cannot examine it: %s", strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		status = tfp_fail(err, TFP_IO, "it is not a regular file");
	} else {
		identify(&st, identity);
		*out = fd;
		return TFP_OK;
	}
	if (fd >= 0)
		close(fd);
	tfp_error_set_file(err, file->path);
	return status;
}
