#define _GNU_SOURCE
#include "render/scene_text.h"

#include "base/alloc.h"
#include "base/lower_bound.h"
#include "wire/annotation_text.h"
#include "wire/text.h"

#include <stdlib.h>

#define CELL 3 /* characters per slot */

static const struct target_color red = {0.75, 0, 0.1};

enum glyph {
    BLANK,
    SOLID,
    THIN,
    DASHED,
    ELSEWHERE,
    WAITS,
    OPEN_CIRCLE,
    STRUCK,
    CIRCLE,
    OPEN_SQUARE,
    SQUARE,
    PENDING,
    BAD,
    SHAFT,
    UP,
    DOWN,
    CROSS,
    GAP,
    FLAG, /* "1" to "9" */
    GLYPHS = FLAG + 9
};

static const char *const unicode[GLYPHS] = {" ", "━", "─", "╌", "·", "╍", "○", "⊘", "●",
                                            "□", "■", "x", "!", "│", "▲", "▼", "┼", "⫽",
                                            "1", "2", "3", "4", "5", "6", "7", "8", "9"};
static const char *const ascii[GLYPHS] = {" ", "=", "-", ".", ":", "~", "o", "%", "@",
                                          "H", "#", "x", "!", "|", "^", "v", "+", "/",
                                          "1", "2", "3", "4", "5", "6", "7", "8", "9"};

struct canvas {
    uint8_t *cells, *colors; /* colors: of a terminal's 256, 0: its default; NULL: no color */
    uint32_t width, height;
};

/* Returns the nearest color of the 6 x 6 x 6 cube; 0 for near-gray colors: the terminal's default
 * is readable on any background. */
static uint8_t scene_text_color(struct target_color c)
{
    double most = c.red > c.green ? c.red : c.green, least = c.red < c.green ? c.red : c.green;
    most = c.blue > most ? c.blue : most;
    least = c.blue < least ? c.blue : least;
    if (most - least < 0.2)
        return 0;
    return (uint8_t)(16 + 36 * (int)(c.red * 5 + 0.5) + 6 * (int)(c.green * 5 + 0.5) +
                     (int)(c.blue * 5 + 0.5));
}

static void color_cell(struct canvas *c, uint32_t x, uint32_t y, struct target_color color)
{
    if (c->colors && x < c->width && y < c->height)
        c->colors[(size_t)y * c->width + x] = scene_text_color(color);
}

static bool is_on_canvas(const struct canvas *c, uint32_t x, uint32_t y)
{
    return x < c->width && y < c->height;
}

static uint8_t *scene_text_cell_at(struct canvas *c, uint32_t x, uint32_t y)
{
    static uint8_t nowhere;
    return is_on_canvas(c, x, y) ? &c->cells[(size_t)y * c->width + x] : &nowhere;
}

/* Returns how many columns begin at or left of x_pt. */
static uint32_t columns_until(const struct scene *scene, double x_pt)
{
    return LOWER_BOUND(i, 0, scene->column_count, scene->columns[i].x_pt <= x_pt + 0.01);
}

static uint32_t x_of(const struct scene *scene, uint32_t column, uint32_t slot)
{
    uint32_t slots = 0; /* columns are as wide as their slots */
    for (uint32_t i = 0; i < column; i++)
        slots += scene->columns[i].slots;
    return 1 + (slots + slot) * CELL + CELL / 2;
}

static uint32_t width_of(const struct scene *scene)
{
    return scene->column_count ? x_of(scene, scene->column_count, 0) + CELL - CELL / 2 : 3;
}

static uint32_t edge_of(const struct scene *scene, double x_pt)
{
    uint32_t count = columns_until(scene, x_pt);
    if (count == 0)
        return 0;
    const struct scene_column *c = &scene->columns[count - 1];
    bool last = count == scene->column_count;
    if (last && x_pt > c->x_pt + c->slots * SCENE_SLOT_PT)
        return width_of(scene) - 1;
    if (!last && x_pt > c->x_pt + c->right_pt) /* in the left part of the next column */
        return x_of(scene, count, 0) - 1;
    double slot = (x_pt - c->x_pt) / SCENE_SLOT_PT + 0.5;
    return x_of(scene, count - 1, slot >= c->slots ? c->slots - 1 : (uint32_t)slot);
}

