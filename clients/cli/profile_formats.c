#include "clients/cli/profile_formats.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

char *profile_format_scope(const struct table_names *names, const struct table_cell *cell)
{
    if (cell->is == CELL_TEXT)
        return xstrdup(cell->text);
    if (cell->is == CELL_LINE)
        return xstrdup(metadata_label(names->book, cell->line));
    const char *text =
        cell->is == CELL_NAME
            ? symbolizer_location_text(names->sites, cell->place.process, cell->place.address)
            : NULL;
    if (text)
        return xstrdup(text);
    if (cell->is != CELL_PLACE && cell->is != CELL_NAME)
        return xstrdup("?");
    struct symbol_location site = symbolize(names->sites, cell->place.process, cell->place.address);
    return xstrdup(*site.function ? site.function : site.place);
}

int64_t profile_format_number(const struct result_table *t, uint32_t row, const char *name,
                              int64_t otherwise)
{
    uint32_t column = result_table_find_column(t, name);
    const struct table_cell *cell =
        column < t->column_count ? &result_table_cells(t, row)[column] : NULL;
    return cell && cell->is == CELL_NUMBER ? cell->number : otherwise;
}

const char *profile_format_measure(const struct result_table *t)
{
    uint32_t self = result_table_find_column(t, "self_ns");
    for (uint32_t i = 0; i < t->row_count && self < t->column_count; i++)
        if (result_table_cells(t, i)[self].is == CELL_NUMBER)
            return "self_ns";
    return "calls";
}

/* ---- folded ---- */

static void print_frame(FILE *f, const char *name, bool first)
{
    if (!first)
        fputc(';', f);
    for (; *name; name++)
        fputc(*name == ';' ? ':' : *name == '\n' ? ' ' : *name, f);
}

void profile_format_write_folded(FILE *f, const struct table_names *names,
                                 const struct result_table *t)
{
    char *path[UINT8_MAX + 1] = {NULL};
    const char *measure = profile_format_measure(t);
    uint32_t scope = result_table_find_column(t, "function");
    for (uint32_t i = 0; i < t->row_count; i++) {
        uint8_t depth = t->rows[i].depth;
        int64_t value = profile_format_number(t, i, measure, 0);
        free(path[depth]);
        path[depth] = profile_format_scope(names, &result_table_cells(t, i)[scope]);
        for (unsigned k = 0; value > 0 && k <= depth; k++)
            print_frame(f, path[k] ? path[k] : "?", k == 0);
        if (value > 0)
            fprintf(f, " %" PRId64 "\n", value);
    }
    for (unsigned k = 0; k <= UINT8_MAX; k++)
        free(path[k]);
}
