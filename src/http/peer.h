/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells whether somebody is still at the other end of a connection. By TCP alone, a client that
 * has closed its connection looks like one that only has nothing more to send. Within one
 * machine the kernel knows.
 */
#ifndef TFP_HTTP_PEER_H
#define TFP_HTTP_PEER_H

enum tfp_peer {
	TFP_PEER_OPEN,
	TFP_PEER_CLOSED,
	TFP_PEER_UNKNOWN /* on another machine, or the kernel does not say */
};

/* fd: a connected socket whose other end sends no more. Takes some microseconds. */
enum tfp_peer tfp_peer(int fd);

#endif
