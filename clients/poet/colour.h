/* Colour in what commands print on a terminal: on where standard output is one and NO_COLOR is not set, or as
 * --color says.  In a pipe or a file there is none unless it was asked for. */
#ifndef CLIENTS_POET_COLOUR_H
#define CLIENTS_POET_COLOUR_H

#include <argp.h>
#include <stdbool.h>

/* --color=WHEN, and --no-pager: a child of the tables of commands that print in colour.  It
 * needs no input. */
extern const struct argp colour_options;

enum colour {
    COLOUR_BAD,
    COLOUR_CAREFUL,
    COLOUR_GOOD,
    COLOUR_OBJECT,
    COLOUR_THREAD,
    COLOUR_FAINT,
    COLOUR_HEAD,
    COLOUR_PAST,
    COLOUR_FUTURE
};

bool colour_on(void);
/* What begins a colour, what ends all; "" where there is none. */
const char *colour_begin(enum colour colour);
const char *colour_end(void);

#endif
