/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other side of a capture: a program with a profiler server, played over
 * real HTTP/2 by libnghttp2, well-behaved or not as it is told. Shares nothing
 * with src/remote/, so that both cannot be wrong in the same way.
 *
 *     struct fake_profiler *f = fake_profiler_start(&(struct fake_config){.behave = "ok"});
 *     ... fake_profiler_port(f) ...
 *     fake_profiler_stop(f);
 */
#ifndef TFP_TESTS_SUPPORT_FAKE_PROFILER_H
#define TFP_TESTS_SUPPORT_FAKE_PROFILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What it can do, as behave:
 *   ok            sends a profile when its duration is over
 *   tool_data     the same in field 6, among other data, as TPU runtimes do
 *   twice         the profile in two fields 8
 *   old           writes it to its disk and sends none
 *   empty         nothing was traced
 *   status        a trailers-only answer of status and message
 *   late_status   the same after a whole profile
 *   busy          as if somebody else were profiling
 *   hang          accepts the request and never answers
 *   stall         stops after some bytes
 *   reset         RST_STREAM after some bytes
 *   hangup        closes the connection after some bytes
 *   drip          a few bytes a frame, with pauses
 *   html          HTTP 200 of another type
 *   http          an HTTP status
 *   http1         answers as an HTTP/1.1 server
 *   no_status     no trailers
 *   no_message    status 0 and no message
 *   short         the message ends before its length
 *   two           two messages
 *   compressed    the flag says so
 *   garbage       a message that is no protobuf
 *   cut           a message that ends within a field
 *   early         status as soon as the method is known, and RST_STREAM
 *   first_fails   status for the first request, ok after it
 */
struct fake_config {
	const char *behave;
	const void *profile; /* bytes of the XSpace; NULL: size bytes of a pattern */
	uint64_t size;
	uint64_t after;      /* bytes before something happens */
	unsigned pause_ms;   /* between frames of drip */
	unsigned status;     /* of gRPC or HTTP */
	const char *message; /* grpc-message, as it is sent */
	const char *disk;    /* for old: in place of the folder that is asked for */
	const char *text;    /* of Monitor; NULL: unimplemented */
	uint16_t port;       /* 0: any */
	bool tell;           /* a line for every request on stdout */
};

/* What the last Profile request said. */
struct fake_seen {
	unsigned profiles, terminates, monitors, cancelled; /* requests so far */
	char path[128], content_type[64], te[32], timeout[32], authority[300], encoding[64];
	char session[160], root[1024], host_name[300], terminated[160], expect[32];
	uint64_t duration_ms, option_duration_ms, start_ns, max_events, version, host_level,
		device_level, python_level;
	bool emit_xspace, enable_hlo, dataset_ops;
	unsigned tools, settings;
	size_t message_bytes;
};

struct fake_profiler;

/* NULL when it cannot be started. profile must outlive it. */
struct fake_profiler *fake_profiler_start(const struct fake_config *config);
uint16_t fake_profiler_port(const struct fake_profiler *f);
void fake_profiler_look(struct fake_profiler *f, struct fake_seen *seen);
/* Waits until that many Profile (or Terminate) requests have come; false after ten seconds. */
bool fake_profiler_wait(struct fake_profiler *f, unsigned profiles, unsigned terminates);
void fake_profiler_stop(struct fake_profiler *f);

/* Byte of the pattern at a place. */
uint8_t fake_profiler_byte(uint64_t at);

#endif
