/* Who may connect.  Over a Unix socket: the server's user.  Over TCP: whoever knows the secret, where the
 * server has one; else the server's user on this machine.  Beyond the loopback network nobody listens
 * without a secret. */
#define _GNU_SOURCE
#include "server/peers/admit.h"
#include "server/peers/greet.h"
#include "server/peers/server.h"
#include "server/loop/log.h"
#include "server/far/tls.h"

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

/* An address as /proc/net/tcp and tcp6 write it: words of the machine's byte order, then the port. */
static void print_address(char *to, size_t size, const struct sockaddr_storage *address, bool v6)
{
    uint32_t words[4] = {0};
    const struct sockaddr_in *in = (const void *)address;
    const struct sockaddr_in6 *in6 = (const void *)address;
    if (address->ss_family == AF_INET) {
        memcpy(&words[3], &in->sin_addr, 4);
        if (!v6) {
            snprintf(to, size, "%08X:%04X", words[3], ntohs(in->sin_port));
            return;
        }
        words[2] = htonl(0xffff); /* ::ffff:a.b.c.d */
    } else {
        memcpy(words, &in6->sin6_addr, 16);
    }
    snprintf(to, size, "%08X%08X%08X%08X:%04X", words[0], words[1], words[2], words[3],
             ntohs(in->sin_port));
}

/* The user who owns the socket at this end of a connection within the machine; false: not found. */
static bool user_in(const char *path, const char *from, const char *to, uid_t *uid)
{
    FILE *f = fopen(path, "re");
    char line[512], local[64], remote[64];
    unsigned state, user;
    bool found = false;
    while (f && !found && fgets(line, sizeof line, f))
        found =
            sscanf(line, " %*u: %63s %63s %x %*s %*s %*s %u", local, remote, &state, &user) == 4 &&
            strcmp(local, from) == 0 && strcmp(remote, to) == 0;
    if (f)
        fclose(f);
    if (found)
        *uid = user;
    return found;
}

static bool same_user(int fd)
{
    struct sockaddr_storage here = {0}, there = {0};
    socklen_t size = sizeof here, size_there = sizeof there;
    uid_t uid;
    if (getsockname(fd, (struct sockaddr *)&here, &size) < 0 ||
        getpeername(fd, (struct sockaddr *)&there, &size_there) < 0)
        return false;
    for (int v6 = 0; v6 < 2; v6++) {
        char from[64], to[64];
        if (!v6 && here.ss_family != AF_INET)
            continue;
        print_address(from, sizeof from, &there, v6);
        print_address(to, sizeof to, &here, v6);
        if (user_in(v6 ? "/proc/net/tcp6" : "/proc/net/tcp", from, to, &uid))
            return uid == getuid();
    }
    return false;
}

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
static void refuse(int fd, const char *name, const char *why)
{
    struct out out = {0};
    if (name)
        log_line("%s: %s: dropped", name, why);
    out_begin(&out, MESSAGE_ERROR);
    put_string(&out, why);
    out_end(&out);
    struct channel channel = channel_on_socket(fd);
    if (channel_write(&channel, out.data, out.size, -1) < 0 && name)
        log_line("%s: %s", name, strerror(errno));
    out_free(&out);
    channel_close(&channel);
}

static size_t peers_of(const struct server *server)
{
    size_t count = 0;
    for (const struct peer *p = server->peers; p; p = p->next)
        count++;
    return count;
}

/* Without a descriptor to accept with, the one kept in reserve serves to refuse; else the loop would
 * wake up for whoever waits for ever. */
static void refuse_one(struct server *server, int listener)
{
    if (!server->out_of_descriptors)
        log_line("%s: whoever connects is refused until a descriptor is free", strerror(errno));
    server->out_of_descriptors = true;
    close(server->spare);
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0)
        refuse(fd, NULL, "the server has no descriptor left: see ulimit -n");
    server->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Whoever shows by TLS that it has the key. */
static void admit_far(struct server *server, int fd, const struct sockaddr_storage *there)
{
    char name[64], host[INET6_ADDRSTRLEN] = "";
    struct error error;
    const struct sockaddr_in *in = (const void *)there;
    const struct sockaddr_in6 *in6 = (const void *)there;
    bool v6 = there->ss_family == AF_INET6;
    inet_ntop(there->ss_family, v6 ? (const void *)&in6->sin6_addr : (const void *)&in->sin_addr,
              host, sizeof host);
    snprintf(name, sizeof name, "%.45s port %u", host, ntohs(v6 ? in6->sin6_port : in->sin_port));
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct tls *tls =
        peers_of(server) < LIMIT_SESSIONS ? tls_new(fd, true, server->key, &error) : NULL;
    if (!tls)
        close(fd);
    else
        peer_new(server, channel_on_tls(fd, tls), name, &greeting, false);
}

void admit(struct server *server, int listener, bool far)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE))
        refuse_one(server, listener);
    if (fd < 0)
        return; /* weather: it hung up */
    server->out_of_descriptors = false;
    struct sockaddr_storage here = {0};
    struct ucred who = {0};
    socklen_t size = sizeof here, who_size = sizeof who;
    if (far) {
        getpeername(fd, (struct sockaddr *)&here, &size);
        keep_alive(fd);
        admit_far(server, fd, &here);
        return;
    }
    getsockname(fd, (struct sockaddr *)&here, &size);
    bool local = here.ss_family == AF_UNIX, secret = !local && endpoint_token(), own;
    char name[64] = "a peer over TCP";
    if (local) { /* pid 0: it is outside of the server's process namespace */
        own = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &who_size) == 0 && who.uid == getuid();
        snprintf(name, sizeof name, who.pid ? "peer %d" : "a peer from outside", (int)who.pid);
    } else {
        own = secret || same_user(fd);
        keep_alive(fd);
    }
    if (!own)
        refuse(fd, name,
               local ? "this server belongs to another user"
                     : "this server belongs to another user: POET_TOKEN, the same on both "
                       "sides, lets others in");
    else if (peers_of(server) >= LIMIT_SESSIONS)
        refuse(fd, name, "too many peers");
    else
        peer_new(server, channel_on_socket(fd), name, &greeting, secret);
}
