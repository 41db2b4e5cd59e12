/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses of programs to ask, as people type them: "host:port", each with or
 * without "grpc://", IPv6 in brackets, several separated by commas. Pure; no
 * name is looked up here.
 *
 *     struct tfp_target targets[TFP_TARGETS_MAX];
 *     size_t count;
 *     tfp_targets_parse(targets, &count, "grpc://a:6009, [::1]:6010", &err);
 */
#ifndef TFP_REMOTE_TARGET_H
#define TFP_REMOTE_TARGET_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TFP_TARGETS_MAX      64u
#define TFP_HOST_NAME_MAX    253u
#define TFP_TARGET_RULES_MAX 64u

struct tfp_target {
	/* "host:port", with brackets around IPv6, as it is shown and sent. */
	char text[TFP_HOST_NAME_MAX + 16];
	/* Lower case, IPv6 in its shortest form and without brackets. */
	char host[TFP_HOST_NAME_MAX + 1];
	uint16_t port;
};

/* A rule about which addresses may be asked. */
struct tfp_target_rule {
	char host[TFP_HOST_NAME_MAX + 1]; /* as tfp_target's */
	uint16_t port;                    /* 0: any */
};

/* One address in size bytes of text. TFP_BAD_QUERY with what is wrong with it. */
enum tfp_status tfp_target_parse(struct tfp_target *target, const char *text, size_t size,
				 struct tfp_error *err) TFP_CHECK;
/* A list; targets has room for TFP_TARGETS_MAX. TFP_BAD_QUERY also for an empty
 * list, and for one address given twice. */
enum tfp_status tfp_targets_parse(struct tfp_target *targets, size_t *count, const char *list,
				  struct tfp_error *err) TFP_CHECK;
/* "HOST[:PORT],..."; rules has room for TFP_TARGET_RULES_MAX. */
enum tfp_status tfp_target_rules_parse(struct tfp_target_rule *rules, size_t *count,
				       const char *list, struct tfp_error *err) TFP_CHECK;
/* Whether a rule names the target's host and port as they are written. No name is resolved, so none
 * can be made to mean something else. */
bool tfp_target_allowed(const struct tfp_target *target, const struct tfp_target_rule *rules,
			size_t count);

/* The name of the capture's file without ".xplane.pb", as the profiler's own client makes it: any
 * character but letters, digits, '.', '_' and '-' becomes '_'. out has room for
 * sizeof(target->text). */
void tfp_target_file_stem(const struct tfp_target *target, char *out);

#endif
