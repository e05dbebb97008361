#define _GNU_SOURCE
#include "render/legend.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct target_color black = {0, 0, 0}, grey = {0.35, 0.35, 0.35};

const char *const legend_style_words[STYLE_END + 1] = {
    [STYLE_NONE] = "",
    [STYLE_SOLID] = "running",
    [STYLE_THIN] = "held, holder is in another object",
    [STYLE_DASHED] = "only blocked threads",
    [STYLE_ELSEWHERE] = "thread is inside an object",
    [STYLE_WAITS] = "thread is blocked inside that object",
    [STYLE_END] = "thread exited"};

const char *const legend_arrow_words[ARROW_MIGRATE + 1] = {
    [ARROW_SYNC] = "thread enters or leaves an object",
    [ARROW_ASYNC] = "message",
    [ARROW_GROUP] = "simultaneous (barrier, collective)",
    [ARROW_STUB] = "to or from a hidden line",
    [ARROW_CROSSING] = "message crossing the view",
    [ARROW_VIA] = "happens before, via hidden lines",
    [ARROW_ORDER] = "happens before: wake-up, create, join",
    [ARROW_MIGRATE] = "task migrates to another worker thread"};

const char *const legend_relation_words[ORDER_UNKNOWN + 1] = {[ORDER_BEFORE] = "causal past",
                                                              [ORDER_AFTER] = "causal future",
                                                              [ORDER_CONCURRENT] = "concurrent",
                                                              [ORDER_SAME] = "simultaneous",
                                                              [ORDER_UNKNOWN] = "order unknown"};

const char *const legend_relation_verbs[ORDER_UNKNOWN + 1] = {
    [ORDER_BEFORE] = "happened before",
    [ORDER_AFTER] = "happened after",
    [ORDER_CONCURRENT] = "is concurrent with",
    [ORDER_SAME] = "is simultaneous with",
    [ORDER_UNKNOWN] = "has unknown order relative to"};

const char legend_deadlock_words[] = "in a deadlock";

double legend_build_note(struct builder *b, double x, double y, const char *text, double size,
                         bool bold)
{
    /* x and y are positions on the page; those of a vertical scene are exchanged */
    bool turned = b->scene->vertical;
    struct scene_text t = {.x_pt = turned ? y : x,
                           .y_pt = turned ? x : y,
                           .width_pt = scene_builder_text_width(b, text, size, bold),
                           .height_pt = size * 1.2,
                           .size_pt = size,
                           .text = xstrdup(text),
                           .color = black,
                           .bold = bold};
    ARRAY_PUSH(b->scene->notes, b->scene->note_count, t);
    return t.width_pt;
}

/* ---- entries ---- */

#define ENTRIES_MOST 128u

/* Marks that look alike are one entry of a group. */
struct legend_entry {
    struct scene_key key;
    const char *group;
    char *words;
};

struct legend {
    struct legend_entry entries[ENTRIES_MOST];
    uint32_t count;
    double x, y, widest, limit;
};

static bool same_color(struct target_color a, struct target_color b)
{
    return a.red == b.red && a.green == b.green && a.blue == b.blue;
}

static bool same_group(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool legend_same_entry(const struct legend_entry *e, const struct scene_key *key,
                              const char *group)
{
    return e->key.symbol == key->symbol && same_group(e->group, group) &&
           e->key.shape == key->shape && e->key.filled == key->filled &&
           e->key.struck == key->struck && e->key.state == key->state &&
           e->key.style == key->style && e->key.arrow == key->arrow &&
           e->key.relation == key->relation && same_color(e->key.color, key->color);
}

/* Is `word` one of the comma-separated words? */
static bool legend_has_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += n)
        if ((at == words || at[-1] == ' ') && (!at[n] || at[n] == ','))
            return true;
    return false;
}

