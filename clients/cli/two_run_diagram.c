#include "clients/cli/two_run_diagram.h"

#include "clients/cli/row_matching.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define BEFORE 30 /* columns before the first difference */
#define AFTER 20
#define EDGES_COLLECTED 4u /* maximum number of edges through one hidden event */

struct two_run_line {
    struct occupants in;
    uint64_t events;
    struct placement_info placement; /* if the line is a thread */
    bool placements;
};

struct two_run_hidden_line {
    struct event_id at;
    unsigned run;
    struct event_id *after; /* as in `both` */
    uint32_t after_count;
};

void two_run_diagram_begin(struct two_run_diagram *h, const struct trace_metadata *first,
                           const struct trace_metadata *second,
                           const struct trace_alignment *beside, const struct event_id at[2])
{
    int32_t least = INT32_MAX;
    *h = (struct two_run_diagram){.beside = beside};
    merged_metadata_make(&h->both, first, second);
    for (unsigned run = 0; run < 2; run++) {
        int32_t column = at[run].line ? alignment_column(beside, run, at[run]) : -1;
        h->at[run] = merged_metadata_event_id(&h->both, run, at[run]);
        least = column >= 0 && column < least ? column : least;
    }
    least = least == INT32_MAX ? 0 : least;
    h->from = least > BEFORE ? least - BEFORE : 0;
    h->to = least + AFTER;
    h->line_room = h->both.book.line_count + 1;
    h->lines = xcalloc(h->line_room, sizeof *h->lines);
    h->part = xcalloc(h->line_room, 1);
}

void two_run_diagram_free(struct two_run_diagram *h)
{
    for (uint32_t i = 0; i < h->hidden_count; i++)
        free(h->hidden[i].after);
    for (uint32_t i = 0; i < h->noted_count; i++)
        free((char *)(uintptr_t)h->noted[i].text);
    free(h->hidden);
    free(h->lines);
    free(h->part);
    free(h->equal);
    window_info_free(&h->window);
    merged_metadata_free(&h->both);
    *h = (struct two_run_diagram){0};
}

/* ---- events ---- */

static struct two_run_line *line_of(struct two_run_diagram *h, uint32_t line)
{
    return line < h->line_room ? &h->lines[line] : &h->lines[0];
}

static uint32_t thread_of(const struct event_info *e) { return e->thread ? e->thread : e->at.line; }

static bool two_run_points_to_partner(const struct two_run_diagram *h, const struct event_info *e)
{
    const struct target_event *look = event_style(&h->both.book, e);
    return look && look->arrow == ARROW_TO_PARTNER;
}

/* Returns whether the event is the tail of an arrow whose head was processed first: the thread
 * stays at the head then. */
static bool two_run_is_arrow_tail(const struct two_run_diagram *h, const struct two_run_line *t,
                                  const struct event_info *e)
{
    struct event_info was = {
        .at = t->placement.at, .type = t->placement.type, .relation = t->placement.relation};
    return t->placements && e->relation == RELATION_SYNC && e->partner_count &&
           event_id_equal(e->partners[0], was.at) && two_run_points_to_partner(h, e) &&
           !two_run_points_to_partner(h, &was);
}

static void two_run_receive_left(struct two_run_diagram *h, const struct event_info *e)
{
    struct two_run_line *line = line_of(h, e->at.line), *thread = line_of(h, thread_of(e));
    line->in = e->in;
    line->events++;
    h->window.more_left = true;
    if (two_run_is_arrow_tail(h, thread, e))
        return;
    thread->placements = true;
    thread->placement = (struct placement_info){.thread = thread_of(e),
                                                .at = e->at,
                                                .type = e->type,
                                                .relation = e->relation,
                                                .about = e->about,
                                                .time_ns = e->time_ns};
}

static void two_run_include_line(struct two_run_diagram *h, uint32_t line, bool differs)
{
    uint8_t *part = line < h->line_room ? &h->part[line] : &h->part[0];
    *part = differs ? ROW_DIFFERS : *part ? *part : ROW_INVOLVED;
}

static void two_run_receive_here(struct two_run_diagram *h, unsigned run, struct event_info *e,
                                 int32_t column)
{
    bool differs = !alignment_equal(h->beside, run, merged_metadata_own_line(&h->both, e->at));
    two_run_include_line(h, e->at.line, differs);
    two_run_include_line(h, thread_of(e), differs);
    if (!differs)
        ARRAY_PUSH(h->equal, h->equal_count, e->at);
    e->column = column;
    e->fold = 0;
    e->to_selected = 0;
    ARRAY_PUSH(h->window.events, h->window.event_count, *e);
    *e = (struct event_info){0};
}

/* Keeps the hidden event's edges from events that may be drawn. */
static void two_run_receive_hidden(struct two_run_diagram *h, unsigned run,
                                   const struct event_info *e)
{
    struct two_run_hidden_line hidden = {.at = e->at, .run = run};
    uint32_t first = e->after_count > EDGES_COLLECTED ? e->after_count - EDGES_COLLECTED : 0;
    for (uint32_t i = first; i < e->after_count; i++) {
        int32_t column = alignment_column(h->beside, run, e->after[i]);
        if (column >= h->from && column <= h->to)
            ARRAY_PUSH(hidden.after, hidden.after_count,
                       merged_metadata_event_id(&h->both, run, e->after[i]));
    }
    if (hidden.after_count)
        ARRAY_PUSH(h->hidden, h->hidden_count, hidden);
}

