/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/target.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SCHEME      "grpc://"
#define HOST_LETTER "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"

struct piece {
	const char *at;
	size_t size;
};

static struct piece trimmed(const char *text, size_t size)
{
	while (size && strchr(" \t\r\n", text[0])) {
		text++;
		size--;
	}
	while (size && strchr(" \t\r\n", text[size - 1]))
		size--;
	return (struct piece){text, size};
}

/* For a message: as much as is worth showing. */
static int shown(struct piece p)
{
	return p.size < 100 ? (int)p.size : 100;
}

static enum tfp_status bad(struct piece p, const char *why, struct tfp_error *err)
{
	tfp_fail(err, TFP_BAD_QUERY, "\"%.*s\" is not an address: %s", shown(p), p.at, why);
	tfp_error_set_hint(err, "give host:port, such as localhost:6009 or [::1]:6009");
	return TFP_BAD_QUERY;
}

static bool read_port(const char *text, size_t size, uint16_t *port)
{
	unsigned n = 0;
	if (size == 0 || size > 5)
		return false;
	for (size_t i = 0; i < size; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		n = n * 10 + (unsigned)(text[i] - '0');
	}
	*port = (uint16_t)n;
	return n > 0 && n <= UINT16_MAX;
}

/* Writes a host as it is compared; brackets are gone already. */
static const char *read_host(const char *text, size_t size, bool v6, char *out)
{
	if (size == 0)
		return "the host is missing";
	if (size > TFP_HOST_NAME_MAX)
		return "the host's name is too long";
	for (size_t i = 0; i < size; i++)
		out[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] | 0x20) : text[i];
	out[size] = '\0';
	if (v6) {
		struct in6_addr address;
		/* A zero byte within would end the text early. */
		if (strlen(out) != size || inet_pton(AF_INET6, out, &address) != 1)
			return "what is in brackets is not an IPv6 address";
		inet_ntop(AF_INET6, &address, out, TFP_HOST_NAME_MAX + 1);
		return NULL;
	}
	if (strspn(out, HOST_LETTER) != size)
		return "a host's name has letters, digits, '-', '.' and '_' only";
	if (out[0] == '.' || out[0] == '-')
		return "a host's name begins with a letter or a digit";
	return NULL;
}

/* Splits "host:port" or "[host]:port"; the port may be missing where that is
 * allowed. Returns what is wrong, or NULL. */
static const char *read_address(struct piece p, bool port_needed, char *host, uint16_t *port)
{
	const char *rest, *why;
	const char *end = p.at + p.size;
	bool v6 = p.size && p.at[0] == '[';
	if (v6) {
		rest = memchr(p.at, ']', p.size);
		if (!rest)
			return "the bracket is not closed";
		why = read_host(p.at + 1, (size_t)(rest - p.at - 1), true, host);
		rest++;
	} else {
		rest = memchr(p.at, ':', p.size);
		if (rest && memchr(rest + 1, ':', (size_t)(end - rest - 1)))
			return "more than one colon; an IPv6 address needs brackets";
		if (!rest)
			rest = end;
		why = read_host(p.at, (size_t)(rest - p.at), false, host);
	}
	if (why)
		return why;
	*port = 0;
	if (rest == end)
		return port_needed ? "the port is missing" : NULL;
	if (*rest != ':' || !read_port(rest + 1, (size_t)(end - rest - 1), port))
		return "the port is not a number from 1 to 65535";
	return NULL;
}

enum tfp_status tfp_target_parse(struct tfp_target *target, const char *text, size_t size,
				 struct tfp_error *err)
{
	struct piece whole = trimmed(text, size), p = whole;
	*target = (struct tfp_target){0};
	if (p.size >= strlen(SCHEME) && strncasecmp(p.at, SCHEME, strlen(SCHEME)) == 0) {
		p.at += strlen(SCHEME);
		p.size -= strlen(SCHEME);
		if (p.size && p.at[p.size - 1] == '/')
			p.size--;
	}
	const char *why = read_address(p, true, target->host, &target->port);
	if (why)
		return bad(whole, why, err);
	bool v6 = strchr(target->host, ':') != NULL;
	snprintf(target->text, sizeof(target->text), "%s%s%s:%u", v6 ? "[" : "", target->host,
		 v6 ? "]" : "", (unsigned)target->port);
	return TFP_OK;
}

enum tfp_status tfp_targets_parse(struct tfp_target *targets, size_t *count, const char *list,
				  struct tfp_error *err)
{
	*count = 0;
	for (const char *at = list; *at;) {
		size_t size = strcspn(at, ",");
		/* A comma too many at an end is no address. */
		if (trimmed(at, size).size) {
			if (*count == TFP_TARGETS_MAX)
				return tfp_fail(err, TFP_BAD_QUERY, "more than %u addresses",
						TFP_TARGETS_MAX);
			struct tfp_target *t = &targets[*count];
			enum tfp_status status = tfp_target_parse(t, at, size, err);
			if (status != TFP_OK)
				return status;
			for (size_t i = 0; i < *count; i++) {
				if (strcmp(targets[i].text, t->text) == 0)
					return tfp_fail(err, TFP_BAD_QUERY, "%s is given twice",
							t->text);
			}
			++*count;
		}
		at += size + (at[size] == ',');
	}
	if (*count)
		return TFP_OK;
	tfp_fail(err, TFP_BAD_QUERY, "no address of a program to capture from");
	tfp_error_set_hint(err, "give host:port, such as localhost:6009");
	return TFP_BAD_QUERY;
}

enum tfp_status tfp_target_rules_parse(struct tfp_target_rule *rules, size_t *count,
				       const char *list, struct tfp_error *err)
{
	*count = 0;
	for (const char *at = list; *at;) {
		size_t size = strcspn(at, ",");
		struct piece p = trimmed(at, size);
		if (p.size) {
			if (*count == TFP_TARGET_RULES_MAX)
				return tfp_fail(err, TFP_BAD_QUERY, "more than %u addresses",
						TFP_TARGET_RULES_MAX);
			struct tfp_target_rule *rule = &rules[(*count)++];
			const char *why = read_address(p, false, rule->host, &rule->port);
			if (why)
				return bad(p, why, err);
		}
		at += size + (at[size] == ',');
	}
	return *count ? TFP_OK : tfp_fail(err, TFP_BAD_QUERY, "the list of addresses is empty");
}

bool tfp_target_allowed(const struct tfp_target *target, const struct tfp_target_rule *rules,
			size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(rules[i].host, target->host) == 0 &&
		    (rules[i].port == 0 || rules[i].port == target->port))
			return true;
	}
	return false;
}

void tfp_target_file_stem(const struct tfp_target *target, char *out)
{
	snprintf(out, sizeof(target->text), "%s:%u", target->host, (unsigned)target->port);
	for (char *p = out; *p; p++) {
		if (!strchr(HOST_LETTER, *p))
			*p = '_';
	}
}
