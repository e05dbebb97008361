/* The signal handler that a thread runs, for the texts of its lock requests. */
#ifndef CLIENTS_LIBPOET_CORE_RUNNING_HANDLER_H
#define CLIENTS_LIBPOET_CORE_RUNNING_HANDLER_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

struct running_handler {
    int signal; /* 0: none */
    const void *frame; /* an address in the frame that called it */
};

/* The calling thread enters the handler of a signal; returns the one that it interrupts. */
struct running_handler running_handler_enter(int signal, const void *frame);
void running_handler_leave(struct running_handler interrupted);
/* Writes "in the handler of SIGUSR1" (TEXT_IN_HANDLER); returns its length, 0 if the calling thread
 * runs no handler, or may have left it by a jump. */
size_t running_handler_text(char *text, size_t size);

#pragma GCC visibility pop
#endif
