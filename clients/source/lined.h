/* The source with what its lines took, as tables: of its files, and of the lines of one. */
#ifndef CLIENTS_SOURCE_LINED_H
#define CLIENTS_SOURCE_LINED_H

#include "clients/source/costs.h"
#include "clients/source/written.h"

/* Which lines of a file are told. */
struct lined_wanted {
    const char *function; /* NULL: of all */
    unsigned around; /* lines without figures before and after those with */
    unsigned top; /* so many lines, those that weigh most; 0: all that have figures */
    bool all; /* the whole file */
};

/* A row each file: what all of its lines took, and whether it can be read. */
void lined_files(struct shown_table *table, const struct costs *costs,
                 const struct written_search *search, int64_t began_ns);
/* A row each line.  False: the function has none. */
bool lined_lines(struct shown_table *table, const struct costs *costs,
                 const struct costs_file *file, const struct written *written,
                 const struct lined_wanted *wanted);
/* That one in words: figures at the left, then numbers and text of the lines. */
void lined_words(struct sheet *sheet, const struct table_names *names,
                 const struct shown_table *table);
/* As far as a path can be shown.  New memory. */
char *lined_path(const char *path);

#endif
