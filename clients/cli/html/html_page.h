/* A picture as one web page that answers: which events are before one, after it, concurrent with
 * it, and why. */
#ifndef CLIENTS_CLI_HTML_HTML_PAGE_H
#define CLIENTS_CLI_HTML_HTML_PAGE_H

#include "clients/cli/html/html_data.h"

#define WEBPAGE_EVENTS 20000u /* at most */

/* Writes the file, under another name first.  The page fetches nothing, and its browser is told to
 * let it.  False with a complaint. */
bool html_page_write(const struct command *command, const struct html_data *data, const char *file);

#endif
