#include "wire/input.h"

#include <string.h>

const char *input_name(unsigned call)
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

uint64_t input_asked_at(uint64_t length, uint64_t at)
{
    return at << 32 | (length < UINT32_MAX ? length : UINT32_MAX);
}

uint64_t input_length(const struct input *input)
{
    return input->call == INPUT_PREAD ? input->asked & UINT32_MAX : input->asked;
}

void put_input_front(struct out *out, const struct input_front *front)
{
    put_u32(out, front->name_size);
    put_u32(out, front->name_bytes);
    put_u32(out, front->control_bytes);
    put_u32(out, front->flags);
}

bool get_input_front(struct in *in, struct input_front *front)
{
    front->name_size = get_u32(in);
    front->name_bytes = get_u32(in);
    front->control_bytes = get_u32(in);
    front->flags = get_u32(in);
    return in_done(in);
}

void put_input(struct out *out, const struct input *input)
{
    put_u8(out, input->call);
    put_u8(out, input->flags);
    put_u32(out, input->error);
    put_u64(out, (uint64_t)input->result);
    put_u64(out, input->asked);
    put_u32(out, input->size);
    put_bytes(out, input->bytes, input->size);
}

bool get_input(struct in *in, struct input *input)
{
    *input = (struct input){.call = get_u8(in), .flags = get_u8(in), .error = get_u32(in)};
    input->result = (int64_t)get_u64(in);
    input->asked = get_u64(in);
    input->size = get_u32(in);
    if (input->size > INPUT_PIECE_BYTES)
        in_fail(in, "more than a piece of input");
    input->bytes = get_bytes(in, input->size);
    bool is_call = !(input->flags & (INPUT_CUT | INPUT_PASSED | INPUT_STREAMS));
    if (is_call && (!input->call || input->call >= INPUT_CALL_COUNT))
        in_fail(in, "input of a call that is not known");
    bool has_bytes = is_call && !(input->flags & INPUT_OWN);
    if (input->flags & ~(INPUT_MORE | INPUT_CUT | INPUT_PASSED | INPUT_OWN | INPUT_STREAMS) ||
        (!has_bytes && input->size))
        in_fail(in, "input that cannot be");
    return in_done(in);
}

/* ---- the file ---- */

static const struct input_line *line_of(const struct input_head *head, uint32_t line)
{
    const struct input_line *all = (const void *)(head + 1);
    return &all[line <= head->line_count ? line : 0];
}

const char *input_look(const struct input_head *head, uint64_t bytes)
{
    if (bytes < sizeof *head || head->magic != INPUT_MAGIC || head->bytes != bytes)
        return "no recorded input";
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

bool input_next(const struct input_head *head, uint32_t line, uint64_t *at, struct input *input)
{
    const struct input_line *is = line_of(head, line);
    uint32_t size;
    if (*at > is->bytes || is->bytes - *at < sizeof size)
        return false;
    const uint8_t *from = (const uint8_t *)head + head->data_at + is->first + *at;
    struct in in = in_from(from, sizeof size);
    size = get_u32(&in);
    if (size > is->bytes - *at - sizeof size)
        return false;
    in = in_from(from + sizeof size, size);
    if (!get_input(&in, input))
        return false;
    *at += sizeof size + size;
    return true;
}