static struct legend_entry *add_entry(struct legend *l, struct scene_key key, const char *group,
                                      const char *word)
{
    for (uint32_t i = 0; i < l->count; i++) {
        struct legend_entry *e = &l->entries[i];
        if (!legend_same_entry(e, &key, group))
            continue;
        if (!legend_has_word(e->words, word)) {
            char *longer = xasprintf("%s, %s", e->words, word);
            free(e->words);
            e->words = longer;
        }
        return e;
    }
    if (l->count == ENTRIES_MOST)
        return NULL;
    l->entries[l->count] =
        (struct legend_entry){.key = key, .group = group, .words = xstrdup(word)};
    return &l->entries[l->count++];
}

static int by_description(const void *a, const void *b)
{
    const struct target_event *const *x = a, *const *y = b;
    if ((*x)->part != (*y)->part)
        return (*x)->part < (*y)->part ? -1 : 1;
    if ((*x)->source.line != (*y)->source.line)
        return (*x)->source.line < (*y)->source.line ? -1 : 1;
    return strcmp((*x)->name, (*y)->name);
}

/* Adds the entry of struck-through marks of this style, if there are any: it follows the entry of
 * the marks that are not struck through. */
static void add_struck(const struct builder *b, struct legend *l, const struct target_event *look)
{
    for (uint32_t i = 0; i < b->scene->mark_count; i++)
        if (b->scene->marks[i].look == look && b->scene->marks[i].undelivered) {
            add_entry(l,
                      (struct scene_key){.shape = look->shape,
                                         .filled = look->filled,
                                         .struck = true,
                                         .color = look->color},
                      look->group, look->undelivered);
            return;
        }
}

/* Returns the styles of the marks in the diagram, each once, in the order of their description. */
static const struct target_event **legend_style_of(const struct builder *b, uint32_t *count)
{
    const struct target_event **looks = NULL;
    *count = 0;
    for (uint32_t i = 0; i < b->scene->mark_count; i++) {
        const struct scene_mark *m = &b->scene->marks[i];
        const struct target_event *look = m->look;
        uint32_t k = 0;
        while (k < *count && looks[k] != look)
            k++;
        if (k == *count && look && look->shape != SHAPE_NONE && m->state == EVENT_ORDERED)
            ARRAY_PUSH(looks, *count, look);
    }
    if (*count)
        qsort(looks, *count, sizeof *looks, by_description);
    return looks;
}

static void add_marks(const struct builder *b, struct legend *l)
{
    uint32_t count;
    const struct target_event **looks = legend_style_of(b, &count);
    for (uint32_t g = 0; g < count; g++) { /* the entries of one group together */
        bool first = true;
        for (uint32_t i = 0; i < g && first; i++)
            first = !same_group(looks[i]->group, looks[g]->group);
        for (uint32_t i = g; first && i < count; i++)
            if (same_group(looks[i]->group, looks[g]->group))
                add_entry(l,
                          (struct scene_key){.shape = looks[i]->shape,
                                             .filled = looks[i]->filled,
                                             .color = looks[i]->color},
                          looks[i]->group, looks[i]->label);
        for (uint32_t i = g; first && i < count; i++)
            if (looks[i]->undelivered && same_group(looks[i]->group, looks[g]->group))
                add_struck(b, l, looks[i]);
    }
    free(looks);
}

/* Adds the marks of pending, inconsistent and undescribed events. */
static void add_odd_marks(const struct builder *b, struct legend *l)
{
    for (uint32_t i = 0; i < b->scene->mark_count; i++) {
        const struct scene_mark *m = &b->scene->marks[i];
        char unknown[128];
        struct scene_key key = {
            .shape = m->shape, .filled = m->filled, .color = m->color, .state = m->state};
        if (m->state == EVENT_PENDING || m->state == EVENT_CONTRADICTORY) {
            add_entry(l, key, "not ordered",
                      m->state == EVENT_PENDING ? "pending" : "inconsistent");
        } else if (!m->look) {
            snprintf(unknown, sizeof unknown, "undescribed type: %s",
                     metadata_type_name(b->book, m->event->type));
            add_entry(l, key, NULL, unknown);
        }
    }
}

