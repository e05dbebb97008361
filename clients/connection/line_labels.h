/* Labels of lines: the name given by the program, else the function that a thread runs, else the
 * symbol that contains an object, else the argument of the call that created it ("a->lock") or the
 * place of that call, else its address. Lines of one name are numbered if the
 * description requests it (w, w#2); otherwise the label is the name alone. With several programs in
 * a run, labels have their names: w (client), w (server). A line without any name is labeled with
 * its kind. */
#ifndef CLIENTS_CONNECTION_LINE_LABELS_H
#define CLIENTS_CONNECTION_LINE_LABELS_H

#include "clients/symbols/symbolizer.h"
#include "clients/metadata/trace_metadata.h"

enum labels { LABELS_NAME, LABELS_ID, LABELS_ADDRESS };

/* Passes new programs to `sites` and sets the labels of all lines without one. *known: number of
 * programs passed so far, initially 0. */
void line_labels_assign(struct trace_metadata *book, struct symbolizer *sites, uint32_t *known,
                        enum labels how);
/* Sets all labels again. */
void line_labels_reassign(struct trace_metadata *book, struct symbolizer *sites, uint32_t *known,
                          enum labels how);
/* Returns the name alone, without a number; never NULL. Valid until the next call. */
const char *line_label_text(const struct trace_metadata *book, struct symbolizer *sites,
                            uint32_t line);
/* Returns whether a pattern (fnmatch) matches the label of a line, or its name, with or without the
 * letter. */
bool line_label_matches(const struct trace_metadata *book, struct symbolizer *sites, uint32_t line,
                        const char *pattern);

#endif
