#define _GNU_SOURCE
#include "server/peers/greet.h"

#include "server/agent/agent.h"
#include "server/peers/agents.h"
#include "server/peers/program.h"
#include "server/peers/welcome.h"
#include "server/peers/server.h"
#include "server/peers/viewer.h"
#include "server/store/tracefile.h"
#include "server/taking/taking.h"

#include <stdlib.h>
#include <string.h>

/* An agent's first program is told what is wrong with where it forwards to, which it knows in a moment, or is given up. */
#define AGENT_SECONDS 1.0

static bool must_wait(const struct server *server)
{
    return server->agent && !agent_knows(server->agent) &&
           ev_now(server->loop) < server->begun + AGENT_SECONDS;
}

static enum readiness ready(struct peer *peer)
{
    return must_wait(peer->server) ? NOT_READY : READY;
}

void greet_go_on(struct server *server)
{
    bool wait = must_wait(server);
    for (struct peer *peer = server->peers, *next; peer && !wait; peer = next) {
        next = peer->next;
        if (peer->talk == &greeting && peer->in.size)
            peer_listen(peer);
    }
}

/* ---- HELLO ---- */

static void refuse(struct peer *peer, const struct hello *hello, const struct in *in)
{
    if (hello->version > WIRE_VERSION)
        peer_refuse(peer,
                    "this server speaks version %u of the protocol, the other side %u: "
                    "restart the server with the newer Poet",
                    WIRE_VERSION, hello->version);
    else if (hello->version && hello->version < WIRE_VERSION && hello->role == ROLE_VIEWER)
        peer_refuse(peer,
                    "this server speaks version %u of the protocol, the other side %u: "
                    "it is of an older Poet than the server",
                    WIRE_VERSION, hello->version);
    else
        peer_refuse(peer, "HELLO: %s", in->error);
}

/* Whether programs of other machines may be in its runs: it forwards, or others forward to it. */
static bool has_others(const struct server *server)
{
    return server->agent || server->key || server->reads;
}

#define SCARCE_BYTES (64u << 20)

static bool is_scarce(const struct peer *peer)
{
    taker_enter(peer->server->taker);
    bool scarce = peer->run && peer->run->trace && tracefile_room(peer->run->trace) < SCARCE_BYTES;
    taker_leave(peer->server->taker);
    return scarce;
}

static void welcome(struct peer *peer)
{
    bool program = peer->role == ROLE_PROGRAM;
    peer->talk = program                    ? &talk_with_program
                 : peer->role == ROLE_AGENT ? &talk_with_agent
                                            : &talk_with_viewer;
    out_begin(&peer->out, MESSAGE_WELCOME);
    put_u32(&peer->out, WIRE_VERSION);
    if (program)
        put_u32(&peer->out, WELCOME_FOLLOWS | WELCOME_REGIONS | WELCOME_HEAP | WELCOME_METERS |
                                WELCOME_ENTRIES | WELCOME_SPANS | WELCOME_ENDS | WELCOME_AWAITS |
                                (peer->server->agent ? WELCOME_AGENT : 0) |
                                (has_others(peer->server) ? WELCOME_FAR : 0) |
                                (is_scarce(peer) ? WELCOME_SCARCE : 0));
    if (program)
        put_string(&peer->out, peer->server->agent ? agent_trouble(peer->server->agent) : "");
    out_end(&peer->out);
    if (program)
        welcome_answer(peer);
    peer_send(peer);
}

static void hello_message(struct peer *peer, const uint8_t *body, size_t size)
{
    struct hello hello = {0};
    struct in in = in_from(body, size);
    if (!hello_read(&in, &hello)) {
        refuse(peer, &hello, &in);
    } else {
        peer->role = hello.role;
        if (hello.role == ROLE_VIEWER && peer->server->agent)
            peer_refuse(peer, "this is an agent, which orders nothing: ask the server at %s",
                        agent_where(peer->server->agent));
        else if (hello.role == ROLE_PROGRAM && peer->channel.tls)
            peer_refuse(peer, "programs reach it by an agent on their machine: poet server --to");
        else if (hello.role != ROLE_PROGRAM || welcome_hear(peer, body, size, &hello))
            welcome(peer);
    }
    hello_free(&hello);
}

static void first_message(struct peer *peer, unsigned type, const uint8_t *body, size_t size)
{
    if (type == MESSAGE_AGENT && peer->server->agent)
        peer_refuse(peer, "this is an agent itself, of %s", agent_where(peer->server->agent));
    else if (type == MESSAGE_AGENT && agents_hello(peer, body, size))
        welcome(peer);
    else if (type == MESSAGE_AGENT)
        return;
    else if (type != MESSAGE_HELLO)
        peer_refuse(peer, "the first message is %s, not HELLO", message_name(type));
    else
        hello_message(peer, body, size);
}

const struct talk greeting = {.doing = "first messages", .ready = ready, .message = first_message};
