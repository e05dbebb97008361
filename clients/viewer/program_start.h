/* Starting a program, with what is measured of it chosen. */
#ifndef CLIENTS_VIEWER_PROGRAM_START_H
#define CLIENTS_VIEWER_PROGRAM_START_H

#include "config/measurement_spec.h"

struct view;

struct program_start {
    const char *program, *arguments, *directory; /* arguments: as a shell reads them */
    struct measurement_spec measure;
};

/* What is wrong with it, to be freed; NULL: it will be started as soon as the default server, which
 * the viewer then looks at, is there: as it is where it was compiled with -trace, else under poet
 * record. */
char *program_start_begin(struct view *view, const struct program_start *what);

#endif
