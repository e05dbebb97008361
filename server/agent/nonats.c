/* In place of nats.c, natslink.c and natsreader.c where Poet is built without libnats, or without what packs for it: it says so. */
#include "server/agent/destination.h"
#include "server/agent/natsreader.h"
#include "server/far/tls.h"

#include <unistd.h>

static void say(struct error *error)
{
    error_set(error, "this Poet was built without %s, so it speaks no NATS",
              tls_is_there() ? "libnats (Debian: libnats-dev)"
                             : "GnuTLS and zstd (Debian: libgnutls28-dev, libzstd-dev)");
}

static struct destination *open_none(struct ev_loop *loop, const char *where, const char *host,
                                     const struct destination_hears *hears, void *context,
                                     struct error *error)
{
    (void)loop, (void)where, (void)host, (void)hears, (void)context;
    say(error);
    return NULL;
}

const struct destination_kind destination_nats = {.open = open_none};

struct natsreader *natsreader_new(const char *from, int fd, const struct reached_list *known,
                                  struct error *error)
{
    (void)from, (void)known;
    close(fd);
    say(error);
    return NULL;
}

void natsreader_free(struct natsreader *reader) { (void)reader; }
