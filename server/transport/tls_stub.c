/* In place of tls_channel.c, in poet-server, and in a Poet that is built without GnuTLS or zstd. */
#include "server/transport/tls_channel.h"

bool tls_is_available(void) { return false; }

struct tls *tls_new(int fd, bool server, const struct network_key *key, struct error *error)
{
    (void)fd, (void)server, (void)key;
    error_set(error, "this Poet was built without GnuTLS and zstd (Debian: libgnutls28-dev, "
                     "libzstd-dev), no remote connections");
    return NULL;
}

void tls_free(struct tls *tls) { (void)tls; }

ssize_t tls_read(struct tls *tls, void *bytes, size_t size)
{
    (void)tls, (void)bytes, (void)size;
    return -1;
}

ssize_t tls_write(struct tls *tls, const void *bytes, size_t size)
{
    (void)tls, (void)bytes, (void)size;
    return -1;
}

bool tls_wants_to_write(const struct tls *tls) { return !tls; }
bool tls_is_authenticated(const struct tls *tls) { return !tls; }
const char *tls_error_text(const struct tls *tls) { return tls ? "" : "no TLS"; }
