/* Text from outside, made fit to be kept and shown: it is UTF-8, and nothing in it commands a
 * terminal.
 *
 * Bytes that are no UTF-8 become U+FFFD, the replacement character; control characters become their
 * pictures (U+2400 and on, as in "␛[31m"), those of C1 and those that turn the direction of writing
 * U+FFFD.  Text that is fit already stays as it is, so doing it twice changes nothing.  File names
 * are no text: they stay bytes, and are made readable where they are shown.
 */
#ifndef WIRE_TEXT_H
#define WIRE_TEXT_H

#include "wire/message.h"

#include <stdio.h>

/* New memory, for the caller to free; NULL: there is none.  It ends at the first 0, or after `size`
 * bytes.  lines: newlines and tabs may stay. */
char *text_readable(const char *bytes, size_t size, bool lines);

/* The same in place and at the same length: what is not fit becomes '?'. */
void text_mask(char *s);

/* How many of the first `most` bytes are whole characters. */
size_t text_cut(const char *s, size_t most);

/* Prints a text on one line: a newline as \n, a tab as \t. */
void text_print(FILE *f, const char *s);

struct text_view; /* told.h */
/* One that was told, as new memory; never NULL unless there is none. */
char *text_copy(struct text_view text); /* as it is, up to a NUL: for what is not shown */
char *text_name(struct text_view text); /* has one line */
char *text_note(struct text_view text); /* may have several */

/* As decode_string, then readable: a name has one line, a note may have several. */
char *decode_name(struct decoder *in, size_t limit);
char *decode_note(struct decoder *in, size_t limit);

#endif
