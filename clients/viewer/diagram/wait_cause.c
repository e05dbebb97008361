#include "clients/viewer/diagram/wait_cause.h"

#include "base/alloc.h"
#include "base/units.h"
#include "clients/connection/result_table.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/state/status_line.h"

#include <stdlib.h>
#include <string.h>

/* A wait in one sentence: which threads it waited for, how long, and what they did meanwhile. */

#define STEPS 3 /* code segments of the awaited threads that are listed, */
#define STEPS_EACH 1 /* of each where there are several, */
#define SEGMENTS 3 /* the longest wait intervals that are listed */

struct wait_summary_text_buffer {
    char *text;
};

static void wait_summary_append(struct wait_summary_text_buffer *buffer, char *more)
{
    char *both = xasprintf("%s%s", buffer->text, more);
    free(buffer->text);
    free(more);
    buffer->text = both;
}

static char *wait_summary_duration_text(double ns)
{
    struct time_unit unit = time_unit_for((int64_t)ns);
    int digits = unit.ns == 1 ? 0 : unit.ns < time_units[0].ns ? 1 : 2;
    return xasprintf("%.*f %s", digits, ns / (double)unit.ns, unit.name);
}

/* Columns of the table that the text mentions. */
struct wait_summary_columns {
    uint32_t waited, thread, step, charge, since, since_ns, where;
    uint32_t since_event, since_where; /* may be missing */
    bool good;
};

static struct wait_summary_columns columns_of(const struct result_table *t)
{
    struct wait_summary_columns c = {.waited = result_table_find_column(t, "waited_ns"),
                                     .thread = result_table_find_column(t, "thread"),
                                     .step = result_table_find_column(t, "segment"),
                                     .charge = result_table_find_column(t, "attributed_ns"),
                                     .since = result_table_find_column(t, "diverged_by"),
                                     .since_ns = result_table_find_column(t, "diverged_ns"),
                                     .where = result_table_find_column(t, "location"),
                                     .since_event = result_table_find_column(t, "diverged_event"),
                                     .since_where =
                                         result_table_find_column(t, "diverged_location")};
    uint32_t n = t->column_count;
    c.good =
        c.waited < n && c.thread < n && c.step < n && c.charge < n && c.since < n && c.since_ns < n;
    return c;
}

static char *in_words(const struct table_names *names, const struct result_table *t, uint32_t row,
                      uint32_t column)
{
    return result_table_cell_text(names, &t->columns[column], &result_table_cells(t, row)[column]);
}

static int64_t wait_summary_cell_number(const struct result_table *t, uint32_t row, uint32_t column)
{
    const struct table_cell *cell = &result_table_cells(t, row)[column];
    return cell->is == CELL_NUMBER ? cell->number : 0;
}

/* Returns the row of this wait interval with the next smaller share of it, or an equal one further
 * down; row_count: none. */
static uint32_t wait_summary_next_share(const struct result_table *t,
                                        const struct wait_summary_columns *c, uint32_t segment,
                                        uint32_t before)
{
    int64_t limit =
                before < t->row_count ? wait_summary_cell_number(t, before, c->charge) : INT64_MAX,
            most = 0;
    uint32_t found = t->row_count;
    for (uint32_t i = segment + 1; i < t->row_count && t->rows[i].depth > 0; i++) {
        int64_t ns = wait_summary_cell_number(t, i, c->charge);
        bool after = ns < limit || (ns == limit && i > before);
        if (t->rows[i].depth == 1 && ns > most && after && i != before) {
            most = ns;
            found = i;
        }
    }
    return found;
}

static void add_step(struct wait_summary_text_buffer *buffer, const struct table_names *names,
                     const struct result_table *t, const struct wait_summary_columns *c,
                     uint32_t segment, uint32_t row, const char *before)
{
    const struct table_cell *thread = &result_table_cells(t, row)[c->thread],
                            *waiter = &result_table_cells(t, segment)[c->thread];
    char *step = in_words(names, t, row, c->step),
         *took = wait_summary_duration_text((double)wait_summary_cell_number(t, row, c->charge));
    bool other = thread->is == CELL_LINE && waiter->is == CELL_LINE && thread->line != waiter->line;
    const char *by = other ? metadata_label(names->book, thread->line) : "";
    wait_summary_append(buffer, xasprintf("%s%s%s%s %s", before, by, other ? " " : "", step, took));
    free(step);
    free(took);
}

static void add_steps(struct wait_summary_text_buffer *buffer, const struct table_names *names,
                      const struct result_table *t, const struct wait_summary_columns *c,
                      uint32_t segment, bool several)
{
    uint32_t count = 0, row = t->row_count, most = several ? STEPS_EACH : STEPS;
    while ((row = wait_summary_next_share(t, c, segment, row)) < t->row_count) {
        if (count < most)
            add_step(buffer, names, t, c, segment, row, several ? " (" : count ? ", " : ": ");
        count++;
    }
    if (count > most)
        wait_summary_append(buffer,
                            several ? xstrdup(", ...") : xasprintf(", and %u more", count - most));
    if (count && several)
        wait_summary_append(buffer, xstrdup(")"));
}

