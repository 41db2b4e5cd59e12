/* A first answer of the server's tools, without the server. */
#ifndef TFP_TESTS_BENCH_ANSWER_H
#define TFP_TESTS_BENCH_ANSWER_H

#include "base/pool.h"

/* From nothing to the bytes of the answer for a run of the directory (its first) and a host (NULL:
 * all), as the server's first request does it. results: folder of the result cache, or
 * NULL for none. Ends the program when it fails. Returns the bytes of the answer. */
unsigned long bench_first_answer(const char *logdir, const char *results, const char *tool,
				 const char *host, struct tfp_pool *pool);

#endif
