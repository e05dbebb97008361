#include "render/note_marks.h"

#include "base/alloc.h"
#include "render/legend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_PT 8.0
#define FLAG_PT 12.0 /* width of a flag */
#define NOTE_CHARACTERS 160 /* maximum, since notes may be long */

static const struct scene_mark *mark_of(const struct scene *scene, struct event_id at)
{
    for (uint32_t i = 0; i < scene->mark_count; i++)
        if (event_id_equal(scene->marks[i].event->at, at))
            return &scene->marks[i];
    return NULL;
}

/* Returns the first line of a note, cut to NOTE_CHARACTERS. */
static char *first_line(const char *text)
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
static bool has_words(const struct scene *scene, const struct scene_mark *m)
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
static void add_words(struct builder *b, const char *number, struct event_id at, const char *text)
{
    char event[48], *line = first_line(text);
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
        const struct scene_mark *m = mark_of(b->scene, noted->at);
        if (!m)
            continue;
        struct scene_flag flag = {
            .row = m->row, .x_pt = m->x_pt, .y_pt = m->y_pt, .left = has_words(b->scene, m)};
        snprintf(flag.number, sizeof flag.number, "%u", i + 1);
        ARRAY_PUSH(b->scene->flags, b->scene->flag_count, flag);
        add_words(b, flag.number, noted->at, noted->text);
    }
}
