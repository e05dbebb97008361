/* How large the letters of a picture come out, and what is done where they would be too small. */
#ifndef CLIENTS_CLI_TEXT_SIZE_H
#define CLIENTS_CLI_TEXT_SIZE_H

#include "clients/cli/command.h"
#include "render/document.h"

enum wrap { WRAP_WHERE_SMALL, WRAP, WRAP_NOT };

/* Whether the picture is cut into bands, and how wide those are. */
void text_size_choose_wrap(const struct scene *scene, struct document_options *page,
                           enum wrap wrap);
/* How wide a legend may be, in points of the scene; 0: as the drawing. */
double text_size_legend_pt(const struct document_options *page);
/* Warns of letters that cannot be read, and says what would help. */
void text_size_warn(const struct command *command, const struct scene *scene,
                    const struct document_options *page);

#endif
