/* Output of poet cut: requests a part of a run and writes it as a trace file. */
#ifndef CLIENTS_CLI_CUT_OUTPUT_H
#define CLIENTS_CLI_CUT_OUTPUT_H

#include "clients/cli/command_source.h"
#include "wire/cut_messages.h"

struct cut_output {
    const struct command *command;
    const char *file;
    struct cut_result result; /* of the last cut; the caller frees it */
    uint64_t bytes; /* of its file */
};

/* Requests a cut and writes it to the file, which is complete or unchanged. Returns an exit status,
 * after reporting errors. */
int cut_output_write(struct cut_output *output, struct command_source *subject,
                     const struct cut_request *request);

#endif
