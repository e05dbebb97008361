/* The recorded input of a run (wire/input.h): how much there is, and the file out of which a run is repeated. */
#ifndef CLIENTS_POET_INPUTS_H
#define CLIENTS_POET_INPUTS_H

#include "clients/poet/command.h"
#include "clients/poet/subject.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inputs {
    uint64_t calls; /* recorded */
    uint64_t passed; /* not, in signal handlers */
    uint32_t cut; /* threads of which not all was recorded */
    bool streams; /* nor was what a program read through C's stdio */
    struct inputs_line {
        uint8_t *bytes;
        size_t size, room;
    } *lines; /* by line */
    size_t line_room;
    bool wrong; /* more than there can be was told */
    uint64_t bytes;
};

/* whole: with the bytes.  False: it is said why not. */
bool inputs_ask(const struct command *command, struct subject *subject, bool whole,
                struct inputs *inputs);
/* Writes the file; false: it is said why not. */
bool inputs_write(const struct command *command, const struct inputs *inputs, const char *path);
void inputs_free(struct inputs *inputs);

#endif
