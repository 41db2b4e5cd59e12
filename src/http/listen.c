#include "http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void tfp_listener_init(struct tfp_listener *listener)
{
	*listener = (struct tfp_listener){.fd = -1};
}

static uint16_t port_of(const struct sockaddr_storage *address)
{
	return ntohs(address->ss_family == AF_INET6
			     ? ((const struct sockaddr_in6 *)address)->sin6_port
			     : ((const struct sockaddr_in *)address)->sin_port);
}

static void set_port(struct sockaddr_storage *address, uint16_t port)
{
	if (address->ss_family == AF_INET6)
		((struct sockaddr_in6 *)address)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)address)->sin_port = htons(port);
}

static bool is_loopback(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET6) {
		const struct in6_addr *a = &((const struct sockaddr_in6 *)address)->sin6_addr;
		return IN6_IS_ADDR_LOOPBACK(a) ||
		       (IN6_IS_ADDR_V4MAPPED(a) && a->s6_addr[12] == 127);
	}
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
	return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
}

/* An address to open in a browser on this machine. */
static void write_url(struct tfp_listener *listener, const struct sockaddr_storage *address,
		      const char *prefix)
{
	char host[INET6_ADDRSTRLEN] = "";
	if (address->ss_family == AF_INET6) {
		const struct in6_addr *a = &((const struct sockaddr_in6 *)address)->sin6_addr;
		inet_ntop(AF_INET6, IN6_IS_ADDR_UNSPECIFIED(a) ? &in6addr_loopback : a, host,
			  sizeof(host));
	} else {
		struct in_addr a = ((const struct sockaddr_in *)address)->sin_addr;
		if (a.s_addr == htonl(INADDR_ANY))
			a.s_addr = htonl(INADDR_LOOPBACK);
		inet_ntop(AF_INET, &a, host, sizeof(host));
	}
	bool v6 = address->ss_family == AF_INET6;
	snprintf(listener->url, sizeof(listener->url), "http://%s%s%s:%u%s/", v6 ? "[" : "", host,
		 v6 ? "]" : "", listener->port, prefix);
}

static int try_listen(const struct sockaddr_storage *address, socklen_t size)
{
	const int on = 1, off = 0;
	int fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (address->ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, (const struct sockaddr *)address, size) == 0 && listen(fd, SOMAXCONN) == 0)
		return fd;
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

enum tfp_status tfp_listen(struct tfp_listener *listener, const char *host, uint16_t port,
			   unsigned further_ports, const char *prefix, struct tfp_error *err)
{
	struct addrinfo hints = {
		.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
	struct addrinfo *found;
	struct sockaddr_storage address = {0};
	int error = getaddrinfo(host, NULL, &hints, &found);
	if (error) {
		tfp_fail(err, TFP_BAD_QUERY, "cannot listen at \"%s\": %s", host,
			 gai_strerror(error));
		tfp_error_set_hint(err, "give an address of this machine, such as 127.0.0.1");
		return TFP_BAD_QUERY;
	}
	socklen_t size = found->ai_addrlen;
	memcpy(&address, found->ai_addr, size);
	freeaddrinfo(found);

	unsigned tries = port ? further_ports : 0;
	for (unsigned i = 0; i <= tries && port + i <= UINT16_MAX; i++) {
		set_port(&address, (uint16_t)(port + i));
		listener->fd = try_listen(&address, size);
		if (listener->fd >= 0 || errno != EADDRINUSE)
			break;
	}
	if (listener->fd < 0) {
		error = errno;
		tfp_fail(err, TFP_IO, "cannot listen at %s, port %u: %s", host, (unsigned)port,
			 strerror(error));
		if (error == EADDRINUSE)
			tfp_error_set_hint(err, "another program has the port: --port 0 takes a "
						"free one");
		else if (error == EACCES)
			tfp_error_set_hint(err, "ports below 1024 need rights: try --port 6006");
		return TFP_IO;
	}
	if (getsockname(listener->fd, (struct sockaddr *)&address, &size) != 0)
		return tfp_fail(err, TFP_IO, "cannot tell the port: %s", strerror(errno));
	listener->port = port_of(&address);
	listener->public = !is_loopback(&address);
	write_url(listener, &address, prefix);
	return TFP_OK;
}

void tfp_listener_close(struct tfp_listener *listener)
{
	if (listener->fd >= 0)
		close(listener->fd);
	listener->fd = -1;
}
