/* The pager: what a command prints on a terminal goes through $PAGER (less, where it is not
 * set), as the output of git and perf does.  In a pipe or a file nothing is changed. */
#ifndef CLIENTS_CLI_PAGER_H
#define CLIENTS_CLI_PAGER_H

#include <argp.h>
#include <stdbool.h>

/* --no-pager: a child of the tables of commands that begin one.  It needs no input. */
extern const struct argp pager_options;

/* Called before a command prints: from now on standard output is the pager's input, if it is a
 * terminal.  A second call does nothing. */
void pager_begin(void);
bool pager_is_running(void);
/* Waits until the user leaves the pager; nothing is printed after that. */
void pager_end(void);

/* Returns whether standard output is a terminal, or was one before the pager began; and its number
 * of columns, 0: unknown. */
bool pager_is_terminal(void);
unsigned pager_columns(void);

#endif
