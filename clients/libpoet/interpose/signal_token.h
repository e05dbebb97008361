/* Token of a signal: identifies the event that sent it, in bytes of siginfo that no receiver uses.
 * The kernel passes them on only for signals sent like sigqueue(); so the token also contains the
 * signal's real code. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_SIGNAL_TOKEN_H
#define CLIENTS_LIBPOET_INTERPOSE_SIGNAL_TOKEN_H

#include "clients/libpoet/interpose/child_process.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Returns the first half of the keys of messages to other processes. */
uint64_t signal_token_keys(void);

struct signal_token {
    uint64_t which; /* line << 40 | number, or the second half of a key */
    /* checksum of `which`, the process or all of them, and the code; 0: no token */
    uint64_t check;
};

/* scope: `instance`, of an event of this process, or signal_token_keys(); code: what the signal
 * really is (SI_USER...). */
struct signal_token signal_token_make(uint64_t which, uint64_t scope, int code);
void signal_token_attach(siginfo_t *info, struct signal_token token);
/* Removes the token and returns its contents. Returns false if there is none. */
bool signal_token_consume(siginfo_t *info, struct event_origin *from, int *code);

#pragma GCC visibility pop
#endif
