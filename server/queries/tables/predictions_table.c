/* Table of predicted bugs (server/analysis/bug_prediction.h): orders that did not occur, and below
 * each the operations of its threads, with the events that show it.  Options: "kinds", words of
 * FINDING_KINDS separated by commas, or "all"; without it those that bear on correctness by
 * themselves.  Findings keep their numbers in the whole list. */
#include "base/alloc.h"
#include "server/queries/interval_cache.h"
#include "server/queries/tables/table_query.h"
#include "server/analysis/bug_prediction.h"
#include "server/timing/run_metadata_source.h"
#include "server/run/call_sites.h"

#include <stdlib.h>
#include <string.h>

#define READ 256u /* events read at once */

enum predictions_column {
    NUMBER,
    KIND,
    TIMES,
    THREAD,
    LINE,
    WHERE,
    EVENT,
    THEN_LINE,
    THEN_WHERE,
    THEN_EVENT,
    BEGIN_WHERE,
    BEGIN_EVENT,
    TYPE,
    THEN_TYPE,
    BEGIN_TYPE
};

static const struct column_definition predictions_columns[] = {
    [NUMBER] = {"number", "", .kind = TABLE_COUNT},
    [KIND] = {"kind", "potential bug", .kind = TABLE_TEXT},
    [TIMES] = {"count", "occurrences", .kind = TABLE_COUNT},
    [THREAD] = {"thread", "thread", .kind = TABLE_LINE},
    [LINE] = {"object", "first object", .kind = TABLE_LINE},
    [WHERE] = {"location", "first location", .kind = TABLE_PLACE},
    [EVENT] = {"event", "first event", .kind = TABLE_EVENT},
    [THEN_LINE] = {"second_object", "second object", .kind = TABLE_LINE},
    [THEN_WHERE] = {"second_location", "second location", .kind = TABLE_PLACE},
    [THEN_EVENT] = {"second_event", "second event", .kind = TABLE_EVENT},
    [BEGIN_WHERE] = {"request_location", "request location", .kind = TABLE_PLACE, .detail = true},
    [BEGIN_EVENT] = {"request_event", "request event", .kind = TABLE_EVENT, .detail = true},
    [TYPE] = {"type", "first operation", .kind = TABLE_TEXT, .detail = true},
    [THEN_TYPE] = {"second_type", "second operation", .kind = TABLE_TEXT, .detail = true},
    [BEGIN_TYPE] = {"request_type", "request operation", .kind = TABLE_TEXT, .detail = true},
};

struct predictions_work {
    const struct table_view *view;
    struct must_happen_before sure;
    struct bug_prediction *prediction;
    uint64_t next, end; /* positions: the next one to read; the end */
    struct order_event *events;
    uint64_t first; /* position of the first one in `events` */
    size_t count;
    uint8_t *locks; /* by kind of line: 1 + whether it is a lock; 0: not looked up yet */
    size_t kind_room;
    struct predictions_waiting { /* by thread: what it waits for */
        uint32_t about; /* the line whose signal it waits for; 0: none */
        uint32_t receiver, place; /* the line on which it waits for any sender; 0: none */
        uint64_t began;
    } *waits;
    size_t wait_room;
    bool cut;
};

/* ---- the target description ---- */

static bool is_lock(const void *context, uint32_t line)
{
    struct predictions_work *w = (struct predictions_work *)(uintptr_t)context;
    const struct run *run = w->view->run;
    uint32_t kind = order_line_kind(run->order, line);
    w->locks = array_reserve_zeroed(w->locks, &w->kind_room, kind + 1u, sizeof *w->locks);
    if (!w->locks[kind]) {
        const struct target_line_type *k =
            target_list_line_type(&run->targets, run_kind_name(run, kind));
        w->locks[kind] = k && k->category == CATEGORY_LOCK && k->threads ? 2 : 1;
    }
    return w->locks[kind] == 2;
}

static bool is_timed(const struct run *run, const struct order_event *e)
{
    const struct target_event *look =
        run_event_type(run, e->line, e->type, (enum relation)e->relation);
    return look && look->timed;
}

