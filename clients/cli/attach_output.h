/* Input of the outputs of poet attach: a process, and its run if it is traced. */
#ifndef CLIENTS_CLI_ATTACH_OUTPUT_H
#define CLIENTS_CLI_ATTACH_OUTPUT_H

#include "clients/cli/attached_process.h"
#include "clients/cli/command_source.h"
#include "clients/connection/wait_list.h"

struct attach_output {
    struct attached_process *attached;
    struct command_source *run; /* NULL: it is not traced */
    struct wait_list waits; /* of the run */
    uint32_t *lines; /* line of each thread in the run; 0: it has none */
};

#endif
