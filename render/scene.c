#define _GNU_SOURCE
#include "base/alloc.h"
#include "render/legend.h"
#include "render/scene_builder.h"
#include "render/scene_rows.h"
#include "render/scene_times.h"
#include "wire/annotation_text.h"
#include "wire/layout_results.h"

#include <stdlib.h>
#include <string.h>

static const struct target_color black = {0, 0, 0}, grey = {0.35, 0.35, 0.35}, red = {0.75, 0, 0.1};

#define STUB_PT 6.0      /* size of the names at stubs */
#define STUB_MAX_PT 60.0
#define STUB_VISITS 7u

/* ---- labels of events ---- */

/* Returns the name of the event's thread if the description asks for it and the event is not on the
 * thread's own line; else NULL. */
static char *owner_of(const struct builder *b, const struct event_info *e,
                      const struct target_event *look)
{
    if (!look || !look->shows_thread || !e->thread || e->thread == e->at.line)
        return NULL;
    const char *label = metadata_label(b->book, e->thread), *colon = strchr(label, ':');
    const char *name = colon ? colon + 1 : label;
    return xstrndup(name, (size_t)(label + scene_rows_name_bytes(label) - name));
}

/* The first text of an uncertain event says why; it is printed once below the diagram, not at every
 * event. */
static bool is_footnote(const struct event_info *e) { return e->doubt && e->text_count; }

/* Returns the number of the event's footnote, from 1; 0 if there are too many footnotes. */
static uint32_t footnote_of(struct builder *b, const struct event_info *e)
{
    const uint32_t most = sizeof b->footnotes / sizeof *b->footnotes;
    for (uint32_t i = 0; i < b->footnote_count; i++)
        if (strcmp(b->footnotes[i], e->texts[0]) == 0)
            return i + 1;
    if (b->footnote_count == most)
        return 0;
    b->footnotes[b->footnote_count++] = e->texts[0];
    return b->footnote_count;
}

/* Returns the label of a mark: its thread, its texts, its number of repeats, and what a blocked
 * thread waits for. */
static char *words_for(struct builder *b, const struct event_info *e, bool last)
{
    char *words = NULL;
    size_t size = 0;
    FILE *f = xcheck(open_memstream(&words, &size), sizeof *f);
    if (e->state == EVENT_CONTRADICTORY)
        fputs("!", f);
    if (e->fold)
        fprintf(f, "×%u", e->fold);
    const struct target_event *look = event_style(b->book, e);
    char *owner = owner_of(b, e, look);
    if (owner)
        fprintf(f, "%s%s", ftell(f) ? " " : "", owner);
    free(owner);
    uint32_t footnote = is_footnote(e) ? footnote_of(b, e) : 0;
    if (is_footnote(e))
        fprintf(f, "%s?", ftell(f) ? " " : "");
    if (footnote)
        fprintf(f, "%u", footnote);
    for (uint32_t i = is_footnote(e); i < e->text_count; i++)
        if (!nondet_result_matches(e->texts[i]))
            fprintf(f, "%s%s", ftell(f) ? "; " : "", e->texts[i]);
    if (last && look && look->waits && e->about)
        fprintf(f, "%s%s %s", ftell(f) ? "; " : "", look->text, metadata_label(b->book, e->about));
    fclose(f);
    return words;
}

static const struct gap_info *gap_before(const struct builder *b, struct event_id at)
{
    for (uint32_t i = 0; i < b->window->gap_count; i++) {
        const struct gap_info *gap = &b->window->gaps[i];
        if (gap->line == at.line && gap->first + gap->count == at.number)
            return gap;
    }
    return NULL;
}

/* ---- marks ---- */

/* Returns the space for the label of a mark, which is above its line; in a vertical scene right of
 * it. */
static double words_limit(const struct scene *scene)
{
    return scene->vertical ? scene->row_pt - scene->line_pt - 14 : SCENE_LABEL_MAX_PT;
}

/* Returns how much of its column a label takes. */
static double words_extent(const struct builder *b, const char *words)
{
    return b->scene->vertical ? SCENE_LABEL_PT * 1.2 + 9
                              : scene_builder_text_width(b, words, SCENE_LABEL_PT, false) + 9;
}

static double words_y(const struct scene *scene, double line_y)
{
    return scene->vertical ? line_y + 7 : line_y - 13;
}

