/* Segments of a row between its marks: their line style, and where the row's thread is
 * meanwhile. */
#include "render/scene_builder.h"

#include "base/alloc.h"
#include "base/lower_bound.h"

#include <stdlib.h>

#define STUB_PT 10.0 /* length of the stub after the exit of a thread */
#define WORDS_LEAST_PT 48.0
#define WORDS_MOST_PT 220.0
#define LANE_LINE_PT (SCENE_LABEL_PT * 1.2) /* line height of labels that are one below the other */
#define WORDS_COLUMNS 6 /* a label is repeated only at columns with a multiple of this number */
#define WORDS_APART_PT 30.0

/* A mark of a thread outside its own row. */
struct elsewhere {
    uint32_t row;
    const struct scene_mark *mark;
};

/* State of a row from x on. */
struct segment_state {
    double x;
    enum scene_style style;
    uint32_t on, about;
    const struct target_event *waits;
    int64_t since_ns;
    bool ended; /* the thread has exited: later events of its line do not change the style */
};

struct segment_rows {
    struct builder *b;
    struct elsewhere *elsewhere;
    uint32_t elsewhere_count;
};

static enum scene_style style_of(struct occupants in)
{
    return in.active ? STYLE_SOLID : in.away ? STYLE_THIN : in.blocked ? STYLE_DASHED : STYLE_NONE;
}

static bool is_long(const struct builder *b, enum scene_style style, int64_t ns)
{
    return (style == STYLE_DASHED || style == STYLE_WAITS) && b->options->threshold_ns &&
           ns >= b->options->threshold_ns;
}

bool scene_segments_shows_text(const struct builder *b, uint32_t thread)
{
    int32_t row = scene_builder_row(b, thread);
    return row >= 0 && b->scene->rows[row].line == thread && b->scene->rows[row].away;
}

/* ---- the state at the left edge ---- */

static const struct placement_info *scene_segments_placement(const struct builder *b,
                                                             uint32_t thread, uint64_t home)
{
    for (uint32_t i = 0; i < b->window->placement_count; i++)
        if (b->window->placements[i].thread == thread && b->window->placements[i].home == home)
            return &b->window->placements[i];
    return NULL;
}

static const struct target_event *scene_segments_event_style(const struct builder *b,
                                                             const struct placement_info *placement)
{
    struct event_info e = {
        .at = placement->at, .type = placement->type, .relation = placement->relation};
    return event_style(b->book, &e);
}

static void scene_segments_mark_elsewhere(struct segment_state *s, uint32_t on, uint32_t about,
                                          const struct target_event *look, int64_t ns)
{
    s->waits = look && look->waits ? look : NULL;
    s->style = s->waits ? STYLE_WAITS : STYLE_ELSEWHERE;
    s->on = on;
    /* e.g. the semaphore with the line on which the thread waits */
    s->about = about ? about : s->waits ? on : 0;
    s->since_ns = ns;
}

static bool is_home(enum scene_style style)
{
    return style == STYLE_SOLID || style == STYLE_THIN || style == STYLE_DASHED;
}

static struct segment_state state_at_left(const struct builder *b, uint32_t row)
{
    uint32_t line = b->scene->rows[row].line;
    struct segment_state s = {.x = b->scene->names_pt, .style = style_of(b->window->rows[row].in)};
    const struct placement_info *placement =
        b->window->rows[row].member_count ? NULL : scene_segments_placement(b, line, 0);
    const struct target_event *look = placement ? scene_segments_event_style(b, placement) : NULL;
    bool own = placement && placement->at.line == line;
    if (own && look && look->ends) {
        s.style = STYLE_NONE;
        s.ended = true;
    } else if (placement && b->scene->rows[row].away && s.style == STYLE_NONE &&
               !(own && look && look->closes))
        scene_segments_mark_elsewhere(&s, own ? 0 : placement->at.line, placement->about,
                                      own ? NULL : look, placement->time_ns);
    return s;
}

