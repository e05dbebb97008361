/* Which message a receive got.
 *
 * Messages with one communicator, source, destination and tag overtake each other neither on the way nor
 * among the receives that fit them, in the order in which those were posted.  So the n-th such send meets
 * the n-th receive, in the order of posting, that got such a message.  A receive with wildcards says what
 * it got when it is complete; one that is not yet complete, and was posted before, may have got any: then
 * it is asked, and if it cannot say, the later one cannot be told. */
#include "clients/trace/mpi/match.h"

#include "clients/trace/mix.h"
#include "clients/trace/mpi/following.h"

/* ---- counters ---- */

struct counter {
    uint64_t comm;
    int peer, tag;
    bool sends, used;
    uint64_t count;
};
static struct counter *counters;
static size_t counter_room, counter_count;

static struct counter *find(struct counter *in, size_t room, const struct counter *wanted)
{
    size_t i =
        mix(mix(wanted->comm, (uint64_t)wanted->peer), (uint64_t)wanted->tag * 2 + wanted->sends);
    for (;; i++) {
        struct counter *c = &in[i & (room - 1)];
        if (!c->used || (c->comm == wanted->comm && c->peer == wanted->peer &&
                         c->tag == wanted->tag && c->sends == wanted->sends))
            return c;
    }
}

static void widen(void)
{
    size_t room = counter_room ? counter_room * 2 : 256;
    struct counter *more = take(room, sizeof *more);
    if (!more)
        return;
    for (size_t i = 0; i < counter_room; i++)
        if (counters[i].used)
            *find(more, room, &counters[i]) = counters[i];
    give(counters);
    counters = more;
    counter_room = room;
}

static uint64_t *counter(const struct comm *comm, bool sends, int peer, int tag)
{
    if (counter_count * 2 >= counter_room)
        widen();
    if (counter_count + 1 >= counter_room) { /* no memory, and nothing is followed any more */
        static uint64_t none;
        return &none;
    }
    struct counter wanted = {
        .comm = comm->id, .peer = peer, .tag = tag, .sends = sends, .used = true};
    struct counter *c = find(counters, counter_room, &wanted);
    if (!c->used) {
        *c = wanted;
        counter_count++;
    }
    return &c->count;
}

static void make_key(const struct comm *comm, int from, int to, int tag, uint64_t sequence,
                     uint64_t key[2])
{
    key[0] = mix(mix(mix(comm->id, 6), (uint64_t)from), (uint64_t)to);
    key[1] = mix(mix(key[0], (uint64_t)tag), sequence);
}

uint64_t send_sequence(const struct comm *comm, int destination, int tag)
{
    return (*counter(comm, true, peer_of(comm, destination), tag))++;
}

void send_key(const struct comm *comm, int destination, int tag, uint64_t sequence, uint64_t key[2])
{
    make_key(comm, comm->self, peer_of(comm, destination), tag, sequence, key);
}

/* ---- posted receives ---- */

void posted(struct request *r)
{
    r->active = true;
    r->assigned = r->over = false;
    r->before = r->comm->last;
    r->after = NULL;
    *(r->before ? &r->before->after : &r->comm->first) = r;
    r->comm->last = r;
}

void unposted(struct request *r)
{
    *(r->before ? &r->before->after : &r->comm->first) = r->after;
    *(r->after ? &r->after->before : &r->comm->last) = r->before;
    r->before = r->after = NULL;
    r->active = false;
}

static void assign(struct request *r, int source, int tag)
{
    r->sequence = (*counter(r->comm, false, peer_of(r->comm, source), tag))++;
    r->assigned = true;
}

enum answer { NO, YES, UNKNOWN };

/* Did this one, posted before, get a message from there with that tag? */
static enum answer got(struct request *r, int source, int tag)
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

/* Gives the older ones theirs; false: one cannot say. */
static bool serve_older(struct comm *comm, const struct request *until, int source, int tag)
{
    for (struct request *r = comm->first, *after; r && r != until; r = after) {
        after = r->after;
        if (r->assigned)
            continue;
        enum answer answer = got(r, source, tag);
        if (answer == UNKNOWN)
            return false;
        if (answer == YES)
            assign(r, source, tag);
        if (answer == YES && r->over) { /* nobody waits to hear it any more */
            unposted(r);
            give(r);
        }
    }
    return true;
}

bool received(struct request *r, int source, int tag, uint64_t key[2])
{
    if (!r->assigned && serve_older(r->comm, r, source, tag))
        assign(r, source, tag);
    if (r->assigned) {
        make_key(r->comm, peer_of(r->comm, source), r->comm->self, tag, r->sequence, key);
        unposted(r);
        return true;
    }
    struct request *over = take(1, sizeof *over); /* it stays among them as what it got */
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

bool next_message(struct comm *comm, int source, int tag, uint64_t *sequence, uint64_t key[2])
{
    if (!serve_older(comm, NULL, source, tag))
        return false;
    uint64_t *next = counter(comm, false, peer_of(comm, source), tag);
    make_key(comm, peer_of(comm, source), comm->self, tag, *next, key);
    if (sequence)
        *sequence = (*next)++;
    return true;
}