static void add_text(struct builder *b, double x, double y, char *text)
{
    struct scene_text t = {.x_pt = x,
                           .y_pt = y,
                           .width_pt = scene_builder_text_width(b, text, SCENE_LABEL_PT, false),
                           .height_pt = SCENE_LABEL_PT * 1.2,
                           .size_pt = SCENE_LABEL_PT,
                           .text = text,
                           .color = black};
    ARRAY_PUSH(b->scene->texts, b->scene->text_count, t);
}

/* Returns the line at the other end of an event's arrow if that line is not shown; 0 if there is
 * none. */
static uint32_t stub_line(const struct builder *b, const struct event_info *e)
{
    bool arrows = e->relation == RELATION_SYNC || e->relation == RELATION_SEND ||
                  e->relation == RELATION_RECEIVE;
    for (uint32_t i = 0; arrows && e->state == EVENT_ORDERED && i < e->partner_count; i++)
        if (scene_builder_row(b, e->partners[i].line) < 0 && !(e->partners[i].line & HIDDEN_LINE))
            return e->partners[i].line;
    return 0;
}

/* Only the stub of every STUB_VISITS-th event of a line is named. The choice depends on the event's
 * number, so that it is the same wherever a window begins. */
static bool is_named(const struct event_info *e) { return e->at.number % STUB_VISITS == 2; }

static void name_stubs(struct builder *b, struct laid_out_event *marks, uint32_t count,
                       struct extent *extents)
{
    for (uint32_t i = 0; i < count && !b->scene->vertical; i++) {
        struct laid_out_event *m = &marks[i];
        uint32_t line = is_named(m->event) ? stub_line(b, m->event) : 0;
        if (!line)
            continue;
        const char *label = metadata_label(b->book, line);
        char *name = xstrndup(label, (size_t)scene_rows_name_bytes(label));
        m->stub = scene_builder_fit_text(b, name, STUB_PT, STUB_MAX_PT);
        free(name);
        double width = scene_builder_text_width(b, m->stub, STUB_PT, false) + 9;
        struct extent *x = &extents[m->column];
        x->right = width > x->right ? width : x->right;
    }
}

/* Does the thread wait in a deadlock by this event? */
static bool is_stuck(const struct builder *b, struct event_id at)
{
    for (uint32_t i = 0; i + 1 < b->options->stuck_count; i += 2)
        if (event_id_equal(b->options->stuck[i], at))
            return true;
    return false;
}

static void add_mark(struct builder *b, const struct laid_out_event *p)
{
    struct scene *scene = b->scene;
    const struct event_info *e = p->event;
    const struct target_event *look = event_style(b->book, e);
    const struct scene_column *column = &scene->columns[p->column];
    uint32_t row = p->row;
    struct scene_mark mark = {.row = row,
                              .column = p->column,
                              .slot = p->slot,
                              .x_pt = column->x_pt + p->slot * SCENE_SLOT_PT,
                              .y_pt = scene->rows[row].y_pt,
                              .shape = look ? look->shape : SHAPE_CIRCLE,
                              .filled = look ? look->filled : false,
                              .color = look ? look->color : grey,
                              .state = (enum event_state)e->state,
                              .fold = e->fold,
                              .waits = p->waits,
                              .stuck = is_stuck(b, e->at),
                              .undelivered = e->undelivered && look && look->undelivered,
                              .event = e,
                              .look = look};
    if (e->state == EVENT_CONTRADICTORY)
        mark.color = red;
    /* pending and inconsistent events are always visible */
    if (mark.shape == SHAPE_NONE && e->state != EVENT_ORDERED)
        mark.shape = SHAPE_CIRCLE;
    ARRAY_PUSH(scene->marks, scene->mark_count, mark);
    const struct gap_info *gap = gap_before(b, e->at);
    if (gap) {
        double left = column->x_pt - column->left_pt;
        struct scene_gap g = {row, left + 8, gap->count};
        char *text = xasprintf("%llu lost", (unsigned long long)gap->count);
        ARRAY_PUSH(scene->gaps, scene->gap_count, g);
        add_text(b, left + 2, words_y(scene, mark.y_pt), text);
    }
    if (p->stub) {
        add_text(b, column->x_pt + (column->slots - 1) * SCENE_SLOT_PT + 5.5, mark.y_pt + 3,
                 p->stub);
        struct scene_text *t = &scene->texts[scene->text_count - 1];
        t->size_pt = STUB_PT;
        t->height_pt = STUB_PT * 1.2;
        t->width_pt = scene_builder_text_width(b, p->stub, STUB_PT, false);
        t->color = grey;
    }
    if (p->words)
        add_text(b, column->x_pt + (column->slots - 1) * SCENE_SLOT_PT + 5.5,
                 words_y(scene, mark.y_pt), p->words);
}

