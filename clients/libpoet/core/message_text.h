/* Encoding of texts into messages. */
#ifndef CLIENTS_LIBPOET_CORE_MESSAGE_TEXT_H
#define CLIENTS_LIBPOET_CORE_MESSAGE_TEXT_H

#include "wire/program_messages.h"

#include <stddef.h>

#pragma GCC visibility push(hidden)

struct traced_thread;

/* Returns the size without an incomplete UTF-8 character at the end. */
size_t message_text_trim(const char *text, size_t size);
/* Returns the size of a string, truncated to what is kept. */
size_t message_text_size(const char *text, size_t most);
/* Writes a string, truncated to what is kept; NULL is "". */
struct text_view message_text_limit(const char *text, size_t most);
#define NAME_BYTES 255u /* of kinds and descriptions */
/* Returns a buffer for a message of so many bytes: `small`, or the thread's scratch. Must be called
 * while busy, until the message is sent. The encoder has failed if the message does not fit. */
struct encoder message_text_buffer(struct traced_thread *thread, void *small, size_t small_bytes,
                                   size_t needed);

#pragma GCC visibility pop
#endif
