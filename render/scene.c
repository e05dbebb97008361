#define _GNU_SOURCE
#include "render/scene.h"

#include <stdlib.h>
#include <string.h>

static const struct target_colour black = {0, 0, 0}, grey = {0.35, 0.35, 0.35},
                                  red = {0.75, 0, 0.1};

struct builder {
    struct scene *scene;
    const struct shown_window *window;
    const struct book *book;
    const struct scene_options *options;
    int32_t *row_of; /* line - 1 -> row, -1 not shown */
    uint32_t line_room;
    int32_t base;       /* column of index 0 */
};

#define PUSH(array, count, value)                                                     \
    do {                                                                              \
        if (((count) & ((count) - 1)) == 0) {                                         \
            void *more_ = realloc((array), ((count) ? 2 * (size_t)(count) : 1) * sizeof *(array)); \
            if (!more_)                                                               \
                abort();                                                              \
            (array) = more_;                                                          \
        }                                                                             \
        (array)[(count)++] = (value);                                                 \
    } while (0)

static double measure(const struct builder *b, const char *text, double size, bool bold)
{
    if (b->options->measure)
        return b->options->measure(b->options->context, text, size, bold);
    size_t n = 0;
    for (; *text; text++)
        n += (*text & 0xc0) != 0x80;
    return 0.55 * size * (double)n;
}

/* Copies text, cut to fit with an ellipsis. */
static char *fit(const struct builder *b, const char *text, double size, double limit)
{
    size_t n = strlen(text);
    char *s = malloc(n + 4);
    if (!s)
        abort();
    memcpy(s, text, n + 1);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] < ' ')
            s[i] = ' ';
    while (n && measure(b, s, size, false) > limit) {
        n -= n > 64 ? n / 8 : 1;
        while (n && (s[n] & 0xc0) == 0x80)
            n--;
        memcpy(s + n, "…", 4);
    }
    return s;
}

/* ---- rows and columns ---- */

static void add_rows(struct builder *b)
{
    struct scene *scene = b->scene;
    double widest = 0;
    b->line_room = b->book->line_count;
    b->row_of = malloc((b->line_room + 1) * sizeof *b->row_of);
    if (!b->row_of)
        abort();
    for (uint32_t i = 0; i < b->line_room; i++)
        b->row_of[i] = -1;
    for (uint32_t i = 0; i < b->window->row_count; i++) {
        uint32_t line = b->window->rows[i].line;
        const struct target_kind *kind = book_kind(b->book, line);
        struct scene_row row = {.line = line,
                                .y_pt = scene->top_pt + SCENE_ROW_PT * (i + 0.5),
                                .label = book_label(b->book, line),
                                .colour = kind ? kind->colour : grey};
        double width = measure(b, row.label, SCENE_NAME_PT, false);
        widest = width > widest ? width : widest;
        PUSH(scene->rows, scene->row_count, row);
        if (line && line <= b->line_room)
            b->row_of[line - 1] = (int32_t)i;
    }
    scene->names_pt = widest + 16;
    scene->bottom_pt = scene->top_pt + SCENE_ROW_PT * scene->row_count;
}

static int32_t row_of(const struct builder *b, uint32_t line)
{
    return line && line <= b->line_room ? b->row_of[line - 1] : -1;
}

/* The words beside a mark: its texts, its fold, what a blocked thread waits for. */
static char *words_for(const struct builder *b, const struct shown_event *e, bool last)
{
    char *words = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&words, &size);
    if (!f)
        abort();
    if (e->state == EVENT_CONTRADICTORY)
        fputs("!", f);
    if (e->fold)
        fprintf(f, "×%u", e->fold);
    for (uint32_t i = 0; i < e->text_count; i++)
        fprintf(f, "%s%s", ftell(f) ? "; " : "", e->texts[i]);
    const struct target_event *look = book_look(b->book, e);
    if (last && look && look->waits && e->about)
        fprintf(f, "%s%s %s", ftell(f) ? "; " : "", look->text, book_label(b->book, e->about));
    fclose(f);
    return words;
}

struct extent { /* what the columns need; by index */
    double left, right;
};

static bool is_last_of_line(const struct builder *b, const struct shown_event *e)
{
    for (uint32_t i = 0; i < b->window->event_count; i++)
        if (b->window->events[i].at.line == e->at.line &&
            b->window->events[i].at.number > e->at.number)
            return false;
    return !b->window->more_right;
}

static const struct shown_gap *gap_before(const struct builder *b, struct ref at)
{
    for (uint32_t i = 0; i < b->window->gap_count; i++) {
        const struct shown_gap *gap = &b->window->gaps[i];
        if (gap->line == at.line && gap->first + gap->count == at.number)
            return gap;
    }
    return NULL;
}

