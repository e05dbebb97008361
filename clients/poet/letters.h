/* How large the letters of a picture come out, and what is done where they would be too small. */
#ifndef CLIENTS_POET_LETTERS_H
#define CLIENTS_POET_LETTERS_H

#include "clients/poet/command.h"
#include "render/page.h"

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