static int by_row(const void *a, const void *b)
{
    const struct scene_mark *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->x_pt < y->x_pt ? -1 : x->x_pt > y->x_pt;
}

/* ---- widths of columns ---- */

#define JAG_PT 34.0

static void add_column(struct builder *b, uint32_t i, double *x, const struct extent *extent)
{
    struct scene_column c = {.column = b->cells ? b->cells[i].column : b->base + (int32_t)i,
                             .left_pt = extent->left,
                             .right_pt = extent->right + (extent->slots - 1) * SCENE_SLOT_PT,
                             .slots = extent->slots};
    c.x_pt = *x + c.left_pt;
    *x = c.x_pt + c.right_pt;
    ARRAY_PUSH(b->scene->columns, b->scene->column_count, c);
}

/* Adds a column that stands for a long interval without events. */
static void add_jag(struct builder *b, uint32_t i, double *x)
{
    struct scene_jag jag = {*x, JAG_PT, time_columns_long(b, b->cells[i].cells)};
    struct extent narrow = {.left = JAG_PT / 2, .right = JAG_PT / 2, .slots = 1};
    ARRAY_PUSH(b->scene->jags, b->scene->jag_count, jag);
    add_column(b, i, x, &narrow);
}

static void scene_columns_build(struct builder *b, uint32_t count, const struct extent *extents)
{
    struct scene *scene = b->scene;
    double x = scene->names_pt;
    for (uint32_t i = 0; i < count; i++)
        if (b->cells && b->cells[i].cells > 1)
            add_jag(b, i, &x);
        else
            add_column(b, i, &x, &extents[i]);
    double least = b->options->minimum_width_pt;
    scene->width_pt = x + 10 > least ? x + 10 : least;
}

/* ---- building ---- */

static uint32_t collect_marks(struct builder *b, struct laid_out_event **marks, uint32_t *columns)
{
    const struct window_info *w = b->window;
    uint32_t count = 0;
    int32_t last = b->base - 1;
    int32_t *row_last = xmalloc((w->row_count + 1) * sizeof *row_last);
    /* 1 + the index of its last mark */
    uint32_t *row_mark = xcalloc(w->row_count + 1, sizeof *row_mark);
    *marks = xmalloc(((size_t)w->event_count + w->pending_count + 1) * sizeof **marks);
    for (uint32_t i = 0; i < w->row_count; i++)
        row_last[i] = b->base - 1;
    for (uint32_t i = 0; i < w->event_count; i++) {
        int32_t row = scene_builder_row(b, w->events[i].at.line), column = w->events[i].column;
        if (row < 0)
            continue;
        (*marks)[count++] = (struct laid_out_event){
            .event = &w->events[i], .column = (uint32_t)(column - b->base), .row = (uint32_t)row};
        row_last[row] = column > row_last[row] ? column : row_last[row];
        last = column > last ? column : last;
    }
    for (uint32_t i = 0; i < count; i++) { /* the row ends with it */
        struct laid_out_event *m = &(*marks)[i];
        m->is_last = !w->more_right && (int32_t)m->column + b->base == row_last[m->row];
        row_mark[m->row] = i + 1;
    }
    for (uint32_t i = 0; w->by_time && i < count; i++) /* several marks may share its column */
        (*marks)[i].is_last &= row_mark[(*marks)[i].row] == i + 1;
    free(row_mark);
    for (uint32_t i = 0; i < w->pending_count; i++) {
        int32_t row = scene_builder_row(b, w->pending[i].at.line);
        if (row < 0)
            continue;
        int32_t column = ++row_last[row];
        (*marks)[count++] = (struct laid_out_event){
            .event = &w->pending[i], .column = (uint32_t)(column - b->base), .row = (uint32_t)row};
        last = column > last ? column : last;
    }
    free(row_last);
    *columns = (uint32_t)(last - b->base + 1);
    return count;
}

