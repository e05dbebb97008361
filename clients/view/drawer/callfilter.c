#include "clients/view/drawer/callfilter.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

static bool has(const struct table_names *names, const struct shown_table *t, uint32_t row,
                uint32_t scope, const char *text)
{
    char *name = table_say(names, &t->columns[scope], &table_cells(t, row)[scope]),
         *folded = g_utf8_casefold(name, -1);
    bool is = strstr(folded, text) != NULL;
    g_free(folded);
    free(name);
    return is;
}

bool *callfilter_rows(const struct shown_table *t, const struct table_names *names,
                      const char *text)
{
    uint32_t scope = table_find(t, "scope"), above[UINT8_MAX + 1] = {0};
    if (!*text || scope == t->column_count)
        return NULL;
    bool *kept = g_new0(bool, t->row_count + 1);
    char *folded = g_utf8_casefold(text, -1);
    int inside = -1; /* the depth of a row that has it */
    for (uint32_t i = 0; i < t->row_count; i++) {
        int depth = t->rows[i].depth;
        bool is = has(names, t, i, scope, folded);
        above[depth] = i;
        if (inside < 0 || depth <= inside)
            inside = is ? depth : -1;
        kept[i] = inside >= 0;
        for (int d = 0; is && d < depth; d++)
            kept[above[d]] = true;
    }
    g_free(folded);
    return kept;
}