/* ---- segments ---- */

/* Returns the index of the first column with a left edge at or right of x. */
static uint32_t columns_until(const struct scene *scene, double x)
{
    return LOWER_BOUND(i, 0, scene->column_count,
                       scene->columns[i].x_pt - scene->columns[i].left_pt < x);
}

static const char *about_of(const struct builder *b, const struct scene_segment *s)
{
    return metadata_expand_text(b->book, s->waits->text, s->about);
}

static char *words_of(const struct builder *b, const struct scene_segment *s)
{
    const char *about = about_of(b, s);
    return xasprintf("%s%s%s", s->waits->text, *about ? " " : "", about);
}

/* Adds the label, cut if necessary; returns false if there is too little space. */
static bool scene_segments_append_words(struct builder *b, const struct scene_segment *s,
                                        const char *words, double x, double room)
{
    if (room < WORDS_LEAST_PT)
        return false;
    double y = b->scene->rows[s->row].y_pt;
    struct scene_text t = {.x_pt = x,
                           .y_pt = b->scene->vertical ? y + 7 : y - 12,
                           .height_pt = SCENE_LABEL_PT * 1.2,
                           .size_pt = SCENE_LABEL_PT,
                           .text = scene_builder_fit_text(b, words, SCENE_LABEL_PT, room),
                           .color = s->color};
    t.width_pt = scene_builder_text_width(b, t.text, SCENE_LABEL_PT, false);
    if (!b->scene->vertical)
        t.until_pt = s->to_pt - 6;
    ARRAY_PUSH(b->scene->texts, b->scene->text_count, t);
    return true;
}

/* Restricts the last label but one to the space left of the last one. */
static void scene_segments_mark_followed(const struct builder *b)
{
    struct scene_text *last = &b->scene->texts[b->scene->text_count - 1];
    last[-1].until_pt = last->x_pt - WORDS_APART_PT / 2;
    last[-1].followed = true;
}

/* Repeats the label at every WORDS_COLUMNS-th column, so that it is in view wherever the window
 * begins. */
static void repeat_words(struct builder *b, const struct scene_segment *s, const char *words,
                         double wide)
{
    const struct scene *scene = b->scene;
    double after = s->from_pt + wide + WORDS_APART_PT;
    for (uint32_t i = columns_until(scene, after); i < scene->column_count; i++) {
        const struct scene_column *c = &scene->columns[i];
        double x = c->x_pt - c->left_pt;
        uint32_t next = i + WORDS_COLUMNS;
        double end = next < scene->column_count ? scene->columns[next].x_pt : scene->width_pt;
        if (x + wide + 6 > s->to_pt)
            return;
        if (c->column % WORDS_COLUMNS == 0 &&
            scene_segments_append_words(b, s, words, x, end - x - 2 * SCENE_LABEL_PT))
            scene_segments_mark_followed(b);
    }
}

/* Adds the label in a vertical lane: text that does not fit beside the line continues below. */
static void add_lane_words(struct builder *b, const struct scene_segment *s, const char *words)
{
    double room = b->scene->row_pt - b->scene->line_pt - 14, along = s->to_pt - s->from_pt;
    bool fits = scene_builder_text_width(b, words, SCENE_LABEL_PT, false) <= room;
    if (along < LANE_LINE_PT + 6)
        return;
    scene_segments_append_words(b, s, fits || along < 2 * LANE_LINE_PT + 6 ? words : s->waits->text,
                                s->from_pt + 6, room);
    if (!fits && along >= 2 * LANE_LINE_PT + 6 && *about_of(b, s))
        scene_segments_append_words(b, s, about_of(b, s), s->from_pt + 6 + LANE_LINE_PT, room);
}

