#include "clients/cli/html/html_scene.h"

#include "base/alloc.h"
#include "base/lower_bound.h"
#include "clients/cli/diagram_output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static long html_scene_to_tenths(double points) { return lround(points * 10); }

uint32_t html_scene_color_index(struct html_scene *w, struct target_color c)
{
    for (uint32_t i = 0; i < w->color_count; i++)
        if (memcmp(&w->palette[i], &c, sizeof c) == 0)
            return i;
    ARRAY_PUSH(w->palette, w->color_count, c);
    return w->color_count - 1;
}

/* ---- marks by place ---- */

static int by_x(const void *a, const void *b)
{
    const struct scene_mark *x = *(const struct scene_mark *const *)a,
                            *y = *(const struct scene_mark *const *)b;
    if (x->x_pt != y->x_pt)
        return x->x_pt < y->x_pt ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void sort_by_x(struct html_scene *w)
{
    w->by_x = xmalloc((w->count + 1) * sizeof *w->by_x);
    for (uint32_t i = 0; i < w->count; i++)
        w->by_x[i] = &w->scene->marks[i];
    if (w->count)
        qsort(w->by_x, w->count, sizeof *w->by_x, by_x);
}

/* Returns the index in by_x of the first mark of any row at x or to the right of it. */
static uint32_t html_scene_first_mark(const struct html_scene *w, double x)
{
    return LOWER_BOUND(i, 0, w->count, w->by_x[i]->x_pt < x);
}

/* Returns the mark of a row at x; with `any`, else a mark of another row there, preferably one of
 * the row's own thread; -1: none. */
static long html_scene_mark_at(const struct html_scene *w, uint32_t row, double x, bool any)
{
    const struct scene_mark *best = NULL;
    for (uint32_t i = html_scene_first_mark(w, x - 0.01);
         i < w->count && w->by_x[i]->x_pt < x + 0.01; i++) {
        const struct scene_mark *m = w->by_x[i];
        if (m->row == row)
            return (long)w->place_of[m - w->scene->marks];
        if (any && (!best || m->event->thread == w->scene->rows[row].line))
            best = m;
    }
    return best ? (long)w->place_of[best - w->scene->marks] : -1;
}

static uint32_t html_scene_nearest_row(const struct html_scene *w, double y)
{
    double row = (y - w->scene->top_pt - w->scene->line_pt) / w->scene->row_pt;
    double last = w->scene->row_count ? w->scene->row_count - 1 : 0;
    return (uint32_t)fmax(0, fmin(last, floor(row + 0.5)));
}

/* ---- lines ---- */

/* Returns the place of an x: a mark, with the distance to the right of it, in tenths of a point, in
 * *right; -1: the left edge, -2: the right edge. */
static long place_of(const struct html_scene *w, uint32_t row, double x, long *right)
{
    *right = 0;
    if (x <= w->scene->names_pt + 0.01)
        return -1;
    if (x >= w->scene->width_pt - 4.01)
        return -2;
    long mark = html_scene_mark_at(w, row, x, true);
    if (mark >= 0)
        return mark;
    uint32_t next = html_scene_first_mark(w, x);
    const struct scene_mark *before = NULL;
    for (uint32_t i = next; i-- > 0 && !before && next - i < 100;)
        before = w->by_x[i]->row == row ? w->by_x[i] : NULL;
    before = before ? before : next ? w->by_x[next - 1] : NULL;
    *right = html_scene_to_tenths(x - (before ? before->x_pt : w->scene->names_pt));
    return before ? (long)w->place_of[before - w->scene->marks] : -1;
}

static void write_rows(struct html_scene *w)
{
    const struct scene *s = w->scene;
    fputs(",\n\"rows\":[", w->f);
    for (uint32_t r = 0; r < s->row_count; r++) {
        fprintf(w->f, "%s{\"l\":%u,\"c\":%u,\"n\":", r ? "," : "", s->rows[r].line,
                html_scene_color_index(w, s->rows[r].color));
        html_text_json(w->f, s->rows[r].label);
        fputs("}", w->f);
    }
    fputs("],\n\"lines\":[", w->f);
    for (uint32_t i = 0; i < s->segment_count; i++) {
        const struct scene_segment *g = &s->segments[i];
        long da, db, a = place_of(w, g->row, g->from_pt, &da),
                     b = place_of(w, g->row, g->to_pt, &db);
        fprintf(w->f, "%s[%u,%u,%u,%ld,%ld", i ? "," : "", g->row,
                (unsigned)g->style | (unsigned)g->is_long << 4, html_scene_color_index(w, g->color),
                a, b);
        if (da || db)
            fprintf(w->f, ",%ld,%ld", da, db);
        fputs("]", w->f);
    }
    fputs("]", w->f);
}

/* ---- arrows ---- */

/* Returns an end of an arrow: a mark, or -1 minus the index of a point, which it appends. */
static long html_scene_arrow_end(const struct html_scene *w, FILE *ends, uint32_t *count, double x,
                                 double y)
{
    uint32_t row = html_scene_nearest_row(w, y);
    double off = w->scene->row_count ? y - w->scene->rows[row].y_pt : 0;
    long mark = fabs(off) < 0.01 ? html_scene_mark_at(w, row, x, false) : -1;
    if (mark >= 0)
        return mark;
    fprintf(ends, "%s[%ld,%u,%ld]", *count ? "," : "", html_scene_to_tenths(x + w->shift_pt), row,
            html_scene_to_tenths(off));
    return -1 - (long)(*count)++;
}

static void write_links(struct html_scene *w)
{
    char *text;
    size_t size;
    uint32_t count = 0;
    FILE *ends = xcheck(open_memstream(&text, &size), sizeof *ends);
    fputs(",\n\"links\":[", w->f);
    for (uint32_t i = 0; i < w->scene->link_count; i++) {
        const struct scene_link *l = &w->scene->links[i];
        long a = html_scene_arrow_end(w, ends, &count, l->x0_pt, l->y0_pt),
             b = html_scene_arrow_end(w, ends, &count, l->x1_pt, l->y1_pt);
        fprintf(w->f, "%s[%u,%u,%ld,%ld,%u", i ? "," : "", l->kind,
                (unsigned)l->head | (unsigned)l->contradictory << 1, a, b,
                html_scene_color_index(w, l->color));
        if (l->bow_pt != 0)
            fprintf(w->f, ",%ld", html_scene_to_tenths(l->bow_pt));
        fputs("]", w->f);
    }
    fclose(ends);
    fprintf(w->f, "],\n\"ends\":[%s]", text);
    free(text);
}

/* ---- texts ---- */

/* Returns the last mark of a row at x or to the left of it, else its first; NULL: it has none. */
static const struct scene_mark *html_scene_nearest_mark(const struct scene *s, uint32_t row,
                                                        double x)
{
    uint32_t low =
        LOWER_BOUND(i, 0, s->mark_count,
                    s->marks[i].row < row || (s->marks[i].row == row && s->marks[i].x_pt <= x));
    if (low && s->marks[low - 1].row == row)
        return &s->marks[low - 1];
    return low < s->mark_count && s->marks[low].row == row ? &s->marks[low] : NULL;
}

/* Writes a text and its place: a mark, or -1 minus a row without marks; the distance to the right
 * of that, and below the row, in tenths of a point. */
static void write_text(struct html_scene *w, const struct scene_text *t)
{
    uint32_t row = html_scene_nearest_row(w, t->y_pt + t->height_pt / 2 + 6);
    const struct scene_mark *m = html_scene_nearest_mark(w->scene, row, t->x_pt);
    long place = m ? (long)w->place_of[m - w->scene->marks] : -1 - (long)row;
    double x = m ? m->x_pt : -w->shift_pt;
    fprintf(w->f, "[%ld,%ld,%ld,%u,%g,%u]", place, html_scene_to_tenths(t->x_pt - x),
            html_scene_to_tenths(t->y_pt - w->scene->rows[row].y_pt),
            html_text_number(&w->strings, t->text), t->size_pt,
            html_scene_color_index(w, t->color));
}

static void write_words(struct html_scene *w)
{
    const struct scene *s = w->scene;
    fputs(",\n\"words\":[", w->f);
    for (uint32_t i = 0; i < s->text_count && s->row_count; i++) {
        fputs(i ? "," : "", w->f);
        write_text(w, &s->texts[i]);
    }
    fputs("],\n\"gaps\":[", w->f);
    for (uint32_t i = 0; i < s->gap_count; i++)
        fprintf(w->f, "%s[%ld,%u]", i ? "," : "",
                html_scene_to_tenths(s->gaps[i].x_pt + w->shift_pt), s->gaps[i].row);
    fputs("],\n\"footnotes\":[", w->f);
    bool comma = false;
    for (uint32_t i = 0; i < s->note_count; i++) {
        if (s->notes[i].text[0] != '?' || s->notes[i].bold)
            continue;
        fputs(comma ? "," : "", w->f);
        html_text_json(w->f, s->notes[i].text);
        comma = true;
    }
    char note[DIAGRAM_NOTE_BYTES];
    diagram_note_write(w->data->picture, note, sizeof note);
    if (*note) {
        fputs(comma ? "," : "", w->f);
        html_text_json(w->f, note);
    }
    fputs("]", w->f);
}

static void write_columns(const struct html_scene *w)
{
    long before = 0;
    fputs(",\n\"cols\":[", w->f);
    for (uint32_t i = 0; i < w->scene->column_count; i++) {
        long x = html_scene_to_tenths(w->scene->columns[i].x_pt + w->shift_pt);
        fprintf(w->f, "%s%ld", i ? "," : "", x - before);
        before = x;
    }
    fputs("]", w->f);
}

void html_scene_write(struct html_scene *w)
{
    const struct scene *s = w->scene;
    sort_by_x(w);
    fprintf(w->f,
            "{\"poet\":1,\"names\":%.1f,\"width\":%.1f,\"top\":%.1f,\"row_pt\":%g,\"line_pt\":%g,"
            "\"slot_pt\":%g,\"mark_pt\":%g",
            w->names_pt, s->width_pt + w->shift_pt, s->top_pt, s->row_pt, s->line_pt, SCENE_SLOT_PT,
            SCENE_MARK_PT);
    write_columns(w);
    write_rows(w);
    write_links(w);
    write_words(w);
}

static void html_reasons_receive_stat(void *user, const struct response_chunk *answer)
{
    if (answer->part == RESPONSE_STAT)
        decode_stat_info(answer->in, user);
}

/* Returns the text of a reason and what it is about in this run, "REASON: A, B", in new memory. */
static char *html_reasons_reason_text(unsigned reason, const struct stat_info *stat)
{
    char *text = xstrdup(untraced_text(reason));
    const char *between = ": ";
    for (uint32_t i = 0; i < stat->unseen_count; i++) {
        if (stat->unseen[i].reason != reason || !*stat->unseen[i].about)
            continue;
        char *longer = xasprintf("%s%s%s", text, between, stat->unseen[i].about);
        free(text);
        text = longer;
        between = ", ";
    }
    return text;
}

/* Writes the texts of all reasons, by number; "" for a number without a reason. */
static void write_reasons(const struct html_scene *w, const struct stat_info *stat)
{
    fputs(",\n\"reasons\":[", w->f);
    for (unsigned reason = 0; reason < UNANSWERED_COUNT; reason++) {
        char *text = html_reasons_reason_text(reason, stat);
        fputs(reason ? "," : "", w->f);
        html_text_json(w->f, text);
        free(text);
    }
    fputs("]", w->f);
}

/* Writes, for each set of doubts, its kind for each reason that occurs in any set, in the order of
 * the reasons. */
static void write_doubts(const struct html_scene *w)
{
    const struct causal_edges_info *c = &w->causes;
    uint32_t reasons = 0;
    for (uint32_t i = 0; i < c->doubts_count; i++)
        for (unsigned r = 1; r < UNTRACED_COUNT; r++)
            reasons |= c->doubts[i].kinds[r] ? UNTRACED_BIT(r) : 0;
    fprintf(w->f, ",\n\"kinds_for\":%u,\n\"kinds\":{", reasons);
    for (uint32_t i = 0; i < c->doubts_count; i++) {
        const char *between = "";
        fprintf(w->f, "%s\"%u\":[", i ? "," : "", c->doubts[i].doubts);
        for (unsigned r = 1; r < UNTRACED_COUNT; r++)
            if (reasons & UNTRACED_BIT(r)) {
                fprintf(w->f, "%s%u", between, c->doubts[i].kinds[r]);
                between = ",";
            }
        fputs("]", w->f);
    }
    fputs("}", w->f);
}

bool html_reasons_write(const struct command *command, struct html_scene *w)
{
    struct stat_info stat = {0};
    if (!command_source_request(command, w->data->subject, REQUEST_STAT, NULL,
                                html_reasons_receive_stat, &stat))
        return false;
    fprintf(w->f, ",\n\"hiding\":%u,\n\"mechanisms\":%u,\n\"any\":%u", w->causes.hiding,
            w->causes.mechanisms, w->causes.any);
    write_reasons(w, &stat);
    write_doubts(w);
    stat_info_free(&stat);
    return true;
}
