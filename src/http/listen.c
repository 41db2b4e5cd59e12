/* SPDX-License-Identifier: Apache-2.0 */
#include "http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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

static bool is_any(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET6)
		return IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)address)->sin6_addr);
	return ((const struct sockaddr_in *)address)->sin_addr.s_addr == htonl(INADDR_ANY);
}

/* An address to open in a browser on this machine. */
static void write_url(struct tfp_listener *listener, const struct sockaddr_storage *address,
		      const struct tfp_listen_config *config)
{
	char host[INET6_ADDRSTRLEN] = "";
	bool v6 = address->ss_family == AF_INET6;
	if (v6) {
		const struct in6_addr *a = &((const struct sockaddr_in6 *)address)->sin6_addr;
		inet_ntop(AF_INET6, listener->wildcard ? &in6addr_loopback : a, host, sizeof(host));
	} else {
		struct in_addr a = ((const struct sockaddr_in *)address)->sin_addr;
		if (listener->wildcard)
			a.s_addr = htonl(INADDR_LOOPBACK);
		inet_ntop(AF_INET, &a, host, sizeof(host));
	}
	snprintf(listener->url, sizeof(listener->url), "http%s://%s%s%s:%u%s/",
		 config->tls ? "s" : "", v6 ? "[" : "", host, v6 ? "]" : "", listener->port,
		 config->prefix);
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

static enum tfp_status listen_at_host(struct tfp_listener *listener,
				      const struct tfp_listen_config *config, struct tfp_error *err)
{
	struct addrinfo hints = {
		.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
	struct addrinfo *found;
	struct sockaddr_storage address = {0};
	int error = getaddrinfo(config->host, NULL, &hints, &found);
	if (error) {
		tfp_fail(err, TFP_BAD_QUERY, "cannot listen at \"%s\": %s", config->host,
			 gai_strerror(error));
		tfp_error_set_hint(err, "give an address of this machine, such as 127.0.0.1");
		return TFP_BAD_QUERY;
	}
	socklen_t size = found->ai_addrlen;
	memcpy(&address, found->ai_addr, size);
	freeaddrinfo(found);

	unsigned tries = config->port ? config->further_ports : 0;
	for (unsigned i = 0; i <= tries && config->port + i <= UINT16_MAX; i++) {
		set_port(&address, (uint16_t)(config->port + i));
		listener->fd = try_listen(&address, size);
		if (listener->fd >= 0 || errno != EADDRINUSE)
			break;
	}
	if (listener->fd < 0) {
		error = errno;
		tfp_fail(err, TFP_IO, "cannot listen at %s, port %u: %s", config->host,
			 (unsigned)config->port, strerror(error));
		if (error == EADDRINUSE)
			tfp_error_set_hint(err, "another program has the port: --port 0 takes a "
						"free one");
		else if (error == EACCES)
			tfp_error_set_hint(err,
					   "ports below 1024 need privileges: try --port 6006");
		return TFP_IO;
	}
	if (getsockname(listener->fd, (struct sockaddr *)&address, &size) != 0)
		return tfp_fail(err, TFP_IO, "cannot tell the port: %s", strerror(errno));
	listener->port = port_of(&address);
	listener->public = !is_loopback(&address);
	listener->wildcard = is_any(&address);
	write_url(listener, &address, config);
	return TFP_OK;
}

/* ---- a socket in the file system ---- */

static enum tfp_status cannot_listen(const char *path, const char *why, const char *hint,
				     struct tfp_error *err)
{
	tfp_fail(err, TFP_IO, "cannot listen at unix:%s: %s", path, why);
	tfp_error_set_hint(err, "%s", hint);
	return TFP_IO;
}

/* Removes a socket that a dead server left at the path. Anything else stays. */
static enum tfp_status clear_path(const struct sockaddr_un *address, struct tfp_error *err)
{
	const char *path = address->sun_path;
	struct stat st;
	if (lstat(path, &st) != 0)
		return errno == ENOENT ? TFP_OK : cannot_listen(path, strerror(errno), "", err);
	if (!S_ISSOCK(st.st_mode))
		return cannot_listen(path, "a file that is not a socket is there",
				     "choose another path, or remove it yourself", err);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return cannot_listen(path, strerror(errno), "", err);
	int error =
		connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ? 0 : errno;
	close(fd);
	if (error != ECONNREFUSED && error != ENOENT)
		return cannot_listen(path,
				     error == 0 || error == EAGAIN ? "a server answers there"
								   : strerror(error),
				     "stop it, or choose another path", err);
	if (unlink(path) != 0 && errno != ENOENT)
		return cannot_listen(path, strerror(errno), "", err);
	return TFP_OK;
}

static enum tfp_status listen_at_path(struct tfp_listener *listener,
				      const struct tfp_listen_config *config, struct tfp_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = config->socket_path;
	struct stat st;
	if (path[0] == '\0' || strlen(path) >= sizeof(address.sun_path)) {
		tfp_fail(err, TFP_BAD_QUERY, "a socket's path has 1 to %zu bytes, not %zu",
			 sizeof(address.sun_path) - 1, strlen(path));
		tfp_error_set_hint(err,
				   "choose a shorter one, such as $XDG_RUNTIME_DIR/tfprof.sock");
		return TFP_BAD_QUERY;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	enum tfp_status status = clear_path(&address, err);
	if (status != TFP_OK)
		return status;
	listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* On Linux the file gets the descriptor's mode, so that there is no moment in which others
	 * could connect. Elsewhere the second call sets it before we listen. */
	if (listener->fd < 0 || fchmod(listener->fd, 0600) != 0 ||
	    bind(listener->fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
		return cannot_listen(path, strerror(errno), "the folder must exist and be writable",
				     err);
	memcpy(listener->socket_path, path, strlen(path) + 1);
	if (chmod(path, 0600) != 0 || lstat(path, &st) != 0 ||
	    listen(listener->fd, SOMAXCONN) != 0) {
		cannot_listen(path, strerror(errno), "", err);
		unlink(path);
		listener->socket_path[0] = '\0';
		return TFP_IO;
	}
	listener->device = st.st_dev;
	listener->inode = st.st_ino;
	snprintf(listener->url, sizeof(listener->url), "unix:%s", path);
	return TFP_OK;
}

enum tfp_status tfp_listen(struct tfp_listener *listener, const struct tfp_listen_config *config,
			   struct tfp_error *err)
{
	return config->socket_path ? listen_at_path(listener, config, err)
				   : listen_at_host(listener, config, err);
}

void tfp_listener_stop(struct tfp_listener *listener)
{
	struct stat st;
	if (listener->socket_path[0] && lstat(listener->socket_path, &st) == 0 &&
	    st.st_dev == listener->device && st.st_ino == listener->inode)
		unlink(listener->socket_path);
	listener->socket_path[0] = '\0';
}

void tfp_listener_close(struct tfp_listener *listener)
{
	tfp_listener_stop(listener);
	if (listener->fd >= 0)
		close(listener->fd);
	listener->fd = -1;
}
