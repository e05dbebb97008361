/* TLS 1.3 over a socket, with a key that both sides have beforehand (GnuTLS).  Nothing waits.
 *
 * Both sides prove that they have the key; each connection has keys of its own (ECDHE), so
 * recorded traffic can neither be replayed nor decrypted by a party that learns the key later.
 * No older version is accepted. */
#ifndef SERVER_TRANSPORT_TLS_CHANNEL_H
#define SERVER_TRANSPORT_TLS_CHANNEL_H

#include "wire/network_key.h"

#include <sys/types.h>

struct tls;

bool tls_is_available(void); /* Poet was built with it */
/* Speaks over the socket, which stays the caller's, as the server or as the client.  Returns
 * NULL with the reason in *error. */
struct tls *tls_new(int fd, bool server, const struct network_key *key, struct error *error);
void tls_free(struct tls *tls);
/* Return as recv and send do: 0 if the peer has closed, -1 with errno.  EAGAIN: retry later.
 * EPROTO: a protocol error, for which tls_error_text returns the reason.  After a failed write
 * the caller must retry with the same bytes, or more. */
ssize_t tls_read(struct tls *tls, void *bytes, size_t size);
ssize_t tls_write(struct tls *tls, const void *bytes, size_t size);
bool tls_wants_to_write(const struct tls *tls); /* what it waits for, after EAGAIN */
bool tls_is_authenticated(const struct tls *tls); /* the other side has shown that it has the key */
const char *tls_error_text(const struct tls *tls);

#define TLS_RECORD_BYTES                                                                           \
    16384u /* tls_read wants room for so many: then nothing stays behind in it */

#endif
