/* The options that all commands share which print a table, and what is done with its answer: text,
 * JSON, CSV, a picture. */
#ifndef CLIENTS_CLI_TABLE_OPTIONS_H
#define CLIENTS_CLI_TABLE_OPTIONS_H

#include "clients/cli/command_source.h"
#include "clients/connection/result_table.h"
#include "render/document.h"

#include <argp.h>

struct table_settings {
    const struct command *command;
    const char *by, *lines, *columns, *sort, *against, *file, *chart, *width_of;
    struct table_end from, to;
    struct event_id past_of;
    unsigned top;
    bool json, csv, follow, backwards, tree, raw;
    struct document_options page;
    bool paper; /* a PDF has pages of A4 */
};

/* A child of the tables of such commands; its input is a struct table_settings, with its command
 * set. */
extern const struct argp tables_options;
/* That one, first, and what else such a command takes: how lines are called, colour, help. */
extern const struct argp_child tables_children[];

/* One table of a command, or several one below the other. */
struct table_section {
    const char *what; /* the preset; NULL: see make */
    const char *title; /* NULL: as the server calls it */
    const char *note; /* NULL; one more below it */
    const char *columns; /* NULL: as asked for, or all that are no details */
    unsigned top; /* 0: as asked for */
    struct table_option
        *options; /* as a preset takes them, constants; key NULL ends them; NULL: none */
    /* Where it is no preset: makes the table; an exit status, with complaints. */
    int (*make)(const struct table_settings *tables, struct command_source *subject,
                struct result_table *table);
    /* In words; NULL: as a table, with its title. */
    void (*words)(struct text_table *sheet, const struct table_names *names,
                  const struct result_table *table);
    bool page; /* one of a page that says the run above all of them */
    bool by_time; /* of the past of an event nothing is known: it is left out of a page */
    bool rare; /* in words it is left out where it has no rows, and, told in words, no total */
    const char *sort; /* NULL: as asked for */
};

/* Does the name of a file say what is to be written into it? */
bool table_output_may_be_named(const char *file);
#define TABLES_NAMES "the name ends in none of .pdf, .svg, .png, .txt, .csv, .json"

/* Asks for them and writes them as wanted; an exit status, with complaints. */
int table_output_run(const struct table_settings *tables, struct command_source *subject,
                     const struct table_section *sections, size_t count);
/* Asks for one; an exit status, with complaints.  The table is the caller's to free in any case. */
int table_request_run(const struct table_settings *tables, const struct table_section *section,
                      struct command_source *subject, struct result_table *table);
/* Puts the lines that --lines names into a request; false: said why. */
bool table_request_label_lines(const struct table_settings *tables, struct table_request *request,
                               struct command_source *subject);
/* Which lines must be known for it. */
enum session_lines table_request_session_lines(const struct table_settings *tables);
/* Of commands that have no options but these, and one table: what they take, and all that they
 * do. */
error_t table_output_parse_only(int key, char *value, struct argp_state *state);
int table_output_only(const struct command *command, int argc, char **argv, const char *what);
/* The rest of a command: the source is opened, and all done. */
int table_output_command(struct table_settings *tables, int argc, char **argv, int first,
                         const struct table_section *sections, size_t count);

#endif
