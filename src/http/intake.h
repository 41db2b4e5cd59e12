/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives libmicrohttpd the bytes of a connection that tfp_framing has passed, and nothing else.
 * Some versions of libmicrohttpd read requests loosely, some answer wrong ones twice, and none
 * lets a program see the bytes. So intake.c defines recv and gnutls_record_recv, which
 * libmicrohttpd calls, whether it is linked as an archive or shared. For descriptors that are
 * not entered here they do what they always do.
 *
 * An intake belongs to the thread of its connection.
 */
#ifndef TFP_HTTP_INTAKE_H
#define TFP_HTTP_INTAKE_H

#include "http/framing.h"
#include "http/limits.h"

struct tfp_intake;

/* A connection begins. fd must stay open until after tfp_intake_free. client may be NULL. Returns
 * NULL without memory: then nothing that is read from the connection may be believed. */
struct tfp_intake *tfp_intake_new(int fd, bool encrypted, struct tfp_limits *limits,
				  struct tfp_client *client);
/* Accepts NULL. */
void tfp_intake_free(struct tfp_intake *intake);
struct tfp_client *tfp_intake_client(const struct tfp_intake *intake);

/* libmicrohttpd has read a request's first line. Returns the request's number on its connection,
 * from 1; 0 when no such request went through here. */
unsigned tfp_intake_begin(struct tfp_intake *intake);
/* Whether the request has to be refused, and why. A fault of its body is known at its end. */
enum tfp_framing_fault tfp_intake_fault(const struct tfp_intake *intake, unsigned number);
/* Whether the client has sent its last request, and this is it. */
bool tfp_intake_is_last(const struct tfp_intake *intake, unsigned number);
/* A request has ended: the client is between two, or has begun the next. */
void tfp_intake_end(struct tfp_intake *intake);

#endif
