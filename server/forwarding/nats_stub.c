/* In place of nats_destination.c, nats_connection.c and nats_reader.c, in poet-server, and in a
 * Poet that is built without libnats or zstd. */
#include "server/forwarding/destination.h"
#include "server/forwarding/nats_reader.h"
#include "server/transport/tls_channel.h"

#include <unistd.h>

static void nats_stub_set_error(struct error *error)
{
    error_set(error, "this Poet was built without %s: no NATS",
              tls_is_available() ? "libnats (Debian: libnats-dev)"
                                 : "GnuTLS and zstd (Debian: libgnutls28-dev, libzstd-dev)");
}

static struct destination *open_none(struct ev_loop *loop, const char *where, const char *host,
                                     const struct destination_callbacks *hears, void *context,
                                     struct error *error)
{
    (void)loop, (void)where, (void)host, (void)hears, (void)context;
    nats_stub_set_error(error);
    return NULL;
}

const struct destination_kind destination_nats = {.open = open_none};

struct nats_reader *nats_reader_new(const char *from, int fd, const struct agent_positions *known,
                                    struct error *error)
{
    (void)from, (void)known;
    close(fd);
    nats_stub_set_error(error);
    return NULL;
}

void nats_reader_free(struct nats_reader *reader) { (void)reader; }