/* Adds the label of a wait above its line, as "waits for CV:more". */
static void add_words(struct builder *b, const struct scene_segment *s)
{
    char *words = words_of(b, s);
    double wide = scene_builder_text_width(b, words, SCENE_LABEL_PT, false);
    double room = s->to_pt - s->from_pt - 12;
    if (b->scene->vertical)
        add_lane_words(b, s, words);
    else if (scene_segments_append_words(b, s, words, s->from_pt + 6, room) && wide < room)
        repeat_words(b, s, words, wide);
    free(words);
}

/* Notes how wide the scene must be for the label of a wait that lasts until the end of the run. */
static void note_need(struct builder *b, const struct scene_segment *s)
{
    if (!s->waits || b->window->more_right || s->to_pt < b->scene->width_pt - 4)
        return;
    char *words = words_of(b, s);
    double wide = b->scene->vertical ? 2 * SCENE_LABEL_PT
                                     : scene_builder_text_width(b, words, SCENE_LABEL_PT, false);
    free(words);
    wide = s->from_pt + 17 + (wide < WORDS_MOST_PT ? wide : WORDS_MOST_PT);
    b->need_pt = wide > b->need_pt ? wide : b->need_pt;
}

static void add_segment(struct builder *b, uint32_t row, const struct segment_state *s, double to,
                        int64_t ns)
{
    struct scene_segment segment = {.row = row,
                                    .from_pt = s->x,
                                    .to_pt = to,
                                    .style = s->style,
                                    .color = s->waits ? s->waits->color : b->scene->rows[row].color,
                                    .is_long = is_long(b, s->style, ns),
                                    .on = s->on,
                                    .about = s->about,
                                    .waits = s->waits,
                                    .ns = ns};
    if (s->style == STYLE_NONE || to <= s->x)
        return;
    if (b->measuring) {
        note_need(b, &segment);
        return;
    }
    if (s->waits)
        add_words(b, &segment);
    ARRAY_PUSH(b->scene->segments, b->scene->segment_count, segment);
}

static void add_stub(struct builder *b, uint32_t row, double x)
{
    struct segment_state stub = {.x = x, .style = STYLE_END};
    double edge = b->scene->width_pt - 4;
    add_segment(b, row, &stub, x + STUB_PT < edge ? x + STUB_PT : edge, -1);
}

/* Updates the state of a row after one of its own marks. */
static void scene_segments_process_own_mark(struct builder *b, uint32_t row,
                                            struct segment_state *s, const struct scene_mark *m)
{
    const struct target_event *look = m->look;
    uint32_t line = b->scene->rows[row].line;
    /* the other lines of a line group continue */
    bool ends = look && look->ends && !b->window->rows[row].member_count;
    *s = (struct segment_state){
        .x = m->x_pt, .style = style_of(m->event->in), .ended = s->ended || ends};
    if (s->ended)
        s->style = STYLE_NONE;
    if (ends)
        add_stub(b, row, m->x_pt);
    else if (s->style == STYLE_NONE && !s->ended && b->scene->rows[row].away &&
             !(look && look->closes)) {
        const struct placement_info *placement =
            scene_segments_placement(b, line, m->event->at.number);
        scene_segments_mark_elsewhere(s, m->event->partner_count ? m->event->partners[0].line : 0,
                                      0, NULL, -1);
        if (placement)
            scene_segments_mark_elsewhere(s, placement->at.line, placement->about,
                                          scene_segments_event_style(b, placement),
                                          placement->time_ns);
    }
}

/* Returns how long the thread waited if the wait ends with this mark, ns; else -1. */
static int64_t scene_segments_segment_duration(const struct segment_state *s,
                                               const struct scene_mark *m)
{
    return s->waits && s->since_ns >= 0 ? m->event->time_ns - s->since_ns : -1;
}

