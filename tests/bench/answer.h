/* SPDX-License-Identifier: Apache-2.0 */
/* The server's answers without the server: the same code as a request, but for the socket.
 * All functions end the program when something fails. */
#ifndef TFP_TESTS_BENCH_ANSWER_H
#define TFP_TESTS_BENCH_ANSWER_H

#include "http/router.h"

/* Says what failed, and why if err is not NULL, and ends the program. */
_Noreturn void bench_die(const char *what, const struct tfp_error *err);

/* For the captures of a log directory, of which none is open yet. results: folder of the result
 * cache, or NULL for none. pool is borrowed and may be NULL. */
void bench_open(struct tfp_http_app *app, const char *logdir, const char *results,
		struct tfp_pool *pool);
void bench_close(struct tfp_http_app *app);

/* The name of the directory's first run, escaped for an address. */
void bench_run_name(const struct tfp_http_app *app, char *name, size_t size);
/* Answers a request for the address into an uninitialised reply; release it. encoding: what the
 * client accepts, or NULL. */
void bench_ask(const struct tfp_http_app *app, const char *uri, const char *encoding,
	       struct tfp_reply *reply);

/* From nothing to the bytes of a tool's answer for the first run of the directory and a host
 * (NULL: all). Returns the bytes of the answer. */
unsigned long bench_first_answer(const char *logdir, const char *results, const char *tool,
				 const char *host, struct tfp_pool *pool);

#endif