static void add_lines(const struct builder *b, struct legend *l)
{
    static const enum scene_style styles[] = {STYLE_SOLID,     STYLE_THIN,  STYLE_DASHED,
                                              STYLE_ELSEWHERE, STYLE_WAITS, STYLE_END};
    for (size_t s = 0; s < sizeof styles / sizeof *styles; s++)
        for (uint32_t i = 0; i < b->scene->segment_count; i++)
            if (b->scene->segments[i].style == styles[s]) {
                add_entry(
                    l, (struct scene_key){.symbol = KEY_LINE, .style = styles[s], .color = black},
                    "lines", legend_style_words[styles[s]]);
                break;
            }
}

static void add_arrows(const struct builder *b, struct legend *l)
{
    static const enum scene_arrow arrows[] = {ARROW_SYNC,     ARROW_ASYNC,  ARROW_ORDER,
                                              ARROW_GROUP,    ARROW_STUB,   ARROW_VIA,
                                              ARROW_CROSSING, ARROW_MIGRATE};
    for (size_t k = 0; k < sizeof arrows / sizeof *arrows; k++)
        for (uint32_t i = 0; i < b->scene->link_count; i++)
            if (b->scene->links[i].kind == arrows[k]) {
                add_entry(
                    l, (struct scene_key){.symbol = KEY_ARROW, .arrow = arrows[k], .color = grey},
                    "arrows", legend_arrow_words[arrows[k]]);
                break;
            }
}

static void add_bars(const struct builder *b, struct legend *l)
{
    if (b->scene->bar_count)
        add_entry(l, (struct scene_key){.symbol = KEY_BAR, .color = {0.55, 0.55, 0.55}},
                  "worker threads",
                  "task running; height = share of time (cluster: share of its workers)");
}

/* Adds the rings around the events by which threads wait in a deadlock. */
static void add_deadlock(const struct builder *b, struct legend *l)
{
    static const struct target_color color = {0.75, 0, 0.1};
    for (uint32_t i = 0; i < b->scene->mark_count; i++)
        if (b->scene->marks[i].stuck)
            add_entry(l, (struct scene_key){.symbol = KEY_RING, .color = color}, NULL,
                      legend_deadlock_words);
}

/* Adds the colors, side bars and rings that show the selection, search matches and differences of
 * two runs. */
static void add_standing(const struct builder *b, struct legend *l)
{
    static const struct target_color amber = {0.9, 0.62, 0}, violet = {0.6, 0.2, 0.6};
    const struct scene_options *o = b->options;
    const char *group = "selected event";
    if (o->selected || o->second)
        add_entry(l, (struct scene_key){.symbol = KEY_RING, .color = amber}, group, "selected");
    for (uint8_t p = ORDER_BEFORE; o->relations && p <= ORDER_UNKNOWN; p++)
        if (p != ORDER_SAME)
            add_entry(l,
                      (struct scene_key){
                          .symbol = KEY_SIDE, .relation = RELATION_CODE(p), .color = black},
                      group, legend_relation_words[p]);
    if (o->chain)
        add_entry(l, (struct scene_key){.symbol = KEY_LINE, .style = STYLE_SOLID, .color = amber},
                  group, "causal chain");
    if (o->found)
        add_entry(l, (struct scene_key){.symbol = KEY_RING, .color = violet}, "search", "match");
    if (o->differences) {
        add_entry(l, (struct scene_key){.symbol = KEY_RING, .color = amber}, "two runs",
                  "first divergence");
        add_entry(l, (struct scene_key){.symbol = KEY_NOTHING}, "two runs",
                  "pale: matching events");
    }
}

static void add_footnotes(const struct builder *b, struct legend *l)
{
    for (uint32_t i = 0; i < b->footnote_count; i++) {
        char *words = xasprintf("?%u %s", i + 1, b->footnotes[i]);
        add_entry(l, (struct scene_key){.symbol = KEY_NOTHING, .relation = (uint8_t)i}, "notes",
                  words);
        free(words);
    }
}

/* ---- placement ---- */

static double key_width(const struct builder *b, const struct legend_entry *e)
{
    double symbol = e->key.symbol == KEY_NOTHING ? 2 : 22;
    return symbol + scene_builder_text_width(b, e->words, SCENE_LABEL_PT, false) + 14;
}

