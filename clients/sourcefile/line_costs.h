/* The lines of a program's source with what each of them took, made of the server's table of places
 * (`source`).
 *
 * Places of one line are one; what a thread did from one line to another one of the same function
 * belongs to both and all between, and has an entry of its own, as has what was done on the way
 * from elsewhere.  Each figure stands in one entry alone: summed up over all entries of all files
 * it is what the server says in all. */
#ifndef CLIENTS_SOURCEFILE_LINE_COSTS_H
#define CLIENTS_SOURCEFILE_LINE_COSTS_H

#include "clients/connection/result_table.h"

/* Figures: as their columns are called, and told to people. */
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
    uint32_t known; /* bit by bit */
};

struct line_costs_line {
    int first, last; /* lines; last before first: around a loop; 0: not known */
    /* where it came from, or what it is, where it is no line of this function; NULL: it is one */
    char *from;
    bool after; /* it is about what came after a call there */
    char *function; /* "" not known */
    struct line_figures figures;
    uint32_t *rows, row_count; /* of the table */
};

struct line_costs_file {
    char *path; /* as debug information has it; "": places without */
    struct line_figures figures; /* of all its lines; of TOTAL none, for calls are within calls */
    struct line_costs_line
        *lines; /* by their first lines; what ends there before what begins there */
    uint32_t line_count;
};

struct line_costs {
    struct line_costs_file *files; /* what weighs most first, places without a file last */
    uint32_t file_count;
    struct line_figures all;
    const struct result_table *table; /* that it is made of, borrowed */
    bool measured; /* calls were: then self is what lines weigh, else what ran */
};

/* False: it is no such table. */
bool line_costs_make(struct line_costs *costs, const struct table_names *names,
                     const struct result_table *table);
void line_costs_free(struct line_costs *costs); /* empties it */

/* What a line weighs: what it took itself, and what it made others wait. */
int64_t line_costs_weight(const struct line_costs *costs, const struct line_figures *figures);
/* The share of all of that, 0 to 1. */
double line_costs_share(const struct line_costs *costs, const struct line_figures *figures);
/* "(not known)" of places without a file. */
const char *line_costs_path(const struct line_costs_file *file);
/* The file of a path, or of its end, as "dir/file.c"; NULL: there is none, or with *several more
 * than one. */
const struct line_costs_file *line_costs_find(const struct line_costs *costs, const char *path,
                                              bool *several);
/* "14", "12-15"; "" where no line is known.  New memory. */
char *line_costs_number(const struct line_costs_line *line);

#endif
