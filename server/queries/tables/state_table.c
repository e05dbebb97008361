/* Table of the state of a run at a consistent cut (server/cuts/cut_state.h): what each thread does
 * and what it holds, or which threads are in each object, the units of semaphores and the messages
 * in flight. */
#include "base/alloc.h"
#include "server/cuts/cut_request.h"
#include "server/cuts/cut_state.h"
#include "server/queries/tables/table_query.h"
#include "wire/thread_state_names.h"

#include <inttypes.h>
#include <stdlib.h>

struct state_work {
    const struct run *run;
    struct consistent_cut *cut;
    struct cut_state_job *job; /* NULL: the cut is not done */
    bool objects;
    bool whole; /* the cut has all events */
    char *text; /* what the cut is */
};

enum state_thread_column { THREAD, STATE, CLASS, OBJECT, LOCATION, EVENT, TYPE, SINCE };

static const struct column_definition state_thread_columns[] = {
    [THREAD] = {"thread", .kind = TABLE_LINE},
    [STATE] = {"state", .kind = TABLE_TEXT},
    [CLASS] = {"class", .kind = TABLE_TEXT},
    [OBJECT] = {"object", .kind = TABLE_LINE},
    [LOCATION] = {"location", .kind = TABLE_PLACE},
    [EVENT] = {"event", .kind = TABLE_EVENT},
    [TYPE] = {"type", .kind = TABLE_TEXT, .detail = true},
    [SINCE] = {"since_ns", .kind = TABLE_NS, .detail = true},
};

enum state_object_column { LINE, HOLDERS, WAITERS, POSTED, ACQUIRED, IN_FLIGHT, UNRECEIVED, LAST };

static const struct column_definition state_object_columns[] = {
    [LINE] = {"object", .kind = TABLE_LINE},
    [HOLDERS] = {"holders", .kind = TABLE_COUNT},
    [WAITERS] = {"waiters", .kind = TABLE_COUNT},
    [POSTED] = {"units_posted", .kind = TABLE_COUNT},
    [ACQUIRED] = {"units_acquired", .kind = TABLE_COUNT},
    [IN_FLIGHT] = {"in_flight", .kind = TABLE_COUNT},
    [UNRECEIVED] = {"unreceived", .kind = TABLE_COUNT, .detail = true},
    [LAST] = {"event", .kind = TABLE_EVENT},
};

/* ---- the cut ---- */

static bool state_read_event(const char *text, struct event_id *at)
{
    return text && sscanf(text, "%" SCNu32 ":%" SCNu64, &at->line, &at->number) == 2;
}

/* Begins the cut of the options: "at" or "past_of", an event; "time", ns; or all events. (The
 * option "objects" asks for objects in place of threads.) */
static struct consistent_cut *state_begin_cut(const struct table_view *view, char **text,
                                              struct error *error)
{
    const char *at = table_option(view->request, "at"),
               *of = table_option(view->request, "past_of"),
               *time = table_option(view->request, "time");
    const char *event = at ? at : of;
    struct event_id id = {0, 0};
    if (event && !state_read_event(event, &id)) {
        error_set(error, "%s: not an event", event);
        return NULL;
    }
    *text = at     ? xasprintf("state at event %s, with all that happened before it", at)
            : of   ? xasprintf("state before event %s, after all that happened before it", of)
            : time ? xasprintf("state at %.6f ms", strtod(time, NULL) / 1e6)
                   : xstrdup("state at the end");
    if (event)
        return cut_request_past(view->run, id, at != NULL, error);
    return cut_request_time(view->run, time ? strtoll(time, NULL, 10) + 1 : INT64_MAX);
}

static void *state_begin(const struct table_view *view, struct error *error)
{
    struct state_work *work = xcalloc(1, sizeof *work);
    work->run = view->run;
    work->objects = table_option(view->request, "objects") != NULL;
    work->whole = !table_option(view->request, "at") && !table_option(view->request, "past_of") &&
                  !table_option(view->request, "time");
    work->cut = state_begin_cut(view, &work->text, error);
    return work;
}

static bool state_step(void *p, uint64_t *budget)
{
    struct state_work *work = p;
    if (!work->job && consistent_cut_step(work->cut, *budget))
        work->job = cut_state_begin(work->run, work->cut, work->whole);
    return work->job && cut_state_step(work->job, budget);
}

static void state_free(void *p)
{
    struct state_work *work = p;
    cut_state_free(work->job);
    consistent_cut_free(work->cut);
    free(work->text);
    free(work);
}

/* ---- cells ---- */

static struct event_id state_event(const struct run *run, uint64_t position)
{
    if (position == NO_POSITION || position < order_first(run->order))
        return (struct event_id){0, 0};
    struct order_event e = order_event(run->order, position);
    return (struct event_id){e.line, e.number};
}

static struct table_cell state_place(const struct run *run, uint64_t position)
{
    const struct site *site =
        position == NO_POSITION
            ? NULL
            : site_table_at(&run->sites, order_event(run->order, position).site);
    return site ? table_cell_place((struct table_place){site->process, site->address})
                : (struct table_cell){0};
}

