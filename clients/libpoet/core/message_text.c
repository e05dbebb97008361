/* Encoding of texts into messages: truncated to a size, but never within a character. */
#include "clients/libpoet/core/message_text.h"

#include "clients/libpoet/core/thread.h"
#include "wire/message.h"
#include "wire/program_messages.h"

#include <string.h>

/* Returns the size of the UTF-8 character that begins with this byte; 1 if it is not valid. */
static size_t message_text_character_bytes(unsigned char first)
{
    return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
}

size_t message_text_trim(const char *text, size_t size)
{
    for (size_t back = 1; back <= 3 && back <= size; back++) {
        unsigned char c = (unsigned char)text[size - back];
        if ((c & 0xc0) != 0x80)
            return message_text_character_bytes(c) > back ? size - back : size;
    }
    return size;
}

size_t message_text_size(const char *text, size_t most)
{
    size_t size = strnlen(text, most + 1);
    return size > most ? message_text_trim(text, most) : size;
}

struct text_view message_text_limit(const char *text, size_t most)
{
    return (struct text_view){text, text ? (uint32_t)message_text_size(text, most) : 0};
}

struct encoder message_text_buffer(struct traced_thread *t, void *small, size_t small_bytes,
                                   size_t needed)
{
    if (needed <= small_bytes)
        return (struct encoder){.data = small, .room = small_bytes};
    uint8_t *data = (uint8_t *)thread_scratch(t);
    return (struct encoder){
        .data = data, .room = data ? SCRATCH_BYTES : 0, .failed = !data || needed > SCRATCH_BYTES};
}
