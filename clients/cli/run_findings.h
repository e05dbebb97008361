/* Findings of a run: deadlocks and hangs, predicted bugs, and errors in the use of the heap, in one
 * form for exit statuses and for the formats of other tools (finding_formats.c).
 *
 * A finding has an identity that stays the same when the code moves by lines, and in other runs: a
 * hash of its kind, and of the names of its functions, objects and source files, without line
 * numbers, thread names or addresses. Not thread-safe. */
#ifndef CLIENTS_CLI_RUN_FINDINGS_H
#define CLIENTS_CLI_RUN_FINDINGS_H

#include "clients/cli/command_source.h"
#include "clients/cli/table_options.h"
#include "clients/connection/result_table.h"
#include "clients/connection/wait_list.h"
#include "wire/finding_kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum finding_certainty { FINDING_CERTAIN, FINDING_LIKELY, FINDING_POSSIBLE };

struct finding_place {
    char *path; /* of the source file; "": unknown */
    int line; /* 0: unknown */
    char *function; /* ""; unknown */
    char *text; /* what happened there */
};

struct run_finding {
    const struct finding_kind_row *kind;
    enum finding_certainty certainty;
    char *text; /* one line */
    struct finding_place *places; /* the first is where an editor goes to */
    uint32_t place_count;
    char **objects; /* names of the objects that it is about */
    uint32_t object_count;
    struct event_id *events; /* that show it */
    uint32_t event_count;
    char identity[17]; /* 16 hexadecimal digits */
    char *reason; /* why it is accepted; NULL: it is not */
};

struct run_findings {
    struct run_finding *items;
    uint32_t count;
    bool no_memory; /* the use of the heap was not measured */
    bool no_races; /* accesses of memory were not examined */
};

/* Returns "certain", "likely" or "possible". */
const char *finding_certainty_name(enum finding_certainty certainty);

/* Add the findings of these groups to a set, initially zeroed; those of a kind that a
 * list (NULL: the default) does not name are not requested where that saves work. Returns an exit
 * status, after reporting errors. */
int run_findings_collect(const struct command *command, struct command_source *subject,
                         unsigned groups, const char *kinds, struct run_findings *findings);
/* Adds one that has no place in a run. path "": in no file. */
void run_findings_add(struct run_findings *findings, enum finding_kind kind,
                      enum finding_certainty certainty, const char *text, const char *path,
                      int line);
/* Adds a match of a pattern, which row `row` of a table `matches` begins, as a violation of an
 * assertion; takes over the text. */
void run_findings_add_match(struct run_findings *findings, struct command_source *subject,
                            char *text, const struct result_table *table, uint32_t row);
void run_findings_free(struct run_findings *findings); /* leaves it empty */

/* Requests the data races of a run (table `races`), those at the same source lines merged;
 * returns an exit status, after reporting errors. The caller frees the table in any case. */
int races_request(const struct table_settings *tables, struct command_source *subject,
                  struct result_table *table);

#endif
