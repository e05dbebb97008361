/* The parts of poet calls: functions by thread, loops, call tables in the formats of other
 * tools. */
#ifndef CLIENTS_CLI_CALLS_H
#define CLIENTS_CLI_CALLS_H

#include "clients/cli/table_options.h"
#include "clients/connection/result_table.h"

#include <stdio.h>

/* ---- calls by thread ---- */

/* Requests the calls by thread and makes that table of one of its columns ("self_ns", or without
 * _ns). Returns an exit status, after reporting errors. The caller frees the table in any case. */
int calls_by_thread_make(const struct table_settings *tables, const char *column,
                         struct command_source *subject, struct result_table *table);

/* ---- loops and basic blocks ---- */

/* Request the counted basic blocks, and make the table of loops, or of the blocks; return an exit
 * status, after reporting errors. The caller frees the table in any case. */
int calls_make_loops(const struct table_settings *tables, struct command_source *subject,
                     struct result_table *table);
int calls_make_basic_blocks(const struct table_settings *tables, struct command_source *subject,
                            struct result_table *table);

/* ---- profile formats ---- */

/* An output format of another tool, or the list of functions to exclude from measurement. */
struct profile_format {
    const char *name;
    bool tree, graph; /* needs the tree of call paths, or the call graph; else functions */
    /* Writes to a file that the caller checks for errors. */
    void (*write)(FILE *f, const struct table_names *names, const struct result_table *table);
};

#define PROFILE_FORMATS "callgrind, folded or pprof"
/* Sets *format to the value of the option -f; returns EINVAL, after reporting it, if unknown. */
error_t profile_format_parse(const struct command *command, const char *value,
                             const struct profile_format **format);
/* The functions that are called so often, and run so briefly, that most of their measured time is
 * overhead, with their cost, as a list that poetcc -ignore=@FILE reads. */
extern const struct profile_format profile_format_exclusions;

/* Requests a table (a preset with the columns of calls) as the format needs it, and writes it to
 * the file of the settings, or standard output. Returns an exit status, after reporting errors. */
int profile_format_convert(const struct table_settings *tables, const char *what,
                           const struct profile_format *format, struct command_source *subject);

#endif