static void add_columns(struct builder *b, uint32_t count, const struct extent *extents)
{
    struct scene *scene = b->scene;
    double x = scene->names_pt;
    for (uint32_t i = 0; i < count; i++) {
        struct scene_column c = {.column = b->base + (int32_t)i,
                                 .left_pt = extents[i].left,
                                 .right_pt = extents[i].right};
        c.x_pt = x + c.left_pt;
        x = c.x_pt + c.right_pt;
        PUSH(scene->columns, scene->column_count, c);
    }
    double least = b->options->minimum_width_pt;
    scene->width_pt = x + 10 > least ? x + 10 : least;
}

/* ---- marks ---- */

static void add_text(struct builder *b, double x, double y, char *text)
{
    struct scene_text t = {.x_pt = x,
                           .y_pt = y,
                           .width_pt = measure(b, text, SCENE_LABEL_PT, false),
                           .height_pt = SCENE_LABEL_PT * 1.2,
                           .size_pt = SCENE_LABEL_PT,
                           .text = text,
                           .colour = black};
    PUSH(b->scene->texts, b->scene->text_count, t);
}

struct placed_mark { /* an event with its index of column, pending ones too */
    const struct shown_event *event;
    uint32_t column;
    char *words; /* NULL none */
    bool waits;
};

static void add_mark(struct builder *b, const struct placed_mark *p)
{
    struct scene *scene = b->scene;
    const struct shown_event *e = p->event;
    const struct target_event *look = book_look(b->book, e);
    const struct scene_column *column = &scene->columns[p->column];
    uint32_t row = (uint32_t)row_of(b, e->at.line);
    struct scene_mark mark = {.row = row,
                              .column = p->column,
                              .x_pt = column->x_pt,
                              .y_pt = scene->rows[row].y_pt,
                              .shape = look ? look->shape : SHAPE_CIRCLE,
                              .filled = look ? look->filled : false,
                              .colour = look ? look->colour : grey,
                              .state = (enum event_state)e->state,
                              .fold = e->fold,
                              .waits = p->waits,
                              .event = e};
    if (e->state == EVENT_CONTRADICTORY)
        mark.colour = red;
    if (!look && mark.shape == SHAPE_NONE)
        mark.shape = SHAPE_CIRCLE;
    PUSH(scene->marks, scene->mark_count, mark);
    const struct shown_gap *gap = gap_before(b, e->at);
    if (gap) {
        struct scene_gap g = {row, mark.x_pt - column->left_pt + 8, gap->count};
        char *text;
        if (asprintf(&text, "%llu lost", (unsigned long long)gap->count) < 0)
            abort();
        PUSH(scene->gaps, scene->gap_count, g);
        add_text(b, mark.x_pt - column->left_pt + 2, mark.y_pt - 13, text);
    }
    if (p->words)
        add_text(b, mark.x_pt + 5.5, mark.y_pt - 13, p->words);
}

/* ---- line styles ---- */

static enum scene_style style_of(struct presences in)
{
    return in.active ? STYLE_SOLID : in.away ? STYLE_THIN : in.blocked ? STYLE_DASHED : STYLE_NONE;
}

static void add_segment(struct builder *b, uint32_t row, double from, double to,
                        enum scene_style style)
{
    struct scene_segment s = {row, from, to, style, b->scene->rows[row].colour};
    if (style != STYLE_NONE && to > from)
        PUSH(b->scene->segments, b->scene->segment_count, s);
}

static int by_row(const void *a, const void *b)
{
    const struct scene_mark *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->x_pt < y->x_pt ? -1 : x->x_pt > y->x_pt;
}

/* Marks are sorted by row and x. */
static void add_segments(struct builder *b)
{
    struct scene *scene = b->scene;
    uint32_t i = 0;
    double edge = scene->width_pt - 4;
    for (uint32_t row = 0; row < scene->row_count; row++) {
        bool described = book_kind(b->book, scene->rows[row].line) != NULL;
        double x = scene->names_pt;
        enum scene_style style = style_of(b->window->rows[row].in);
        for (; i < scene->mark_count && scene->marks[i].row == row; i++) {
            const struct scene_mark *m = &scene->marks[i];
            add_segment(b, row, x, m->x_pt, style);
            if (m->state == EVENT_PENDING)
                continue;
            x = m->x_pt;
            style = described ? style_of(m->event->in) : STYLE_THIN;
        }
        if (described)
            add_segment(b, row, x, edge, style);
    }
}

