/* Initial state of a pass over an order: each thread as its last event before the first position
 * left it. */
#include "server/timing/interval_pass.h"

#include <stdlib.h>

struct thread_progress *interval_pass_thread(struct interval_builder *f, uint32_t line)
{
    f->threads = array_reserve_zeroed(f->threads, &f->thread_room, line, sizeof *f->threads);
    return &f->threads[line - 1];
}

void interval_pass_remember(struct thread_progress *t, const struct point_member *m, uint32_t place)
{
    t->position = m->position;
    t->ns = m->ns;
    t->line = m->event.line;
    t->about = m->event.about;
    t->type = m->event.type;
    t->place = place;
    t->meaning = m->meaning;
    t->begun = true;
}

#define LOOKS 16u /* threads visited at the cost of one event */

/* Sets the initial state of a thread that has not ended: as its last event before the begin left
 * it. */
static void interval_pass_seed_thread(struct interval_builder *f, uint64_t position)
{
    struct order_event e = order_event(f->teller.order, position);
    struct point_member m = {e, position, f->teller.time(f->teller.context, &e),
                             f->teller.meaning(f->teller.context, &e)};
    if (!e.line || m.meaning->ends || m.meaning->closes)
        return;
    intervals_start(&f->intervals, e.thread, m.ns, position);
    interval_pass_remember(interval_pass_thread(f, e.thread), &m,
                           f->teller.place(f->teller.context, e.site));
}

/* Returns true once all threads are done. */
bool interval_pass_seed_before(struct interval_builder *f, uint64_t *budget)
{
    struct before *b = &f->before;
    uint64_t end = f->first - b->known > *budget * LOOKS ? b->known + *budget * LOOKS : f->first;
    if (!b->last)
        return true;
    order_last_of_threads(f->teller.order, b->known, end, b->last, b->lines);
    *budget -= (end - b->known) / LOOKS;
    b->known = end;
    for (uint32_t i = 0; end == f->first && i < b->lines; i++)
        if (b->last[i])
            interval_pass_seed_thread(f, b->last[i] - 1);
    if (end == f->first) {
        free(b->last);
        b->last = NULL;
    }
    return end == f->first;
}
