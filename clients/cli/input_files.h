/* Recorded input of a run (wire/recorded_input.h): its amount, and the file from which a replay
 * reads it. */
#ifndef CLIENTS_CLI_INPUT_FILES_H
#define CLIENTS_CLI_INPUT_FILES_H

#include "clients/cli/command.h"
#include "clients/cli/command_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input_files {
    uint64_t calls; /* recorded */
    uint64_t passed; /* not recorded, in signal handlers */
    uint32_t cut; /* number of incompletely recorded threads */
    bool streams; /* the program also read through stdio, which was not recorded */
    struct input_files_line {
        uint8_t *bytes;
        size_t size, room;
    } *lines; /* by line */
    size_t line_room;
    bool wrong; /* more than the limit was received */
    uint64_t bytes;
};

/* whole: include the bytes. Returns false after reporting the error. */
bool input_files_request(const struct command *command, struct command_source *subject, bool whole,
                         struct input_files *inputs);
/* Writes the file; returns false after reporting the error. */
bool input_files_write(const struct command *command, const struct input_files *inputs,
                       const char *path);
void input_files_free(struct input_files *inputs);

#endif