static uint32_t row_at(const struct scene *scene, double y_pt)
{
    uint32_t row = (uint32_t)((y_pt - scene->top_pt) / scene->row_pt);
    return row < scene->row_count ? row : scene->row_count - 1;
}

static enum glyph glyph_of(enum scene_style style)
{
    static const enum glyph glyphs[] = {
        [STYLE_NONE] = BLANK,  [STYLE_DASHED] = DASHED,       [STYLE_THIN] = THIN,
        [STYLE_SOLID] = SOLID, [STYLE_ELSEWHERE] = ELSEWHERE, [STYLE_WAITS] = WAITS,
        [STYLE_END] = SOLID};
    return glyphs[style];
}

static void draw_lines(struct canvas *canvas, const struct scene *scene)
{
    for (uint32_t i = 0; i < scene->segment_count; i++) {
        const struct scene_segment *s = &scene->segments[i];
        uint32_t to = edge_of(scene, s->to_pt);
        for (uint32_t x = edge_of(scene, s->from_pt); x < to; x++) {
            color_cell(canvas, x, 2 * s->row, s->color);
            *scene_text_cell_at(canvas, x, 2 * s->row) = (uint8_t)glyph_of(s->style);
        }
    }
}

static void draw_arrow(struct canvas *canvas, const struct scene *scene, const struct scene_link *l)
{
    uint32_t x = edge_of(scene, l->x1_pt);
    uint32_t from = 2 * row_at(scene, l->y0_pt), to = 2 * row_at(scene, l->y1_pt);
    if (l->kind == ARROW_ASYNC || l->kind == ARROW_ORDER || from == to)
        return;
    uint32_t top = from < to ? from : to, bottom = from < to ? to : from;
    for (uint32_t y = top + 1; y < bottom; y++) {
        uint8_t *at = scene_text_cell_at(canvas, x, y);
        *at = *at == BLANK ? SHAFT : *at == SHAFT ? SHAFT : CROSS;
    }
    if (l->head)
        *scene_text_cell_at(canvas, x, from < to ? to - 1 : to + 1) = from < to ? DOWN : UP;
}

/* Draws the interval in which a worker thread runs a task. */
static void draw_bar(struct canvas *canvas, const struct scene *scene, const struct scene_bar *bar)
{
    uint32_t end = edge_of(scene, bar->to_pt);
    for (uint32_t x = edge_of(scene, bar->from_pt); x < end; x++) {
        *scene_text_cell_at(canvas, x, 2 * bar->row) = bar->task ? SOLID : THIN;
        color_cell(canvas, x, 2 * bar->row, bar->color);
    }
}

static void draw_mark(struct canvas *canvas, const struct scene *scene, const struct scene_mark *m)
{
    if (m->shape == SHAPE_NONE)
        return;
    enum glyph g = m->state == EVENT_PENDING         ? PENDING
                   : m->state == EVENT_CONTRADICTORY ? BAD
                   : m->shape == SHAPE_SQUARE        ? (m->filled ? SQUARE : OPEN_SQUARE)
                   : m->undelivered                  ? STRUCK
                   : m->filled                       ? CIRCLE
                                                     : OPEN_CIRCLE;
    *scene_text_cell_at(canvas, x_of(scene, m->column, m->slot), 2 * m->row) = (uint8_t)g;
    color_cell(canvas, x_of(scene, m->column, m->slot), 2 * m->row, m->stuck ? red : m->color);
}