/* Returns the space that each column needs; the caller frees it. */
static struct extent *plain_columns(struct laid_out_event *marks, uint32_t count, uint32_t columns)
{
    struct extent *extents = xmalloc((columns + 1) * sizeof *extents);
    for (uint32_t i = 0; i < columns; i++)
        extents[i] = (struct extent){SCENE_COLUMN_PT / 2, SCENE_COLUMN_PT / 2, 1};
    scene_columns_build_slots(marks, count, extents);
    return extents;
}

static void scene_build_all(struct builder *b)
{
    struct scene *scene = b->scene;
    const struct window_info *w = b->window;
    double y = 8;
    scene->vertical = b->options->vertical;
    double least = scene->vertical ? SCENE_LANE_PT : SCENE_ROW_PT;
    scene->row_pt = b->options->row_pt > least ? b->options->row_pt : least;
    scene->line_pt = scene->vertical ? SCENE_LANE_PT / 6 : scene->row_pt / 2;
    scene->ruler_pt = !b->options->column_ns || !w->by_time ? 0
                      : scene->vertical                     ? SCENE_RULER_PT * 4
                                                            : SCENE_RULER_PT;
    if (b->options->title && *b->options->title) {
        legend_build_note(b, 10, y, b->options->title, 11, true);
        y += 20;
    }
    scene->top_pt = (scene->vertical ? 8 : y) + scene->ruler_pt;
    /* in a vertical scene; otherwise scene_rows_build() sets it to the width of the names */
    scene->names_pt = y;
    scene_rows_build(b);
    b->base = w->first <= w->last && w->event_count ? w->first : 0;
    struct laid_out_event *marks;
    uint32_t columns, count = collect_marks(b, &marks, &columns);
    struct extent *extents = w->by_time ? time_columns_build(b, marks, count, &columns)
                                        : plain_columns(marks, count, columns);
    for (uint32_t i = 0; i < count; i++) {
        struct extent *x = &extents[marks[i].column];
        const struct event_info *e = marks[i].event;
        const struct target_event *look = event_style(b->book, e);
        bool last = look && look->waits && e->about && marks[i].is_last &&
                    (e->thread == e->at.line || !scene_segments_shows_text(b, e->thread));
        bool named = look && look->shows_thread && e->thread && e->thread != e->at.line;
        if (e->text_count || e->fold || last || named || e->state == EVENT_CONTRADICTORY) {
            char *words = words_for(b, e, last);
            marks[i].waits = last;
            marks[i].words = scene_builder_fit_text(b, words, SCENE_LABEL_PT, words_limit(scene));
            free(words);
            double width = words_extent(b, marks[i].words);
            x->right = width > x->right ? width : x->right;
        }
        if (e->relation == RELATION_RECEIVE)
            x->left = x->left > 13 ? x->left : 13; /* space for the slanted arrowhead */
        const struct gap_info *gap = gap_before(b, e->at);
        if (gap) {
            char text[40];
            snprintf(text, sizeof text, "%llu lost", (unsigned long long)gap->count);
            double width = words_extent(b, text) + 3;
            x->left = width > x->left ? width : x->left;
        }
    }
    name_stubs(b, marks, count, extents);
    scene_columns_build(b, columns, extents);
    for (uint32_t i = 0; i < count; i++)
        add_mark(b, &marks[i]);
    free(extents);
    free(marks);
    if (scene->mark_count)
        qsort(scene->marks, scene->mark_count, sizeof *scene->marks, by_row);
    scene_segments_build(b);
    scene_arrows_build(b);
    worker_row_scene_placements(b);
    time_columns_build_ruler(b);
    legend_build_caption(b);
    note_marks_build(b);
    if (!scene->vertical)
        scene_columns_weigh_breaks(b);
}

struct scene *scene_build(const struct window_info *window, const struct trace_metadata *book,
                          const struct scene_options *options)
{
    struct builder b = {.window = window, .book = book, .options = options};
    b.scene = xcalloc(1, sizeof *b.scene);
    scene_build_all(&b);
    free(b.row_of);
    free(b.cells);
    return b.scene;
}

void scene_free(struct scene *scene)
{
    if (!scene)
        return;
    for (uint32_t i = 0; i < scene->text_count; i++)
        free(scene->texts[i].text);
    for (uint32_t i = 0; i < scene->note_count; i++)
        free(scene->notes[i].text);
    for (uint32_t i = 0; i < scene->row_count; i++)
        free(scene->rows[i].own_label);
    free(scene->rows);
    free(scene->columns);
    free(scene->segments);
    free(scene->marks);
    free(scene->links);
    free(scene->texts);
    free(scene->notes);
    free(scene->gaps);
    free(scene->keys);
    free(scene->jags);
    free(scene->ticks);
    for (uint32_t i = 0; i < scene->bar_count; i++)
        free(scene->bars[i].text);
    free(scene->bars);
    free(scene->flags);
    free(scene);
}

