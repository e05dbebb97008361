/* State of reading a target description. */
#ifndef CONFIG_DESCRIPTION_READER_H
#define CONFIG_DESCRIPTION_READER_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdio.h>

struct description_reader {
    struct arena *texts; /* owns the texts that are read */
    const char *file; /* the file of the current part */
    FILE *complaints; /* or NULL */
    unsigned mistakes;
    int part;         /* index of the current part, from 0 */
    bool looks_only;  /* apply appearance only */
    bool newer;       /* and waits, too */
    bool readable;      /* some part could be parsed */
    bool kinds, events; /* were present */
};

#endif
