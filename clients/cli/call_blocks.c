#include "clients/cli/call_blocks.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the line of a place, "17" of "flow.c:17"; "" if it is unknown. */
static const char *line_of(struct command_source *subject, const struct table_cell *cell,
                           char line[16])
{
    const char *place =
                   cell->is == CELL_PLACE
                       ? symbolize(subject->sites, cell->place.process, cell->place.address).place
                       : "",
               *colon = strrchr(place, ':');
    *line = '\0';
    if (colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")] && strlen(colon) < 16)
        snprintf(line, 16, "%s", colon + 1);
    return line;
}

/* Returns whether some lines between begin and end are not part of this block: another block begins
 * in between, or the end is not behind the begin. */
static bool call_blocks_skip_matches(const struct result_table *t, uint32_t from,
                                     const struct table_cell *begin, const struct table_cell *end)
{
    uint64_t last = end->is == CELL_PLACE ? end->place.address : UINT64_MAX;
    for (uint32_t i = 0; i < t->row_count; i++) {
        const struct table_cell *other = &result_table_cells(t, i)[from];
        if (other->is == CELL_PLACE && other->place.process == begin->place.process &&
            other->place.address > begin->place.address && other->place.address < last)
            return true;
    }
    return last <= begin->place.address;
}

static char *call_blocks_range_text(struct command_source *subject, const struct result_table *t,
                                    uint32_t from, const struct table_cell *begin,
                                    const struct table_cell *end, const struct table_cell *how)
{
    char first[16], last[16];
    line_of(subject, begin, first);
    line_of(subject, end, last);
    bool ends = how->is == CELL_TEXT && strcmp(how->text, "to the end") == 0,
         known = end->is == CELL_PLACE || ends;
    if (!*first || (end->is == CELL_PLACE && !*last))
        return NULL;
    if (!known)
        return xasprintf("from %s", first);
    if (end->is != CELL_PLACE)
        memcpy(last, "end", sizeof "end");
    if (call_blocks_skip_matches(t, from, begin, end))
        return xasprintf("%s to %s", first, last);
    return strcmp(first, last) == 0 ? xstrdup(first) : xasprintf("%s-%s", first, last);
}

void call_blocks_name_lines(struct command_source *subject, struct result_table *t)
{
    uint32_t from = result_table_find_column(t, "from"),
             until = result_table_find_column(t, "until"),
             lines = result_table_find_column(t, "lines");
    if (from == t->column_count || until == t->column_count || lines == t->column_count)
        return;
    for (uint32_t i = 0; i < t->row_count; i++) {
        struct table_cell *cells = result_table_cells(t, i);
        char *text =
            call_blocks_range_text(subject, t, from, &cells[from], &cells[until], &cells[lines]);
        if (text && cells[lines].is == CELL_TEXT)
            free(cells[lines].text);
        if (text)
            cells[lines] = (struct table_cell){.is = CELL_TEXT, .text = text};
    }
}
