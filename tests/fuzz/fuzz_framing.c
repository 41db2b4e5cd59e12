/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a connection. What passes is HTTP/1.1 that passes again unchanged, and it does
 * not matter in which pieces they came. */
#include "fuzz.h"

#include "base/alloc.h"
#include "http/framing.h"

#include <string.h>

struct passed {
	char *bytes;
	size_t size;
	unsigned heads;
	enum tfp_framing_fault fault;
};

static struct passed pass(const char *bytes, size_t size, size_t piece)
{
	struct tfp_framing f;
	/* A refused head is the longest that comes of nothing. */
	size_t room = 2 * size + 256;
	struct passed out = {.bytes = malloc(room)};
	MUST(out.bytes);
	tfp_framing_init(&f);
	for (size_t at = 0; at < size; at += piece) {
		size_t n = size - at < piece ? size - at : piece;
		tfp_framing_feed(&f, bytes + at, n);
		MUST(!tfp_framing_broken(&f));
		for (size_t got; (got = tfp_framing_take(&f, out.bytes + out.size, piece));)
			MUST((out.size += got) <= room - piece);
	}
	out.heads = f.heads;
	out.fault = f.fault;
	MUST(tfp_framing_fault(&f, f.heads) == f.fault);
	MUST(f.fault == TFP_FRAMING_FINE || f.state == TFP_FRAMING_REFUSED);
	MUST(tfp_framing_status(f.fault) >= 200 && tfp_framing_text(f.fault));
	tfp_framing_release(&f);
	return out;
}

/* Lines end in CR LF, and there is nothing else below a blank but tabs; not in bodies. */
static void check_lines(const struct passed *p)
{
	bool body = memmem(p->bytes, p->size, "Content-Length", 14) ||
		    memmem(p->bytes, p->size, "Transfer-Encoding", 17);
	for (size_t i = 0; i < p->size && !body; i++) {
		unsigned char c = (unsigned char)p->bytes[i];
		MUST(c >= ' ' || c == '\r' || c == '\n' || c == '\t');
		MUST(c != '\n' || (i && p->bytes[i - 1] == '\r'));
		MUST(c != '\r' || (i + 1 < p->size && p->bytes[i + 1] == '\n'));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	if (size == 0)
		return 0;
	struct passed whole = pass(bytes, size, size), single = pass(bytes, size, 1);
	MUST(whole.size == single.size && memcmp(whole.bytes, single.bytes, whole.size) == 0);
	MUST(whole.heads == single.heads && whole.fault == single.fault);
	check_lines(&whole);
	if (whole.size) {
		struct passed again = pass(whole.bytes, whole.size, 7);
		MUST(again.fault == TFP_FRAMING_FINE && again.heads == whole.heads);
		/* All but the name of cookies, which does not come in. */
		if (!memmem(whole.bytes, whole.size, TFP_FRAMING_COOKIE,
			    strlen(TFP_FRAMING_COOKIE)))
			MUST(again.size == whole.size &&
			     memcmp(again.bytes, whole.bytes, whole.size) == 0);
		free(again.bytes);
	}
	free(whole.bytes);
	free(single.bytes);
	return 0;
}
