/* Starting a program from the viewer, with the chosen measurements. */
#ifndef CLIENTS_VIEWER_PROGRAM_START_H
#define CLIENTS_VIEWER_PROGRAM_START_H

#include "config/measurement_spec.h"

struct view;

struct program_start {
    const char *program, *arguments, *directory; /* arguments: in shell syntax */
    struct measurement_spec measure;
};

/* Returns an error message, which the caller frees; NULL: the program will be started when the
 * default server, which the viewer then shows, is running: directly if it was compiled with -trace,
 * else under poet record. */
char *program_start_begin(struct view *view, const struct program_start *what);

#endif
