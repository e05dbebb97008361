#include "server/analysis/must_happen_before.h"

#include "base/lower_bound.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* ---- strands ---- */

static uint32_t strand_in(struct must_happen_before *s, uint32_t **of, size_t *room, uint32_t i)
{
    *of = array_reserve_zeroed(*of, room, i + 1u, sizeof **of);
    if (!(*of)[i]) {
        s->strands = array_reserve_zeroed(s->strands, &s->strand_room, s->strand_count + 1u,
                                          sizeof *s->strands);
        (*of)[i] = ++s->strand_count;
    }
    return (*of)[i] - 1;
}

static uint32_t strand_of(struct must_happen_before *s, const struct order_event *e)
{
    return e->line & HIDDEN_LINE
               ? strand_in(s, &s->of_hidden, &s->hidden_room, e->line & ~HIDDEN_LINE)
               : strand_in(s, &s->of_line, &s->line_room, e->thread ? e->thread : e->line);
}

static struct mhb_vector *make_vector(struct must_happen_before *s)
{
    size_t bytes = sizeof(struct mhb_vector) + s->strand_count * sizeof(uint32_t);
    struct mhb_vector *v = xcalloc(1, bytes);
    v->count = s->strand_count;
    s->blocks = array_reserve(s->blocks, &s->block_room, s->block_count + 1, sizeof *s->blocks);
    s->blocks[s->block_count++] = v;
    s->bytes += bytes;
    return v;
}

static uint32_t at_of(const struct mhb_vector *v, uint32_t strand)
{
    return v && strand < v->count ? v->at[strand] : 0;
}

/* Returns the vector of a strand at one of its events. */
static const struct mhb_vector *after_at(const struct mhb_thread *strand, uint32_t at)
{
    size_t low = LOWER_BOUND(i, 0, strand->count, strand->since[i].at <= at);
    return low ? strand->since[low - 1].after : NULL;
}

static void set_after(struct must_happen_before *s, uint32_t strand, uint32_t at,
                      const struct mhb_vector *v)
{
    struct mhb_thread *of = &s->strands[strand];
    of->now = v;
    if (of->count && of->since[of->count - 1].at == at) {
        of->since[of->count - 1].after = v;
        return;
    }
    of->since = array_reserve(of->since, &of->room, of->count + 1, sizeof *of->since);
    of->since[of->count++] = (struct sure_since){at, v};
}

static void add_all(uint32_t *to, const struct mhb_vector *from)
{
    for (uint32_t i = 0; from && i < from->count; i++)
        to[i] = from->at[i] > to[i] ? from->at[i] : to[i];
}

/* Orders a strand's event after an event of another strand. */
static void mhb_join_strand(struct must_happen_before *s, uint32_t strand, uint32_t at,
                            struct mhb_last other)
{
    struct mhb_thread *me = &s->strands[strand];
    if (!other.at || other.strand == strand || at_of(me->now, other.strand) >= other.at)
        return;
    struct mhb_vector *v = make_vector(s);
    add_all(v->at, me->now);
    add_all(v->at, after_at(&s->strands[other.strand], other.at));
    v->at[other.strand] = other.at;
    v->at[strand] = 0;
    set_after(s, strand, at, v);
}

/* ---- events ---- */

static uint32_t at_position(const struct must_happen_before *s, uint64_t position)
{
    return (uint32_t)(position - s->first) + 1;
}

static bool order_is_lock_induced(const struct must_happen_before *s, uint32_t line)
{
    return line && !(line & HIDDEN_LINE) && s->is_lock(s->context, line);
}

static void join_edges(struct must_happen_before *s, const struct order_event *e, uint64_t position,
                       uint32_t strand)
{
    for (uint32_t i = 0; i < e->edge_count; i++) {
        uint64_t from = order_edge(s->order, position, i);
        if (from < s->first || from >= position)
            continue;
        struct order_event source = order_event(s->order, from);
        if (!source.line || (e->line & HIDDEN_LINE && order_is_lock_induced(s, source.line)))
            continue;
        mhb_join_strand(s, strand, at_position(s, position),
                        (struct mhb_last){strand_of(s, &source), at_position(s, from)});
    }
}

