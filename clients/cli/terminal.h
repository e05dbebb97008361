/* The terminal that a command prints on: colors, its width, and the pager. */
#ifndef CLIENTS_CLI_TERMINAL_H
#define CLIENTS_CLI_TERMINAL_H

#include <argp.h>
#include <stdbool.h>

/* ---- color ----
 * It is on if standard output is a terminal and NO_COLOR is not set, or as --color says. In a pipe
 * or a file only on request. */

/* --color=WHEN, and --no-pager: a child of the tables of commands that print in color. It needs no
 * input. */
extern const struct argp color_options;

enum terminal_color {
    COLOR_BAD,
    COLOR_CAREFUL,
    COLOR_GOOD,
    COLOR_OBJECT,
    COLOR_THREAD,
    COLOR_FAINT,
    COLOR_HEAD,
    COLOR_PAST,
    COLOR_FUTURE
};

bool terminal_color_is_enabled(void);
/* Return the sequences that begin a color and end all; "" if color is off. */
const char *terminal_color_begin(enum terminal_color color);
const char *terminal_color_end(void);

/* ---- pager ----
 * What a command prints on a terminal goes through $PAGER (less, where it is not set), as the
 * output of git and perf does. In a pipe or a file nothing is changed. */

/* --no-pager: a child of the tables of commands that begin one.  It needs no input. */
extern const struct argp pager_options;

/* Called before a command prints: from now on standard output is the pager's input, if it is a
 * terminal.  A second call does nothing. */
void pager_begin(void);
bool pager_is_running(void);
/* Waits until the user leaves the pager; nothing is printed after that. */
void pager_end(void);

/* ---- redrawing ----
 * On a terminal, what a command prints again replaces what it printed before, without a blank
 * screen in between; of what is longer than the screen, the first lines are shown. Elsewhere it is
 * printed as it is. */

/* Begins to collect standard output (stdio) until terminal_redraw_end(). */
void terminal_redraw_begin(void);
void terminal_redraw_end(void);

/* Returns whether standard output is a terminal, or was one before the pager began; and its number
 * of columns, 0: unknown. */
bool pager_is_terminal(void);
unsigned pager_columns(void);
/* Returns the width of text: the number of columns, 100 if it is unknown. */
unsigned terminal_text_columns(void);

#endif