/* Draws the number of a note in the first unused cell above or below its mark, or beside these. */
static void draw_flag(struct canvas *canvas, const struct scene *scene, const struct scene_flag *f)
{
    static const int down[] = {-1, -1, -1, 1, 1, 1}, right[] = {0, -1, 1, 0, -1, 1};
    uint32_t x = edge_of(scene, f->x_pt), y = 2 * f->row;
    if (f->number[0] < '1' || f->number[1])
        return;
    for (size_t i = 0; i < sizeof down / sizeof *down; i++) {
        uint32_t to_x = x + (uint32_t)right[i], to_y = y + (uint32_t)down[i];
        uint8_t *at = scene_text_cell_at(canvas, to_x, to_y);
        if (is_on_canvas(canvas, to_x, to_y) && *at == BLANK) {
            *at = (uint8_t)(FLAG + f->number[0] - '1');
            return;
        }
    }
}

static size_t scene_text_count_characters(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += (*s & 0xc0) != 0x80;
    return n;
}

static void write_cells(const struct canvas *canvas, uint32_t y, uint32_t from, uint32_t to,
                        const char *const *glyphs, FILE *f)
{
    uint8_t now = 0;
    for (uint32_t x = from; x < to; x++) {
        size_t at = (size_t)y * canvas->width + x;
        uint8_t color = canvas->colors && canvas->cells[at] != BLANK ? canvas->colors[at] : 0;
        if (color != now)
            fprintf(f, color ? "\033[38;5;%dm" : "\033[m", color);
        now = color;
        fputs(glyphs[canvas->cells[at]], f);
    }
    if (now)
        fputs("\033[m", f);
}

/* Writes a row's name, in bold if colors are allowed. */
static void write_name(const struct canvas *canvas, const char *label, FILE *f)
{
    fprintf(f, canvas->colors && *label ? "\033[1m%s\033[m" : "%s", label);
}

static void write_block(const struct canvas *canvas, const struct scene *scene, size_t names,
                        uint32_t from, uint32_t to, const char *const *glyphs, FILE *f)
{
    for (uint32_t y = 0; y < canvas->height; y++) {
        const char *label = y % 2 == 0 ? scene->rows[y / 2].label : "";
        uint32_t end = to < canvas->width ? to : canvas->width;
        while (end > from && canvas->cells[(size_t)y * canvas->width + end - 1] == BLANK)
            end--;
        if (!*label && end == from) {
            fputc('\n', f);
            continue;
        }
        write_name(canvas, label, f);
        for (size_t i = scene_text_count_characters(label); end > from && i < names; i++)
            fputc(' ', f);
        write_cells(canvas, y, from, end, glyphs, f);
        fputc('\n', f);
    }
}

static void write_end(const struct trace_metadata *book, const struct scene_mark *m, FILE *f)
{
    const struct target_event *look = event_style(book, m->event);
    char at[48];
    metadata_print_event_id(book, at, sizeof at, m->event->at);
    bool own = (look && look->own) || !m->event->thread; /* it describes its line, not a thread */
    fprintf(f, "%s %s: %s", at, metadata_label(book, own ? m->event->at.line : m->event->thread),
            look ? look->label : metadata_type_name(book, m->event->type));
}

/* Writes the dotted arrows as text: which thread woke, created or joined which. */
static void write_order(const struct scene *scene, const struct trace_metadata *book, FILE *f)
{
    for (uint32_t i = 0; i < scene->link_count; i++) {
        const struct scene_link *l = &scene->links[i];
        if (l->kind != ARROW_ORDER)
            continue;
        write_end(book, l->from, f);
        fputs(", before ", f);
        write_end(book, l->to, f);
        fputc('\n', f);
    }
}

/* Writes a text with the line that it is about, as "waits for M:buffer". */
static void scene_text_write_object(const struct trace_metadata *book, const char *text,
                                    uint32_t line, FILE *f)
{
    const char *about = metadata_expand_text(book, text, line);
    fprintf(f, "%s%s%s", text, *about ? " " : "", about);
}

