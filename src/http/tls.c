/* SPDX-License-Identifier: Apache-2.0 */
#include "http/tls.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILE_MAX ((size_t)1 << 20)

static enum tfp_status about(const char *path, enum tfp_status status, struct tfp_error *err)
{
	tfp_error_set_file(err, path);
	return status;
}

static enum tfp_status read_file(const char *path, const char *what, char **out, bool *is_open,
				 struct tfp_error *err)
{
	struct stat st;
	/* Not blocking: the file may be a pipe. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return about(path,
			     tfp_fail(err, TFP_IO, "cannot open the %s: %s", what, strerror(errno)),
			     err);
	char *text = tfp_malloc(FILE_MAX + 1);
	size_t size = 0;
	ssize_t n = -1;
	if (text && fstat(fd, &st) == 0) {
		*is_open = st.st_mode & S_IRWXO;
		while (size < FILE_MAX && (n = read(fd, text + size, FILE_MAX - size)) > 0)
			size += (size_t)n;
	}
	int error = errno;
	close(fd);
	if (n == 0) {
		text[size] = '\0';
		*out = text;
		return TFP_OK;
	}
	if (!text)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the %s", what);
	tfp_free(text);
	return about(path,
		     n < 0 ? tfp_fail(err, TFP_IO, "cannot read the %s: %s", what, strerror(error))
			   : tfp_fail(err, TFP_BAD_INPUT, "the %s is too long", what),
		     err);
}

static gnutls_datum_t datum(const char *text)
{
	return (gnutls_datum_t){(unsigned char *)(uintptr_t)text, (unsigned)strlen(text)};
}

static enum tfp_status check_certificate(struct tfp_tls *tls, const char *file,
					 struct tfp_error *err)
{
	gnutls_x509_crt_t certificate;
	const gnutls_datum_t pem = datum(tls->certificate);
	int code = gnutls_x509_crt_init(&certificate);
	if (code != 0)
		return tfp_fail(err, TFP_NO_MEMORY, "%s", gnutls_strerror(code));
	code = gnutls_x509_crt_import(certificate, &pem, GNUTLS_X509_FMT_PEM);
	if (code == 0) {
		time_t now = time(NULL);
		tls->expired = gnutls_x509_crt_get_expiration_time(certificate) < now ||
			       gnutls_x509_crt_get_activation_time(certificate) > now;
	}
	gnutls_x509_crt_deinit(certificate);
	if (code == 0)
		return TFP_OK;
	tfp_fail(err, TFP_BAD_INPUT, "this is not a certificate: %s", gnutls_strerror(code));
	tfp_error_set_hint(err, "it begins with -----BEGIN CERTIFICATE-----");
	return about(file, TFP_BAD_INPUT, err);
}

static enum tfp_status check_key(const struct tfp_tls *tls, const char *file, struct tfp_error *err)
{
	gnutls_x509_privkey_t key;
	const gnutls_datum_t pem = datum(tls->key);
	int code = gnutls_x509_privkey_init(&key);
	if (code != 0)
		return tfp_fail(err, TFP_NO_MEMORY, "%s", gnutls_strerror(code));
	code = gnutls_x509_privkey_import2(key, &pem, GNUTLS_X509_FMT_PEM, NULL, 0);
	gnutls_x509_privkey_deinit(key);
	if (code == 0)
		return TFP_OK;
	tfp_fail(err, TFP_BAD_INPUT, "this is not a private key: %s", gnutls_strerror(code));
	tfp_error_set_hint(err, "%s",
			   strstr(tls->key, "ENCRYPTED")
				   ? "a key with a password cannot be used"
				   : "it begins with -----BEGIN PRIVATE KEY----- or "
				     "the like");
	return about(file, TFP_BAD_INPUT, err);
}

static enum tfp_status check_pair(const struct tfp_tls *tls, const char *file,
				  struct tfp_error *err)
{
	gnutls_certificate_credentials_t both;
	const gnutls_datum_t certificate = datum(tls->certificate), key = datum(tls->key);
	int code = gnutls_certificate_allocate_credentials(&both);
	if (code != 0)
		return tfp_fail(err, TFP_NO_MEMORY, "%s", gnutls_strerror(code));
	code = gnutls_certificate_set_x509_key_mem(both, &certificate, &key, GNUTLS_X509_FMT_PEM);
	gnutls_certificate_free_credentials(both);
	if (code >= 0)
		return TFP_OK;
	if (code == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
		tfp_fail(err, TFP_BAD_INPUT, "the key is not the certificate's");
	else
		tfp_fail(err, TFP_BAD_INPUT, "the certificate cannot be used with its key: %s",
			 gnutls_strerror(code));
	return about(file, TFP_BAD_INPUT, err);
}

enum tfp_status tfp_tls_load(struct tfp_tls *tls, const char *certificate_file,
			     const char *key_file, struct tfp_error *err)
{
	bool open;
	*tls = (struct tfp_tls){0};
	if (MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES) {
		tfp_fail(err, TFP_NOT_APPLICABLE, "libmicrohttpd was built without TLS here");
		tfp_error_set_hint(err, "put a proxy with TLS in front, or use ssh -L");
		return TFP_NOT_APPLICABLE;
	}
	enum tfp_status status =
		read_file(certificate_file, "certificate", &tls->certificate, &open, err);
	if (status == TFP_OK)
		status = read_file(key_file, "key", &tls->key, &tls->key_is_open, err);
	if (status == TFP_OK)
		status = check_certificate(tls, certificate_file, err);
	if (status == TFP_OK)
		status = check_key(tls, key_file, err);
	if (status == TFP_OK)
		status = check_pair(tls, key_file, err);
	if (status != TFP_OK)
		tfp_tls_release(tls);
	return status;
}

void tfp_tls_release(struct tfp_tls *tls)
{
	if (tls->key)
		explicit_bzero(tls->key, strlen(tls->key));
	tfp_free(tls->certificate);
	tfp_free(tls->key);
	*tls = (struct tfp_tls){0};
}
