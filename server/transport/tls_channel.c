#define _GNU_SOURCE
#include "server/transport/tls_channel.h"

#include "base/alloc.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No certificates, no older version, no exchange without new keys. */
#define PRIORITIES                                                                                 \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:-KX-ALL:+ECDHE-PSK:"                                            \
    "-CIPHER-ALL:+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM"
#define WHO "poet"

struct tls {
    gnutls_session_t session;
    gnutls_psk_client_credentials_t client;
    gnutls_psk_server_credentials_t server;
    struct network_key key;
    bool is_server, knows, failed;
    bool pending; /* a write that GnuTLS has taken and not sent */
    char why[160];
};

bool tls_is_available(void) { return true; }

static int find_key(gnutls_session_t session, const char *identity, gnutls_datum_t *key)
{
    const struct tls *tls = gnutls_session_get_ptr(session);
    if (strcmp(identity, WHO) != 0 || !(key->data = gnutls_malloc(KEY_BYTES)))
        return -1;
    memcpy(key->data, tls->key.bytes, KEY_BYTES);
    key->size = KEY_BYTES;
    return 0;
}

static int set_key(struct tls *tls)
{
    const gnutls_datum_t key = {tls->key.bytes, KEY_BYTES};
    int e;
    if (tls->is_server) {
        e = gnutls_psk_allocate_server_credentials(&tls->server);
        if (e == 0) {
            gnutls_psk_set_server_credentials_function(tls->server, find_key);
            e = gnutls_credentials_set(tls->session, GNUTLS_CRD_PSK, tls->server);
        }
        return e;
    }
    e = gnutls_psk_allocate_client_credentials(&tls->client);
    if (e == 0)
        e = gnutls_psk_set_client_credentials(tls->client, WHO, &key, GNUTLS_PSK_KEY_RAW);
    return e == 0 ? gnutls_credentials_set(tls->session, GNUTLS_CRD_PSK, tls->client) : e;
}

struct tls *tls_new(int fd, bool server, const struct network_key *key, struct error *error)
{
    struct tls *tls = xcalloc(1, sizeof *tls);
    tls->is_server = server;
    tls->key = *key;
    int e = gnutls_init(&tls->session, (server ? GNUTLS_SERVER : GNUTLS_CLIENT) | GNUTLS_NONBLOCK |
                                           GNUTLS_NO_TICKETS | GNUTLS_NO_SIGNAL);
    if (e == 0) {
        gnutls_session_set_ptr(tls->session, tls);
        gnutls_transport_set_int(tls->session, fd);
        e = gnutls_priority_set_direct(tls->session, PRIORITIES, NULL);
    }
    if (e == 0)
        e = set_key(tls);
    if (e == 0)
        return tls;
    error_set(error, "TLS: %s", gnutls_strerror(e));
    tls_free(tls);
    return NULL;
}

void tls_free(struct tls *tls)
{
    if (!tls)
        return;
    if (tls->session) {
        if (tls->knows && !tls->failed)
            gnutls_bye(tls->session, GNUTLS_SHUT_WR);
        gnutls_deinit(tls->session);
    }
    if (tls->client)
        gnutls_psk_free_client_credentials(tls->client);
    if (tls->server)
        gnutls_psk_free_server_credentials(tls->server);
    explicit_bzero(tls, sizeof *tls);
    free(tls);
}

static ssize_t tls_fail(struct tls *tls, int e)
{
    const char *alert = NULL;
    if (e == GNUTLS_E_FATAL_ALERT_RECEIVED)
        alert = gnutls_alert_get_name(gnutls_alert_get(tls->session));
    if (!tls->knows && !tls->failed)
        gnutls_alert_send_appropriate(tls->session, e);
    if (!tls->failed)
        snprintf(tls->why, sizeof tls->why, "%s: %s",
                 tls->knows ? "connection lost" : "key mismatch",
                 alert ? alert : gnutls_strerror(e));
    tls->failed = true;
    errno = EPROTO;
    return -1;
}

/* Maps a result of GnuTLS to one of recv and send. */
static ssize_t tls_map_result(struct tls *tls, ssize_t n)
{
    if (n >= 0)
        return n;
    if (n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED || !gnutls_error_is_fatal((int)n)) {
        errno = EAGAIN;
        return -1;
    }
    if (n == GNUTLS_E_PREMATURE_TERMINATION || n == GNUTLS_E_PULL_ERROR ||
        n == GNUTLS_E_PUSH_ERROR || (tls->knows && n == GNUTLS_E_INVALID_SESSION)) {
        errno = ECONNRESET;
        return -1;
    }
    return tls_fail(tls, (int)n);
}

/* 0: both know each other. */
static ssize_t tls_handshake(struct tls *tls)
{
    if (tls->failed)
        return tls_fail(tls, 0);
    if (tls->knows)
        return 0;
    int e = gnutls_handshake(tls->session);
    if (e == 0 && gnutls_protocol_get_version(tls->session) != GNUTLS_TLS1_3)
        e = GNUTLS_E_UNSUPPORTED_VERSION_PACKET;
    tls->knows = e == 0;
    return e == 0 ? 0 : tls_map_result(tls, e);
}

ssize_t tls_read(struct tls *tls, void *bytes, size_t size)
{
    size_t done = 0;
    if (tls_handshake(tls) < 0)
        return -1;
    while (size - done >= TLS_RECORD_BYTES) {
        ssize_t n = gnutls_record_recv(tls->session, (char *)bytes + done, size - done);
        if (n <= 0 && done)
            break; /* the next call reports it */
        if (n <= 0)
            return tls_map_result(tls, n);
        done += (size_t)n;
    }
    return (ssize_t)done;
}

ssize_t tls_write(struct tls *tls, const void *bytes, size_t size)
{
    size_t done = 0;
    if (tls_handshake(tls) < 0)
        return -1;
    while (done < size) {
        size_t most = size - done < TLS_RECORD_BYTES ? size - done : TLS_RECORD_BYTES;
        ssize_t n = tls->pending
                        ? gnutls_record_send(tls->session, NULL, 0)
                        : gnutls_record_send(tls->session, (const char *)bytes + done, most);
        tls->pending = n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED;
        if (n <= 0 && done)
            break;
        if (n <= 0)
            return tls_map_result(tls, n);
        done += (size_t)n;
    }
    return (ssize_t)done;
}

bool tls_wants_to_write(const struct tls *tls)
{
    return gnutls_record_get_direction(tls->session) == 1;
}

bool tls_is_authenticated(const struct tls *tls) { return tls->knows; }
const char *tls_error_text(const struct tls *tls) { return tls->why; }