/* Writes what the thread of an event did, followed by `behind`. */
static void scene_text_write_operation(const struct trace_metadata *book,
                                       const struct event_info *e, const struct target_event *look,
                                       const char *behind, FILE *f)
{
    char at[48];
    metadata_print_event_id(book, at, sizeof at, e->at);
    fprintf(f, "%-8s %s: ", at, metadata_label(book, e->thread ? e->thread : e->at.line));
    scene_text_write_object(book, look->text, e->about, f);
    fputs(behind, f);
}

/* Writes what threads wait for at the end of the run: the grid shows only that they wait. */
static void scene_text_write_blocked(const struct scene *scene, const struct trace_metadata *book,
                                     FILE *f)
{
    for (uint32_t i = 0; i < scene->segment_count; i++) {
        const struct scene_segment *s = &scene->segments[i];
        if (!s->waits || !s->lasts)
            continue;
        fprintf(f, "%s: ", scene->rows[s->row].label);
        scene_text_write_object(book, s->waits->text, s->about, f);
        if (s->on && s->on != s->about)
            fprintf(f, ", in %s", metadata_label(book, s->on));
        fputc('\n', f);
    }
}

/* Writes which tasks ran on worker threads, in the order of the bars. */
static void write_bars(const struct scene *scene, const struct trace_metadata *book, FILE *f)
{
    for (uint32_t i = 0; i < scene->bar_count; i++) {
        const struct scene_bar *bar = &scene->bars[i];
        char took[32];
        scene_duration(bar->ns, took, sizeof took);
        if (bar->task)
            fprintf(f, "%s: %s for %s\n", scene->rows[bar->row].label,
                    metadata_label(book, bar->task), took);
    }
}

/* Writes the times of the ticks, each behind a bar at the edge between two columns. */
static void write_ruler(const struct scene *scene, size_t names, uint32_t from, uint32_t to,
                        FILE *f)
{
    uint32_t at = from;
    for (size_t i = 0; scene->tick_count && i < names; i++)
        fputc(' ', f);
    for (uint32_t i = 0; i < scene->tick_count; i++) {
        const struct scene_tick *tick = &scene->ticks[i];
        uint32_t column = columns_until(scene, tick->x_pt), x = x_of(scene, column, 0) - 1;
        if (x < at || x + scene_text_count_characters(tick->text) + 1 > to)
            continue;
        for (; at < x; at++)
            fputc(' ', f);
        fprintf(f, "|%s ", tick->text);
        at += (uint32_t)scene_text_count_characters(tick->text) + 2;
    }
    fputs(scene->tick_count ? "\n" : "", f);
}

/* Writes an event's texts, collapsed repeats and messages. */
static void write_details(const struct trace_metadata *book, const struct event_info *e, FILE *f)
{
    char at[48], other[48];
    metadata_print_event_id(book, at, sizeof at, e->at);
    for (uint32_t k = 0; k < e->text_count; k++) {
        if (nondet_result_matches(e->texts[k]))
            continue;
        fprintf(f, "%-8s %s: ", at, metadata_label(book, e->at.line));
        text_print(f, e->texts[k]);
        fputc('\n', f);
    }
    if (e->fold)
        fprintf(f, "%-8s collapsed: %u similar critical sections\n", at, e->fold);
    for (uint32_t k = 0; e->relation == RELATION_SEND && k < e->partner_count; k++) {
        metadata_print_event_id(book, other, sizeof other, e->partners[k]);
        fprintf(f, "%-8s -> %s\n", at, other);
    }
}

/* Writes an event that blocks its thread, that had no effect, or that is not ordered. */
static void write_state(const struct trace_metadata *book, const struct scene_mark *mark, FILE *f)
{
    const struct event_info *e = mark->event;
    const struct target_event *look = event_style(book, e);
    char at[48];
    metadata_print_event_id(book, at, sizeof at, e->at);
    if ((mark->waits || mark->stuck) && look)
        scene_text_write_operation(book, e, look, mark->stuck ? ", in a deadlock\n" : "\n", f);
    if (mark->undelivered) {
        scene_text_write_operation(book, e, look, ", ", f);
        fprintf(f, "%s\n", look->undelivered);
    }
    if (e->state != EVENT_ORDERED)
        fprintf(f, "%-8s %s: %s, %s\n", at, metadata_label(book, e->at.line),
                look ? look->label : metadata_type_name(book, e->type),
                e->state == EVENT_PENDING ? "pending" : "inconsistent");
}

