/* Who needs whom in a collective call, and its events. */
#include "clients/trace/mpi/plan.h"

#include "clients/trace/mix.h"
#include "clients/trace/mpi/following.h"

struct plan {
    struct comm *comm;
    uint64_t high;  /* of its keys */
    bool meets;     /* all members are one point */
    bool sends;     /* others need what this one gives, */
    int receivers;  /*   so many */
    uint64_t *from; /* keys of those whose parts this one needs */
    int from_count;
};

/* ---- who needs whom ---- */

static uint64_t part_of(const struct plan *p, int rank) { return mix(p->high, (uint64_t)rank + 1); }

struct plan *plan_new(struct comm *c)
{
    struct plan *p = take(1, sizeof *p);
    lock();
    p->high = mix(mix(c->id, 8), c->collectives++);
    unlock();
    p->comm = c;
    p->from = take((size_t)c->size + 1, sizeof *p->from);
    return p;
}

void plan_free(struct plan *p)
{
    if (p)
        give(p->from);
    give(p);
}

static void needs(struct plan *p, int rank)
{
    if (rank != p->comm->rank)
        p->from[p->from_count++] = part_of(p, rank);
}

static void gives(struct plan *p, int receivers)
{
    p->receivers = receivers;
    p->sends = receivers > 0;
}

struct plan *plan_all_of_all(struct comm *c, bool begun, bool empty)
{
    struct plan *p = plan_new(c);
    p->meets = !begun && !empty;
    if (begun && !empty)
        gives(p, c->size - 1);
    for (int i = 0; begun && !empty && i < c->size; i++)
        needs(p, i);
    return p;
}

struct plan *plan_from_root(struct comm *c, int root, bool empty)
{
    struct plan *p = plan_new(c);
    if (empty)
        return p;
    if (c->rank == root)
        gives(p, c->size - 1);
    else
        needs(p, root);
    return p;
}

struct plan *plan_to_root(struct comm *c, int root, bool empty)
{
    struct plan *p = plan_new(c);
    if (!empty && c->rank != root)
        gives(p, 1);
    for (int i = 0; !empty && c->rank == root && i < c->size; i++)
        needs(p, i);
    return p;
}

struct plan *plan_upwards(struct comm *c, bool empty)
{
    struct plan *p = plan_new(c);
    if (!empty)
        gives(p, c->size - 1 - c->rank);
    for (int i = 0; !empty && i < c->rank; i++)
        needs(p, i);
    return p;
}

static int not_empty(const int *counts, int n, int besides)
{
    int found = 0;
    for (int i = 0; i < n; i++)
        found += i != besides && counts[i] != 0;
    return found;
}

/* counts: of the root, one for each; own: what this one gets */
struct plan *plan_scatter(struct comm *c, int root, const int *counts, int own)
{
    struct plan *p = plan_new(c);
    if (c->rank == root)
        gives(p, not_empty(counts, c->size, root));
    else if (own)
        needs(p, root);
    return p;
}

struct plan *plan_gather(struct comm *c, int root, const int *counts, int own)
{
    struct plan *p = plan_new(c);
    if (c->rank != root)
        gives(p, own != 0);
    for (int i = 0; c->rank == root && i < c->size; i++)
        if (counts[i])
            needs(p, i);
    return p;
}

/* Everybody knows what each one gives. */
struct plan *plan_allgather(struct comm *c, const int *counts, bool begun)
{
    if (not_empty(counts, c->size, -1) == c->size)
        return plan_all_of_all(c, begun, false);
    struct plan *p = plan_new(c);
    gives(p, counts[c->rank] ? c->size - 1 : 0);
    for (int i = 0; i < c->size; i++)
        if (counts[i])
            needs(p, i);
    return p;
}

struct plan *plan_alltoall(struct comm *c, const int *out, const int *in)
{
    struct plan *p = plan_new(c);
    gives(p, not_empty(out, c->size, c->rank));
    for (int i = 0; i < c->size; i++)
        if (in[i])
            needs(p, i);
    return p;
}

/* Everybody knows who gets something. */
struct plan *plan_reduce_scatter(struct comm *c, const int *counts, bool begun)
{
    if (not_empty(counts, c->size, -1) == c->size)
        return plan_all_of_all(c, begun, false);
    struct plan *p = plan_new(c);
    gives(p, not_empty(counts, c->size, c->rank));
    for (int i = 0; counts[c->rank] && i < c->size; i++)
        needs(p, i);
    return p;
}

/* ---- events ---- */

void plan_begin(struct plan *p, enum event type, poet_line_t about, const void *site)
{
    struct comm *c = p->comm;
    if (c->inter || !c->whole) { /* who needs whom is not followed */
        p->meets = p->sends = false;
        p->from_count = 0;
    }
    if (p->meets && c->size == 1)
        p->meets = false;
    if (p->sends)
        note_send(type, about, p->high, part_of(p, c->rank), p->receivers, site);
    else
        note(type, about, site);
}

void plan_end(struct plan *p, const void *site)
{
    if (p->meets)
        note_meeting(EVENT_together, p->high, mix(p->high, 0), p->comm->size, site);
    else if (p->from_count)
        note_receive(EVENT_result, p->high, p->from, p->from_count, false, site);
    else
        note(EVENT_done, 0, site);
    plan_free(p);
}
