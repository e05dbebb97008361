/* Costs of the lines of a program's source, from the server's table of places (`source`).
 *
 * Places on one line are merged; what a thread did between two lines of the same function concerns
 * both and all between, and has an entry of its own, as has what it did on the way from elsewhere.
 * Each value is in one entry only: the sum over all entries of all files is the server's total. */
#ifndef CLIENTS_SOURCEFILE_LINE_COSTS_H
#define CLIENTS_SOURCEFILE_LINE_COSTS_H

#include "clients/connection/result_table.h"

/* Values: their column names, and their titles. */
/* clang-format off */
#define COST_FIGURES(F)                        \
    F(CALLS, "calls", "calls")                    \
    F(SELF, "self_ns", "self")                    \
    F(CALLED, "called_ns", "called")              \
    F(TOTAL, "total_ns", "total")                 \
    F(RAN, "ran_ns", "ran")                       \
    F(WAITED, "waited_ns", "waited")              \
    F(WAITS, "waits", "waits")                    \
    F(MADE, "caused_wait_ns", "caused wait")      \
    F(PATH, "path_ns", "on critical path")
/* clang-format on */

enum line_cost_figure {
#define F(NAME, name, title) FIGURE_##NAME,
    COST_FIGURES(F)
#undef F
        FIGURES
};

const char *line_costs_name(unsigned figure);
const char *line_costs_title(unsigned figure);
enum table_kind line_costs_kind(unsigned figure);

struct line_figures {
    int64_t value[FIGURES];
    uint32_t known; /* bits */
};

struct line_costs_line {
    int first, last; /* lines; last before first: around a loop; 0: unknown */
    /* where it came from, or its description, if it is not a line of this function; NULL: it is
     * one */
    char *from;
    bool after; /* it concerns what followed a call there */
    char *function; /* "": unknown */
    struct line_figures figures;
    uint32_t *rows, row_count; /* of the table */
};

struct line_costs_file {
    char *path; /* from debug information; "": places without a file */
    struct line_figures figures; /* of all its lines; without TOTAL, since calls contain calls */
    /* by first line; entries that end at a line before those that begin there */
    struct line_costs_line *lines;
    uint32_t line_count;
};

struct line_costs {
    struct line_costs_file *files; /* most expensive first, places without a file last */
    uint32_t file_count;
    struct line_figures all;
    const struct result_table *table; /* source table, borrowed */
    bool measured; /* calls were measured: the weight of lines is self time, else running time */
};

/* Returns false if it is not such a table. */
bool line_costs_make(struct line_costs *costs, const struct table_names *names,
                     const struct result_table *table);
void line_costs_free(struct line_costs *costs); /* leaves it empty */

/* Returns the weight of a line: its own time, and the time that it made others wait. */
int64_t line_costs_weight(const struct line_costs *costs, const struct line_figures *figures);
/* Returns its share of the total weight, 0 to 1. */
double line_costs_share(const struct line_costs *costs, const struct line_figures *figures);
/* Returns "(not known)" for places without a file. */
const char *line_costs_path(const struct line_costs_file *file);
/* Finds a file by its path, or by the end of it, such as "dir/file.c". Returns NULL if there is
 * none, or, with *several, more than one. */
const struct line_costs_file *line_costs_find(const struct line_costs *costs, const char *path,
                                              bool *several);

#endif
