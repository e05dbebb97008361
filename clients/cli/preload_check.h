/* Check whether a program can be recorded unmodified: dynamically linked against the C library that
 * libpoet uses, and started without new privileges. */
#ifndef CLIENTS_CLI_PRELOAD_CHECK_H
#define CLIENTS_CLI_PRELOAD_CHECK_H

#include <stdbool.h>
#include <stddef.h>

struct preload_check {
    char path[4096]; /* the file that is executed */
    char sanitizers[512]; /* libraries that must be loaded before all others, separated by spaces */
    char needed[4096]; /* all libraries that it is linked with, separated by spaces */
    bool traced; /* compiled with poetcc -trace: it needs no preloading, whatever prevents that */
};

/* Finds a program as execvp does and examines it, and the interpreter of a script. Writes a
 * sentence to `why` if it cannot be recorded; found: false if there is no such program. */
bool preload_check_program(const char *program, struct preload_check *loadable, bool *found,
                           char *why, size_t size);

#endif
