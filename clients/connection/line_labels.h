/* Names that people recognise: what the program said, else the function a thread runs, else the
 * symbol an object lies in, else its address.  Lines of one name are numbered where the description
 * asks for it (w, w#2), and the label is the name alone; of several programs of a run it has their
 * names: w (client), w (server).  What has no name is called as its kind is. */
#ifndef CLIENTS_CONNECTION_LINE_LABELS_H
#define CLIENTS_CONNECTION_LINE_LABELS_H

#include "clients/symbols/symbolizer.h"
#include "clients/metadata/trace_metadata.h"

enum labels { LABELS_NAME, LABELS_ID, LABELS_ADDRESS };

/* Tells `sites` the programs that it does not know yet and sets the labels of all lines
 * without one.  *known: programs told so far, starts at 0. */
void line_labels_assign(struct trace_metadata *book, struct symbolizer *sites, uint32_t *known,
                        enum labels how);
/* All labels anew. */
void line_labels_reassign(struct trace_metadata *book, struct symbolizer *sites, uint32_t *known,
                          enum labels how);
/* The name alone, without a number; never NULL.  Valid until the next call. */
const char *line_label_text(const struct trace_metadata *book, struct symbolizer *sites,
                            uint32_t line);
/* Whether a pattern (fnmatch) is the label of a line, or its name, with or without the letter. */
bool line_label_matches(const struct trace_metadata *book, struct symbolizer *sites, uint32_t line,
                        const char *pattern);

#endif
