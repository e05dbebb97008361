/* What a signal takes with it: which event sent it, in bytes of its siginfo that say nothing to
 * anybody.
 *
 * The kernel carries them only if the signal comes as by sigqueue(); what it really was the token
 * says as well. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_SIGNAL_TOKEN_H
#define CLIENTS_LIBPOET_INTERPOSE_SIGNAL_TOKEN_H

#include "clients/libpoet/interpose/child_process.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

uint64_t signal_token_keys(void); /* first half of the keys of messages to other processes */

struct signal_token {
    uint64_t which; /* line << 40 | number, or the second half of a key */
    /* of which, the process or all of them, and what the code was; 0: there is none */
    uint64_t check;
};

/* scope: `instance`, of an event of this process, or signal_token_keys(); code: what the signal
 * really is (SI_USER...). */
struct signal_token signal_token_make(uint64_t which, uint64_t scope, int code);
void signal_token_attach(siginfo_t *info, struct signal_token token);
/* Takes it out again; false: there is none. */
bool signal_token_consume(siginfo_t *info, struct event_origin *from, int *code);

#pragma GCC visibility pop
#endif
