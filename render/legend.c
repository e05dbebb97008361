/* Words around the picture: title, caption, legend. */
#define _GNU_SOURCE
#include "render/legend.h"

#include "memory/memory.h"
#include "render/measure.h"

#include <stdlib.h>
#include <string.h>

static const struct target_colour black = {0, 0, 0};

double build_note(struct builder *b, double x, double y, const char *text, double size, bool bold)
{
    bool turned =
        b->scene->vertical; /* notes stand where they stand; x and y of a scene are exchanged */
    struct scene_text t = {.x_pt = turned ? y : x,
                           .y_pt = turned ? x : y,
                           .width_pt = build_measure(b, text, size, bold),
                           .height_pt = size * 1.2,
                           .size_pt = size,
                           .text = memory_copied(text),
                           .colour = black,
                           .bold = bold};
    PUSH(b->scene->notes, b->scene->note_count, t);
    return t.width_pt;
}

struct legend {
    double x, y, widest;
};

static void add_key(struct builder *b, struct legend *at, struct scene_key key, const char *words)
{
    double width = 22 + build_measure(b, words, SCENE_LABEL_PT, false) + 14;
    double across = b->scene->vertical ? b->scene->bottom_pt : b->scene->width_pt;
    double own = b->options->legend_width_pt > 0 ? b->options->legend_width_pt : across;
    double limit = own > 300 ? own : 300;
    if (at->x > 10 && at->x + width > limit) {
        at->x = 10;
        at->y += 13;
    }
    key.x_pt = b->scene->vertical ? at->y + 5 : at->x + 8;
    key.y_pt = b->scene->vertical ? at->x + 8 : at->y + 5;
    PUSH(b->scene->keys, b->scene->key_count, key);
    build_note(b, at->x + 22, at->y, words, SCENE_LABEL_PT, false);
    at->x += width;
    at->widest = at->x > at->widest ? at->x : at->widest;
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

/* Where the picture ends, downwards. */
static double end_of(const struct scene *scene)
{
    return scene->vertical ? scene->width_pt : scene->bottom_pt;
}

/* The drawing reaches to x, y at least. */
static void reach(struct scene *scene, double x, double y)
{
    double *right = scene->vertical ? &scene->height_pt : &scene->width_pt,
           *down = scene->vertical ? &scene->width_pt : &scene->height_pt;
    *right = x > *right ? x : *right;
    *down = y > *down ? y : *down;
}

static void build_legend(struct builder *b)
{
    static const struct {
        enum scene_style style;
        const char *words;
    } styles[] = {{STYLE_SOLID, "a thread runs here"},
                  {STYLE_THIN, "its holder is away"},
                  {STYLE_DASHED, "only blocked threads"}};
    struct scene *scene = b->scene;
    struct legend at = {10, end_of(scene) + (scene->vertical ? 0 : 10), 0};
    for (uint32_t i = 0; i < scene->mark_count; i++) {
        const struct scene_mark *m = &scene->marks[i];
        const struct target_event *look = book_look(b->book, m->event);
        char unknown[128];
        const char *words = look ? look->label : unknown;
        if (!look)
            snprintf(unknown, sizeof unknown, "unknown: %s", book_type(b->book, m->event->type));
        if (m->shape == SHAPE_NONE)
            continue;
        struct scene_key key = {
            .shape = m->shape, .filled = m->filled, .colour = m->colour, .state = m->state};
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
    if (scene->key_count)
        reach(scene, at.widest, at.y + 18);
}

#define CAPTION_PT 9
#define CAPTION_LEAST_PT 360

/* How many bytes of the text go on one line: whole words, at least one. */
static size_t fitting(const struct builder *b, const char *text, double width)
{
    size_t fits = strcspn(text, " ");
    for (size_t n = fits; text[n];) {
        n += 1 + strcspn(text + n + 1, " ");
        char *part = memory_copied_part(text, n);
        bool good = build_measure(b, part, CAPTION_PT, false) <= width;
        free(part);
        if (!good)
            break;
        fits = n;
    }
    return fits;
}

static void build_caption(struct builder *b, const char *text)
{
    struct scene *scene = b->scene;
    double across = scene->vertical ? scene->height_pt : scene->width_pt;
    double limit = across > CAPTION_LEAST_PT ? across : CAPTION_LEAST_PT;
    double y = (scene->vertical ? scene->width_pt : scene->height_pt) + 2;
    while (*text) {
        size_t n = fitting(b, text, limit - 20);
        char *line = memory_copied_part(text, n);
        double width = build_note(b, 10, y, line, CAPTION_PT, false) + 20;
        free(line);
        y += 13;
        reach(scene, width, y + 3);
        text += n + (text[n] == ' ');
    }
}

void build_end(struct builder *b)
{
    struct scene *scene = b->scene;
    scene->height_pt = scene->bottom_pt + 4;
    if (b->options->legend)
        build_legend(b);
    if (b->options->caption)
        build_caption(b, b->options->caption);
}
