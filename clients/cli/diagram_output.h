/* Diagram output: its scene, which `poet show` prints and `poet export` draws, and its files:
 * text, a web page, or paper. If there are too many events to draw each, a file shows how each
 * line spent the run. The functions that write return an exit status, after reporting errors. */
#ifndef CLIENTS_CLI_DIAGRAM_OUTPUT_H
#define CLIENTS_CLI_DIAGRAM_OUTPUT_H

#include "clients/cli/diagram.h"
#include "clients/cli/output_format.h"
#include "render/scene_paint.h"

#include <stdio.h>

/* ---- the scene ---- */

/* Returns the scene of the requested window, to be freed by scene_free(). measured: for paper, with
 * real text widths; else for a terminal. legend_width_pt: maximum width of the legend, 0: that of
 * the drawing. */
struct scene *diagram_scene_options(const struct event_diagram *picture,
                                    const struct trace_metadata *book, bool measured,
                                    double legend_width_pt);
/* With --all, extends the window to the whole run. Returns false after reporting an error. */
bool diagram_scene_all(const struct command *command, struct event_diagram *picture,
                       struct command_source *subject);
/* Prints below a text diagram which lines have no row, if any. */
void diagram_scene_note(const struct event_diagram *picture, FILE *f);

/* ---- files ---- */

/* Returns the format that the suffix of a file's name selects: text, PDF, SVG, PNG or HTML. */
enum output_format diagram_output_format(const char *file);

int diagram_output_write_text(const struct command *command, struct event_diagram *picture,
                              struct command_source *subject, const char *file);
/* Writes a web page. report: text above the diagram, or NULL; source: include the source lines
 * around call sites. Fails if there are more events than a page holds. */
int diagram_output_add_page(const struct command *command, struct event_diagram *picture,
                            struct command_source *subject, const char *report, bool source,
                            const char *file);

/* The choice whether a diagram is cut into bands below each other: WRAP_WHERE_SMALL: if it is
 * too wide for readable text. */
enum wrap { WRAP_WHERE_SMALL, WRAP, WRAP_NOT };
/* Writes PDF, SVG or PNG, as in page->format. */
int diagram_output_write(const struct command *command, struct event_diagram *picture,
                         struct command_source *subject, struct document_options *page,
                         enum wrap wrap, const char *file);

/* The note of a diagram: what it lacks of the run. */

#define DIAGRAM_NOTE_BYTES 400

/* Formats one line about discarded events and about lines without a row, with the reason, into
 * `text`, or "" if there are none. */
void diagram_note_write(const struct event_diagram *picture, char *text, size_t size);

#endif
