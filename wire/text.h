/* Sanitizing of untrusted text for storage and display: the result is UTF-8 without terminal
 * control sequences.
 *
 * Bytes that are not UTF-8 become U+FFFD, the replacement character; control characters become
 * their pictures (U+2400 and on, as in "␛[31m"); C1 controls and those that change the writing
 * direction become U+FFFD. The operation is idempotent. File names are not text: they stay bytes,
 * and are sanitized for display. */
#ifndef WIRE_TEXT_H
#define WIRE_TEXT_H

#include "wire/message.h"

#include <stdio.h>

/* Returns sanitized text, up to the first NUL or `size` bytes, which the caller frees; NULL if
 * memory runs out. lines: keep newlines and tabs. */
char *text_readable(const char *bytes, size_t size, bool lines);

/* Sanitizes in place, at the same length: invalid characters become '?'. */
void text_mask(char *s);

/* Returns the largest number of bytes, up to `most`, that are whole characters. */
size_t text_cut(const char *s, size_t most);

/* Prints a text on one line: a newline as \n, a tab as \t. */
void text_print(FILE *f, const char *s);

struct text_view; /* program_messages.h */
/* Return a copy of a text; NULL only if memory runs out. */
char *text_copy(struct text_view text); /* unchanged, up to a NUL: not for display */
char *text_name(struct text_view text); /* single line */
char *text_note(struct text_view text); /* may have several lines */

/* Decode a string and sanitize it: a name has one line, a note may have several. */
char *decode_name(struct decoder *in, size_t limit);
char *decode_note(struct decoder *in, size_t limit);

#endif
