/* Diagram output to a file: text, a web page, or paper. Each function returns an exit status, after
 * reporting errors. */
#ifndef CLIENTS_CLI_DIAGRAM_OUTPUT_H
#define CLIENTS_CLI_DIAGRAM_OUTPUT_H

#include "clients/cli/text_size.h"
#include "clients/cli/diagram.h"

enum diagram_format {
    DIAGRAM_PDF,
    DIAGRAM_SVG,
    DIAGRAM_PNG,
    DIAGRAM_TEXT,
    DIAGRAM_HTML,
    DIAGRAM_NO_FORMAT
};

/* Returns the format that the suffix of a file's name selects. */
enum diagram_format diagram_output_format(const char *file);

int diagram_output_write_text(const struct command *command, struct event_diagram *picture,
                              struct command_source *subject, const char *file);
/* report: text above the diagram, or NULL; source: include the source lines around call sites.
 * Fails if there are more events than a page holds. */
int diagram_output_add_page(const struct command *command, struct event_diagram *picture,
                            struct command_source *subject, const char *report, bool source,
                            const char *file);
/* PDF, SVG or PNG, as in page->format. */
int diagram_output_write(const struct command *command, struct event_diagram *picture,
                         struct command_source *subject, struct document_options *page,
                         enum wrap wrap, const char *file);

#endif
