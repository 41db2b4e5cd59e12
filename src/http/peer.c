/* SPDX-License-Identifier: Apache-2.0 */
#include "http/peer.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Both ends, as the kernel is asked about them. False when they are not on one machine. An
 * address of IPv4 within IPv6 is of IPv4 at the other end. */
static bool read_ends(int fd, struct inet_diag_req_v2 *request)
{
	struct sockaddr_storage ours, theirs;
	socklen_t size = sizeof(ours), other_size = sizeof(theirs);
	if (getsockname(fd, (struct sockaddr *)&ours, &size) != 0 ||
	    getpeername(fd, (struct sockaddr *)&theirs, &other_size) != 0 ||
	    ours.ss_family != theirs.ss_family)
		return false;
	if (ours.ss_family == AF_INET6) {
		const struct sockaddr_in6 *a = (const struct sockaddr_in6 *)&theirs;
		const struct sockaddr_in6 *b = (const struct sockaddr_in6 *)&ours;
		bool mapped = IN6_IS_ADDR_V4MAPPED(&a->sin6_addr);
		size_t from = mapped ? 12 : 0;
		request->sdiag_family = mapped ? AF_INET : AF_INET6;
		request->id.idiag_sport = a->sin6_port;
		request->id.idiag_dport = b->sin6_port;
		memcpy(request->id.idiag_src, a->sin6_addr.s6_addr + from, 16 - from);
		memcpy(request->id.idiag_dst, b->sin6_addr.s6_addr + from, 16 - from);
	} else if (ours.ss_family == AF_INET) {
		const struct sockaddr_in *a = (const struct sockaddr_in *)&theirs;
		const struct sockaddr_in *b = (const struct sockaddr_in *)&ours;
		request->sdiag_family = AF_INET;
		request->id.idiag_sport = a->sin_port;
		request->id.idiag_dport = b->sin_port;
		memcpy(request->id.idiag_src, &a->sin_addr, sizeof(a->sin_addr));
		memcpy(request->id.idiag_dst, &b->sin_addr, sizeof(b->sin_addr));
	} else {
		return false;
	}
	bool loops =
		request->sdiag_family == AF_INET && ntohl(request->id.idiag_src[0]) >> 24 == 127;
	return loops || memcmp(request->id.idiag_src, request->id.idiag_dst,
			       sizeof(request->id.idiag_src)) == 0;
}

static enum tfp_peer read_answer(const void *bytes, ssize_t size)
{
	const struct nlmsghdr *head = bytes;
	if (size < (ssize_t)sizeof(*head) || head->nlmsg_len > (size_t)size)
		return TFP_PEER_UNKNOWN;
	if (head->nlmsg_type == NLMSG_ERROR) {
		const struct nlmsgerr *error = NLMSG_DATA(head);
		return head->nlmsg_len >= NLMSG_LENGTH(sizeof(*error)) && error->error == -ENOENT
			       ? TFP_PEER_CLOSED
			       : TFP_PEER_UNKNOWN;
	}
	const struct inet_diag_msg *found = NLMSG_DATA(head);
	if (head->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    head->nlmsg_len < NLMSG_LENGTH(sizeof(*found)))
		return TFP_PEER_UNKNOWN;
	/* A socket that no process has open any more has no inode. */
	return found->idiag_inode ? TFP_PEER_OPEN : TFP_PEER_CLOSED;
}

enum tfp_peer tfp_peer(int fd)
{
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 body;
	} request = {
		.head = {.nlmsg_len = sizeof(request),
			 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST},
		.body = {.sdiag_protocol = IPPROTO_TCP,
			 .idiag_states = ~0u,
			 .id.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}},
	};
	_Alignas(struct nlmsghdr) char answer[1024];
	if (!read_ends(fd, &request.body))
		return TFP_PEER_UNKNOWN;
	int kernel = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (kernel < 0)
		return TFP_PEER_UNKNOWN;
	ssize_t size = -1;
	if (send(kernel, &request, sizeof(request), 0) == (ssize_t)sizeof(request))
		size = recvfrom(kernel, answer, sizeof(answer), MSG_DONTWAIT, NULL, NULL);
	close(kernel);
	return read_answer(answer, size);
}
