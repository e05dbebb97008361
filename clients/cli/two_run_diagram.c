#include "clients/cli/two_run_diagram.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows: those of the first run above those of the second ---- */

#define ROWS_MAX 60u /* of the first run, and as many that only the second has */

enum row_match { ROW_UNINVOLVED, ROW_INVOLVED, ROW_DIFFERS };

struct row_matching {
    struct merged_metadata *both;
    const struct trace_alignment *beside;
    const uint8_t *part;
    /* by line of the first run: the matching line of the second one, as in `both`; 0: none */
    uint32_t *other;
    bool *has_match; /* by line of `both`: it matches a line of the first run */
    uint32_t *rows;
    uint32_t count;
};

/* ---- rows: matching lines ---- */

static bool row_matching_lines_match(const struct trace_metadata *book, uint32_t a, uint32_t b)
{
    const struct line_metadata *x = metadata_line(book, a), *y = metadata_line(book, b);
    return x && y && strcmp(x->is.kind, y->is.kind) == 0 && strcmp(x->is.name, y->is.name) == 0 &&
           strcmp(metadata_label(book, a), metadata_label(book, b)) == 0;
}

/* Returns an unmatched line of the second run with the same kind, name and label; 0: none. */
static uint32_t row_matching_line_with_label(const struct row_matching *o, uint32_t line)
{
    for (uint32_t i = 1; i <= o->both->of[1]->line_count; i++) {
        uint32_t there = merged_metadata_line(o->both, 1, i);
        if (!o->has_match[there] && !alignment_line(o->beside, 1, i) &&
            row_matching_lines_match(&o->both->book, line, there))
            return there;
    }
    return 0;
}

static void row_matching_find_others(struct row_matching *o)
{
    uint32_t lines = o->both->of[0]->line_count;
    o->other = xcalloc(lines + 1, sizeof *o->other);
    o->has_match = xcalloc(o->both->book.line_count + 1u, sizeof *o->has_match);
    for (uint32_t i = 1; i <= lines; i++) {
        uint32_t there = merged_metadata_line(o->both, 1, alignment_line(o->beside, 0, i));
        o->other[i] = there ? there : o->part[i] ? row_matching_line_with_label(o, i) : 0;
        o->has_match[o->other[i]] = true;
    }
}

static void row_matching_set_label(struct merged_metadata *both, uint32_t line, char *label)
{
    struct line_metadata *l = metadata_line(&both->book, line);
    if (l) {
        free(l->label);
        l->label = label;
    } else {
        free(label);
    }
}

/* Returns its length without the #2 of lines with equal names. */
static size_t row_matching_bare_label_length(const char *label) { return strcspn(label, "#"); }

/* Gives the matching line of the second run the same #number as the first one. */
static void row_matching_copy_label(const struct row_matching *o, uint32_t first)
{
    uint32_t there = o->other[first];
    const char *is = metadata_label(&o->both->book, first),
               *own = metadata_label(&o->both->book, there);
    if (there && row_matching_bare_label_length(is) == row_matching_bare_label_length(own) &&
        strncmp(is, own, row_matching_bare_label_length(is)) == 0)
        row_matching_set_label(o->both, there, xstrdup(is));
}

/* ---- rows: their order ---- */

/* Returns the larger enum row_match of a line and its match. */
static unsigned row_matching_part(const struct row_matching *o, uint32_t first)
{
    unsigned here = o->part[first], there = o->other[first] ? o->part[o->other[first]] : 0;
    return here > there ? here : there;
}

/* Drops rows from `begin` on beyond ROWS_MAX, first those that do not differ. Returns
 * how many. */
static uint32_t row_matching_limit_rows(struct row_matching *o, uint32_t begin,
                                        const uint8_t *parts)
{
    uint32_t kept = begin, differ = 0, left = 0;
    for (uint32_t i = begin; i < o->count; i++)
        differ += parts[i] == ROW_DIFFERS;
    uint32_t some = differ > ROWS_MAX ? ROWS_MAX : differ, others = ROWS_MAX - some;
    for (uint32_t i = begin; i < o->count; i++) {
        uint32_t *room = parts[i] == ROW_DIFFERS ? &some : &others;
        if (*room)
            o->rows[kept++] = o->rows[i], --*room;
        else
            left++;
    }
    o->count = kept;
    return left;
}

