/* Annotated source: tables of source files with their costs, and of the lines of a file, also as
 * text. Not thread-safe. */
#ifndef CLIENTS_SOURCEFILE_ANNOTATED_SOURCE_H
#define CLIENTS_SOURCEFILE_ANNOTATED_SOURCE_H

#include "clients/sourcefile/line_costs.h"
#include "clients/sourcefile/source_files.h"

/* The selection of lines of a file. */
struct annotated_source_options {
    const char *function; /* NULL: all */
    unsigned around; /* lines of context around those with costs */
    unsigned top; /* only the most expensive lines; 0: all that have costs */
    bool all; /* the whole file */
};

/* Makes a row for each file: the costs of its lines, and whether it is readable. */
void annotated_source_files(struct result_table *table, const struct line_costs *costs,
                            const struct source_file_search *search, int64_t began_ns);
/* Makes a row for each line. Returns false if the function has none. */
bool annotated_source_lines(struct result_table *table, const struct line_costs *costs,
                            const struct line_costs_file *file,
                            const struct source_file_text *written,
                            const struct annotated_source_options *wanted);
/* Writes that table as text: costs at the left, then number and text of the lines. */
void annotated_source_write(struct text_table *sheet, const struct table_names *names,
                            const struct result_table *table);
/* Returns a path in printable form, in new memory. */
char *annotated_source_path(const char *path);

/* Returns the annotation of a line, its calls and its waits, such as "calls parse (a.c:7) 3 times,
 * 1.200 ms; arrive 2 times, waited 50.112 ms"; "" if there is neither. New memory. */
char *annotated_source_line_text(const struct table_names *names, const struct line_costs *costs,
                                 const struct line_costs_line *line);

#endif
