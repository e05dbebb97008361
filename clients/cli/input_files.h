/* The recorded input of a run (wire/recorded_input.h): how much there is, and the file out of which
 * a run is repeated. */
#ifndef CLIENTS_CLI_INPUT_FILES_H
#define CLIENTS_CLI_INPUT_FILES_H

#include "clients/cli/command.h"
#include "clients/cli/command_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input_files {
    uint64_t calls; /* recorded */
    uint64_t passed; /* not, in signal handlers */
    uint32_t cut; /* threads of which not all was recorded */
    bool streams; /* nor was what a program read through C's stdio */
    struct input_files_line {
        uint8_t *bytes;
        size_t size, room;
    } *lines; /* by line */
    size_t line_room;
    bool wrong; /* more than there can be was told */
    uint64_t bytes;
};

/* whole: with the bytes.  False: it is said why not. */
bool input_files_request(const struct command *command, struct command_source *subject, bool whole,
                         struct input_files *inputs);
/* Writes the file; false: it is said why not. */
bool input_files_write(const struct command *command, const struct input_files *inputs,
                       const char *path);
void input_files_free(struct input_files *inputs);

#endif