static void row_matching_add_row(struct row_matching *o, uint8_t *parts, uint32_t line,
                                 unsigned part)
{
    parts[o->count] = (uint8_t)part;
    o->rows[o->count++] = line;
}

/* Adds rows of the second run: the matches of the first run's rows, then unmatched lines. */
static void row_matching_add_second(struct row_matching *o, uint8_t *parts, uint32_t first_count,
                                    uint32_t *left)
{
    const struct merged_metadata *both = o->both;
    for (uint32_t i = 0; i < first_count; i++)
        if (o->other[o->rows[i]])
            row_matching_add_row(o, parts, o->other[o->rows[i]], ROW_INVOLVED);
    uint32_t begin = o->count;
    for (uint32_t i = 1; i <= both->of[1]->line_count; i++) {
        uint32_t line = merged_metadata_line(both, 1, i);
        if (!o->has_match[line] && o->part[line] && metadata_line_is_visible(&both->book, line))
            row_matching_add_row(o, parts, line, o->part[line]);
    }
    *left += row_matching_limit_rows(o, begin, parts);
}

/* Marks rows that have the same label as an earlier row of their run. */
static void row_matching_number_labels(const struct row_matching *o, uint32_t begin)
{
    for (uint32_t i = begin; i < o->count; i++)
        for (uint32_t k = begin; k < i; k++) {
            const char *label = metadata_label(&o->both->book, o->rows[i]);
            if (strcmp(label, metadata_label(&o->both->book, o->rows[k])) == 0) {
                row_matching_set_label(o->both, o->rows[i], xasprintf("%s (another)", label));
                break;
            }
        }
}

/* Chooses the rows. part: an enum row_match by line of `both`. Returns lines of `both`, which the
 * caller frees: count[0] of the first run, then count[1] of the second; *left: number of further
 * lines with differences. */
static uint32_t *row_matching_rows(struct merged_metadata *both,
                                   const struct trace_alignment *beside, const uint8_t *part,
                                   uint32_t count[2], uint32_t *left)
{
    struct row_matching o = {.both = both, .beside = beside, .part = part};
    uint32_t lines = both->book.line_count;
    uint8_t *parts = xcalloc(lines + 1u, 1);
    o.rows = xcalloc(lines + 1u, sizeof *o.rows);
    row_matching_find_others(&o);
    for (uint32_t i = 1; i <= both->of[0]->line_count; i++)
        if (row_matching_part(&o, i) && metadata_line_is_visible(&both->book, i))
            row_matching_add_row(&o, parts, i, row_matching_part(&o, i));
    *left = row_matching_limit_rows(&o, 0, parts);
    metadata_sort_lines(&both->book, o.rows, o.count);
    count[0] = o.count;
    for (uint32_t i = 0; i < count[0]; i++)
        row_matching_copy_label(&o, o.rows[i]);
    row_matching_add_second(&o, parts, count[0], left);
    row_matching_number_labels(&o, count[0]);
    count[1] = o.count - count[0];
    free(o.other);
    free(o.has_match);
    free(parts);
    return o.rows;
}

/* ---- the diagram ---- */

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

static struct two_run_line *two_run_diagram_line(struct two_run_diagram *h, uint32_t line)
{
    return line < h->line_room ? &h->lines[line] : &h->lines[0];
}

static uint32_t two_run_diagram_thread(const struct event_info *e)
{
    return e->thread ? e->thread : e->at.line;
}

static bool two_run_points_to_partner(const struct two_run_diagram *h, const struct event_info *e)
{
    const struct target_event *look = event_style(&h->both.book, e);
    return look && look->arrow == ARROW_TO_PARTNER;
}

