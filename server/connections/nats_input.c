#define _GNU_SOURCE
#include "server/connections/nats_input.h"

#include "server/forwarding/nats_reader.h"
#include "server/connections/handshake.h"
#include "server/connections/connection.h"
#include "server/connections/event_server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What it reads from elsewhere comes as an agent's, from within. */
bool nats_input_begin(struct server *server, const char *from)
{
    struct error error;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
        fprintf(stderr, "poet server: --from: %s\n", strerror(errno));
        return false;
    }
    server->reads = nats_reader_new(from, ends[1], &server->resumed, &error);
    if (!server->reads) {
        close(ends[0]);
        fprintf(stderr, "poet server: %s\n", error.text);
        return false;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    connection_new(server, channel_on_socket(ends[0]), "what is read from NATS",
                   &handshake_handler);
    return true;
}

void nats_input_end(struct server *server) { nats_reader_free(server->reads); }
