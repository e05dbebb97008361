/* A signal that was lost in a run, and what woke its waiter nevertheless. */
#ifndef CLIENTS_CLI_HEALED_SIGNAL_H
#define CLIENTS_CLI_HEALED_SIGNAL_H

#include "clients/cli/command.h"
#include "wire/schedule_control.h"

/* Looks in a trace for a signal made at one point while a thread was about to wait at the
 * other: since its last event it had not waited yet, and another signal woke it, or none did
 * before the program ended.  Returns a sentence, new memory; NULL: the trace does not show
 * that. */
char *healed_signal_find(const struct command *command, const char *trace,
                         const struct hold_point *signal, const struct hold_point *wait);

#endif
