/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mapped_file.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLOTS 4096u

/* The signal handler may look at atomics only, and take no lock. A slot is taken by setting start
 * from 0, and valid when end is set. */
static struct slot {
	atomic_uintptr_t start, end;
	atomic_bool cut;
} slots[SLOTS];

static long page_size;

static void on_sigbus(int number, siginfo_t *info, void *context)
{
	int error = errno;
	uintptr_t at = (uintptr_t)info->si_addr;
	(void)context;
	for (unsigned i = 0; i < SLOTS; i++) {
		uintptr_t start = atomic_load(&slots[i].start), end = atomic_load(&slots[i].end);
		if (start == 0 || at < start || at >= end)
			continue;
		/* Everything behind is gone as well: one fault for all of it. */
		uintptr_t page = at & ~((uintptr_t)page_size - 1);
		/* The system call itself: what sanitizers put in mmap's place is not
		 * made for signal handlers. */
		if (syscall(SYS_mmap, page, end - page, PROT_READ,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == -1)
			break;
		atomic_store(&slots[i].cut, true);
		errno = error;
		return;
	}
	/* None of ours: the instruction is run again, and ends the process. */
	signal(number, SIG_DFL);
	errno = error;
}

enum tfp_status tfp_mapped_file_guard(struct tfp_error *err)
{
	struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_RESTART};
	page_size = sysconf(_SC_PAGESIZE);
	sigemptyset(&action.sa_mask);
	if (page_size <= 0 || sigaction(SIGBUS, &action, NULL) != 0)
		return tfp_fail(err, TFP_IO, "cannot handle SIGBUS: %s", strerror(errno));
	return TFP_OK;
}

static unsigned take_slot(uintptr_t start, uintptr_t end)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		uintptr_t none = 0;
		if (atomic_compare_exchange_strong(&slots[i].start, &none, start)) {
			atomic_store(&slots[i].cut, false);
			atomic_store(&slots[i].end, end);
			return i + 1;
		}
	}
	return 0;
}

static void give_slot(unsigned slot)
{
	if (slot) {
		atomic_store(&slots[slot - 1].end, 0);
		atomic_store(&slots[slot - 1].start, 0);
	}
}

enum tfp_status tfp_mapped_file_open(struct tfp_mapped_file *out, int fd, const char *name,
				     struct tfp_error *err)
{
	struct stat st;
	enum tfp_status status;
	*out = (struct tfp_mapped_file){0};
	if (fstat(fd, &st) != 0) {
		status = tfp_fail(err, TFP_IO, "cannot examine it: %s", strerror(errno));
		goto failed;
	}
	if (!S_ISREG(st.st_mode)) {
		status = tfp_fail(err, TFP_IO, "not a regular file");
		goto failed;
	}
	if (st.st_size == 0)
		return TFP_OK;
	if ((uintmax_t)st.st_size > PTRDIFF_MAX) {
		status = tfp_fail(err, TFP_TOO_LARGE, "too large to be mapped");
		goto failed;
	}
	void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED) {
		status = tfp_fail(err, errno == ENOMEM ? TFP_NO_MEMORY : TFP_IO,
				  "cannot map it: %s", strerror(errno));
		goto failed;
	}
	out->data = data;
	out->size = (size_t)st.st_size;
	out->slot = take_slot((uintptr_t)data, (uintptr_t)data + out->size);
	if (!out->slot) {
		tfp_mapped_file_release(out);
		status = tfp_fail(err, TFP_TOO_LARGE, "more than %u files are open", SLOTS);
		goto failed;
	}
	return TFP_OK;

failed:
	tfp_error_set_file(err, name);
	return status;
}

void tfp_mapped_file_release(struct tfp_mapped_file *file)
{
	/* First: from munmap on the addresses may be another file's. */
	give_slot(file->slot);
	if (file->data)
		munmap((void *)(uintptr_t)file->data, file->size);
	*file = (struct tfp_mapped_file){0};
}

bool tfp_mapped_file_was_cut(const struct tfp_mapped_file *file)
{
	return file->slot && atomic_load(&slots[file->slot - 1].cut);
}
