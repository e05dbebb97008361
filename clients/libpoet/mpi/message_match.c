/* Message matching. Messages with one communicator, source, destination and tag overtake each other
 * neither on the way nor among the matching receives, in the order in which those were posted. So
 * the n-th such send matches the n-th receive, in the order of posting, that got such a message. A
 * receive with wildcards is known when it is complete; one that is not complete, and was posted
 * before, may have matched any: then it is tested, and if its result is not known, the later one is
 * not known either. */
#include "clients/libpoet/mpi/message_match.h"

#include "clients/libpoet/key_mixing.h"
#include "clients/libpoet/mpi/tracing_state.h"

/* ---- counters ---- */

struct match_counter {
    uint64_t comm;
    int peer, tag;
    bool sends, used;
    uint64_t count;
};
static struct match_counter *counters;
static size_t counter_room, counter_count;

static struct match_counter *message_match_find(struct match_counter *in, size_t room,
                                                const struct match_counter *wanted)
{
    size_t i = key_mix(key_mix(wanted->comm, (uint64_t)wanted->peer),
                       (uint64_t)wanted->tag * 2 + wanted->sends);
    for (;; i++) {
        struct match_counter *c = &in[i & (room - 1)];
        if (!c->used || (c->comm == wanted->comm && c->peer == wanted->peer &&
                         c->tag == wanted->tag && c->sends == wanted->sends))
            return c;
    }
}

static void message_match_grow(void)
{
    size_t room = counter_room ? counter_room * 2 : 256;
    struct match_counter *more = tracing_state_alloc(room, sizeof *more);
    if (!more)
        return;
    for (size_t i = 0; i < counter_room; i++)
        if (counters[i].used)
            *message_match_find(more, room, &counters[i]) = counters[i];
    tracing_state_free(counters);
    counters = more;
    counter_room = room;
}

static uint64_t *message_match_counter(const struct communicator *comm, bool sends, int peer,
                                       int tag)
{
    if (counter_count * 2 >= counter_room)
        message_match_grow();
    if (counter_count + 1 >= counter_room) { /* no memory, and nothing is traced any more */
        static uint64_t none;
        return &none;
    }
    struct match_counter wanted = {
        .comm = comm->id, .peer = peer, .tag = tag, .sends = sends, .used = true};
    struct match_counter *c = message_match_find(counters, counter_room, &wanted);
    if (!c->used) {
        *c = wanted;
        counter_count++;
    }
    return &c->count;
}

static void message_match_make_key(const struct communicator *comm, int from, int to, int tag,
                                   uint64_t sequence, uint64_t key[2])
{
    key[0] = key_mix(key_mix(key_mix(comm->id, 6), (uint64_t)from), (uint64_t)to);
    key[1] = key_mix(key_mix(key[0], (uint64_t)tag), sequence);
}

uint64_t message_match_send_sequence(const struct communicator *comm, int destination, int tag)
{
    return (*message_match_counter(comm, true, communicator_world_rank(comm, destination), tag))++;
}

void message_match_send_key(const struct communicator *comm, int destination, int tag,
                            uint64_t sequence, uint64_t key[2])
{
    message_match_make_key(comm, comm->self, communicator_world_rank(comm, destination), tag,
                           sequence, key);
}

/* ---- posted receives ---- */

void message_match_post(struct mpi_request *r)
{
    r->active = true;
    r->assigned = r->over = false;
    r->before = r->comm->last;
    r->after = NULL;
    *(r->before ? &r->before->after : &r->comm->first) = r;
    r->comm->last = r;
}

void message_match_unpost(struct mpi_request *r)
{
    *(r->before ? &r->before->after : &r->comm->first) = r->after;
    *(r->after ? &r->after->before : &r->comm->last) = r->before;
    r->before = r->after = NULL;
    r->active = false;
}

static void message_match_assign(struct mpi_request *r, int source, int tag)
{
    r->sequence =
        (*message_match_counter(r->comm, false, communicator_world_rank(r->comm, source), tag))++;
    r->assigned = true;
}

enum match_answer { NO, YES, UNKNOWN };

/* Returns whether this receive, posted before, got a message from that source with that tag. */
static enum match_answer message_match_has_received(struct mpi_request *r, int source, int tag)
{
    bool exact = r->peer == source && r->tag == tag;
    bool fits = (r->peer == source || r->peer == MPI_ANY_SOURCE) &&
                (r->tag == tag || r->tag == MPI_ANY_TAG);
    if (exact || !fits || r->over)
        return exact ? YES : NO;
    MPI_Status status;
    int complete = 0, cancelled = 0;
    if (!r->known || r->awaited ||
        PMPI_Request_get_status(r->handle, &complete, &status) != MPI_SUCCESS || !complete)
        return UNKNOWN;
    PMPI_Test_cancelled(&status, &cancelled);
    return !cancelled && status.MPI_SOURCE == source && status.MPI_TAG == tag ? YES : NO;
}

/* Assigns the older receives their messages. Returns false if one is not known. */
static bool message_match_serve_older(struct communicator *comm, const struct mpi_request *until,
                                      int source, int tag)
{
    for (struct mpi_request *r = comm->first, *after; r && r != until; r = after) {
        after = r->after;
        if (r->assigned)
            continue;
        enum match_answer answer = message_match_has_received(r, source, tag);
        if (answer == UNKNOWN)
            return false;
        if (answer == YES)
            message_match_assign(r, source, tag);
        if (answer == YES && r->over) { /* no thread waits for its result any more */
            message_match_unpost(r);
            tracing_state_free(r);
        }
    }
    return true;
}

bool message_match_receive(struct mpi_request *r, int source, int tag, uint64_t key[2])
{
    if (!r->assigned && message_match_serve_older(r->comm, r, source, tag))
        message_match_assign(r, source, tag);
    if (r->assigned) {
        message_match_make_key(r->comm, communicator_world_rank(r->comm, source), r->comm->self,
                               tag, r->sequence, key);
        message_match_unpost(r);
        return true;
    }
    /* it stays among them with what it received */
    struct mpi_request *over = tracing_state_alloc(1, sizeof *over);
    *over = *r;
    over->over = true;
    over->peer = source;
    over->tag = tag;
    *(over->before ? &over->before->after : &r->comm->first) = over;
    *(over->after ? &over->after->before : &r->comm->last) = over;
    r->before = r->after = NULL;
    r->active = false;
    return false;
}

bool message_match_next(struct communicator *comm, int source, int tag, uint64_t *sequence,
                        uint64_t key[2])
{
    if (!message_match_serve_older(comm, NULL, source, tag))
        return false;
    uint64_t *next = message_match_counter(comm, false, communicator_world_rank(comm, source), tag);
    message_match_make_key(comm, communicator_world_rank(comm, source), comm->self, tag, *next,
                           key);
    if (sequence)
        *sequence = (*next)++;
    return true;
}
