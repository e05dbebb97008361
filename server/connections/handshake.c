#define _GNU_SOURCE
#include "server/connections/handshake.h"

#include "server/connections/agent_connection.h"
#include "server/connections/event_server.h"
#include "server/connections/process_sampler.h"
#include "server/connections/program_connection.h"
#include "server/connections/run_journal.h"
#include "server/connections/viewer_connection.h"
#include "server/decode/program_session.h"
#include "server/eventloop/event_loop.h"
#include "server/forwarding/agent.h"
#include "server/journal/capture.h"
#include "server/tracefile/tracefile.h"
#include "server/transport/tls_channel.h"
#include "wire/endpoint.h"
#include "wire/program_messages.h"
#include "wire/shared_counters.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- accepting ----
 *
 * Over a Unix socket the server's user may connect, over a network any peer that has the key. */

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
static void handshake_refuse(int fd, const char *name, const char *why)
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

static size_t handshake_count_connections(const struct server *server)
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
        handshake_refuse(fd, NULL, "the server has no file descriptor left; see ulimit -n");
    server->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Accepts a peer that proves by TLS that it has the key. */
static void handshake_accept_remote(struct server *server, int fd)
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
    struct tls *tls = handshake_count_connections(server) < LIMIT_SESSIONS
                          ? tls_new(fd, true, server->key, &error)
                          : NULL;
    if (!tls)
        close(fd);
    else
        connection_new(server, channel_on_tls(fd, tls), name, &handshake_handler);
}

/* Over a Unix socket; pid 0: from outside of the server's process namespace. */
static void handshake_accept_local(struct server *server, int fd)
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
        handshake_refuse(fd, name, why);
    else if (handshake_count_connections(server) >= LIMIT_SESSIONS)
        handshake_refuse(fd, name, "too many connections");
    else
        connection_new(server, channel_on_socket(fd), name, &handshake_handler);
}

bool handshake_accept(struct server *server, int listener, bool remote)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE))
        refuse_one(server, listener);
    if (fd < 0)
        return false; /* none waits any more, or it hung up */
    server->out_of_descriptors = false;
    if (remote)
        handshake_accept_remote(server, fd);
    else
        handshake_accept_local(server, fd);
    return true;
}

void handshake_accept_all(struct server *server)
{
    for (size_t i = 0; server->accepted_at < server->hangups && i < server->listener_count; i++)
        while (!endpoint_is_remote(server->endpoints[i]) &&
               handshake_accept(server, server->listeners[i].fd, false))
            ;
    server->accepted_at = server->hangups;
}

/* ---- programs ----
 *
 * The first words of a program go to the journal of its run, and it is answered with what it
 * needs. */

/* Its first words, and what describes its environment. */
static bool journal_hello(struct capture *taking, const uint8_t *body, size_t size,
                          const char *environment)
{
    struct encoder name = {0};
    bool plain = *environment && !strchr(environment, '/');
    encode_describe(&name, &(struct describe_message){text_view_of(environment)});
    const struct chunk chunks[] = {
        {.kind = CHUNK_SESSION, .session = taking->sessions, .data = body, .size = (uint32_t)size},
        {.kind = MESSAGE_DESCRIBE,
         .session = taking->sessions,
         .data = name.data,
         .size = (uint32_t)name.size}};
    bool fits = (!plain || journal_write_description(taking, environment)) &&
                journal_append(taking, chunks, 1 + plain, false);
    encoder_free(&name);
    return fits;
}

/* Handles the HELLO of a program; returns false if it was refused. */
static bool program_handshake_receive(struct connection *peer, const uint8_t *body, size_t size,
                                      struct hello_message *hello)
{
    char why[512];
    struct run *run = run_registry_find(&peer->server->runs, hello->run, why, sizeof why);
    if (!run || !run->status.live) {
        connection_reject(peer, "%s", run ? "the run has ended" : why);
        return false;
    }
    const char *program = strrchr(hello->path, '/');
    snprintf(peer->name, sizeof peer->name, "%.40s[%u]", program ? program + 1 : hello->path,
             hello->pid);
    peer->run = run;
    run->status.finished = run->status.ending = false;
    run_registry_touch(&peer->server->runs, run);
    run_journal_open(peer->server, run);
    tracefile_is_live(run->trace, true);
    struct capture_thread *taker = peer->server->taker;
    capture_lock(taker);
    bool fits = journal_hello(run_journal_capture(run), body, size, hello->environment);
    int e = errno;
    if (fits)
        peer->program = captured_program_new(taker, run_journal_capture(run));
    capture_unlock(taker);
    if (!fits)
        connection_reject(peer, "%s: %s", run->file.path, strerror(e));
    else
        process_sampler_begin(peer, hello->pid);
    return fits;
}

/* The counters of the run; -1: there are none. */
static int counters_of(struct run *run)
{
    if (run->counters)
        return run->counters;
    int fd = memfd_create("poet-counters", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && (ftruncate(fd, COUNTERS_BYTES) < 0 ||
                    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)) {
        close(fd);
        fd = -1;
    }
    return run->counters = fd;
}

