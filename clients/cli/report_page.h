/* The one page of poet report: what a run did and what to look at, in at most 80 columns and about
 * 40 lines, with the commands that show more. */
#ifndef CLIENTS_CLI_REPORT_PAGE_H
#define CLIENTS_CLI_REPORT_PAGE_H

#include "clients/connection/result_table.h"

#include <stdio.h>

/* The tables that the page is made from. */
enum report_table {
    REPORT_RUN,
    REPORT_HANGS,
    REPORT_SLEEPERS,
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

#endif
