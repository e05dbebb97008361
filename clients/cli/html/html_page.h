/* Export of a diagram as one interactive web page: it shows which events happened before an event,
 * after it, concurrently with it, and why. */
#ifndef CLIENTS_CLI_HTML_HTML_PAGE_H
#define CLIENTS_CLI_HTML_HTML_PAGE_H

#include "clients/cli/html/html_data.h"

#define WEBPAGE_EVENTS 25000u /* maximum */

/* Writes the file, first under a temporary name. The page loads nothing, and its content security
 * policy forbids loading. Returns false after reporting an error. */
bool html_page_write(const struct command *command, const struct html_data *data, const char *file);

#endif
