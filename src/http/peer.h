/*
 * Whether somebody is still at the other end of a connection. TCP does not tell who has closed a
 * connection from who has only nothing more to send; within one machine the kernel does.
 */
#ifndef TFP_HTTP_PEER_H
#define TFP_HTTP_PEER_H

enum tfp_peer {
	TFP_PEER_OPEN,
	TFP_PEER_CLOSED,
	TFP_PEER_UNKNOWN /* on another machine, or the kernel does not say */
};

/* fd: a connected socket that was hung up on in one direction. Takes some microseconds. */
enum tfp_peer tfp_peer(int fd);

#endif
