/* A target description while it is read. */
#ifndef CONFIG_DESCRIPTION_READER_H
#define CONFIG_DESCRIPTION_READER_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdio.h>

struct description_reader {
    struct arena *texts; /* of what is read */
    const char *file; /* of the part that is read */
    FILE *complaints; /* or NULL */
    unsigned mistakes;
    int part;         /* which one, from 0 */
    bool looks_only;  /* changes how things look, and nothing else */
    bool newer;       /*   but what waits */
    bool readable;      /* some part could be */
    bool kinds, events; /* were there */
};

#endif
