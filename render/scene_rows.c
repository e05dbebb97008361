#define _GNU_SOURCE
#include "render/scene_rows.h"

#include "base/alloc.h"
#include "render/worker_row_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct target_color grey = {0.35, 0.35, 0.35}, black = {0, 0, 0};

int scene_rows_name_bytes(const char *label)
{
    const char *address = strstr(label, " (0x");
    return (int)(address ? (size_t)(address - label) : strlen(label));
}

/* Like scene_rows_name_bytes(), but without the number that distinguishes lines of one name. */
static int bare_bytes(const struct builder *b, uint32_t line)
{
    const struct line_metadata *l = metadata_line(b->book, line);
    const char *label = metadata_label(b->book, line);
    int n = scene_rows_name_bytes(label), end = n;
    while (l && l->twin > 1 && end > 0 && label[--end] != '#') {
    }
    return l && l->twin > 1 && end > 0 ? end : n;
}

/* Returns the line group of the description that a line belongs to, by the name in its label. */
static const struct target_line_group *cluster_of(const struct builder *b, uint32_t line)
{
    const char *label = metadata_label(b->book, line), *colon = strchr(label, ':');
    const char *from = colon ? colon + 1 : label;
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)(label + bare_bytes(b, line) - from), from);
    return metadata_line_group(b->book, line, name);
}

/* Returns the label of a line group: "{T:worker ×4}", "{T:producer… ×3}" if its lines have several
 * names, or the group's name in the description; NULL for a row of a single line. */
static char *cluster_label(const struct builder *b, const struct row_info *row)
{
    const char *first = metadata_label(b->book, row->line);
    int bytes = bare_bytes(b, row->line);
    bool same = true;
    char *label = NULL;
    const struct target_line_group *cluster = row->member_count ? cluster_of(b, row->line) : NULL;
    for (uint32_t i = 0; i < row->member_count; i++) {
        cluster = cluster && cluster_of(b, row->members[i]) == cluster ? cluster : NULL;
        const char *other = metadata_label(b->book, row->members[i]);
        same &=
            bare_bytes(b, row->members[i]) == bytes && strncmp(first, other, (size_t)bytes) == 0;
    }
    if (cluster)
        bytes = (int)strlen(first = cluster->name), same = true;
    if (row->member_count)
        label = xasprintf("{%.*s%s ×%u}", bytes, first, same ? "" : "…", row->member_count + 1);
    return label;
}

static const char *heading_of(const struct builder *b, uint32_t row)
{
    for (uint32_t i = 0; i < b->options->heading_count; i++)
        if (b->options->headings[i].row == row)
            return b->options->headings[i].text;
    return NULL;
}

void scene_rows_build(struct builder *b)
{
    struct scene *scene = b->scene;
    double widest = 0;
    b->line_room = b->book->line_count;
    b->row_of = xmalloc((b->line_room + 1) * sizeof *b->row_of);
    for (uint32_t i = 0; i < b->line_room; i++)
        b->row_of[i] = -1;
    for (uint32_t i = 0; i < b->window->row_count; i++) {
        uint32_t line = b->window->rows[i].line;
        const struct target_line_type *kind = metadata_line_type(b->book, line);
        const char *heading = heading_of(b, i);
        struct scene_row row = {.line = line,
                                .y_pt = scene->top_pt + scene->row_pt * i + scene->line_pt,
                                .own_label = cluster_label(b, &b->window->rows[i]),
                                .label = heading ? heading : metadata_label(b->book, line),
                                .heading = heading,
                                .color = kind      ? kind->color
                                         : heading ? black
                                                   : grey,
                                .away = kind && kind->away && !b->window->rows[i].member_count};
        if (scene->vertical && !row.own_label)
            row.own_label = xstrndup(row.label, (size_t)scene_rows_name_bytes(row.label));
        if (scene->vertical) {
            char *cut = scene_builder_fit_text(b, row.own_label, SCENE_NAME_PT, scene->row_pt - 10);
            free(row.own_label);
            row.own_label = cut;
        }
        if (!row.own_label) /* a copy, since the metadata may replace its label */
            row.own_label = xstrdup(row.label);
        row.label = row.own_label;
        double width = scene_builder_text_width(b, row.label, SCENE_NAME_PT, row.heading);
        widest = width > widest ? width : widest;
        ARRAY_PUSH(scene->rows, scene->row_count, row);
        if (line && line <= b->line_room)
            b->row_of[line - 1] = (int32_t)i;
        for (uint32_t k = 0; k < b->window->rows[i].member_count; k++) {
            uint32_t member = b->window->rows[i].members[k];
            if (member && member <= b->line_room)
                b->row_of[member - 1] = (int32_t)i;
        }
    }
    worker_row_scene_build(b, &widest);
    scene->names_pt = scene->vertical ? scene->names_pt + SCENE_NAME_PT * 2.4 : widest + 16;
    scene->bottom_pt = scene->top_pt + scene->row_pt * scene->row_count;
}
