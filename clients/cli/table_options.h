/* Options of all commands that print a table, its request, and the output of the response: text,
 * JSON, CSV, an image. */
#ifndef CLIENTS_CLI_TABLE_OPTIONS_H
#define CLIENTS_CLI_TABLE_OPTIONS_H

#include "clients/cli/command_source.h"
#include "clients/connection/result_table.h"
#include "render/document.h"
#include "wire/table_rows.h"

#include <argp.h>
#include <stdio.h>

struct json_object;

struct table_settings {
    const struct command *command;
    const char *by, *threads, *columns, *sort, *baseline, *file, *chart, *width_of;
    struct table_end from, to;
    struct event_id past_of;
    unsigned top;
    bool json, csv, follow, backwards, tree, raw;
    struct document_options page;
    bool paper; /* a PDF has A4 pages */
    bool quiet; /* what is wrong with a request stays in the table's `problem`, unreported */
    unsigned
        findings; /* the enum finding_group that the command reports (run_findings.h); 0: none */
    const char *finding_kinds; /* of predictions; NULL: the default */
};

/* A child of the tables of such commands; its input is a struct table_settings, with its command
 * set. */
extern const struct argp tables_options;
/* It, and the other options of such a command: labels, color, help. */
extern const struct argp_child tables_children[];
/* These options and those of findings (finding_options.h), for commands that report such. */
extern const struct argp_child tables_finding_children[];

/* One table of a command, or one of several below each other. */
struct table_section {
    const char *what; /* the preset; NULL: see make */
    const char *title; /* NULL: the server's title */
    const char *note; /* an additional note; NULL: none */
    const char *columns; /* NULL: as requested, or all that are not details */
    unsigned top; /* 0: as requested */
    struct table_option *options; /* of a preset, constants; terminated by key NULL; NULL: none */
    /* Without a preset: makes the table; returns an exit status, after reporting errors. */
    int (*make)(const struct table_settings *tables, struct command_source *subject,
                struct result_table *table);
    /* Text output; NULL: as a table, with its title. */
    void (*words)(struct text_table *sheet, const struct table_names *names,
                  const struct result_table *table);
    bool page; /* part of a page with a heading about the run */
    bool by_time; /* unknown for the past of an event: then omitted from a page */
    bool rare; /* in text, omitted if it has no rows, and without a total */
    const char *sort; /* NULL: as requested */
};

/* Returns whether the suffix of a file name selects a supported format. */
bool table_output_may_be_named(const char *file);
#define TABLES_NAMES "the name ends in none of .pdf, .svg, .png, .txt, .csv, .json"

/* Requests the tables and writes them; returns an exit status, after reporting errors. */
int table_output_run(const struct table_settings *tables, struct command_source *subject,
                     const struct table_section *sections, size_t count);
/* Requests one table; returns an exit status, after reporting errors. The caller frees the table in
 * any case. */
int table_request_run(const struct table_settings *tables, const struct table_section *section,
                      struct command_source *subject, struct result_table *table);
/* Requests the same table of the baseline run of the settings, and replaces the table by their
 * difference; returns an exit status, after reporting errors. */
int table_request_difference(const struct table_settings *tables,
                             const struct table_section *section, struct command_source *subject,
                             struct result_table *table);
/* Puts the lines named by --threads into a request; returns false after reporting an error. */
bool table_request_label_lines(const struct table_settings *tables, struct table_request *request,
                               struct command_source *subject);
/* Returns the number of the line with that name or number, in new memory; NULL, with *status set,
 * after reporting an error of that option. All lines must be known. */
char *table_request_object(const struct table_settings *tables, struct command_source *subject,
                           const char *option, const char *name, int *status);
/* Returns which lines must be known for it. */
enum session_lines table_request_session_lines(const struct table_settings *tables);
/* The rest of a command: opens the source and writes the tables. */
int table_output_command(struct table_settings *tables, int argc, char **argv, int first,
                         const struct table_section *sections, size_t count);

/* Reads an end of a range: an event, "2:17", or a time, "1.5s"; returns false if it is neither. */
bool table_end_read(const char *value, struct table_end *end);

/* Returns a row as --json prints it: {"row": {COLUMN: VALUE, ...}, "depth": N, ...}; the caller
 * frees it. */
struct json_object *table_row_json(const struct table_names *names,
                                   const struct result_table *table, uint32_t row,
                                   const uint32_t *columns, uint32_t count);
/* Writes a field of a CSV file. */
void table_csv_text(FILE *f, const char *text);

/* ---- requests: progress on a terminal, cancellation by Ctrl-C, and errors ---- */

/* From now on Ctrl-C cancels the request, prints that it did, and exits with 130. */
void table_progress_begin(const struct command *command);
/* Requests a table (frees body) and waits for it; reports an error and returns false if there is no
 * response. After a second it shows on standard error, if that is a terminal, how many events were
 * examined so far. */
bool table_progress_request(const struct command *command, struct command_source *subject,
                            struct encoder *body, struct result_table *table);
/* Sets the name of a file that is being written, and that Ctrl-C removes; NULL: none. */
void table_progress_set_file(const char *part);

/* Reports that a table has no such column, with the most similar one; returns the exit status. */
int table_request_missing_column(const struct table_settings *tables,
                                 const struct result_table *table, const char *option,
                                 const char *column);

#endif
