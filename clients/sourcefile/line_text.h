/* The annotation of a source line: its calls and its waits. */
#ifndef CLIENTS_SOURCEFILE_LINE_TEXT_H
#define CLIENTS_SOURCEFILE_LINE_TEXT_H

#include "clients/sourcefile/line_costs.h"

/* Returns "calls parse (a.c:7) 3 times, 1.200 ms; arrive 2 times, waited 50.112 ms"; "" if there is
 * neither. New memory. */
char *line_text_make(const struct table_names *names, const struct line_costs *costs,
                     const struct line_costs_line *line);

#endif
