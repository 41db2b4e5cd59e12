/* SPDX-License-Identifier: Apache-2.0 */
#include "store/logdir_parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void note_folders_above(struct tfp_scan *s)
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
			there = tfp_name_is_capture(e->d_name, &compression, &host);
		}
		if (stream)
			closedir(stream);
		if (there) {
			tfp_scan_note(s, "there are captures %s up: did you mean %s/%s",
				      words[level], s->dir->path, up);
			return;
		}
	}
}

void tfp_scan_explain(struct tfp_scan *s)
{
	size_t rest;
	for (size_t i = 0; i < s->seen_count; i++) {
		const struct tfp_seen *seen = &s->seen[i];
		const char *path = seen->path;
		size_t size = strlen(path), head;
		const char *run = tfp_scan_after_profile(s, path, &head);
		if (run && run[0])
			continue; /* has its note */
		if (run)
			tfp_scan_note(s, "a folder %s/ without runs",
				      path[0] ? path : "plugins/profile");
		else if (tfp_name_ends_with(path, size, "plugins", &rest) &&
			 (rest == 0 || path[rest - 1] == '/') && !seen->has_profile)
			tfp_scan_note(s, "a folder %s/ without profile/", path);
		if (seen->partial)
			tfp_scan_note(s, "a half-written capture %s in %s/", seen->partial,
				      tfp_path_shown(path));
		if (seen->event_files)
			tfp_scan_note(s, "%zu tfevents %s in %s/", seen->event_files,
				      seen->event_files == 1 ? "file" : "files",
				      tfp_path_shown(path));
		size_t others = seen->files - seen->event_files - (seen->partial ? 1 : 0);
		if (others)
			tfp_scan_note(s, "%s/ (%zu other %s)", tfp_path_shown(path), others,
				      others == 1 ? "file" : "files");
		if (!path[0] && !seen->files && !seen->folders)
			tfp_scan_note(s, "the folder is empty");
	}
	if (s->folder_total > s->seen_count)
		tfp_scan_note(s, "and %zu more folders", s->folder_total - s->seen_count);
	note_folders_above(s);
}
