/* Text of poet attach: diagnoses and blocked threads as in poet blocked, then the stack of each
 * thread. */
#ifndef CLIENTS_CLI_ATTACH_TEXT_H
#define CLIENTS_CLI_ATTACH_TEXT_H

#include "clients/cli/attach_output.h"

void attach_text_print(const struct attach_output *output);

#endif
