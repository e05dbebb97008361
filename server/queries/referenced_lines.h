/* Lines referenced by responses.  For a run with more than LIMIT_LINES_SENT lines a viewer may
 * request to receive only these; each is sent before the first response that names it. */
#ifndef SERVER_QUERIES_REFERENCED_LINES_H
#define SERVER_QUERIES_REFERENCED_LINES_H

#include "server/queries/run_notifications.h"

/* Encodes a trace line as a message to a viewer. */
void referenced_line_encode(struct encoder *out, const struct run *run, uint32_t line);
/* Returns whether only referenced lines are sent, by now. */
bool referenced_lines_is_enabled(const struct run *run, const struct viewer_knowledge *known);
/* Returns whether the line was sent already. */
bool referenced_lines_is_sent(const struct viewer_knowledge *known, uint32_t line);
/* Sends the number of lines if it changed. */
void referenced_lines_send_count(struct encoder *out, const struct run *run,
                                 struct viewer_knowledge *known);

/* Between begin and end, lines that are noted are those named in the response that begins at byte
 * `answer` of `out`. */
void referenced_lines_begin(const struct run *run, const struct viewer_knowledge *known);
void referenced_lines_note(uint32_t line);
void referenced_lines_end(struct encoder *out, size_t answer, const struct run *run,
                          struct viewer_knowledge *known);
void referenced_lines_clear(struct viewer_knowledge *known); /* frees the record of sent lines */

#endif
