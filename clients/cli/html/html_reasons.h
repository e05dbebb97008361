/* Reasons why events of a web page may be ordered although no traced synchronization orders them:
 * their texts, and which of them apply to which events. */
#ifndef CLIENTS_CLI_HTML_HTML_REASONS_H
#define CLIENTS_CLI_HTML_HTML_REASONS_H

#include "clients/cli/command.h"
#include "clients/cli/html/html_scene.h"

#include <stdbool.h>

/* Requests and writes them. Returns false after reporting an error. */
bool html_reasons_write(const struct command *command, struct html_scene *w);

#endif
