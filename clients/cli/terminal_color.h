/* Color in terminal output: on if standard output is a terminal and NO_COLOR is not set, or as
 * --color says. In a pipe or a file only on request. */
#ifndef CLIENTS_CLI_TERMINAL_COLOR_H
#define CLIENTS_CLI_TERMINAL_COLOR_H

#include <argp.h>
#include <stdbool.h>

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

#endif
