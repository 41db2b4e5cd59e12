/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over files, so that what fuzzing found stays found where
 * there is no libFuzzer: arguments are files, or folders of files. */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

static size_t runs;

static bool replay(const char *path);

static bool replay_folder(const char *path)
{
	DIR *folder = opendir(path);
	bool ok = true;
	if (!folder) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return false;
	}
	for (struct dirent *entry; (entry = readdir(folder));) {
		char inside[4096];
		if (entry->d_name[0] == '.')
			continue;
		snprintf(inside, sizeof(inside), "%s/%s", path, entry->d_name);
		ok &= replay(inside);
	}
	closedir(folder);
	return ok;
}

static bool replay(const char *path)
{
	struct stat st;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return replay_folder(path);
	FILE *file = fopen(path, "rb");
	/* Exactly as large as the input, for the address sanitizer. */
	size_t size = file ? (size_t)st.st_size : 0;
	uint8_t *data = file ? malloc(size ? size : 1) : NULL;
	bool ok = data && fread(data, 1, size, file) == size;
	if (file)
		fclose(file);
	if (ok) {
		/* The last line before a crash names the input. */
		fprintf(stderr, "%s\n", path);
		LLVMFuzzerTestOneInput(data, size);
		runs++;
	} else {
		fprintf(stderr, "%s: cannot be read\n", path);
	}
	free(data);
	return ok;
}

int main(int argc, char **argv)
{
	bool ok = true;
	for (int i = 1; i < argc; i++)
		ok &= replay(argv[i]);
	printf("%zu inputs\n", runs);
	return ok && runs > 0 ? 0 : 1;
}
