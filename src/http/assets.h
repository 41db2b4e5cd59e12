/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page's files, compiled into the program. scripts/embed.py writes the
 * table from the page's build.
 */
#ifndef TFP_HTTP_ASSETS_H
#define TFP_HTTP_ASSETS_H

#include <stddef.h>

struct tfp_asset {
	const char *path; /* as requested: "/index.html" */
	const char *content_type;
	const unsigned char *data;
	size_t size;
	const unsigned char *gzip_data; /* NULL where gzip does not make it smaller */
	size_t gzip_size;
	const char *etag; /* weak, with quotes, of the content */
};

extern const struct tfp_asset tfp_assets[];
extern const size_t tfp_asset_count;

#endif
