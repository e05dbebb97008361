#include "clients/viewer/analysis/icicle_tooltip.h"

#include <glib.h>
#include <stdlib.h>

static void add_figure(GString *s, const struct result_table *t, const struct table_names *names,
                       uint32_t row, const char *name, const char *before, const char *after)
{
    uint32_t column = result_table_find_column(t, name);
    const struct table_cell *cell =
        column < t->column_count ? &result_table_cells(t, row)[column] : NULL;
    if (!cell || cell->is == CELL_NULL)
        return;
    char *text = result_table_cell_text(names, &t->columns[column], cell);
    g_string_append_printf(s, "%s%s%s", before, text, after);
    free(text);
}

char *icicle_tooltip_text(const struct icicle_layout *b, uint32_t node,
                          const struct result_table *t, const struct table_names *names)
{
    uint32_t row = b->nodes[node].row;
    char *path = icicle_layout_path(b, node);
    GString *s = g_string_new(path);
    g_string_append(s, ": ");
    free(path);
    if (row >= t->row_count) {
        g_string_append(s, b->nodes[node].amount);
        return g_string_free(s, FALSE);
    }
    add_figure(s, t, names, row, "calls", "", " calls");
    add_figure(s, t, names, row, "self_ns", ", self ", " ms");
    add_figure(s, t, names, row, "total_ns", ", total ", " ms");
    add_figure(s, t, names, row, "total_share", ", ", "");
    add_figure(s, t, names, row, "flags", " ", "");
    return g_strchomp(g_string_free(s, FALSE));
}

void icicle_tooltip_print(const struct icicle_layout *b, const struct icicle_boxes *places,
                          uint32_t top, uint32_t selected, const bool *found, FILE *f)
{
    int64_t all = b->count ? b->nodes[top].size : 0;
    for (uint32_t i = 0; all && i < places->count; i++) {
        const struct icicle_box *p = &places->items[i];
        char *path = icicle_layout_path(b, p->node);
        fprintf(f, "%s%u\t%.0f\t%s", p->node == selected && !p->smaller ? "*" : "", p->depth,
                1000 * (double)p->size / (double)all, path);
        if (p->smaller)
            fprintf(f, " (smaller: %u)\n", p->smaller);
        else
            fprintf(f, "\t%s%s\n", b->nodes[p->node].amount,
                    found && !found[p->node] ? "\tback" : "");
        free(path);
    }
}
