/* Starting a program from the viewer, with the chosen measurements. */
#ifndef CLIENTS_VIEWER_PROGRAM_START_H
#define CLIENTS_VIEWER_PROGRAM_START_H

#include "config/measurement_spec.h"

struct error;
struct view;

struct program_start {
    const char *program, *arguments, *directory; /* arguments: in shell syntax */
    struct measurement_spec measure;
};

/* Starts the program when the default server, which the viewer then shows, is running: directly if
 * it was compiled with -trace, else under poet record. Returns false with the reason in *error. */
bool program_start_begin(struct view *view, const struct program_start *what, struct error *error);

#endif
