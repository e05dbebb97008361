/* A picture as a file: text, a web page, or paper.  Each returns an exit status, with a complaint if it is not good. */
#ifndef CLIENTS_POET_OUTPUT_H
#define CLIENTS_POET_OUTPUT_H

#include "clients/poet/letters.h"
#include "clients/poet/picture.h"

enum output_kind { OUTPUT_PDF, OUTPUT_SVG, OUTPUT_PNG, OUTPUT_TXT, OUTPUT_HTML, OUTPUT_NONE };
enum output_kind output_kind(const char *file); /* by how its name ends */
bool output_can_hold(const char *file); /* a picture that is no web page */

int output_text(const struct command *command, struct picture *picture, struct subject *subject,
                const char *file);
/* source: the lines around call sites, too.  Of more events than a page holds there is none. */
int output_page(const struct command *command, struct picture *picture, struct subject *subject,
                bool source, const char *file);
/* Text or paper, as the file's name ends; not a web page. */
int output_file(const struct command *command, struct picture *picture, struct subject *subject,
                struct page_options *page, enum wrap wrap, const char *file);

#endif