/* Orders the events of several threads on one thread line, such as creation and join, by their
 * succession there. */
static void join_line(struct must_happen_before *s, const struct order_event *e, uint64_t position,
                      uint32_t strand)
{
    if (e->line & HIDDEN_LINE || order_line_shared(s->order, e->line) ||
        order_is_lock_induced(s, e->line))
        return;
    s->last = array_reserve_zeroed(s->last, &s->last_room, e->line + 1u, sizeof *s->last);
    struct mhb_last *last = &s->last[e->line];
    mhb_join_strand(s, strand, at_position(s, position), *last);
    *last = (struct mhb_last){strand, at_position(s, position)};
}

/* Orders each member of a synchronization point after the predecessors of all members. */
static void mhb_join_point(struct must_happen_before *s, uint64_t first,
                           const struct order_event *events, uint32_t count)
{
    uint32_t one = strand_of(s, &events[0]);
    bool several = false;
    for (uint32_t i = 1; i < count; i++)
        several |= strand_of(s, &events[i]) != one;
    if (!several)
        return;
    s->joined =
        array_reserve_zeroed(s->joined, &s->joined_room, s->strand_count, sizeof *s->joined);
    memset(s->joined, 0, s->strand_count * sizeof *s->joined);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t strand = strand_of(s, &events[i]);
        add_all(s->joined, s->strands[strand].now);
        s->joined[strand] = at_position(s, first + i);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t strand = strand_of(s, &events[i]);
        struct mhb_vector *v = make_vector(s);
        memcpy(v->at, s->joined, v->count * sizeof *v->at);
        v->at[strand] = 0;
        set_after(s, strand, at_position(s, first + i), v);
    }
}

bool mhb_add_point(struct must_happen_before *s, uint64_t first, const struct order_event *events,
                   uint32_t count)
{
    if (s->bytes > MHB_BYTES_MAX || first - s->first >= UINT32_MAX - count)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!events[i].line)
            continue;
        uint32_t strand = strand_of(s, &events[i]);
        join_edges(s, &events[i], first + i, strand);
        join_line(s, &events[i], first + i, strand);
        s->strands[strand].at = at_position(s, first + i);
    }
    if (count > 1 && events[0].line)
        mhb_join_point(s, first, events, count);
    return true;
}

struct mhb_clock_mark mhb_clock(const struct must_happen_before *s, uint32_t thread)
{
    uint32_t of = thread < s->line_room ? s->of_line[thread] : 0;
    if (!of)
        return (struct mhb_clock_mark){0};
    const struct mhb_thread *strand = &s->strands[of - 1];
    return (struct mhb_clock_mark){of - 1, strand->at, strand->now};
}

struct mhb_clock_mark mhb_clock_at(const struct must_happen_before *s, uint32_t thread,
                                   uint64_t position)
{
    uint32_t of = thread < s->line_room ? s->of_line[thread] : 0;
    if (!of || position < s->first)
        return (struct mhb_clock_mark){0};
    uint32_t at = at_position(s, position);
    return (struct mhb_clock_mark){of - 1, at, after_at(&s->strands[of - 1], at)};
}

bool mhb_before(struct mhb_clock_mark a, struct mhb_clock_mark b)
{
    if (!a.at || !b.at)
        return false;
    return a.strand == b.strand ? a.at < b.at : at_of(b.after, a.strand) >= a.at;
}

void mhb_free(struct must_happen_before *s)
{
    for (uint32_t i = 0; i < s->strand_count; i++)
        free(s->strands[i].since);
    for (size_t i = 0; i < s->block_count; i++)
        free(s->blocks[i]);
    free(s->strands);
    free(s->of_line);
    free(s->of_hidden);
    free(s->last);
    free(s->blocks);
    free(s->joined);
    *s = (struct must_happen_before){0};
}
