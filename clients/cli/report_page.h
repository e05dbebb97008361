/* The one page of poet report: what a run did and what to look at, in at most 80 columns and about
 * 40 lines, with the commands that show more. */
#ifndef CLIENTS_CLI_REPORT_PAGE_H
#define CLIENTS_CLI_REPORT_PAGE_H

#include "clients/connection/result_table.h"

#include <stdint.h>
#include <stdio.h>

/* The tables that the page is made from. */
enum report_table {
    REPORT_RUN,
    REPORT_HANGS,
    REPORT_SLEEPERS,
    REPORT_VIOLATIONS,
    REPORT_FINDINGS,
    REPORT_MEMORY,
    REPORT_AT_EXIT,
    REPORT_STATES,
    REPORT_WAITS,
    REPORT_CALLS,
    REPORT_PATH,
    REPORT_TABLES
};

/* Returns whether the suffix of a file name selects a format of the report. */
bool report_may_be_named(const char *file);
#define REPORT_NAMES "the name ends in none of .html, .pdf, .svg, .png, .txt, .csv, .json"

/* source: the operand that named the run, for the commands; NULL: none. */
void report_page_write(FILE *f, const struct table_names *names,
                       const struct result_table tables[REPORT_TABLES], const char *source);
/* Writes the title, the command and the figures of a run, and notes about missing data. */
void report_page_header(struct text_table *sheet, const struct table_names *names,
                        const struct result_table *run);

/* ---- report line ---- */

#define REPORT_WIDTH 80

/* Prints a line that is cut at the width, and frees it. */
void report_line_print(FILE *f, char *line);
char *report_line_duration(int64_t ns); /* "1.53 ms"; the caller frees it */
/* Returns it right-aligned as a column, "-" if it is unknown, 0; the caller frees it. */
char *report_line_time_column(int64_t ns);
/* Prints text in as many lines as it needs, the first one after `begin`, the others at its width.
 * Frees both. */
void report_line_wrap(FILE *f, char *begin, char *text);
/* Does the same with a blank margin. */
void report_line_indent(FILE *f, int indent, char *text);
/* Prints a title, with the command that shows more at the right; left: how many more. source: the
 * operand of that command, if there is room; NULL: none. */
void report_line_title(FILE *f, const char *title, uint32_t left, const char *command,
                       const char *source);

/* ---- cells of a table, by the name of the column ---- */

#define REPORT_TOTAL UINT32_MAX /* instead of a row */

/* Returns a cell, which belongs to the table; a null cell if the table has no such one. */
const struct table_cell *report_cell(const struct result_table *table, uint32_t row,
                                     const char *name);
/* Returns a text of the table's, "" if there is none. */
const char *report_cell_string(const struct result_table *table, uint32_t row, const char *name);
/* Returns a count or a time; 0 if it is unknown. */
int64_t report_cell_number(const struct result_table *table, uint32_t row, const char *name);

#endif
