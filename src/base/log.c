#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool verbose;

void tfp_log_set_verbose(bool on)
{
	verbose = on;
}

__attribute__((format(printf, 2, 0))) static void print(const char *prefix, const char *format,
							va_list args)
{
	char line[4096];
	int head = snprintf(line, sizeof(line), "%s", prefix);
	int n = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, format, args);
	if (n < 0)
		return;
	size_t size = strlen(line);
	/* A file name may hold anything, a terminal obeys escape sequences. */
	for (size_t i = 0; i < size; i++) {
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			line[i] = '?';
	}
	line[size++] = '\n';
	ssize_t written = write(STDERR_FILENO, line, size);
	(void)written; /* there is no better place to complain */
}

void tfp_log(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	print("", format, args);
	va_end(args);
}

void tfp_log_warning(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	print("warning: ", format, args);
	va_end(args);
}

void tfp_log_verbose(const char *format, ...)
{
	if (!verbose)
		return;
	va_list args;
	va_start(args, format);
	print("", format, args);
	va_end(args);
}