/* Sends what waits to be sent, the WELCOME, with the descriptor of the counters.  What does not go
 * out here goes out later, without it. */
static void program_handshake_reply(struct connection *peer)
{
    int fd = counters_of(peer->run);
    ssize_t n = fd >= 0 ? channel_write(&peer->channel, peer->out.data, peer->out.size, fd) : -1;
    encoder_consume(&peer->out, n > 0 ? (size_t)n : 0);
}

/* ---- waiting ---- */

/* Seconds that an agent's first program waits for the agent to reach its destination, so that an
 * error of the destination can be reported to it. */
#define AGENT_SECONDS 1.0

static bool must_wait(const struct server *server)
{
    return server->agent && !agent_is_known(server->agent) &&
           ev_now(server->loop) < server->begun + AGENT_SECONDS;
}

static enum readiness handshake_readiness(struct connection *peer)
{
    return must_wait(peer->server) ? CONNECTION_NOT_READY : READY;
}

void handshake_step(struct server *server)
{
    bool wait = must_wait(server);
    for (struct connection *peer = server->peers, *next; peer && !wait; peer = next) {
        next = peer->next;
        if (peer->talk == &handshake_handler && peer->in.size)
            connection_resume_reading(peer);
    }
}

/* ---- HELLO ---- */

static void handshake_reject(struct connection *peer, const struct hello_message *hello,
                             const struct decoder *in)
{
    if (hello->version && hello->version != WIRE_VERSION)
        connection_reject(peer, "protocol version mismatch (server %u, peer %u): %s", WIRE_VERSION,
                          hello->version,
                          hello->version > WIRE_VERSION
                              ? "restart the server with the newer Poet"
                              : "update the peer, which is older than the server");
    else
        connection_reject(peer, "HELLO: %s", in->error);
}

/* Whether programs of other machines may be in its runs: it forwards, or others forward to it. */
static bool has_others(const struct server *server)
{
    return server->agent || server->key || server->reads;
}

#define SCARCE_BYTES (64u << 20)

static bool is_scarce(const struct connection *peer)
{
    capture_lock(peer->server->taker);
    bool scarce = peer->run && peer->run->trace && tracefile_room(peer->run->trace) < SCARCE_BYTES;
    capture_unlock(peer->server->taker);
    return scarce;
}

static void handshake_send_welcome(struct connection *peer)
{
    bool program = peer->role == ROLE_PROGRAM;
    peer->talk = program                    ? &program_handler
                 : peer->role == ROLE_AGENT ? &agent_handler
                                            : &viewer_handler;
    encoder_begin_message(&peer->out, MESSAGE_WELCOME);
    encode_u32(&peer->out, WIRE_VERSION);
    if (program)
        encode_u32(&peer->out, (peer->server->agent ? WELCOME_AGENT : 0) |
                                   (has_others(peer->server) ? WELCOME_REMOTE : 0) |
                                   (is_scarce(peer) ? WELCOME_SCARCE : 0));
    if (program)
        encode_string(&peer->out, peer->server->agent ? agent_error(peer->server->agent) : "");
    encoder_end_message(&peer->out);
    if (program)
        program_handshake_reply(peer);
    connection_send(peer);
}

static void hello_message(struct connection *peer, const uint8_t *body, size_t size)
{
    struct hello_message hello = {0};
    struct decoder in = decoder_init(body, size);
    if (!hello_message_decode(&in, &hello)) {
        handshake_reject(peer, &hello, &in);
    } else {
        peer->role = hello.role;
        if (hello.role == ROLE_VIEWER && peer->server->agent)
            connection_reject(peer, "this is a forwarding agent; connect to the server at %s",
                              agent_where(peer->server->agent));
        else if (hello.role == ROLE_PROGRAM && peer->channel.tls)
            connection_reject(peer,
                              "programs connect through an agent on their host: poet server --to");
        else if (hello.role != ROLE_PROGRAM || program_handshake_receive(peer, body, size, &hello))
            handshake_send_welcome(peer);
    }
    hello_message_free(&hello);
}

static void first_message(struct connection *peer, unsigned type, const uint8_t *body, size_t size)
{
    if (type == MESSAGE_AGENT && peer->server->agent)
        connection_reject(peer, "this is an agent, too (of %s)", agent_where(peer->server->agent));
    else if (type == MESSAGE_AGENT && agent_connection_hello(peer, body, size))
        handshake_send_welcome(peer);
    else if (type == MESSAGE_AGENT)
        return;
    else if (type != MESSAGE_HELLO)
        connection_reject(peer, "the first message is %s, not HELLO", message_name(type));
    else
        hello_message(peer, body, size);
}

const struct connection_handler handshake_handler = {
    .doing = "first messages", .ready = handshake_readiness, .message = first_message};