/* ---- links between marks ---- */

static const struct scene_mark *mark_of(const struct scene *scene, struct ref at, int32_t row)
{
    for (uint32_t low = 0, high = scene->mark_count; low < high;) {
        uint32_t middle = (low + high) / 2;
        const struct scene_mark *m = &scene->marks[middle];
        if ((int32_t)m->row < row ||
            ((int32_t)m->row == row && m->event->at.number < at.number))
            low = middle + 1;
        else if ((int32_t)m->row == row && ref_equal(m->event->at, at))
            return m;
        else
            high = middle;
    }
    return NULL;
}

static void add_link(struct builder *b, enum scene_arrow kind, double x0, double y0, double x1,
                     double y1, bool head, const struct scene_mark *mark)
{
    struct scene_link link = {kind, x0, y0, x1, y1, head,
                              mark->state == EVENT_CONTRADICTORY, mark->colour};
    PUSH(b->scene->links, b->scene->link_count, link);
}

static void link_sync(struct builder *b, const struct scene_mark *m)
{
    const struct shown_event *e = m->event;
    const struct target_event *look = book_look(b->book, e);
    if (e->partner_count == 0)
        return;
    int32_t row = row_of(b, e->partners[0].line);
    bool from_here = look && look->arrow == ARROW_TO_PARTNER;
    bool to_here = look && look->arrow == ARROW_FROM_PARTNER;
    if (row < 0) { /* its other line is hidden: a stub that points the way */
        double y = m->y_pt + 11;
        add_link(b, ARROW_STUB, m->x_pt, to_here ? y : m->y_pt, m->x_pt, to_here ? m->y_pt : y,
                 from_here || to_here, m);
        return;
    }
    const struct scene_mark *other = mark_of(b->scene, e->partners[0], row);
    if (other && (from_here || (!to_here && m->row < other->row)))
        add_link(b, ARROW_SYNC, m->x_pt, m->y_pt, other->x_pt, other->y_pt, from_here, m);
}

static void link_async(struct builder *b, const struct scene_mark *m)
{
    const struct shown_event *e = m->event;
    for (uint32_t i = 0; i < e->partner_count; i++) {
        int32_t row = row_of(b, e->partners[i].line);
        const struct scene_mark *other = row < 0 ? NULL : mark_of(b->scene, e->partners[i], row);
        double y = row < 0 ? m->y_pt + 11 : b->scene->rows[row].y_pt;
        if (e->relation == RELATION_RECEIVE) {
            if (other)
                add_link(b, ARROW_ASYNC, other->x_pt, other->y_pt, m->x_pt, m->y_pt, true, m);
            else if (row < 0)
                add_link(b, ARROW_STUB, m->x_pt - 6, y, m->x_pt, m->y_pt, true, m);
            else
                add_link(b, ARROW_ASYNC, b->scene->names_pt, y, m->x_pt, m->y_pt, true, m);
        } else if (!other && row < 0) {
            add_link(b, ARROW_STUB, m->x_pt, m->y_pt, m->x_pt + 6, y, true, m);
        } else if (!other) {
            add_link(b, ARROW_ASYNC, m->x_pt, m->y_pt, b->scene->width_pt - 4, y, false, m);
        }
    }
}

static void link_group(struct builder *b, const struct scene_mark *m)
{
    const struct scene_mark *next = NULL;
    for (uint32_t i = 0; i < b->scene->mark_count; i++) {
        const struct scene_mark *o = &b->scene->marks[i];
        if (o->event->group == m->event->group && o->row > m->row && (!next || o->row < next->row))
            next = o;
    }
    if (next)
        add_link(b, ARROW_GROUP, m->x_pt, m->y_pt, next->x_pt, next->y_pt, false, m);
}

static void add_links(struct builder *b)
{
    for (uint32_t i = 0; i < b->scene->mark_count; i++) {
        const struct scene_mark *m = &b->scene->marks[i];
        if (m->state == EVENT_PENDING)
            continue;
        if (m->event->relation == RELATION_SYNC)
            link_sync(b, m);
        else if (m->event->relation == RELATION_SEND || m->event->relation == RELATION_RECEIVE)
            link_async(b, m);
        else if (m->event->relation == RELATION_GROUP && m->event->group)
            link_group(b, m);
    }
}

/* ---- title, caption, legend ---- */

