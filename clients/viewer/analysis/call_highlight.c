#include "clients/viewer/analysis/call_highlight.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* Appends an option for a scope. Returns false if there are no times for it. */
static bool call_highlight_append_scope(GString *lit, const struct table_cell *scope)
{
    if (scope->is == CELL_LINE)
        g_string_append_printf(lit, "\nline %u", scope->line);
    else if ((scope->is == CELL_PLACE || scope->is == CELL_NAME) && scope->place.address)
        g_string_append_printf(lit, "\nfunction %x:%llx", scope->place.process,
                               (unsigned long long)scope->place.address);
    else if (scope->is == CELL_TEXT && *scope->text != '(')
        g_string_append_printf(lit, "\ntype %s", scope->text);
    else
        return false;
    return true;
}

char *call_highlight_of_row(const struct table_names *names, const struct result_table *t, int row)
{
    uint32_t column = result_table_find_column(t, "function");
    if (row < 0 || row >= (int)t->row_count || column == t->column_count)
        return NULL;
    char *name = result_table_cell_text(names, &t->columns[column],
                                        &result_table_cells(t, (uint32_t)row)[column]);
    GString *lit = g_string_new(name);
    bool good = result_table_cells(t, (uint32_t)row)[column].is != CELL_LINE;
    free(name);
    for (int i = row; i >= 0 && good; i--) {
        if (i < row && t->rows[i].depth >= t->rows[row].depth)
            continue;
        good = call_highlight_append_scope(lit, &result_table_cells(t, (uint32_t)i)[column]);
        row = i;
        if (!t->rows[i].depth)
            break;
    }
    return g_string_free(lit, !good);
}

struct table_place call_highlight_function(const char *lit)
{
    const char *at = lit ? strchr(lit, '\n') : NULL;
    char *end;
    if (!at || strncmp(at + 1, "function ", 9) != 0)
        return (struct table_place){0};
    uint32_t process = (uint32_t)strtoul(at + 10, &end, 16);
    return (struct table_place){process, *end == ':' ? strtoull(end + 1, NULL, 16) : 0};
}