void two_run_diagram_add_event(struct two_run_diagram *h, unsigned run, struct event_info *e)
{
    if (e->at.line & HIDDEN_LINE) {
        two_run_receive_hidden(h, run, e);
        return;
    }
    int32_t column = alignment_column(h->beside, run, e->at);
    if (column < 0 || column > h->to) {
        h->window.more_right |= column >= 0;
        return;
    }
    merged_metadata_event(&h->both, run, e);
    if (column < h->from)
        two_run_receive_left(h, e);
    else
        two_run_receive_here(h, run, e, column);
}

/* ---- order edges ---- */

static const struct event_info *event_at(const struct two_run_diagram *h, struct event_id at)
{
    for (uint32_t i = 0; i < h->window.event_count; i++)
        if (event_id_equal(h->window.events[i].at, at))
            return &h->window.events[i];
    return NULL;
}

/* Adds an arrow, except between events of one thread. */
static void add_edge(struct two_run_diagram *h, struct event_id from, const struct event_info *to)
{
    const struct event_info *cause = event_at(h, from);
    if (!cause || thread_of(cause) == thread_of(to))
        return;
    struct edge_info edge = {from, to->at};
    ARRAY_PUSH(h->window.edges, h->window.edge_count, edge);
}

static void add_hidden_edges(struct two_run_diagram *h, struct event_id hidden,
                             const struct event_info *to)
{
    unsigned run = merged_metadata_run(&h->both, to->at.line);
    for (uint32_t i = 0; i < h->hidden_count; i++)
        if (h->hidden[i].run == run && event_id_equal(h->hidden[i].at, hidden))
            for (uint32_t k = 0; k < h->hidden[i].after_count; k++)
                add_edge(h, h->hidden[i].after[k], to);
}

static void add_edges(struct two_run_diagram *h)
{
    for (uint32_t i = 0; i < h->window.event_count; i++) {
        const struct event_info *e = &h->window.events[i];
        for (uint32_t k = 0; k < e->after_count; k++)
            if (e->after[k].line & HIDDEN_LINE)
                add_hidden_edges(h, e->after[k], e);
            else
                add_edge(h, e->after[k], e);
        for (uint32_t k = 0; k < e->partner_count && e->relation == RELATION_ORDER; k++)
            add_edge(h, e->partners[k], e);
    }
}

/* ---- layout ---- */

static int by_line(const void *a, const void *b)
{
    const struct event_id *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Returns a provisional column: equal events and different ones get separate columns, so that equal
 * events are at the same x in both halves. */
static uint32_t place_of(const struct two_run_diagram *h, const struct event_info *e)
{
    struct event_id own = merged_metadata_own_line(&h->both, e->at);
    return 2 * (uint32_t)(e->column - h->from) +
           !alignment_equal(h->beside, merged_metadata_run(&h->both, e->at.line), own);
}

/* Renumbers the columns that are not empty. */
static void two_run_assign_columns(struct two_run_diagram *h)
{
    struct window_info *w = &h->window;
    int32_t columns[2 * (BEFORE + 1 + AFTER)] = {0}, count = 0;
    for (uint32_t i = 0; i < w->event_count; i++)
        columns[place_of(h, &w->events[i])] = 1;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        columns[i] = columns[i] ? count++ : 0;
    for (uint32_t i = 0; i < w->event_count; i++)
        w->events[i].column = columns[place_of(h, &w->events[i])];
    w->columns = (uint32_t)count;
    w->last = count - 1;
}

static void add_row(struct two_run_diagram *h, uint32_t line)
{
    struct row_info row = {.line = line};
    if (line) {
        const struct two_run_line *l = line_of(h, line);
        row.in = l->in;
        row.left = l->events;
        if (l->placements)
            ARRAY_PUSH(h->window.placements, h->window.placement_count, l->placement);
    }
    ARRAY_PUSH(h->window.rows, h->window.row_count, row);
}

static void add_half(struct two_run_diagram *h, unsigned run, const char *heading,
                     const uint32_t *lines, uint32_t count)
{
    h->headings[run] = (struct scene_heading){h->window.row_count, heading};
    add_row(h, 0);
    for (uint32_t i = 0; i < count; i++)
        add_row(h, lines[i]);
}

void two_run_diagram_finish(struct two_run_diagram *h, const char *const headings[2],
                            char *const texts[2])
{
    uint32_t count[2];
    uint32_t *lines = row_matching_rows(&h->both, h->beside, h->part, count, &h->left_lines);
    add_half(h, 0, headings[0], lines, count[0]);
    add_half(h, 1, headings[1], lines + count[0], count[1]);
    free(lines);
    two_run_assign_columns(h);
    add_edges(h);
    if (h->equal_count)
        qsort(h->equal, h->equal_count, sizeof *h->equal, by_line);
    for (unsigned run = 0; run < 2; run++)
        if (texts[run] && h->at[run].line)
            h->noted[h->noted_count++] = (struct scene_noted){h->at[run], texts[run]};
        else
            free(texts[run]);
}

void two_run_diagram_options(const struct two_run_diagram *h, struct scene_options *options)
{
    options->legend = true;
    options->order_arrows = true;
    options->differences = true;
    options->headings = h->headings;
    options->heading_count = 2;
    options->noted = h->noted;
    options->noted_count = h->noted_count;
    options->stuck = h->stuck;
    options->stuck_count = h->stuck_count;
}

struct paint_selection two_run_diagram_selection(const struct two_run_diagram *h)
{
    return (struct paint_selection){.selected = h->at[0],
                                    .second = h->at[1],
                                    .pale = h->equal,
                                    .pale_count = h->equal_count,
                                    .stuck = h->stuck,
                                    .stuck_count = h->stuck_count};
}
