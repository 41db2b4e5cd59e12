/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/results.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/number.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool tfp_read_size(const char *text, uint64_t *out)
{
	static const char units[] = "KMGT";
	uint64_t n;
	if (!tfp_number_begin(&text, &n))
		return false;
	const char *unit = *text ? strchr(units, *text & ~0x20) : NULL;
	if (unit && *unit) {
		for (const char *u = units; u <= unit; u++) {
			if (__builtin_mul_overflow(n, UINT64_C(1024), &n))
				return false;
		}
		text++;
	}
	*out = n;
	return *text == '\0' && n > 0;
}

bool tfp_results_take_option(struct tfp_results_options *options, int option, const char *text)
{
	switch (option) {
	case TFP_RESULTS_OPTION_DIR:
		options->folder = text;
		break;
	case TFP_RESULTS_OPTION_LIMIT:
		return tfp_read_size(text, &options->limit_bytes);
	case TFP_RESULTS_OPTION_OFF:
		options->off = true;
		break;
	}
	return true;
}

uint64_t tfp_build_stamp(void)
{
	struct stat st = {0};
	if (stat("/proc/self/exe", &st) != 0)
		return tfp_hash_bytes(TFP_VERSION, sizeof(TFP_VERSION), 0);
	const int64_t numbers[] = {st.st_mtim.tv_sec, st.st_mtim.tv_nsec, st.st_size};
	return tfp_hash_bytes(numbers, sizeof(numbers),
			      tfp_hash_bytes(TFP_VERSION, sizeof(TFP_VERSION), 0));
}

/* The user's cache folder by the XDG base directory specification. */
static bool default_folder(char out[PATH_MAX])
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n = -1;
	if (cache && cache[0] == '/')
		n = snprintf(out, PATH_MAX, "%s/tfprof", cache);
	else if (home && home[0] == '/')
		n = snprintf(out, PATH_MAX, "%s/.cache/tfprof", home);
	return n > 0 && n < PATH_MAX;
}

enum tfp_status tfp_results_open(struct tfp_result_cache **out,
				 const struct tfp_results_options *options, const char *logdir,
				 struct tfp_error *err)
{
	char folder[PATH_MAX], text[2048];
	*out = NULL;
	if (options->off)
		return TFP_OK;
	if (!options->folder && !default_folder(folder)) {
		tfp_log("results are not kept: there is no home folder; name a folder with "
			"--cache-dir");
		return TFP_OK;
	}
	enum tfp_status status =
		tfp_result_cache_new(out, options->folder ? options->folder : folder, logdir,
				     options->limit_bytes, tfp_build_stamp(), err);
	if (status == TFP_OK || status == TFP_NO_MEMORY ||
	    (options->folder && status == TFP_BAD_QUERY))
		return status;
	tfp_log("%s; going on without", tfp_error_text(err, text, sizeof(text)));
	return TFP_OK;
}
