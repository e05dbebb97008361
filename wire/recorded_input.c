#include "wire/recorded_input.h"

#include <string.h>

const char *recorded_input_name(unsigned call)
{
    switch (call) {
#define C(number, name, word)                                                                      \
    case number:                                                                                   \
        return word;
        INPUT_CALLS(C)
#undef C
    default:
        return "another call";
    }
}

uint64_t recorded_input_asked_at(uint64_t length, uint64_t at)
{
    return at << 32 | (length < UINT32_MAX ? length : UINT32_MAX);
}

uint64_t recorded_input_length(const struct input *input)
{
    return input->call == INPUT_PREAD ? input->asked & UINT32_MAX : input->asked;
}

void encode_input_front(struct encoder *out, const struct input_front *front)
{
    encode_u32(out, front->name_size);
    encode_u32(out, front->name_bytes);
    encode_u32(out, front->control_bytes);
    encode_u32(out, front->flags);
}

bool decode_input_front(struct decoder *in, struct input_front *front)
{
    front->name_size = decode_u32(in);
    front->name_bytes = decode_u32(in);
    front->control_bytes = decode_u32(in);
    front->flags = decode_u32(in);
    return decoder_finish(in);
}

void encode_input(struct encoder *out, const struct input *input)
{
    encode_u8(out, input->call);
    encode_u8(out, input->flags);
    encode_u32(out, input->error);
    encode_u64(out, (uint64_t)input->result);
    encode_u64(out, input->asked);
    encode_u32(out, input->size);
    encode_bytes(out, input->bytes, input->size);
}

bool decode_input(struct decoder *in, struct input *input)
{
    *input = (struct input){.call = decode_u8(in), .flags = decode_u8(in), .error = decode_u32(in)};
    input->result = (int64_t)decode_u64(in);
    input->asked = decode_u64(in);
    input->size = decode_u32(in);
    if (input->size > INPUT_PIECE_BYTES)
        decoder_fail(in, "trailing bytes after recorded input");
    input->bytes = decode_bytes(in, input->size);
    bool is_call = !(input->flags & (INPUT_CUT | INPUT_PASSED | INPUT_STREAMS));
    if (is_call && (!input->call || input->call >= INPUT_CALL_COUNT))
        decoder_fail(in, "recorded input of an unknown call");
    bool has_bytes = is_call && !(input->flags & INPUT_OWN);
    if (input->flags & ~(INPUT_MORE | INPUT_CUT | INPUT_PASSED | INPUT_OWN | INPUT_STREAMS) ||
        (!has_bytes && input->size))
        decoder_fail(in, "invalid recorded input");
    return decoder_finish(in);
}

/* ---- the file ---- */

static const struct input_line *line_of(const struct input_head *head, uint32_t line)
{
    const struct input_line *all = (const void *)(head + 1);
    return &all[line <= head->line_count ? line : 0];
}

const char *recorded_input_check(const struct input_head *head, uint64_t bytes)
{
    if (bytes < sizeof *head || head->magic != INPUT_MAGIC || head->bytes != bytes)
        return "not a recorded-input file";
    uint64_t places = (head->line_count + 1ull) * sizeof(struct input_line);
    if (places > bytes - sizeof *head || head->data_at < sizeof *head + places ||
        head->data_at > bytes)
        return "damaged";
    for (uint32_t i = 0; i <= head->line_count; i++) {
        const struct input_line *line = line_of(head, i);
        if (line->first > bytes - head->data_at ||
            line->bytes > bytes - head->data_at - line->first)
            return "damaged";
    }
    return NULL;
}

bool recorded_input_next(const struct input_head *head, uint32_t line, uint64_t *at,
                         struct input *input)
{
    const struct input_line *entry = line_of(head, line);
    uint32_t size;
    if (*at > entry->bytes || entry->bytes - *at < sizeof size)
        return false;
    const uint8_t *from = (const uint8_t *)head + head->data_at + entry->first + *at;
    struct decoder in = decoder_init(from, sizeof size);
    size = decode_u32(&in);
    if (size > entry->bytes - *at - sizeof size)
        return false;
    in = decoder_init(from + sizeof size, size);
    if (!decode_input(&in, input))
        return false;
    *at += sizeof size + size;
    return true;
}
