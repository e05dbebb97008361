/* The table of what is not sound: where what was measured and explained breaks its own rules (server/causes/sound.h),
 * and sums do not add up (summed.h). */
#include "memory/memory.h"
#include "server/answer/table/causing.h"
#include "server/answer/explained.h"
#include "server/answer/table/summed.h"
#include "server/answer/table/sweep.h"
#include "server/causes/sound.h"

#include <stdlib.h>

enum column { RULE, THREAD, IS, SHOULD, EVENT, COUNT, SHOULD_COUNT };

struct work {
    struct causing causing;
    struct sound sound;
    struct sweep sweep;
    struct summed summed;
    const struct table_view *view;
    int64_t *filled; /* by thread's index: what its states add up to */
    size_t room;
    uint32_t task; /* index, of those whose stays are to be looked at */
    bool swept, added, begun, stood;
};

static void *begin(const struct table_view *view, char **problem)
{
    struct work *w = memory_zeroed(1, sizeof *w);
    w->view = w->summed.view = view;
    if (causing_begin(&w->causing, view, problem))
        return w;
    causing_free(&w->causing);
    free(w);
    return NULL;
}

static bool sweep(struct work *w, uint64_t *budget)
{
    struct sweep_piece piece;
    enum sweep_is is;
    w->filled =
        grow_zeroed(w->filled, &w->room, w->view->measured->thread_count, sizeof *w->filled);
    while ((is = sweep_next(&w->sweep, w->view, budget, &piece)) == SWEEP_PIECE) {
        struct states sums;
        states_sum(&w->view->lives, piece.course, piece.from_ns, piece.to_ns, &sums);
        for (unsigned state = 0; state < STATES; state++)
            w->filled[piece.course - w->view->measured->threads] += sums.of[state].total_ns;
    }
    return is == SWEEP_DONE;
}

/* A life that is whole in what is asked for is as long as its states. */
static void look_at_life(struct work *w, uint32_t thread)
{
    const struct table_view *view = w->view;
    const struct course_of *course = &view->measured->threads[thread];
    int64_t from, to;
    if (!states_life(&view->lives, course, &from, &to) || from < view->from_ns ||
        to > table_until(view, course) || w->filled[thread] == to - from)
        return;
    sound_breach(&w->sound, (struct breach){SOUND_LIFE, course->thread, course->start,
                                            w->filled[thread], to - from});
}

/* Two rings are two clocks that are converted apart: what is that near is one after the other. */
#define APART_NS 1000

static void look_at_task(struct work *w, uint32_t line)
{
    size_t count;
    const struct stay *stays = stays_of(spans_tasks(w->view->run->spans), line, &count);
    for (size_t i = 1; (i = stays_overlap(stays, count, i)) < count; i++)
        if (stays[i - 1].to_ns - stays[i].from_ns > APART_NS)
            sound_breach(&w->sound, (struct breach){SOUND_TASK, line, NO_POSITION, stays[i].from_ns,
                                                    stays[i - 1].to_ns});
}

/* A task is looked at as a whole, whatever the range. */
static bool look_at_stays(struct work *w, uint64_t *budget)
{
    const struct stays *stays = spans_tasks(w->view->run->spans);
    const struct intervals *all = w->view->measured;
    if (!stays)
        return true;
    for (; w->task < all->thread_count; w->task++) {
        size_t count;
        stays_of(stays, all->threads[w->task].thread, &count);
        if (!*budget)
            return false;
        *budget -= 1 + count < *budget ? 1 + count : *budget;
        if (table_wants(w->view, all->threads[w->task].thread))
            look_at_task(w, all->threads[w->task].thread);
    }
    for (uint32_t on = 1; on <= stays_carriers(stays); on++) {
        const struct carrier *c = stays_carrier_at(stays, on);
        if (c->crossed)
            sound_breach(&w->sound, (struct breach){SOUND_CARRIER, c->crossed_line, NO_POSITION,
                                                    c->crossed_is, c->crossed_should});
    }
    return true;
}

static bool step(void *work, uint64_t *budget)
{
    struct work *w = work;
    if (!w->swept && !(w->swept = sweep(w, budget)))
        return false;
    if (!w->added && !(w->added = summed_step(&w->summed, budget)))
        return false;
    if (!causing_learn(&w->causing, budget))
        return false;
    if (!w->begun)
        sound_begin(&w->sound, w->view->measured, explained_known(w->view->run, w->causing.since));
    w->begun = true;
    if (!w->stood)
        w->stood = sound_step(&w->sound, *budget);
    else
        return look_at_stays(w, budget);
    *budget = 0;
    return false;
}

static void add_summed(const struct work *w, struct shown_table *t)
{
    for (size_t i = 0; i < w->summed.count; i++) {
        const struct summed_breach *b = &w->summed.breaches[i];
        struct table_cell *cells = table_add_row(t, 0, (struct ref){0});
        if (!cells)
            break;
        bool counts = accounts_counts(b->account);
        cells[RULE] = cell_text(accounts_word(b->account));
        cells[THREAD] = cell_line(b->thread);
        cells[counts ? COUNT : IS] = cell_number(b->is);
        cells[counts ? SHOULD_COUNT : SHOULD] = cell_number(b->should);
        table_row_line(t, b->thread);
    }
    if (w->summed.broken > w->summed.count)
        table_add_note(t, "and %llu more sums",
                       (unsigned long long)(w->summed.broken - w->summed.count));
}

static void fill(void *work, const struct table_view *view, struct shown_table *t)
{
    struct work *w = work;
    t->title = memory_copied("what is not sound");
    table_add_column(t, "rule", "what is broken", TABLE_TEXT, NULL);
    table_add_column(t, "thread", "thread", TABLE_LINE, NULL);
    table_add_column(t, "is_ns", "is", TABLE_NS, NULL);
    table_add_column(t, "should_ns", "should be", TABLE_NS, NULL);
    table_add_column(t, "event", "event", TABLE_EVENT, NULL);
    table_add_column(t, "count", "is", TABLE_COUNT, NULL);
    table_add_column(t, "should_count", "should be", TABLE_COUNT, NULL);
    for (uint32_t i = 0; i < w->sweep.thread && i < view->measured->thread_count; i++)
        if (table_wants(view, view->measured->threads[i].thread))
            look_at_life(w, i);
    for (size_t i = 0; i < w->sound.count; i++) {
        const struct breach *b = &w->sound.breaches[i];
        struct ref at = table_event(view, b->position);
        struct table_cell *cells = table_add_row(t, 0, at);
        if (!cells)
            break;
        cells[RULE] = cell_text(sound_word(b->rule));
        cells[THREAD] = cell_line(b->thread);
        cells[IS] = cell_number(b->is_ns);
        cells[SHOULD] = cell_number(b->should_ns);
        cells[EVENT] = cell_event(at);
        table_row_line(t, b->thread);
    }
    add_summed(w, t);
    if (w->sound.broken > w->sound.count)
        table_add_note(t, "and %llu more", (unsigned long long)(w->sound.broken - w->sound.count));
}

static void free_work(void *work)
{
    struct work *w = work;
    sound_free(&w->sound);
    summed_free(&w->summed);
    causing_free(&w->causing);
    free(w->filled);
    free(w);
}

const struct preset preset_sound = {.what = "sound",
                                    .begin = begin,
                                    .step = step,
                                    .fill = fill,
                                    .free = free_work,
                                    .tells_all = true};