/* Returns whether an event acquires a shared line in shared mode: another type of event on the line
 * comes after more types than this one. */
static bool is_shared(const struct run *run, const struct order_event *e)
{
    const struct target_event *look =
        run_event_type(run, e->line, e->type, (enum relation)e->relation);
    if (!look || !order_line_shared(run->order, e->line))
        return false;
    const char *kind = run_kind_name(run, order_line_kind(run->order, e->line));
    for (size_t t = 0; t < run->targets.count; t++)
        for (size_t i = 0; i < run->targets.items[t]->event_count; i++) {
            const struct target_event *other = &run->targets.items[t]->events[i];
            if (target_has_line_type(&other->on, kind) && other->after.count > look->after.count)
                return true;
        }
    return false;
}

/* ---- events as synchronization operations ---- */

static void predictions_feed_op(struct predictions_work *w, struct sync_op op)
{
    predict_feed(w->prediction, &op);
}

/* Feeds a signal that only threads that wait at that time receive. */
static void predictions_feed_signal(struct predictions_work *w, const struct order_event *e,
                                    struct sync_op op)
{
    const struct run *run = w->view->run;
    const struct target_event *look =
        run_event_type(run, e->line, e->type, (enum relation)e->relation);
    if (!look || !look->undelivered || !e->about)
        return;
    const struct run_text *text =
        annotations_at(&run->annotations, (struct event_id){e->line, e->number});
    op.is = SYNC_OP_SIGNAL;
    op.all = !look->all || (text && strcmp(text->text, look->all) == 0);
    predictions_feed_op(w, op);
}

/* Feeds the first event of a thread after it began to wait for a signal, and notes whether it
 * begins such a wait. */
static void predictions_feed_wakeup(struct predictions_work *w, const struct order_event *e,
                                    struct sync_op op)
{
    const struct event_meaning *is = interval_cache_meaning(w->view->run, e);
    w->waits = array_reserve_zeroed(w->waits, &w->wait_room, e->thread + 1u, sizeof *w->waits);
    struct predictions_waiting *t = &w->waits[e->thread];
    if (t->about) {
        op.is = SYNC_OP_WOKEN;
        op.about = t->about;
        predictions_feed_op(w, op);
    }
    *t =
        (struct predictions_waiting){.began = t->began, .receiver = t->receiver, .place = t->place};
    if (is->waits && is->releases && e->line != e->thread && is_lock(w, e->line))
        t->about = e->about;
}

/* Feeds a message that was awaited from any sender, and notes whether the event begins such a
 * wait. */
static void predictions_feed_message(struct predictions_work *w, const struct order_event *e,
                                     const struct event_meaning *is, struct sync_op op)
{
    const struct order *order = w->view->run->order;
    struct predictions_waiting *t = &w->waits[e->thread];
    if (e->send_count == 1 && t->receiver) {
        uint64_t sent = order_edge(order, op.position, 0);
        struct order_event send =
            sent >= w->sure.first ? order_event(order, sent) : (struct order_event){0};
        op.is = SYNC_OP_RECEIVE;
        op.about = t->receiver;
        op.place = t->place;
        op.began = t->began;
        op.sender = send.thread;
        op.sent = sent;
        op.sent_mark = mhb_clock_at(&w->sure, send.thread, sent);
        if (send.thread && send.thread != e->thread)
            predictions_feed_op(w, op);
    }
    bool any = is->waits && is->category == CATEGORY_RECEIVE && e->about &&
               !order_line_events(order, e->about);
    t->receiver = any ? e->about : 0;
    t->began = op.position;
    t->place = op.place;
}

