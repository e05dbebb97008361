#define _GNU_SOURCE
#include "server/connections/handshake.h"

#include "server/forwarding/agent.h"
#include "server/connections/agent_connection.h"
#include "server/connections/program_connection.h"
#include "server/connections/program_handshake.h"
#include "server/connections/event_server.h"
#include "server/connections/viewer_connection.h"
#include "server/tracefile/tracefile.h"
#include "server/journal/capture.h"

#include <stdlib.h>
#include <string.h>

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
