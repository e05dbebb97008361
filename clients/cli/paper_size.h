/* The paper that a picture goes on: what was asked for, and what is taken where nobody asked. */
#ifndef CLIENTS_CLI_PAPER_SIZE_H
#define CLIENTS_CLI_PAPER_SIZE_H

#include "clients/cli/diagram.h"
#include "render/document.h"

#define PAPER_COLUMNS 400u /* more go on several pages, if nobody said how they are to be drawn */
/* What to do where there is too much. */
#define PAPER_CHOOSE                                                                               \
    "select a range with --last 200, --from EVENT --to EVENT, --around EVENT or --lines LIST"

/* "a4", "297x210mm": false if it is none. */
bool paper_size_by_name(const char *name, struct document_options *page);
/* "84mm", "17cm", "5in" in points: false if it is none that a page can have. */
bool paper_size_width(const char *text, double *points);
/* A4, higher than wide: that of tables. */
void paper_size_is_portrait(struct document_options *page);
/* That of many pages of which nobody said how large they are. */
void paper_size_default(struct document_options *page);
/* Chooses it, if one page would not do.  False with a complaint: there is more than anybody wants
 * unasked. */
bool paper_size_choose(const struct command *command, const struct event_diagram *picture,
                       const struct scene *scene, struct document_options *page);

#endif
