/* The event server: one loop, its peers, its runs. */
#ifndef SERVER_CONNECTIONS_EVENT_SERVER_H
#define SERVER_CONNECTIONS_EVENT_SERVER_H

#include "server/checkpoint/run_registry.h"
#include "server/eventloop/event_loop.h"

#include <ev.h>

struct connection;
struct shared_queue;
struct capture_thread;
struct agent;
struct nats_reader;
struct network_key;
struct agent_sources;

struct server {
    struct ev_loop *loop;
    struct capture_thread *taker;
    ev_async taken; /* much waits to be delivered */
    _Atomic bool asked_to_tell;
    bool once;  /* end when the last peer is gone */
    bool quiet; /* log what is wrong alone */
    struct connection *peers, *last_peer;
    struct connection *reader; /* its messages are read first; NULL the first peer's */
    size_t tell_first;   /* index of the run that is delivered first */
    size_t mappings;     /* how many queues there may be */
    struct shared_queue *retired; /* of programs that are gone, not unmapped yet */
    size_t retired_count;
    bool behind; /* there is more to do than fits into a turn */
    struct run_registry runs;
    ev_timer poll, feed, idle;
    ev_timer pace; /* of process_sampler.c alone: while some program is sampled often */
    double asked; /* time of the last viewer request; 0: all runs were evicted since then */
    ev_idle work; /* active while viewers wait for windows */
    ev_io *listeners;
    char **endpoints;
    size_t listener_count;
    struct network_key *key; /* of peers that connect over TLS; NULL: none */
    struct agent_sources *sources; /* of agents.c alone */
    char *directory; /* of an agent: where its journals are */
    struct agent *agent; /* this server is one: it orders nothing; NULL it is none */
    struct nats_reader *reads; /* a run from NATS; NULL none */
    /* how far agents were in the file of a server that was killed */
    struct agent_positions resumed;
    uint64_t hangups; /* of all peers */
    uint64_t
        accepted_at; /* all connections that waited at the hang-up of this number are accepted */
    bool had_peer, stopping;
    struct loop_share last; /* stopping: what may still be done */
    double looked;    /* when files were looked for that are deleted */
    int spare; /* a descriptor in reserve, to refuse with */
    bool out_of_descriptors;
    int switches_ready; /* see switch_reader_keep_ready(); -1: none */
    double begun; /* when it came up */
    /* of an agent without programs: since when where it forwards to is not there, 0 not known */
    double disconnected_since;
};

#endif