/* Returns a cell as text; NULL if it is unknown. */
static char *wait_summary_known_cell_text(const struct table_names *names,
                                          const struct result_table *t, uint32_t row,
                                          uint32_t column)
{
    const struct table_cell *cell =
        column < t->column_count ? &result_table_cells(t, row)[column] : NULL;
    bool is = cell && cell->is != CELL_NULL && (cell->is != CELL_PLACE || cell->place.address);
    return is ? in_words(names, t, row, column) : NULL;
}

/* Appends "; compared since 1:1 at 21.5 ms (thread creation), in main (ring.c:44)". */
static void add_since(struct wait_summary_text_buffer *buffer, const struct table_names *names,
                      const struct result_table *t, const struct wait_summary_columns *c,
                      uint32_t segment)
{
    char *since = in_words(names, t, segment, c->since),
         *when =
             wait_summary_duration_text((double)wait_summary_cell_number(t, segment, c->since_ns)),
         *event = wait_summary_known_cell_text(names, t, segment, c->since_event),
         *in = wait_summary_known_cell_text(names, t, segment, c->since_where),
         *where = wait_summary_known_cell_text(names, t, segment, c->where);
    if (strcmp(since, "start of run") == 0)
        wait_summary_append(buffer, xstrdup("; compared since the start of the run"));
    else
        wait_summary_append(buffer, xasprintf("; compared since %s%s%s (%s)", event ? event : "",
                                              event ? " at " : "", when, since));
    if (in && !(where && strcmp(in, where) == 0)) /* the place of the wait is printed anyway */
        wait_summary_append(buffer, xasprintf(", in %s", in));
    free(where);
    free(in);
    free(event);
    free(since);
    free(when);
}

/* Appends the location of the wait, if it is known. */
static void add_where(struct wait_summary_text_buffer *buffer, const struct table_names *names,
                      const struct result_table *t, const struct wait_summary_columns *c,
                      uint32_t segment)
{
    char *where = wait_summary_known_cell_text(names, t, segment, c->where);
    if (where)
        wait_summary_append(buffer, xasprintf("; waiting in %s", where));
    free(where);
}

/* Appends "waited 45.0 ms". */
static void add_whole(struct wait_summary_text_buffer *buffer, const struct result_table *t,
                      const struct wait_summary_columns *c)
{
    const struct table_cell *total = t->total ? &t->total[c->waited] : NULL;
    char *whole =
        wait_summary_duration_text(total && total->is == CELL_NUMBER ? (double)total->number : 0);
    wait_summary_append(buffer, xasprintf("waited %s", whole));
    free(whole);
}

static void add_segment(struct wait_summary_text_buffer *buffer, const struct table_names *names,
                        const struct result_table *t, const struct wait_summary_columns *c,
                        uint32_t segment, bool several)
{
    char *waiter = in_words(names, t, segment, c->thread),
         *took =
             wait_summary_duration_text((double)wait_summary_cell_number(t, segment, c->waited));
    bool first = !strchr(buffer->text, ':');
    wait_summary_append(buffer,
                        several ? xasprintf("%s %s for %s", first ? ":" : ", then", took, waiter)
                                : xasprintf(" for %s", waiter));
    free(waiter);
    free(took);
    add_steps(buffer, names, t, c, segment, several);
}

/* Returns whether the wait interval is one of the SEGMENTS longest. */
static bool wait_summary_is_listed(const struct result_table *t,
                                   const struct wait_summary_columns *c, uint32_t segment)
{
    uint32_t longer = 0;
    int64_t ns = wait_summary_cell_number(t, segment, c->waited);
    for (uint32_t i = 0; i < t->row_count; i++) {
        int64_t other = wait_summary_cell_number(t, i, c->waited);
        longer += t->rows[i].depth == 0 && (other > ns || (other == ns && i < segment));
    }
    return longer < SEGMENTS;
}

/* Returns, from the table `why`, "waited 45.0 ms for T:rank 2: main (ring.c:12) → thread end 24.0
 * ms, ...; since 1:1 at 1.250 ms, when one made the other, in main (ring.c:9); it waited in main
 * (ring.c:14)". *cause: the event that unblocked it, line 0: none. New memory; NULL if it is not a
 * wait. */