static double add_note(struct builder *b, double x, double y, const char *text, double size,
                       bool bold)
{
    struct scene_text t = {.x_pt = x,
                           .y_pt = y,
                           .width_pt = measure(b, text, size, bold),
                           .height_pt = size * 1.2,
                           .size_pt = size,
                           .text = strdup(text),
                           .colour = black,
                           .bold = bold};
    if (!t.text)
        abort();
    PUSH(b->scene->notes, b->scene->note_count, t);
    return t.width_pt;
}

struct legend {
    double x, y;
};

static void add_key(struct builder *b, struct legend *at, struct scene_key key, const char *words)
{
    double width = 22 + measure(b, words, SCENE_LABEL_PT, false) + 14;
    double limit = b->scene->width_pt > 300 ? b->scene->width_pt : 300;
    if (at->x > 10 && at->x + width > limit) {
        at->x = 10;
        at->y += 13;
    }
    key.x_pt = at->x + 8;
    key.y_pt = at->y + 5;
    PUSH(b->scene->keys, b->scene->key_count, key);
    add_note(b, at->x + 22, at->y, words, SCENE_LABEL_PT, false);
    at->x += width;
    if (at->x > b->scene->width_pt)
        b->scene->width_pt = at->x;
}

static bool in_legend(const struct builder *b, const struct scene_mark *m, const char *words)
{
    for (uint32_t i = 0; i < b->scene->key_count; i++) {
        const struct scene_key *k = &b->scene->keys[i];
        const char *text = b->scene->notes[b->scene->note_count - b->scene->key_count + i].text;
        if (k->shape == m->shape && k->filled == m->filled && strcmp(text, words) == 0)
            return true;
    }
    return false;
}

static void add_legend(struct builder *b)
{
    static const struct {
        enum scene_style style;
        const char *words;
    } styles[] = {{STYLE_SOLID, "a thread runs here"},
                  {STYLE_THIN, "its holder is away"},
                  {STYLE_DASHED, "only blocked threads"}};
    struct scene *scene = b->scene;
    struct legend at = {10, scene->bottom_pt + 10};
    for (uint32_t i = 0; i < scene->mark_count; i++) {
        const struct scene_mark *m = &scene->marks[i];
        const struct target_event *look = book_look(b->book, m->event);
        const char *words = look ? look->label : book_type(b->book, m->event->type);
        struct scene_key key = {.shape = m->shape, .filled = m->filled, .colour = m->colour,
                                .state = m->state};
        if (m->state == EVENT_PENDING)
            words = "pending";
        else if (m->state == EVENT_CONTRADICTORY)
            words = "contradictory";
        if (!in_legend(b, m, words))
            add_key(b, &at, key, words);
    }
    for (size_t s = 0; s < sizeof styles / sizeof *styles; s++)
        for (uint32_t i = 0; i < scene->segment_count; i++)
            if (scene->segments[i].style == styles[s].style) {
                add_key(b, &at, (struct scene_key){.style = styles[s].style, .colour = black},
                        styles[s].words);
                break;
            }
    scene->height_pt = scene->key_count ? at.y + 18 : scene->bottom_pt + 4;
}

/* ---- all of it ---- */

static uint32_t collect_marks(struct builder *b, struct placed_mark **marks, uint32_t *columns)
{
    const struct shown_window *w = b->window;
    uint32_t count = 0;
    int32_t last = b->base - 1;
    int32_t *row_last = malloc((w->row_count + 1) * sizeof *row_last);
    *marks = malloc(((size_t)w->event_count + w->pending_count + 1) * sizeof **marks);
    if (!*marks || !row_last)
        abort();
    for (uint32_t i = 0; i < w->row_count; i++)
        row_last[i] = b->base - 1;
    for (uint32_t i = 0; i < w->event_count; i++) {
        int32_t row = row_of(b, w->events[i].at.line), column = w->events[i].column;
        if (row < 0)
            continue;
        (*marks)[count++] = (struct placed_mark){&w->events[i], (uint32_t)(column - b->base), NULL, false};
        row_last[row] = column > row_last[row] ? column : row_last[row];
        last = column > last ? column : last;
    }
    for (uint32_t i = 0; i < w->pending_count; i++) {
        int32_t row = row_of(b, w->pending[i].at.line);
        if (row < 0)
            continue;
        int32_t column = ++row_last[row];
        (*marks)[count++] = (struct placed_mark){&w->pending[i], (uint32_t)(column - b->base), NULL, false};
        last = column > last ? column : last;
    }
    free(row_last);
    *columns = (uint32_t)(last - b->base + 1);
    return count;
}

