/* Icicle graphs as text: a line per level, each box between two bars. */
#include "render/icicle_drawing.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>

#define TEXT_WIDTH_LEAST 20u
#define CELLS_LEAST 3.0 /* minimum width of a box with its bar; narrower ones are merged */

/* Prints a text in `cells` characters: padded with blanks, or cut in its middle. */
static void icicle_text_print_cells(const char *text, size_t cells, FILE *f)
{
    size_t n = icicle_letters(text);
    if (n <= cells) {
        fprintf(f, "%s%*s", text, (int)(cells - n), "");
    } else if (cells) {
        size_t head = cells / 2, tail = cells - 1 - head;
        fprintf(f, "%.*s~%s", (int)(icicle_skip_letters(text, head) - text), text,
                icicle_skip_letters(text, n - tail));
    }
}

static void icicle_text_print_box(const struct icicle_layout *b, const struct icicle_box *p,
                                  size_t cells, FILE *f)
{
    const struct icicle_node *node = &b->nodes[p->node];
    const char *name = node->brief ? node->brief : node->name;
    char *both = p->smaller ? xasprintf("(other: %u)", p->smaller)
                            : xasprintf("%s%s  %s", node->kind == ICICLE_BOX_WAITED ? "~" : "",
                                        name, node->amount);
    bool whole = icicle_letters(both) <= cells;
    if (cells)
        fputc('|', f);
    icicle_text_print_cells(whole || p->smaller ? both : name, cells ? cells - 1 : 0, f);
    free(both);
}

static void icicle_text_print_row(const struct icicle_layout *b, const struct icicle_boxes *places,
                                  uint32_t depth, double scale, unsigned width, FILE *f)
{
    size_t at = 0;
    for (uint32_t i = 0; i < places->count; i++) {
        const struct icicle_box *p = &places->items[i];
        if (p->depth != depth)
            continue;
        size_t from = (size_t)floor((double)p->at * scale + 0.5),
               to = (size_t)floor((double)(p->at + p->size) * scale + 0.5);
        to = to < width ? to : width;
        if (from > at)
            fprintf(f, "%*s", (int)(from - at), "");
        if (to > from)
            icicle_text_print_box(b, p, to - from, f);
        at = to > at ? to : at;
    }
    fputs("|\n", f);
}

void icicle_text_print(const struct icicle_layout *b, unsigned width, FILE *f)
{
    struct icicle_boxes places;
    width = (width > TEXT_WIDTH_LEAST ? width : TEXT_WIDTH_LEAST) - 1;
    int64_t all = b->count ? b->nodes[0].size : 0,
            least = (int64_t)ceil((double)all / width * CELLS_LEAST);
    icicle_layout_place(b, 0, least, &places);
    fprintf(f, "%s: as wide as %s\n", b->title, b->measure);
    for (uint32_t depth = 0; all > 0 && depth < places.rows; depth++)
        icicle_text_print_row(b, &places, depth, (double)width / (double)all, width, f);
    char *smaller = icicle_page_smaller_text(b, &places, least);
    if (smaller)
        fprintf(f, "note: %s\n", smaller);
    free(smaller);
    for (uint32_t i = 0; i < b->note_count; i++)
        fprintf(f, "note: %s\n", b->notes[i]);
    icicle_layout_places_free(&places);
}