static char *wait_summary_text(const struct table_names *names, const struct result_table *t,
                               struct event_id *cause)
{
    struct wait_summary_columns c = columns_of(t);
    struct wait_summary_text_buffer buffer = {xstrdup("")};
    uint32_t segments = 0, last = 0;
    *cause = (struct event_id){0};
    for (uint32_t i = 0; c.good && i < t->row_count; i++)
        segments += t->rows[i].depth == 0;
    if (!c.good || !t->total) {
        free(buffer.text);
        return NULL;
    }
    add_whole(&buffer, t, &c);
    for (uint32_t i = 0; i < t->row_count; i++)
        if (t->rows[i].depth == 0) {
            if (wait_summary_is_listed(t, &c, i))
                add_segment(&buffer, names, t, &c, i, segments > 1);
            last = i;
        }
    if (segments > SEGMENTS)
        wait_summary_append(&buffer, xasprintf(", and for %u more", segments - SEGMENTS));
    if (segments) {
        *cause = t->rows[last].event;
        add_since(&buffer, names, t, &c, last);
        add_where(&buffer, names, t, &c, last);
    }
    for (uint32_t i = 0; !segments && i < t->note_count; i++)
        wait_summary_append(&buffer, xasprintf(": %s", t->notes[i]));
    return buffer.text;
}

/* For larger runs, a click does not trigger a query that examines the whole run; only an open
 * analysis pane does. */
#define EVENTS_MOST 1000000u

struct wait_cause {
    struct table_model why;
    struct event_id of, cause; /* of: the event of the request; line 0: none */
    char *text; /* NULL: not known (yet) */
    bool go_to; /* the cause, once it is known */
};

static const struct viewer_addon wait_cause_addon = {"wait_cause", sizeof(struct wait_cause)};

static struct wait_cause *wait_cause_find(const struct view *view)
{
    return viewer_addons_find(&view->addons, &wait_cause_addon);
}

static void wait_cause_go_to_cause(struct view *view, struct wait_cause *r)
{
    r->go_to = false;
    if (r->cause.line)
        go_to_event(view, r->cause, NO_POSITION);
    else
        status_line_show(&view->status_line, "No traced event ended this wait");
}

static void wait_cause_on_table(void *user)
{
    struct view *view = user;
    struct wait_cause *r = wait_cause_find(view);
    struct table_names names = {view_metadata(view), view->server_link.sites};
    if (!r->why.fresh)
        return;
    r->why.fresh = false;
    free(r->text);
    r->text = r->why.table.problem ? NULL : wait_summary_text(&names, &r->why.table, &r->cause);
    notifier_emit(&view->notifier, NOTIFY_WAIT_CAUSE);
    if (r->go_to)
        wait_cause_go_to_cause(view, r);
}

static struct wait_cause *wait_cause_state(struct view *view)
{
    struct wait_cause *state = wait_cause_find(view);
    if (!state) {
        state = viewer_addons_add(&view->addons, &wait_cause_addon);
        state->why = (struct table_model){
            .link = &view->server_link, .on_table = wait_cause_on_table, .user = view};
    }
    return state;
}

static void wait_cause_reset(struct view *view)
{
    struct wait_cause *r = wait_cause_state(view);
    table_model_clear(&r->why);
    free(r->text);
    r->text = NULL;
    r->go_to = false;
    r->of = r->cause = (struct event_id){0};
}

void wait_cause_request(struct view *view, struct event_id at)
{
    struct wait_cause *r = wait_cause_state(view);
    if (event_id_equal(r->of, at) && at.line)
        return;
    wait_cause_reset(view);
    r->of = at;
    if (at.line && view->server_link.connected && view->server_link.has_run) {
        char event[48];
        struct table_request request = table_model_request("explanation", "");
        event_id_print(event, sizeof event, at);
        table_model_set_option(&request, "event", event);
        table_model_send(&r->why, &request);
    }
    notifier_emit(&view->notifier, NOTIFY_WAIT_CAUSE);
}

const char *wait_cause_sentence(const struct view *view, const struct event_id *at)
{
    const struct wait_cause *r = wait_cause_find(view);
    return r && (!at || event_id_equal(*at, r->of)) ? r->text : NULL;
}

void wait_cause_go_to(struct view *view)
{
    struct wait_cause *r = wait_cause_state(view);
    if (!r->of.line)
        status_line_show(&view->status_line, "Select a wait");
    else if (r->text)
        wait_cause_go_to_cause(view, r);
    else
        r->go_to = true;
}

void wait_cause_on_notification(struct view *view, enum notification what)
{
    struct event_id at = view->viewport.place.selected;
    if ((what != NOTIFY_SELECTION && what != NOTIFY_DIAGRAM) || !at.line)
        return;
    const struct event_info *e = scene_cache_find_event(&view->scene_cache, at);
    bool may = view->viewer_settings.drawer || view->server_link.count <= EVENTS_MOST;
    if (e && e->waited_ns > 0 && may)
        wait_cause_request(view, at);
}

void wait_cause_clear(struct view *view)
{
    wait_cause_reset(view);
    notifier_emit(&view->notifier, NOTIFY_WAIT_CAUSE);
}
