/* In place of tls_channel.c and compression.c where Poet is built without GnuTLS or zstd: it says
 * so. */
#include "server/transport/compression.h"
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

size_t compression_bound(size_t size) { return size; }

size_t compression_compress(void *to, size_t room, const void *from, size_t size)
{
    (void)to, (void)room, (void)from, (void)size;
    return 0;
}

bool compression_decompress(void *to, size_t size, const void *from, size_t bytes)
{
    (void)to, (void)size, (void)from, (void)bytes;
    return false;
}

void compression_release(void) {}