static void build(struct builder *b)
{
    struct scene *scene = b->scene;
    const struct shown_window *w = b->window;
    double y = 8;
    if (b->options->title && *b->options->title) {
        add_note(b, 10, y, b->options->title, 11, true);
        y += 20;
    }
    scene->top_pt = y;
    add_rows(b);
    b->base = w->first <= w->last && w->event_count ? w->first : 0;
    struct placed_mark *marks;
    uint32_t columns, count = collect_marks(b, &marks, &columns);
    struct extent *extents = malloc((columns + 1) * sizeof *extents);
    if (!extents)
        abort();
    for (uint32_t i = 0; i < columns; i++)
        extents[i] = (struct extent){SCENE_COLUMN_PT / 2, SCENE_COLUMN_PT / 2};
    for (uint32_t i = 0; i < count; i++) {
        struct extent *x = &extents[marks[i].column];
        const struct shown_event *e = marks[i].event;
        const struct target_event *look = book_look(b->book, e);
        bool last = look && look->waits && e->about && is_last_of_line(b, e);
        if (e->text_count || e->fold || last || e->state == EVENT_CONTRADICTORY) {
            char *words = words_for(b, e, last);
            marks[i].waits = last;
            marks[i].words = fit(b, words, SCENE_LABEL_PT, SCENE_LABEL_MAX_PT);
            free(words);
            double width = measure(b, marks[i].words, SCENE_LABEL_PT, false) + 9;
            x->right = width > x->right ? width : x->right;
        }
        if (e->relation == RELATION_RECEIVE)
            x->left = x->left > 13 ? x->left : 13; /* room for a slanted head */
        const struct shown_gap *gap = gap_before(b, e->at);
        if (gap) {
            char text[40];
            snprintf(text, sizeof text, "%llu lost", (unsigned long long)gap->count);
            double width = measure(b, text, SCENE_LABEL_PT, false) + 12;
            x->left = width > x->left ? width : x->left;
        }
    }
    add_columns(b, columns, extents);
    for (uint32_t i = 0; i < count; i++)
        add_mark(b, &marks[i]);
    free(extents);
    free(marks);
    if (scene->mark_count)
        qsort(scene->marks, scene->mark_count, sizeof *scene->marks, by_row);
    add_segments(b);
    add_links(b);
    scene->height_pt = scene->bottom_pt + 4;
    if (b->options->legend)
        add_legend(b);
    if (b->options->caption && *b->options->caption) {
        double width = add_note(b, 10, scene->height_pt + 2, b->options->caption, 9, false) + 20;
        scene->width_pt = width > scene->width_pt ? width : scene->width_pt;
        scene->height_pt += 18;
    }
}

struct scene *scene_build(const struct shown_window *window, const struct book *book,
                          const struct scene_options *options)
{
    struct builder b = {.window = window, .book = book, .options = options};
    b.scene = calloc(1, sizeof *b.scene);
    if (!b.scene)
        return NULL;
    build(&b);
    free(b.row_of);
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
    free(scene->rows);
    free(scene->columns);
    free(scene->segments);
    free(scene->marks);
    free(scene->links);
    free(scene->texts);
    free(scene->notes);
    free(scene->gaps);
    free(scene->keys);
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
    static const char *const styles[] = {"none", "dashed", "thin", "solid"};
    static const char *const shapes[] = {"none", "circle", "square"};
    static const char *const kinds[] = {"sync", "async", "group", "stub"};
    static const char *const states[] = {"", " pending", " contradictory"};
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
        ref_print(at, sizeof at, m->event->at);
        fprintf(f, "mark %s row %u column %u %s %s%s\n", at, m->row, m->column,
                m->filled ? "filled" : "open", shapes[m->shape], states[m->state]);
    }
    for (uint32_t i = 0; i < scene->link_count; i++) {
        const struct scene_link *l = &scene->links[i];
        fprintf(f, "link %s %.1f,%.1f -> %.1f,%.1f%s\n", kinds[l->kind], l->x0_pt, l->y0_pt,
                l->x1_pt, l->y1_pt, l->head ? " head" : "");
    }
    for (uint32_t i = 0; i < scene->gap_count; i++)
        fprintf(f, "gap row %u x %.1f count %llu\n", scene->gaps[i].row, scene->gaps[i].x_pt,
                (unsigned long long)scene->gaps[i].count);
    for (uint32_t i = 0; i < scene->text_count; i++)
        fprintf(f, "text %.1f,%.1f \"%s\"\n", scene->texts[i].x_pt, scene->texts[i].y_pt,
                scene->texts[i].text);
    for (uint32_t i = 0; i < scene->note_count; i++)
        fprintf(f, "note %.1f,%.1f \"%s\"\n", scene->notes[i].x_pt, scene->notes[i].y_pt,
                scene->notes[i].text);
}
