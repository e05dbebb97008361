#include "server/answer/table/sweep.h"

#define THREAD_COST 8u /* of one, in intervals */

static void spend(uint64_t *budget, uint64_t cost) { *budget -= cost < *budget ? cost : *budget; }

static void leave(struct sweep *s)
{
    s->thread++;
    s->within = false;
}

/* Where the piece ends; the thread is left if that is the end of it. */
static void cut(struct sweep *s, int64_t until_ns, uint64_t *budget, struct sweep_piece *piece)
{
    size_t looked;
    piece->to_ns = states_cut(piece->course, piece->from_ns, *budget, &looked);
    spend(budget, looked + THREAD_COST);
    s->within = true;
    s->from_ns = piece->to_ns;
    if (piece->to_ns >= until_ns) {
        piece->to_ns = until_ns;
        leave(s);
    }
}

enum sweep_is sweep_next(struct sweep *s, const struct table_view *view, uint64_t *budget,
                         struct sweep_piece *piece)
{
    for (; s->thread < view->measured->thread_count; leave(s)) {
        const struct course_of *course = &view->measured->threads[s->thread];
        int64_t until = table_until(view, course);
        if (!*budget)
            return SWEEP_TIRED;
        spend(budget, 1);
        if (!table_wants(view, course->thread) || until <= view->from_ns)
            continue;
        *piece = (struct sweep_piece){.course = course,
                                      .from_ns = s->within ? s->from_ns : view->from_ns,
                                      .first = !s->within};
        cut(s, until, budget, piece);
        return SWEEP_PIECE;
    }
    return SWEEP_DONE;
}
