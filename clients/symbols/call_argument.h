/* The argument of a synchronization call as the source code has it: "account->lock" of
 * `pthread_mutex_init(&account->lock, NULL)`, which names an object that has no symbol.
 *
 * Source files are untrusted: only regular files of a bounded size are read, and what is returned
 * consists of names, digits and the characters of an expression. */
#ifndef CLIENTS_SYMBOLS_CALL_ARGUMENT_H
#define CLIENTS_SYMBOLS_CALL_ARGUMENT_H

#include <stdbool.h>
#include <stddef.h>

/* Finds the first argument of the call to a function of POSIX or C11 threads or semaphores that
 * begins on a line, counted from 1, of the text of a source file. Returns false if there is none,
 * if several such calls have different arguments, or if the argument is not a variable, member or
 * element, by its address or through an expression: the name of a pointer alone says nothing of its
 * object. `argument` receives it, without '&', masked and NUL-terminated. */
bool call_argument_find(const char *source, int line, char *argument, size_t size);

/* Does the same with a file. Returns false also if it was changed after the program (its path), or
 * is not readable. */
bool call_argument_read(const char *path, int line, const char *program, char *argument,
                        size_t size);

#endif
