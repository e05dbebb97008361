/* Readable text size of a diagram in a file: wrapping or a warning if text would be too small. */
#ifndef CLIENTS_CLI_TEXT_SIZE_H
#define CLIENTS_CLI_TEXT_SIZE_H

#include "clients/cli/command.h"
#include "render/document.h"

enum wrap { WRAP_WHERE_SMALL, WRAP, WRAP_NOT };

/* Chooses whether the diagram is cut into bands, and their width. */
void text_size_choose_wrap(const struct scene *scene, struct document_options *page,
                           enum wrap wrap);
/* Returns the maximum width of a legend, in points of the scene; 0: that of the drawing. */
double text_size_legend_pt(const struct document_options *page);
/* Warns of unreadable text, with advice. */
void text_size_warn(const struct command *command, const struct scene *scene,
                    const struct document_options *page);

#endif
