#include "base/mapped_file.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

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
	return TFP_OK;

failed:
	tfp_error_set_file(err, name);
	return status;
}

void tfp_mapped_file_release(struct tfp_mapped_file *file)
{
	if (file->data)
		munmap((void *)(uintptr_t)file->data, file->size);
	*file = (struct tfp_mapped_file){0};
}
