#include "server/queries/tables/lifetime_sweep.h"

#define THREAD_COST 8u /* cost of a thread, in intervals */

static void lifetime_sweep_spend(uint64_t *budget, uint64_t cost)
{
    *budget -= cost < *budget ? cost : *budget;
}

static void lifetime_sweep_leave_thread(struct lifetime_sweep *s)
{
    s->thread++;
    s->within = false;
}

/* Sets the end of the piece; proceeds to the next thread if that is the end of this one. */
static void lifetime_sweep_cut_piece(struct lifetime_sweep *s, const struct table_view *view,
                                     int64_t until_ns, uint64_t *budget,
                                     struct lifetime_piece *piece)
{
    size_t looked;
    piece->to_ns = thread_states_cut(&view->lives, piece->course, piece->from_ns, *budget, &looked);
    lifetime_sweep_spend(budget, looked + THREAD_COST);
    s->within = true;
    s->from_ns = piece->to_ns;
    if (piece->to_ns >= until_ns) {
        piece->to_ns = until_ns;
        lifetime_sweep_leave_thread(s);
    }
}

enum lifetime_sweep_result lifetime_sweep_next(struct lifetime_sweep *s,
                                               const struct table_view *view, uint64_t *budget,
                                               struct lifetime_piece *piece)
{
    for (; s->thread < view->measured->thread_count; lifetime_sweep_leave_thread(s)) {
        const struct thread_timeline *course = &view->measured->threads[s->thread];
        int64_t until = table_until(view, course);
        if (!*budget)
            return LIFETIME_SWEEP_BUDGET_SPENT;
        lifetime_sweep_spend(budget, 1);
        if (!table_wants(view, course->thread) || until <= view->from_ns)
            continue;
        *piece = (struct lifetime_piece){.course = course,
                                         .from_ns = s->within ? s->from_ns : view->from_ns,
                                         .first = !s->within};
        lifetime_sweep_cut_piece(s, view, until, budget, piece);
        return LIFETIME_SWEEP_PIECE;
    }
    return LIFETIME_SWEEP_DONE;
}