const struct scene_mark *scene_hit(const struct scene *scene, double x, double y, double reach)
{
    const struct scene_mark *best = NULL;
    double least = reach * reach;
    for (uint32_t i = 0; i < scene->mark_count; i++) {
        double dx = scene->marks[i].x_pt - x, dy = scene->marks[i].y_pt - y;
        if (dx * dx + dy * dy <= least) {
            least = dx * dx + dy * dy;
            best = &scene->marks[i];
        }
    }
    return best;
}

void scene_print(const struct scene *scene, FILE *f)
{
    static const char *const styles[] = {"none", "dashed", "thin", "solid", "away", "waits", "end"};
    static const char *const shapes[] = {"none", "circle", "square"};
    static const char *const kinds[] = {"sync",     "async", "group", "stub",
                                        "crossing", "via",   "order", "migrate"};
    static const char *const states[] = {"", " pending", " inconsistent"};
    fprintf(f, "scene %.1f x %.1f, names %.1f\n", scene->width_pt, scene->height_pt,
            scene->names_pt);
    for (uint32_t i = 0; i < scene->row_count; i++)
        fprintf(f, "row %u y %.1f \"%s\"\n", i, scene->rows[i].y_pt, scene->rows[i].label);
    for (uint32_t i = 0; i < scene->segment_count; i++)
        fprintf(f, "segment row %u %.1f-%.1f %s\n", scene->segments[i].row,
                scene->segments[i].from_pt, scene->segments[i].to_pt,
                styles[scene->segments[i].style]);
    for (uint32_t i = 0; i < scene->mark_count; i++) {
        const struct scene_mark *m = &scene->marks[i];
        char at[48];
        event_id_print(at, sizeof at, m->event->at);
        fprintf(f, "mark %s row %u column %u x %.1f %s %s%s%s%s\n", at, m->row, m->column, m->x_pt,
                m->filled ? "filled" : "open", shapes[m->shape], states[m->state],
                m->stuck ? " stuck" : "", m->undelivered ? " unheard" : "");
    }
    for (uint32_t i = 0; i < scene->link_count; i++) {
        const struct scene_link *l = &scene->links[i];
        fprintf(f, "link %s %.1f,%.1f -> %.1f,%.1f%s\n", kinds[l->kind], l->x0_pt, l->y0_pt,
                l->x1_pt, l->y1_pt, l->head ? " head" : "");
    }
    for (uint32_t i = 0; i < scene->bar_count; i++)
        fprintf(f, "bar row %u %.1f-%.1f share %.2f task %u \"%s\"\n", scene->bars[i].row,
                scene->bars[i].from_pt, scene->bars[i].to_pt, scene->bars[i].share,
                scene->bars[i].task, scene->bars[i].text ? scene->bars[i].text : "");
    for (uint32_t i = 0; i < scene->gap_count; i++)
        fprintf(f, "gap row %u x %.1f count %llu\n", scene->gaps[i].row, scene->gaps[i].x_pt,
                (unsigned long long)scene->gaps[i].count);
    for (uint32_t i = 0; i < scene->text_count; i++)
        fprintf(f, "text %.1f,%.1f \"%s\"\n", scene->texts[i].x_pt, scene->texts[i].y_pt,
                scene->texts[i].text);
    for (uint32_t i = 0; i < scene->jag_count; i++)
        fprintf(f, "jag %.1f-%.1f %lld ns\n", scene->jags[i].x_pt,
                scene->jags[i].x_pt + scene->jags[i].width_pt, (long long)scene->jags[i].ns);
    for (uint32_t i = 0; i < scene->flag_count; i++)
        fprintf(f, "flag %s row %u x %.1f\n", scene->flags[i].number, scene->flags[i].row,
                scene->flags[i].x_pt);
    for (uint32_t i = 0; i < scene->note_count; i++)
        fprintf(f, "note %.1f,%.1f \"%s\"\n", scene->notes[i].x_pt, scene->notes[i].y_pt,
                scene->notes[i].text);
}
