/* Plan of a collective call, which says which member depends on which, and its events. */
#include "clients/libpoet/mpi/collective_plan.h"

#include "clients/libpoet/key_mixing.h"
#include "clients/libpoet/mpi/tracing_state.h"

struct collective_plan {
    struct communicator *comm;
    uint64_t high;  /* of its keys */
    bool meets;     /* all members are one synchronization point */
    bool sends;     /* other members depend on this one, */
    int receivers;  /* how many */
    uint64_t *from; /* keys of the members that this one depends on */
    int from_count;
};

/* ---- which member depends on which ---- */

static uint64_t collective_plan_part(const struct collective_plan *p, int rank)
{
    return key_mix(p->high, (uint64_t)rank + 1);
}

struct collective_plan *collective_plan_new(struct communicator *c)
{
    struct collective_plan *p = tracing_state_alloc(1, sizeof *p);
    tracing_state_lock();
    p->high = key_mix(key_mix(c->id, 8), c->collectives++);
    tracing_state_unlock();
    p->comm = c;
    p->from = tracing_state_alloc((size_t)c->size + 1, sizeof *p->from);
    return p;
}

void collective_plan_free(struct collective_plan *p)
{
    if (p)
        tracing_state_free(p->from);
    tracing_state_free(p);
}

static void collective_plan_add_source(struct collective_plan *p, int rank)
{
    if (rank != p->comm->rank)
        p->from[p->from_count++] = collective_plan_part(p, rank);
}

static void collective_plan_set_receivers(struct collective_plan *p, int receivers)
{
    p->receivers = receivers;
    p->sends = receivers > 0;
}

struct collective_plan *collective_plan_all_of_all(struct communicator *c, bool begun, bool empty)
{
    struct collective_plan *p = collective_plan_new(c);
    p->meets = !begun && !empty;
    if (begun && !empty)
        collective_plan_set_receivers(p, c->size - 1);
    for (int i = 0; begun && !empty && i < c->size; i++)
        collective_plan_add_source(p, i);
    return p;
}

struct collective_plan *collective_plan_from_root(struct communicator *c, int root, bool empty)
{
    struct collective_plan *p = collective_plan_new(c);
    if (empty)
        return p;
    if (c->rank == root)
        collective_plan_set_receivers(p, c->size - 1);
    else
        collective_plan_add_source(p, root);
    return p;
}

struct collective_plan *collective_plan_to_root(struct communicator *c, int root, bool empty)
{
    struct collective_plan *p = collective_plan_new(c);
    if (!empty && c->rank != root)
        collective_plan_set_receivers(p, 1);
    for (int i = 0; !empty && c->rank == root && i < c->size; i++)
        collective_plan_add_source(p, i);
    return p;
}

struct collective_plan *collective_plan_prefix(struct communicator *c, bool empty)
{
    struct collective_plan *p = collective_plan_new(c);
    if (!empty)
        collective_plan_set_receivers(p, c->size - 1 - c->rank);
    for (int i = 0; !empty && i < c->rank; i++)
        collective_plan_add_source(p, i);
    return p;
}

static int collective_plan_not_empty(const int *counts, int n, int besides)
{
    int found = 0;
    for (int i = 0; i < n; i++)
        found += i != besides && counts[i] != 0;
    return found;
}

/* counts: at the root, one for each member; own: what this one receives */
struct collective_plan *collective_plan_scatter(struct communicator *c, int root, const int *counts,
                                                int own)
{
    struct collective_plan *p = collective_plan_new(c);
    if (c->rank == root)
        collective_plan_set_receivers(p, collective_plan_not_empty(counts, c->size, root));
    else if (own)
        collective_plan_add_source(p, root);
    return p;
}

struct collective_plan *collective_plan_gather(struct communicator *c, int root, const int *counts,
                                               int own)
{
    struct collective_plan *p = collective_plan_new(c);
    if (c->rank != root)
        collective_plan_set_receivers(p, own != 0);
    for (int i = 0; c->rank == root && i < c->size; i++)
        if (counts[i])
            collective_plan_add_source(p, i);
    return p;
}

/* All members know what each one sends. */
struct collective_plan *collective_plan_allgather(struct communicator *c, const int *counts,
                                                  bool begun)
{
    if (collective_plan_not_empty(counts, c->size, -1) == c->size)
        return collective_plan_all_of_all(c, begun, false);
    struct collective_plan *p = collective_plan_new(c);
    collective_plan_set_receivers(p, counts[c->rank] ? c->size - 1 : 0);
    for (int i = 0; i < c->size; i++)
        if (counts[i])
            collective_plan_add_source(p, i);
    return p;
}

struct collective_plan *collective_plan_alltoall(struct communicator *c, const int *out,
                                                 const int *in)
{
    struct collective_plan *p = collective_plan_new(c);
    collective_plan_set_receivers(p, collective_plan_not_empty(out, c->size, c->rank));
    for (int i = 0; i < c->size; i++)
        if (in[i])
            collective_plan_add_source(p, i);
    return p;
}

/* All members know which ones receive something. */
struct collective_plan *collective_plan_reduce_scatter(struct communicator *c, const int *counts,
                                                       bool begun)
{
    if (collective_plan_not_empty(counts, c->size, -1) == c->size)
        return collective_plan_all_of_all(c, begun, false);
    struct collective_plan *p = collective_plan_new(c);
    collective_plan_set_receivers(p, collective_plan_not_empty(counts, c->size, c->rank));
    for (int i = 0; counts[c->rank] && i < c->size; i++)
        collective_plan_add_source(p, i);
    return p;
}

/* ---- events ---- */

void collective_plan_begin(struct collective_plan *p, enum mpi_event type, poet_line_t about,
                           const void *site)
{
    struct communicator *c = p->comm;
    if (c->inter || !c->whole) { /* dependences among members are not traced */
        p->meets = p->sends = false;
        p->from_count = 0;
    }
    if (p->meets && c->size == 1)
        p->meets = false;
    if (p->sends)
        event_record_send(type, about, p->high, collective_plan_part(p, c->rank), p->receivers,
                          site);
    else
        event_record(type, about, site);
}

void collective_plan_end(struct collective_plan *p, const void *site)
{
    if (p->meets)
        event_record_group(EVENT_together, p->high, key_mix(p->high, 0), p->comm->size, site);
    else if (p->from_count)
        event_record_receive(EVENT_result, p->high, p->from, p->from_count, false, site);
    else
        event_record(EVENT_done, 0, site);
    collective_plan_free(p);
}
