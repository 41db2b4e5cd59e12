/* SPDX-License-Identifier: Apache-2.0 */
/* A program that plays a profiler server, for tests that need a process:
 *
 *   fake_profiler BEHAVE [KEY=VALUE]...
 *
 * Keys are those of struct fake_config; file=PATH names the profile. Prints its
 * port, then a line for every request, until its input ends. */
#include "support/fake_profiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *read_file(const char *path, uint64_t *size)
{
	FILE *file = fopen(path, "rb");
	if (!file || fseek(file, 0, SEEK_END) != 0)
		return NULL;
	*size = (uint64_t)ftell(file);
	rewind(file);
	char *bytes = malloc(*size ? *size : 1);
	if (fread(bytes, 1, *size, file) != *size)
		return NULL;
	fclose(file);
	return bytes;
}

int main(int argc, char **argv)
{
	struct fake_config o = {.behave = argc > 1 ? argv[1] : "ok", .size = 1000, .tell = true};
	char line[16];
	for (int i = 2; i < argc; i++) {
		char *value = strchr(argv[i], '=');
		if (!value)
			return 2;
		*value++ = '\0';
		if (strcmp(argv[i], "file") == 0 && !(o.profile = read_file(value, &o.size)))
			return 1;
		else if (strcmp(argv[i], "size") == 0)
			o.size = strtoull(value, NULL, 10);
		else if (strcmp(argv[i], "after") == 0)
			o.after = strtoull(value, NULL, 10);
		else if (strcmp(argv[i], "pause") == 0)
			o.pause_ms = (unsigned)atoi(value);
		else if (strcmp(argv[i], "status") == 0)
			o.status = (unsigned)atoi(value);
		else if (strcmp(argv[i], "message") == 0)
			o.message = value;
		else if (strcmp(argv[i], "disk") == 0)
			o.disk = value;
		else if (strcmp(argv[i], "text") == 0)
			o.text = value;
		else if (strcmp(argv[i], "port") == 0)
			o.port = (uint16_t)atoi(value);
	}
	struct fake_profiler *f = fake_profiler_start(&o);
	if (!f)
		return 1;
	printf("%u\n", (unsigned)fake_profiler_port(f));
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		;
	fake_profiler_stop(f);
	free((void *)(uintptr_t)o.profile);
	return 0;
}