/* Writes what does not fit between the lines. `details` receives what a brief text leaves out. */
static void write_notes(const struct scene *scene, const struct trace_metadata *book, FILE *f,
                        FILE *details)
{
    for (uint32_t i = 0; i < scene->mark_count; i++) {
        write_details(book, scene->marks[i].event, details);
        write_state(book, &scene->marks[i], f);
    }
    for (uint32_t i = 0; i < scene->note_count; i++)
        if (scene->flag_count && i + scene->flag_count >= scene->note_count)
            fprintf(f, "note %s\n", scene->notes[i].text); /* the notes of flags were added last */
    write_order(scene, book, details);
    scene_text_write_blocked(scene, book, f);
    write_bars(scene, book, details);
    for (uint32_t i = 0; i < scene->gap_count; i++)
        fprintf(f, "%s: %llu events were lost\n", scene->rows[scene->gaps[i].row].label,
                (unsigned long long)scene->gaps[i].count);
}

static uint32_t write_brief(const struct scene *scene, const struct trace_metadata *book, FILE *f)
{
    char *text = NULL;
    size_t size = 0;
    uint32_t lines = 0;
    FILE *details = open_memstream(&text, &size);
    write_notes(scene, book, f, details ? details : f);
    if (details)
        fclose(details);
    for (size_t i = 0; details && i < size; i++)
        lines += text[i] == '\n';
    free(text);
    return lines;
}

uint32_t scene_text_write(const struct scene *scene, const struct trace_metadata *book,
                          const struct text_options *options, FILE *f)
{
    struct canvas canvas = {.width = width_of(scene),
                            .height = scene->row_count ? 2 * scene->row_count - 1 : 0};
    canvas.cells = xcalloc((size_t)canvas.width * (canvas.height + 1), 1);
    if (options->color)
        canvas.colors = xcalloc((size_t)canvas.width * (canvas.height + 1), 1);
    size_t names = 0;
    for (uint32_t i = 0; i < scene->row_count; i++)
        if (scene_text_count_characters(scene->rows[i].label) + 2 > names)
            names = scene_text_count_characters(scene->rows[i].label) + 2;
    draw_lines(&canvas, scene);
    for (uint32_t i = 0; i < scene->bar_count; i++)
        draw_bar(&canvas, scene, &scene->bars[i]);
    for (uint32_t i = 0; i < scene->link_count; i++)
        draw_arrow(&canvas, scene, &scene->links[i]);
    for (uint32_t i = 0; i < scene->mark_count; i++)
        draw_mark(&canvas, scene, &scene->marks[i]);
    for (uint32_t i = 0; i < scene->flag_count; i++)
        draw_flag(&canvas, scene, &scene->flags[i]);
    for (uint32_t i = 0; i < scene->gap_count; i++)
        *scene_text_cell_at(&canvas, edge_of(scene, scene->gaps[i].x_pt), 2 * scene->gaps[i].row) =
            GAP;
    uint32_t step = canvas.width;
    if (options->width && options->width > names + 4 * CELL &&
        options->width < names + canvas.width)
        step = (uint32_t)(options->width - names) / CELL * CELL;
    for (uint32_t from = 0; from < canvas.width; from += step) {
        if (from)
            fputs("\n", f);
        write_ruler(scene, names, from, from + step, f);
        write_block(&canvas, scene, names, from, from + step, options->ascii ? ascii : unicode, f);
    }
    fputc('\n', f);
    free(canvas.cells);
    free(canvas.colors);
    if (options->brief)
        return write_brief(scene, book, f);
    write_notes(scene, book, f, f);
    return 0;
}
