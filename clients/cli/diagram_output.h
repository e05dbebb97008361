/* A picture as a file: text, a web page, or paper.  Each returns an exit status, with a complaint
 * if it is not good. */
#ifndef CLIENTS_CLI_DIAGRAM_OUTPUT_H
#define CLIENTS_CLI_DIAGRAM_OUTPUT_H

#include "clients/cli/text_size.h"
#include "clients/cli/diagram.h"

int diagram_output_write_text(const struct command *command, struct event_diagram *picture,
                              struct command_source *subject, const char *file);
/* source: the lines around call sites, too.  Of more events than a page holds there is none. */
int diagram_output_add_page(const struct command *command, struct event_diagram *picture,
                            struct command_source *subject, bool source, const char *file);
/* PDF, SVG or PNG, as page->format says. */
int diagram_output_write(const struct command *command, struct event_diagram *picture,
                         struct command_source *subject, struct document_options *page,
                         enum wrap wrap, const char *file);

#endif