static void next_line(struct legend *l)
{
    if (l->x > 10)
        l->y += 13;
    l->x = 10;
}

static void legend_append_entry(struct builder *b, struct legend *l, struct legend_entry *e)
{
    double width = key_width(b, e), symbol = e->key.symbol == KEY_NOTHING ? 2 : 22;
    if (l->x > 10 && l->x + width > l->limit)
        next_line(l);
    e->key.x_pt = b->scene->vertical ? l->y + 5 : l->x + 8;
    e->key.y_pt = b->scene->vertical ? l->x + 8 : l->y + 5;
    ARRAY_PUSH(b->scene->keys, b->scene->key_count, e->key);
    legend_build_note(b, l->x + symbol, l->y, e->words, SCENE_LABEL_PT, false);
    l->x += width;
    l->widest = l->x > l->widest ? l->x : l->widest;
}

/* Places the entries of a group; it starts a new line unless it fits on the current one. */
static void legend_append_group(struct builder *b, struct legend *l, uint32_t first, uint32_t end)
{
    const char *group = l->entries[first].group;
    double width = 0, title = 0;
    for (uint32_t i = first; i < end; i++)
        width += key_width(b, &l->entries[i]);
    if (group)
        width += title = scene_builder_text_width(b, group, SCENE_LABEL_PT, true) + 8;
    if (l->x + width > l->limit)
        next_line(l);
    if (group) {
        legend_build_note(b, l->x, l->y, group, SCENE_LABEL_PT, true);
        l->x += title;
    }
    for (uint32_t i = first; i < end; i++)
        legend_append_entry(b, l, &l->entries[i]);
    l->x += 6;
}

/* Returns the lower edge of the diagram. */
static double end_of(const struct scene *scene)
{
    return scene->vertical ? scene->width_pt : scene->bottom_pt;
}

/* Extends the drawing so that it includes x, y. */
static void legend_extend_scene(struct scene *scene, double x, double y)
{
    double *right = scene->vertical ? &scene->height_pt : &scene->width_pt,
           *down = scene->vertical ? &scene->width_pt : &scene->height_pt;
    *right = x > *right ? x : *right;
    *down = y > *down ? y : *down;
}

static void legend_append_legend(struct builder *b, struct legend *l)
{
    struct scene *scene = b->scene;
    double across = scene->vertical ? scene->bottom_pt : scene->width_pt;
    double own = b->options->legend_width_pt > 0 ? b->options->legend_width_pt : across;
    double least = b->options->legend_width_pt > 0 ? 100 : 300;
    l->limit = own > least ? own : least;
    l->x = 10;
    l->y = end_of(scene) + (scene->vertical ? 0 : 10);
    for (uint32_t first = 0, end; first < l->count; first = end) {
        for (end = first;
             end < l->count && same_group(l->entries[end].group, l->entries[first].group);)
            end++;
        legend_append_group(b, l, first, end);
    }
    if (l->count)
        legend_extend_scene(scene, l->widest, l->y + 18);
}

static void build_legend(struct builder *b)
{
    struct legend *l = xcalloc(1, sizeof *l);
    if (b->options->legend) {
        add_marks(b, l);
        add_odd_marks(b, l);
        add_lines(b, l);
        add_arrows(b, l);
        add_bars(b, l);
        add_deadlock(b, l);
        add_standing(b, l);
    }
    add_footnotes(b, l);
    legend_append_legend(b, l);
    for (uint32_t i = 0; i < l->count; i++)
        free(l->entries[i].words);
    free(l);
}

#define CAPTION_PT 9
#define WORDS_LEAST_PT 360

/* Returns the length in bytes of the text that fits one line: whole words, at least one. */
static size_t legend_fitting_bytes(const struct builder *b, const char *text, double size,
                                   double width)
{
    size_t fits = strcspn(text, " ");
    for (size_t n = fits; text[n];) {
        n += 1 + strcspn(text + n + 1, " ");
        char *part = xstrndup(text, n);
        bool good = scene_builder_text_width(b, part, size, false) <= width;
        free(part);
        if (!good)
            break;
        fits = n;
    }
    return fits;
}

