/* SPDX-License-Identifier: Apache-2.0 */
/* Fortified headers define the functions below. */
#undef _FORTIFY_SOURCE
#include "http/intake.h"

#include "base/alloc.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdatomic.h>
#include <sys/socket.h>

/* Descriptors are found in blocks, so that a limit of a million of them costs nothing. */
#define BLOCK  1024
#define BLOCKS 4096
#define PIECE  ((size_t)16 << 10)
/* Pieces read at once. Only a client whose request was refused sends more that come to nothing. */
#define PIECES 64

struct tfp_intake {
	int fd;
	bool encrypted, ended; /* ended: the client sends no more */
	unsigned begun;        /* requests */
	struct tfp_framing framing;
	struct tfp_limits *limits;
	struct tfp_client *client;
};

typedef _Atomic(struct tfp_intake *) place;
static _Atomic(place *) blocks[BLOCKS];

static place *find_place(int fd)
{
	if (fd < 0 || fd >= BLOCK * BLOCKS)
		return NULL;
	place *block = atomic_load_explicit(&blocks[fd / BLOCK], memory_order_acquire);
	return block ? &block[fd % BLOCK] : NULL;
}

/* Blocks are never freed: a thread may just be looking. */
static place *make_place(int fd)
{
	if (fd < 0 || fd >= BLOCK * BLOCKS)
		return NULL;
	place *block = NULL;
	if (!atomic_load(&blocks[fd / BLOCK])) {
		place *made = tfp_calloc(BLOCK, sizeof(*made));
		if (made && !atomic_compare_exchange_strong(&blocks[fd / BLOCK], &block, made))
			tfp_free(made);
	}
	return find_place(fd);
}

static struct tfp_intake *find(int fd)
{
	place *at = find_place(fd);
	return at ? atomic_load_explicit(at, memory_order_acquire) : NULL;
}

struct tfp_intake *tfp_intake_new(int fd, bool encrypted, struct tfp_limits *limits,
				  struct tfp_client *client)
{
	struct tfp_intake *intake = tfp_calloc(1, sizeof(*intake));
	place *at = make_place(fd);
	if (!intake || !at) {
		tfp_free(intake);
		return NULL;
	}
	intake->fd = fd;
	intake->encrypted = encrypted;
	intake->limits = limits;
	intake->client = client;
	tfp_framing_init(&intake->framing);
	atomic_store_explicit(at, intake, memory_order_release);
	return intake;
}

void tfp_intake_free(struct tfp_intake *intake)
{
	if (!intake)
		return;
	atomic_store_explicit(find_place(intake->fd), NULL, memory_order_release);
	tfp_framing_release(&intake->framing);
	tfp_free(intake);
}

struct tfp_client *tfp_intake_client(const struct tfp_intake *intake)
{
	return intake ? intake->client : NULL;
}

unsigned tfp_intake_begin(struct tfp_intake *intake)
{
	if (!intake || intake->begun >= intake->framing.heads)
		return 0;
	return ++intake->begun;
}

enum tfp_framing_fault tfp_intake_fault(const struct tfp_intake *intake, unsigned number)
{
	return tfp_framing_fault(&intake->framing, number);
}

bool tfp_intake_is_last(const struct tfp_intake *intake, unsigned number)
{
	return intake->ended && number == intake->framing.heads;
}

void tfp_intake_end(struct tfp_intake *intake)
{
	enum tfp_phase phase = TFP_PHASE_IDLE;
	if (!intake)
		return;
	if (intake->begun < intake->framing.heads || tfp_framing_within_head(&intake->framing))
		phase = TFP_PHASE_HEAD;
	tfp_client_phase(intake->limits, intake->client, phase, 0);
}

/* ---- between the socket and libmicrohttpd ---- */

enum what { DATA, LATER, END };

struct source {
	int fd, flags;
	gnutls_session_t session; /* NULL: in the clear */
	ssize_t got;              /* the last answer */
};

static enum what read_piece(struct source *from, char *to, size_t size)
{
	if (from->session) {
		/* gnutls_record_recv by another name, and numbered. */
		unsigned char sequence[8];
		from->got = gnutls_record_recv_seq(from->session, to, size, sequence);
		if (from->got == GNUTLS_E_AGAIN || from->got == GNUTLS_E_INTERRUPTED)
			return LATER;
	} else {
		from->got = recvfrom(from->fd, to, size, from->flags, NULL, NULL);
		if (from->got < 0 && (errno == EAGAIN || errno == EINTR))
			return LATER;
	}
	return from->got > 0 ? DATA : END;
}

/* A head counts from its first byte, as libmicrohttpd sees it only when it is whole. */
static void note_phase(struct tfp_intake *intake)
{
	if (intake->begun == intake->framing.heads && tfp_framing_within_head(&intake->framing))
		tfp_client_phase(intake->limits, intake->client, TFP_PHASE_HEAD, 0);
}

/* When libmicrohttpd gets less than it asked for, it waits until more comes. So everything that
 * has come is read, and as much as fits is handed out. */
static ssize_t take(struct tfp_intake *intake, char *to, size_t room, struct source *from)
{
	char piece[PIECE];
	size_t size = tfp_framing_take(&intake->framing, to, room);
	enum what what = DATA;
	for (int i = 0; what == DATA && size < room && i < PIECES; i++) {
		what = read_piece(from, piece, sizeof(piece));
		if (what == DATA)
			tfp_framing_feed(&intake->framing, piece, (size_t)from->got);
		size += tfp_framing_take(&intake->framing, to + size, room - size);
	}
	intake->ended |= what == END;
	note_phase(intake);
	if (tfp_framing_broken(&intake->framing)) {
		errno = ECONNRESET;
		return from->session ? GNUTLS_E_MEMORY_ERROR : -1;
	}
	if (size || what == END)
		return size ? (ssize_t)size : from->got;
	errno = EAGAIN;
	return from->session ? GNUTLS_E_AGAIN : -1;
}

ssize_t recv(int fd, void *to, size_t room, int flags)
{
	struct tfp_intake *intake = find(fd);
	if (!intake || intake->encrypted || (flags & MSG_PEEK))
		return recvfrom(fd, to, room, flags, NULL, NULL);
	struct source from = {.fd = fd, .flags = flags};
	return take(intake, to, room, &from);
}

ssize_t gnutls_record_recv(gnutls_session_t session, void *to, size_t room)
{
	struct source from = {.session = session};
	struct tfp_intake *intake = find(gnutls_transport_get_int(session));
	if (intake && intake->encrypted)
		return take(intake, to, room, &from);
	read_piece(&from, to, room);
	return from.got;
}
