/* Accepts and refuses connections.  Over a Unix socket the server's user may connect, over a
 * network any peer that has the key. */
#define _GNU_SOURCE
#include "server/connections/accept.h"
#include "server/connections/handshake.h"
#include "server/connections/event_server.h"
#include "server/eventloop/server_log.h"
#include "server/transport/tls_channel.h"
#include "wire/endpoint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A machine that is gone without a word is noticed within a minute. */
static void keep_alive(int fd)
{
    int on = 1, idle = 30, interval = 10, count = 3;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

/* name NULL: not to be logged */
static void accept_reject(int fd, const char *name, const char *why)
{
    struct encoder out = {0};
    if (name)
        server_log("%s: %s: dropped", name, why);
    encoder_begin_message(&out, MESSAGE_ERROR);
    encode_string(&out, why);
    encoder_end_message(&out);
    struct channel channel = channel_on_socket(fd);
    if (channel_write(&channel, out.data, out.size, -1) < 0 && name)
        server_log("%s: %s", name, strerror(errno));
    encoder_free(&out);
    channel_close(&channel);
}

static size_t accept_connections_of(const struct server *server)
{
    size_t count = 0;
    for (const struct connection *p = server->peers; p; p = p->next)
        count++;
    return count;
}

/* Refuses a connection by means of the reserve descriptor if no other is left; otherwise the
 * loop would wake up for the waiting peer again and again. */
static void refuse_one(struct server *server, int listener)
{
    if (!server->out_of_descriptors)
        server_log("%s: connections are refused until a descriptor is free", strerror(errno));
    server->out_of_descriptors = true;
    close(server->spare);
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0)
        accept_reject(fd, NULL, "the server has no file descriptor left; see ulimit -n");
    server->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Accepts a peer that proves by TLS that it has the key. */
static void accept_remote(struct server *server, int fd)
{
    char name[64], host[INET6_ADDRSTRLEN] = "";
    struct error error;
    struct sockaddr_storage there = {0};
    const struct sockaddr_in *in = (const void *)&there;
    const struct sockaddr_in6 *in6 = (const void *)&there;
    socklen_t there_size = sizeof there;
    getpeername(fd, (struct sockaddr *)&there, &there_size);
    keep_alive(fd);
    bool v6 = there.ss_family == AF_INET6;
    inet_ntop(there.ss_family, v6 ? (const void *)&in6->sin6_addr : (const void *)&in->sin_addr,
              host, sizeof host);
    snprintf(name, sizeof name, "%.45s port %u", host, ntohs(v6 ? in6->sin6_port : in->sin_port));
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct tls *tls = accept_connections_of(server) < LIMIT_SESSIONS
                          ? tls_new(fd, true, server->key, &error)
                          : NULL;
    if (!tls)
        close(fd);
    else
        connection_new(server, channel_on_tls(fd, tls), name, &handshake_handler);
}

/* Over a Unix socket; pid 0: from outside of the server's process namespace. */
static void accept_local(struct server *server, int fd)
{
    char name[64], why[160];
    struct ucred credentials = {0};
    socklen_t size = sizeof credentials;
    bool own = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 &&
               credentials.uid == getuid() && endpoint_has_user(credentials.uid);
    snprintf(name, sizeof name, credentials.pid ? "peer %d" : "a peer from outside",
             (int)credentials.pid);
    snprintf(why, sizeof why,
             "server is owned by another user (%u; you are %u%s); run both as the same user",
             (unsigned)getuid(), (unsigned)credentials.uid,
             endpoint_has_user(credentials.uid) ? "" : ", of another user namespace");
    if (!own)
        accept_reject(fd, name, why);
    else if (accept_connections_of(server) >= LIMIT_SESSIONS)
        accept_reject(fd, name, "too many connections");
    else
        connection_new(server, channel_on_socket(fd), name, &handshake_handler);
}

bool accept_connection(struct server *server, int listener, bool remote)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE))
        refuse_one(server, listener);
    if (fd < 0)
        return false; /* none waits any more, or it hung up */
    server->out_of_descriptors = false;
    if (remote)
        accept_remote(server, fd);
    else
        accept_local(server, fd);
    return true;
}

void accept_all_local(struct server *server)
{
    for (size_t i = 0; server->accepted_at < server->hangups && i < server->listener_count; i++)
        while (!endpoint_is_remote(server->endpoints[i]) &&
               accept_connection(server, server->listeners[i].fd, false))
            ;
    server->accepted_at = server->hangups;
}
