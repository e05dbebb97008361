#include "clients/poet/dialects.h"

#include "memory/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

char *dialects_scope(const struct table_names *names, const struct table_cell *cell)
{
    if (cell->is == CELL_TEXT)
        return memory_copied(cell->text);
    if (cell->is == CELL_LINE)
        return memory_copied(book_label(names->book, cell->line));
    if (cell->is != CELL_PLACE)
        return memory_copied("?");
    struct site_is site = sites_call(names->sites, cell->place.process, cell->place.address);
    return memory_copied(*site.function ? site.function : site.place);
}

int64_t dialects_number(const struct shown_table *t, uint32_t row, const char *name,
                        int64_t otherwise)
{
    uint32_t column = table_find(t, name);
    const struct table_cell *cell = column < t->column_count ? &table_cells(t, row)[column] : NULL;
    return cell && cell->is == CELL_NUMBER ? cell->number : otherwise;
}

const char *dialects_measure(const struct shown_table *t)
{
    uint32_t self = table_find(t, "self_ns");
    for (uint32_t i = 0; i < t->row_count && self < t->column_count; i++)
        if (table_cells(t, i)[self].is == CELL_NUMBER)
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

void dialects_folded(FILE *f, const struct table_names *names, const struct shown_table *t)
{
    char *path[UINT8_MAX + 1] = {NULL};
    const char *measure = dialects_measure(t);
    uint32_t scope = table_find(t, "scope");
    for (uint32_t i = 0; i < t->row_count; i++) {
        uint8_t depth = t->rows[i].depth;
        int64_t value = dialects_number(t, i, measure, 0);
        free(path[depth]);
        path[depth] = dialects_scope(names, &table_cells(t, i)[scope]);
        for (unsigned k = 0; value > 0 && k <= depth; k++)
            print_frame(f, path[k] ? path[k] : "?", k == 0);
        if (value > 0)
            fprintf(f, " %" PRId64 "\n", value);
    }
    for (unsigned k = 0; k <= UINT8_MAX; k++)
        free(path[k]);
}