static void predictions_feed_event(struct predictions_work *w, const struct order_event *e,
                                   uint64_t position)
{
    const struct run *run = w->view->run;
    const struct event_meaning *is = interval_cache_meaning(run, e);
    struct sync_op op = {.thread = e->thread,
                         .about = e->about,
                         .place = call_sites_for_line(run, e->site),
                         .position = position,
                         .mark = mhb_clock(&w->sure, e->thread)};
    bool within = e->line != e->thread && is_lock(w, e->line);
    op.lock = within ? e->line : e->about;
    if (is->waits && is->class == WAIT_CONTENTION && e->about && is_lock(w, e->about)) {
        op.is = SYNC_OP_REQUEST;
        op.lock = e->about;
        op.timed = is_timed(run, e);
        predictions_feed_op(w, op);
    } else if (within && is->waits && is->releases) {
        op.is = SYNC_OP_WAIT;
        op.timed = is_timed(run, e);
        predictions_feed_op(w, op);
    } else if (is->by_clock && e->about && is_lock(w, e->about)) {
        op.is = SYNC_OP_REFUSED;
        op.lock = e->about;
        predictions_feed_op(w, op);
    }
    if (within && (is->enters || is->leaves) && !is->waits) {
        op.is = is->enters ? SYNC_OP_ACQUIRE : SYNC_OP_RELEASE;
        op.lock = e->line;
        op.shared = is->enters && is_shared(run, e);
        predictions_feed_op(w, op);
    }
    predictions_feed_signal(w, e, op);
    predictions_feed_wakeup(w, e, op);
    predictions_feed_message(w, e, is, op);
}

/* Feeds the events of one synchronization point, from the i-th one that was read; returns how many.
 */
static uint32_t predictions_feed_point(struct predictions_work *w, size_t i)
{
    uint32_t count = 1;
    while (i + count < w->count && w->events[i + count].point == w->first + i)
        count++;
    w->cut |= !mhb_add_point(&w->sure, w->first + i, w->events + i, count);
    for (uint32_t k = 0; !w->cut && k < count; k++) {
        const struct order_event *e = &w->events[i + k];
        if (e->line && !(e->line & HIDDEN_LINE) && e->thread && e->state == EVENT_ORDERED)
            predictions_feed_event(w, e, w->first + i + k);
    }
    return count;
}

/* ---- job ---- */

static void *predictions_begin(const struct table_view *view, char **problem)
{
    if (view->from_ns != INT64_MIN || view->to_ns != INT64_MAX || view->past) {
        *problem = xstrdup("prediction needs the whole run; it cannot be restricted to a range");
        return NULL;
    }
    struct predictions_work *w = xcalloc(1, sizeof *w);
    w->view = view;
    w->prediction = predict_new();
    w->next = order_first(view->run->order);
    w->end = order_count(view->run->order);
    w->sure = (struct must_happen_before){
        .order = view->run->order, .is_lock = is_lock, .context = w, .first = w->next};
    w->events = xcalloc(READ, sizeof *w->events);
    return w;
}

/* Reads the next events, up to the end of a synchronization point unless that is longer than the
 * buffer. */
static void predictions_read_events(struct predictions_work *w)
{
    uint64_t most = w->end - w->next < READ ? w->end - w->next : READ;
    w->first = w->next;
    w->count = order_read(w->view->run->order, w->next, most, w->events);
    if (w->next + w->count >= w->end)
        return;
    uint64_t point = w->events[w->count - 1].point;
    if (point > w->first && point < w->first + w->count)
        w->count = point - w->first;
}

static bool predictions_step(void *work, uint64_t *budget)
{
    struct predictions_work *w = work;
    while (w->next < w->end && !w->cut && *budget) {
        predictions_read_events(w);
        for (size_t i = 0; i < w->count && !w->cut;)
            i += predictions_feed_point(w, i);
        w->next += w->count;
        *budget -= w->count < *budget ? w->count : *budget;
    }
    return (w->next >= w->end || w->cut) && predict_step(w->prediction, budget);
}

/* ---- rows ---- */

/* Sets the three cells of an event. */
static void predictions_set_event_cells(const struct table_view *view, uint64_t position,
                                        struct table_cell *cells, enum predictions_column where,
                                        enum predictions_column event, enum predictions_column type)
{
    if (position == NO_POSITION)
        return;
    struct order_event e = order_event(view->run->order, position);
    cells[event] = table_cell_event(table_event(view, position));
    cells[type] = table_cell_text(run_type_name(view->run, e.type));
    if (e.site)
        cells[where] = table_cell_place(table_place(view, call_sites_for_line(view->run, e.site)));
}

