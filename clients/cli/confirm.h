/* The parts of poet confirm: its attempts, and the search of a trace for lost signals without a
 * hang. */
#ifndef CLIENTS_CLI_CONFIRM_H
#define CLIENTS_CLI_CONFIRM_H

#include "clients/cli/command.h"
#include "clients/cli/rerun.h"
#include "clients/connection/wait_list.h"
#include "clients/metadata/trace_metadata.h"
#include "wire/schedule_control.h"
#include "wire/table_rows.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- attempt ---- */

/* ---- the hang to be confirmed ----
 * It is a row of the table `predict`; any other hang confirms nothing. */

struct target_hang {
    /* threads wait for each other; or to be woken, and are not; or for a lock that was held at a
     * fork; none: any hang */
    bool cycle, waking, abandoned;
    char **names; /* of the lines concerned: their numbers differ between runs */
    size_t count, room;
};

/* Makes it of a row, with the names of its lines in `book`; to be freed by target_hang_free(). */
void target_hang_make(struct target_hang *aim, const struct trace_metadata *book,
                      const struct result_table *table, uint32_t row);
void target_hang_free(struct target_hang *aim);

/* ---- the attempt ---- */

struct attempt {
    const struct command *command;
    const struct preload_check *loadable;
    char **words;
    struct rerun again;
    unsigned timeout_s; /* timeout */
    const struct target_hang *aim; /* the hang to reproduce */
};

struct attempt_result {
    int status; /* as from waitpid */
    bool hangs; /* certainly: a deadlock cycle, or waiters that can never be woken */
    bool otherwise; /* it hangs, but not as wanted */
    bool slow; /* it was killed after the timeout */
    char *output, *errors; /* what it wrote */
    size_t output_bytes, error_bytes;
};

/* Returns false if it could not be started; the error was printed, and end->status is the exit
 * status. */
bool attempt_run(const struct attempt *trial, struct attempt_result *end);
/* Returns whether two attempts wrote the same to standard output. */
bool attempt_has_same_output(const struct attempt_result *a, const struct attempt_result *b);
/* Formats "exits with status 1", or "is killed by signal 6". */
void attempt_status_text(char *text, size_t size, int status);
/* Frees the output. */
void attempt_end_free(struct attempt_result *end);

/* ---- healed signal ---- */

/* Searches a trace for a signal sent at one point while a thread was about to wait at the other: it
 * had not waited since its last event, and then another signal woke it, or none did before the
 * program ended. Returns a sentence in new memory; NULL if the trace does not show that. */
char *healed_signal_find(const struct command *command, const char *trace,
                         const struct hold_point *signal, const struct hold_point *wait);

#endif