/* The words of decision tables for states: a thread that is not in a traced wait is running, or
 * runnable. */
static const char *state_word(enum cut_thread_state state)
{
    static const uint8_t codes[] = {[CUT_THREAD_CREATED] = THREAD_STATE_CREATED,
                                    [CUT_THREAD_RUNNING] = THREAD_STATE_RUNNING,
                                    [CUT_THREAD_BLOCKED] = THREAD_STATE_BLOCKED,
                                    [CUT_THREAD_EXITED] = THREAD_STATE_EXITED};
    return thread_state_words[codes[state]].name;
}

static const char *state_class(const struct cut_thread *t)
{
    if (t->state != CUT_THREAD_BLOCKED)
        return NULL;
    static const char *const words[] = {[WAITS_NOT] = "rendezvous",
                                        [WAITS_MEETING] = "rendezvous",
                                        [WAITS_EXCLUSION] = "contention",
                                        [WAITS_TIMER] = "timeout"};
    return words[t->look->waits_as];
}

/* Adds a row below a thread for each object that it is in. */
static void state_add_holds(const struct state_work *work, const struct cut_state *s,
                            uint32_t thread, struct result_table *t)
{
    for (uint32_t i = 0; i < s->hold_count; i++) {
        const struct cut_hold *hold = &s->holds[i];
        if (hold->thread != thread || hold->waits)
            continue;
        struct event_id at = state_event(work->run, hold->since);
        struct table_cell *cells = table_add_row(t, 1, at);
        if (!cells)
            return;
        cells[STATE] = table_cell_text("held");
        cells[OBJECT] = table_cell_line(hold->line);
        cells[LOCATION] = state_place(work->run, hold->since);
        cells[EVENT] = table_cell_event(at);
        table_row_line(t, thread);
    }
}

static void state_fill_threads(const struct state_work *work, const struct table_view *view,
                               const struct cut_state *s, struct result_table *t)
{
    table_add_columns(t, state_thread_columns,
                      sizeof state_thread_columns / sizeof *state_thread_columns);
    for (uint32_t i = 0; i < s->thread_count; i++) {
        const struct cut_thread *thread = &s->threads[i];
        struct event_id at = state_event(work->run, thread->last);
        struct table_cell *cells = table_wants(view, thread->line) ? table_add_row(t, 0, at) : NULL;
        if (!cells)
            continue;
        struct order_event e = order_event(work->run->order, thread->last);
        cells[THREAD] = table_cell_line(thread->line);
        cells[STATE] = table_cell_text(state_word(thread->state));
        if (state_class(thread))
            cells[CLASS] = table_cell_text(state_class(thread));
        if (thread->about != thread->line)
            cells[OBJECT] = table_cell_line(thread->about);
        cells[LOCATION] = state_place(work->run, thread->last);
        cells[EVENT] = table_cell_event(at);
        cells[TYPE] = table_cell_text(run_type_name(work->run, e.type));
        cells[SINCE] = table_cell_number(e.time_ns);
        table_row_line(t, thread->line);
        state_add_holds(work, s, thread->line, t);
    }
    if (!s->thread_count)
        table_add_note(t, "no thread has an event in this cut");
}

static void state_fill_objects(const struct state_work *work, const struct cut_state *s,
                               struct result_table *t)
{
    bool unknown = false;
    table_add_columns(t, state_object_columns,
                      sizeof state_object_columns / sizeof *state_object_columns);
    for (uint32_t i = 0; i < s->object_count; i++) {
        const struct cut_object *object = &s->objects[i];
        struct event_id at = state_event(work->run, object->last);
        struct table_cell *cells = table_add_row(t, 0, at);
        if (!cells)
            break;
        cells[LINE] = table_cell_line(object->line);
        if (!object->unknown)
            cells[HOLDERS] = table_cell_number(object->holders);
        cells[WAITERS] = table_cell_number(object->waiters);
        if (object->counts) {
            cells[POSTED] = table_cell_number((int64_t)object->posted);
            cells[ACQUIRED] = table_cell_number((int64_t)object->acquired);
        }
        if (object->in_flight + object->unreceived) {
            cells[IN_FLIGHT] = table_cell_number((int64_t)object->in_flight);
            cells[UNRECEIVED] = table_cell_number((int64_t)object->unreceived);
        }
        cells[LAST] = table_cell_event(at);
        table_row_line(t, object->line);
        unknown |= object->unknown;
    }
    if (unknown)
        table_add_note(t, "holders not known: more than 100000 events of the object since");
}

static void state_fill(void *p, const struct table_view *view, struct result_table *t)
{
    const struct state_work *work = p;
    const struct cut_state *s = cut_state_result(work->job);
    t->title = xstrdup(work->text);
    if (work->objects)
        state_fill_objects(work, s, t);
    else
        state_fill_threads(work, view, s, t);
    table_arrange(t, view->request, NULL);
}

const struct table_preset preset_state = {.what = "state",
                                          .begin = state_begin,
                                          .step = state_step,
                                          .fill = state_fill,
                                          .free = state_free,
                                          .no_intervals = true,
                                          .tells_all = true};
