/* Lost signals without a hang: another signal woke the waiter later, or the program ended. */
#ifndef CLIENTS_CLI_HEALED_SIGNAL_H
#define CLIENTS_CLI_HEALED_SIGNAL_H

#include "clients/cli/command.h"
#include "wire/schedule_control.h"

/* Searches a trace for a signal sent at one point while a thread was about to wait at the other: it
 * had not waited since its last event, and then another signal woke it, or none did before the
 * program ended. Returns a sentence in new memory; NULL if the trace does not show that. */
char *healed_signal_find(const struct command *command, const char *trace,
                         const struct hold_point *signal, const struct hold_point *wait);

#endif