/* Adds text below everything so far, in lines as wide as the drawing or the legend; whole: in one
 * line. */
static void legend_build_words(struct builder *b, const char *text, double size, bool whole)
{
    struct scene *scene = b->scene;
    double across = scene->vertical ? scene->height_pt : scene->width_pt;
    double limit = b->options->legend_width_pt > 0 ? b->options->legend_width_pt
                   : across > WORDS_LEAST_PT       ? across
                                                   : WORDS_LEAST_PT;
    double y = (scene->vertical ? scene->width_pt : scene->height_pt) + 2;
    while (*text) {
        size_t n = whole ? strlen(text) : legend_fitting_bytes(b, text, size, limit - 20);
        char *line = xstrndup(text, n);
        double width = legend_build_note(b, 10, y, line, size, false) + 20;
        free(line);
        y += size + 4;
        legend_extend_scene(scene, width, y + 3);
        text += n + (text[n] == ' ');
    }
}

void legend_build_caption(struct builder *b)
{
    struct scene *scene = b->scene;
    scene->height_pt = scene->bottom_pt + 4;
    build_legend(b);
    if (b->options->caption)
        legend_build_words(b, b->options->caption, CAPTION_PT, false);
}

/* ---- user notes ---- */

#define NOTE_PT 8.0
#define FLAG_PT 12.0 /* width of a flag */
#define NOTE_CHARACTERS 160 /* maximum, since notes may be long */

static const struct scene_mark *note_marks_mark(const struct scene *scene, struct event_id at)
{
    for (uint32_t i = 0; i < scene->mark_count; i++)
        if (event_id_equal(scene->marks[i].event->at, at))
            return &scene->marks[i];
    return NULL;
}

/* Returns the first line of a note, cut to NOTE_CHARACTERS. */
static char *note_marks_first_line(const char *text)
{
    size_t n = strcspn(text, "\n"), most = NOTE_CHARACTERS;
    bool cut = text[n] != 0;
    if (n > most) {
        for (n = most; n && ((unsigned char)text[n] & 0xc0) == 0x80;)
            n--;
        cut = true;
    }
    return xasprintf("%.*s%s", (int)n, text, cut ? "…" : "");
}

/* Has the mark a label right of it, above its line, where the flag would be? */
static bool note_marks_has_words(const struct scene *scene, const struct scene_mark *m)
{
    for (uint32_t i = 0; i < scene->text_count; i++) {
        const struct scene_text *t = &scene->texts[i];
        if (t->y_pt < m->y_pt && t->y_pt > m->y_pt - scene->row_pt && t->x_pt >= m->x_pt &&
            t->x_pt < m->x_pt + FLAG_PT)
            return !scene->vertical;
    }
    return false;
}

/* Adds the text of a note below the diagram; in a terminal it is a single line. */
static void note_marks_add_words(struct builder *b, const char *number, struct event_id at,
                                 const char *text)
{
    char event[48], *line = note_marks_first_line(text);
    metadata_print_event_id(b->book, event, sizeof event, at);
    char *words = xasprintf("%s  %s  %s", number, event, line);
    legend_build_words(b, words, NOTE_PT, !b->options->measure);
    free(words);
    free(line);
}

void note_marks_build(struct builder *b)
{
    for (uint32_t i = 0; i < b->options->noted_count; i++) {
        const struct scene_noted *noted = &b->options->noted[i];
        const struct scene_mark *m = note_marks_mark(b->scene, noted->at);
        if (!m)
            continue;
        struct scene_flag flag = {.row = m->row,
                                  .x_pt = m->x_pt,
                                  .y_pt = m->y_pt,
                                  .left = note_marks_has_words(b->scene, m)};
        snprintf(flag.number, sizeof flag.number, "%u", i + 1);
        ARRAY_PUSH(b->scene->flags, b->scene->flag_count, flag);
        note_marks_add_words(b, flag.number, noted->at, noted->text);
    }
}