static void predictions_add_participant(const struct table_view *view,
                                        const struct finding_participant *part,
                                        struct result_table *t)
{
    struct table_cell *cells = table_add_row(t, 1, table_event(view, part->position));
    if (!cells)
        return;
    cells[THREAD] = table_cell_line(part->thread);
    cells[LINE] = table_cell_line(part->lock);
    cells[THEN_LINE] = table_cell_line(part->then_lock);
    predictions_set_event_cells(view, part->position, cells, WHERE, EVENT, TYPE);
    predictions_set_event_cells(view, part->then, cells, THEN_WHERE, THEN_EVENT, THEN_TYPE);
    predictions_set_event_cells(view, part->begin, cells, BEGIN_WHERE, BEGIN_EVENT, BEGIN_TYPE);
    table_row_line(t, part->thread);
}

static bool predictions_is_wanted(const struct table_request *request, enum finding_kind kind)
{
    const char *kinds = table_option(request, "kinds"), *word = finding_name(kind);
    size_t n = strlen(word);
    if (!kinds)
        return !finding_is_order(kind);
    for (const char *at = kinds; (at = strstr(at, word)); at += n)
        if ((at == kinds || at[-1] == ',') && (!at[n] || at[n] == ','))
            return true;
    return strcmp(kinds, "all") == 0;
}

static bool is_of_lines(const struct table_view *view, const struct finding *f)
{
    bool any = false;
    for (uint32_t i = 0; i < f->part_count && !any; i++)
        any = table_wants(view, f->parts[i].thread);
    return any;
}

static void add_finding(const struct table_view *view, const struct finding *f, size_t number,
                        struct result_table *t)
{
    struct table_cell *cells = table_add_row(t, 0, table_event(view, f->parts[0].position));
    if (!cells)
        return;
    cells[NUMBER] = table_cell_number((int64_t)number);
    cells[KIND] = table_cell_text(finding_name(f->kind));
    cells[TIMES] = table_cell_number((int64_t)f->times);
    for (uint32_t i = 0; i < f->part_count; i++)
        table_row_line(t, f->parts[i].thread);
    for (uint32_t i = 0; i < f->part_count; i++)
        predictions_add_participant(view, &f->parts[i], t);
}

static void predictions_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct predictions_work *w = work;
    const struct findings *found = predict_results(w->prediction);
    t->title = xstrdup("potential concurrency bugs");
    table_add_columns(t, predictions_columns,
                      sizeof predictions_columns / sizeof *predictions_columns);
    size_t orders = 0;
    for (size_t i = 0; i < found->count; i++)
        if (!is_of_lines(view, &found->items[i]))
            continue;
        else if (predictions_is_wanted(view->request, found->items[i].kind))
            add_finding(view, &found->items[i], i + 1, t);
        else
            orders += !table_option(view->request, "kinds");
    if (orders)
        table_add_note(t,
                       "%zu order%s not enforced, possibly by intent, omitted: poet predict --all",
                       orders, orders == 1 ? "" : "s");
    if (w->cut)
        table_add_note(t, "only the first %llu of %llu events were analyzed (memory limit)",
                       (unsigned long long)(w->next - order_first(view->run->order)),
                       (unsigned long long)(w->end - order_first(view->run->order)));
    if (found->cut)
        table_add_note(t, "there may be more findings: analysis limit reached");
    table_arrange(t, view->request, NULL);
}

static void free_work(void *work)
{
    struct predictions_work *w = work;
    predict_free(w->prediction);
    mhb_free(&w->sure);
    free(w->events);
    free(w->locks);
    free(w->waits);
    free(w);
}

static const char *const predictions_groupings[] = {"places", NULL};

const struct table_preset preset_predictions = {.what = "predict",
                                                .by = predictions_groupings,
                                                .begin = predictions_begin,
                                                .step = predictions_step,
                                                .fill = predictions_fill,
                                                .free = free_work};
