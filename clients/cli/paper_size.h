/* Paper size of a diagram: as requested, or a default. */
#ifndef CLIENTS_CLI_PAPER_SIZE_H
#define CLIENTS_CLI_PAPER_SIZE_H

#include "clients/cli/diagram.h"
#include "render/document.h"

#define PAPER_COLUMNS 400u /* more columns take several pages, if the layout was not specified */
/* Advice if there is too much. */
#define PAPER_CHOOSE                                                                               \
    "select a range with --last 200, --from EVENT --to EVENT, --around EVENT or --lines LIST"

/* Parses "a4" or "297x210mm"; returns false if it is invalid. */
bool paper_size_by_name(const char *name, struct document_options *page);
/* Parses "84mm", "17cm" or "5in" to points; returns false if a page cannot have this width. */
bool paper_size_width(const char *text, double *points);
/* Sets A4 portrait, for tables. */
void paper_size_is_portrait(struct document_options *page);
/* Sets the default for several pages of unspecified size. */
void paper_size_default(struct document_options *page);
/* Sets it if one page is not sufficient. Returns false after reporting an error: there is more than
 * is drawn without an explicit request. */
bool paper_size_choose(const struct command *command, const struct event_diagram *picture,
                       const struct scene *scene, struct document_options *page);

#endif
