/* The source with what its lines took, as tables: of its files, and of the lines of one. */
#ifndef CLIENTS_SOURCEFILE_ANNOTATED_SOURCE_H
#define CLIENTS_SOURCEFILE_ANNOTATED_SOURCE_H

#include "clients/sourcefile/line_costs.h"
#include "clients/sourcefile/source_files.h"

/* Which lines of a file are told. */
struct annotated_source_options {
    const char *function; /* NULL: of all */
    unsigned around; /* lines without figures before and after those with */
    unsigned top; /* so many lines, those that weigh most; 0: all that have figures */
    bool all; /* the whole file */
};

/* A row each file: what all of its lines took, and whether it can be read. */
void annotated_source_files(struct result_table *table, const struct line_costs *costs,
                            const struct source_file_search *search, int64_t began_ns);
/* A row each line.  False: the function has none. */
bool annotated_source_lines(struct result_table *table, const struct line_costs *costs,
                            const struct line_costs_file *file,
                            const struct source_file_text *written,
                            const struct annotated_source_options *wanted);
/* That one in words: figures at the left, then numbers and text of the lines. */
void annotated_words_write(struct text_table *sheet, const struct table_names *names,
                           const struct result_table *table);
/* As far as a path can be shown.  New memory. */
char *annotated_source_path(const char *path);

#endif
