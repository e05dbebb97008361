#include "clients/poet/blocks.h"

#include "memory/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "flow.c:17" -> "17"; "" where there is no line. */
static const char *line_of(struct subject *subject, const struct table_cell *cell, char line[16])
{
    const char *place =
                   cell->is == CELL_PLACE
                       ? sites_call(subject->sites, cell->place.process, cell->place.address).place
                       : "",
               *colon = strrchr(place, ':');
    *line = '\0';
    if (colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")] && strlen(colon) < 16)
        snprintf(line, 16, "%s", colon + 1);
    return line;
}

static char *said(struct subject *subject, const struct table_cell *from,
                  const struct table_cell *until)
{
    char first[16], last[16];
    line_of(subject, from, first);
    line_of(subject, until, last);
    if (!*first || (until->is == CELL_PLACE && !*last))
        return NULL;
    if (until->is != CELL_PLACE)
        return memory_printed("%s-end", first);
    return strcmp(first, last) == 0 ? memory_copied(first) : memory_printed("%s-%s", first, last);
}

void blocks_name_lines(struct subject *subject, struct shown_table *t)
{
    uint32_t from = table_find(t, "from"), until = table_find(t, "until"),
             lines = table_find(t, "lines");
    if (from == t->column_count || until == t->column_count || lines == t->column_count)
        return;
    for (uint32_t i = 0; i < t->row_count; i++) {
        struct table_cell *cells = table_cells(t, i);
        char *text = said(subject, &cells[from], &cells[until]);
        if (text)
            cells[lines] = (struct table_cell){.is = CELL_TEXT, .text = text};
    }
}