/* Returns whether the event is the tail of an arrow with a head that was processed first: the
 * thread stays at the head then. */
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
    struct two_run_line *line = two_run_diagram_line(h, e->at.line),
                        *thread = two_run_diagram_line(h, two_run_diagram_thread(e));
    line->in = e->in;
    line->events++;
    h->window.more_left = true;
    if (two_run_is_arrow_tail(h, thread, e))
        return;
    thread->placements = true;
    thread->placement = (struct placement_info){.thread = two_run_diagram_thread(e),
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
    two_run_include_line(h, two_run_diagram_thread(e), differs);
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

static const struct event_info *two_run_diagram_event_at(const struct two_run_diagram *h,
                                                         struct event_id at)
{
    for (uint32_t i = 0; i < h->window.event_count; i++)
        if (event_id_equal(h->window.events[i].at, at))
            return &h->window.events[i];
    return NULL;
}

/* Adds an arrow, except between events of one thread. */
static void two_run_diagram_add_edge(struct two_run_diagram *h, struct event_id from,
                                     const struct event_info *to)
{
    const struct event_info *cause = two_run_diagram_event_at(h, from);
    if (!cause || two_run_diagram_thread(cause) == two_run_diagram_thread(to))
        return;
    struct edge_info edge = {from, to->at};
    ARRAY_PUSH(h->window.edges, h->window.edge_count, edge);
}

static void two_run_diagram_add_hidden_edges(struct two_run_diagram *h, struct event_id hidden,
                                             const struct event_info *to)
{
    unsigned run = merged_metadata_run(&h->both, to->at.line);
    for (uint32_t i = 0; i < h->hidden_count; i++)
        if (h->hidden[i].run == run && event_id_equal(h->hidden[i].at, hidden))
            for (uint32_t k = 0; k < h->hidden[i].after_count; k++)
                two_run_diagram_add_edge(h, h->hidden[i].after[k], to);
}

static void two_run_diagram_add_edges(struct two_run_diagram *h)
{
    for (uint32_t i = 0; i < h->window.event_count; i++) {
        const struct event_info *e = &h->window.events[i];
        for (uint32_t k = 0; k < e->after_count; k++)
            if (e->after[k].line & HIDDEN_LINE)
                two_run_diagram_add_hidden_edges(h, e->after[k], e);
            else
                two_run_diagram_add_edge(h, e->after[k], e);
        for (uint32_t k = 0; k < e->partner_count && e->relation == RELATION_ORDER; k++)
            two_run_diagram_add_edge(h, e->partners[k], e);
    }
}

/* ---- layout ---- */

static int two_run_diagram_compare_lines(const void *a, const void *b)
{
    const struct event_id *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Returns a provisional column: equal events and different ones get separate columns, so that equal
 * events are at the same x in both halves. */
static uint32_t two_run_diagram_place(const struct two_run_diagram *h, const struct event_info *e)
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
        columns[two_run_diagram_place(h, &w->events[i])] = 1;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        columns[i] = columns[i] ? count++ : 0;
    for (uint32_t i = 0; i < w->event_count; i++)
        w->events[i].column = columns[two_run_diagram_place(h, &w->events[i])];
    w->columns = (uint32_t)count;
    w->last = count - 1;
}

static void two_run_diagram_add_row(struct two_run_diagram *h, uint32_t line)
{
    struct row_info row = {.line = line};
    if (line) {
        const struct two_run_line *l = two_run_diagram_line(h, line);
        row.in = l->in;
        row.left = l->events;
        if (l->placements)
            ARRAY_PUSH(h->window.placements, h->window.placement_count, l->placement);
    }
    ARRAY_PUSH(h->window.rows, h->window.row_count, row);
}

static void two_run_diagram_add_half(struct two_run_diagram *h, unsigned run, const char *heading,
                                     const uint32_t *lines, uint32_t count)
{
    h->headings[run] = (struct scene_heading){h->window.row_count, heading};
    two_run_diagram_add_row(h, 0);
    for (uint32_t i = 0; i < count; i++)
        two_run_diagram_add_row(h, lines[i]);
}

void two_run_diagram_finish(struct two_run_diagram *h, const char *const headings[2],
                            char *const texts[2])
{
    uint32_t count[2];
    uint32_t *lines = row_matching_rows(&h->both, h->beside, h->part, count, &h->left_lines);
    two_run_diagram_add_half(h, 0, headings[0], lines, count[0]);
    two_run_diagram_add_half(h, 1, headings[1], lines + count[0], count[1]);
    free(lines);
    two_run_assign_columns(h);
    two_run_diagram_add_edges(h);
    if (h->equal_count)
        qsort(h->equal, h->equal_count, sizeof *h->equal, two_run_diagram_compare_lines);
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
