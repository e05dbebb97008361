/* Why an order may be there that is not told, for a web page: the words of the reasons, and which
 * of them each event has. */
#ifndef CLIENTS_CLI_HTML_HTML_REASONS_H
#define CLIENTS_CLI_HTML_HTML_REASONS_H

#include "clients/cli/command.h"
#include "clients/cli/html/html_scene.h"

#include <stdbool.h>

bool html_reasons_write(const struct command *command, struct html_scene *w);

#endif