static void scene_segments_process_elsewhere_mark(struct builder *b, uint32_t row,
                                                  struct segment_state *s,
                                                  const struct scene_mark *m)
{
    const struct target_event *look = m->look;
    bool waits = look && look->waits;
    if (is_home(s->style) || s->style == STYLE_NONE || m->state == EVENT_PENDING)
        return;
    if (waits || s->waits || m->event->at.line != s->on) { /* else nothing changes */
        add_segment(b, row, s, m->x_pt, scene_segments_segment_duration(s, m));
        s->x = m->x_pt;
    }
    scene_segments_mark_elsewhere(s, m->event->at.line, m->event->about, look, m->event->time_ns);
}

static void build_row_segments(struct segment_rows *r, uint32_t row, uint32_t *own,
                               uint32_t *elsewhere_index)
{
    struct builder *b = r->b;
    struct scene *scene = b->scene;
    bool described = metadata_line_type(b->book, scene->rows[row].line) != NULL;
    struct segment_state s = state_at_left(b, row);
    for (;;) {
        const struct scene_mark *m = *own < scene->mark_count && scene->marks[*own].row == row
                                         ? &scene->marks[*own]
                                         : NULL,
                                *f = *elsewhere_index < r->elsewhere_count &&
                                             r->elsewhere[*elsewhere_index].row == row
                                         ? r->elsewhere[*elsewhere_index].mark
                                         : NULL;
        if (f && (!m || f->x_pt <= m->x_pt)) {
            scene_segments_process_elsewhere_mark(b, row, &s, f);
            ++*elsewhere_index;
            continue;
        }
        if (!m)
            break;
        add_segment(b, row, &s, m->x_pt,
                    s.waits ? scene_segments_segment_duration(&s, m) : m->event->since_ns);
        ++*own;
        if (m->state == EVENT_PENDING) {
            s.x = m->x_pt;
            continue;
        }
        if (described)
            scene_segments_process_own_mark(b, row, &s, m);
        else
            s = (struct segment_state){.x = m->x_pt, .style = STYLE_THIN};
    }
    uint32_t before = scene->segment_count;
    if (described)
        add_segment(b, row, &s, scene->width_pt - 4, -1);
    if (scene->segment_count > before)
        scene->segments[before].lasts = !b->window->more_right;
}

/* ---- marks of threads outside their own rows ---- */

static int by_row(const void *a, const void *b)
{
    const struct elsewhere *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->mark->x_pt < y->mark->x_pt ? -1 : x->mark->x_pt > y->mark->x_pt;
}

static void find_elsewhere(struct segment_rows *r)
{
    struct builder *b = r->b;
    r->elsewhere = xcalloc(b->scene->mark_count + 1, sizeof *r->elsewhere);
    for (uint32_t i = 0; i < b->scene->mark_count; i++) {
        const struct scene_mark *m = &b->scene->marks[i];
        uint32_t thread = m->event->thread;
        if (thread != m->event->at.line && scene_segments_shows_text(b, thread))
            r->elsewhere[r->elsewhere_count++] =
                (struct elsewhere){(uint32_t)scene_builder_row(b, thread), m};
    }
    if (r->elsewhere_count)
        qsort(r->elsewhere, r->elsewhere_count, sizeof *r->elsewhere, by_row);
}

static void scene_segments_build_rows(struct segment_rows *r)
{
    uint32_t own = 0, elsewhere_index = 0;
    for (uint32_t row = 0; row < r->b->window->row_count; row++)
        build_row_segments(r, row, &own, &elsewhere_index);
}

static void scene_segments_widen_scene(struct builder *b)
{
    struct scene *scene = b->scene;
    if (b->need_pt <= scene->width_pt)
        return;
    if (scene->column_count)
        scene->columns[scene->column_count - 1].right_pt += b->need_pt - scene->width_pt;
    scene->width_pt = b->need_pt;
}

void scene_segments_build(struct builder *b)
{
    struct segment_rows r = {.b = b};
    find_elsewhere(&r);
    b->measuring = true;
    scene_segments_build_rows(&r);
    b->measuring = false;
    scene_segments_widen_scene(b);
    scene_segments_build_rows(&r);
    free(r.elsewhere);
}
