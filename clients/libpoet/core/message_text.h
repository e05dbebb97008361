/* Texts on their way into messages. */
#ifndef CLIENTS_LIBPOET_CORE_MESSAGE_TEXT_H
#define CLIENTS_LIBPOET_CORE_MESSAGE_TEXT_H

#include "wire/program_messages.h"

#include <stddef.h>

#pragma GCC visibility push(hidden)

struct traced_thread;

/* The size without a character that is not whole at its end. */
size_t message_text_trim(const char *text, size_t size);
size_t message_text_size(const char *text, size_t most); /* of a string as far as it is kept */
struct text_view message_text_limit(const char *text,
                                    size_t most); /* the same, to be told; NULL is "" */
#define NAME_BYTES 255u /* of kinds and descriptions */
/* Where a message of so many bytes is put together: in `small`, or in the thread's scratch.  Call
 * while busy until it is told.  It has failed if it does not fit. */
struct encoder message_text_buffer(struct traced_thread *thread, void *small, size_t small_bytes,
                                   size_t needed);

#pragma GCC visibility pop
#endif
