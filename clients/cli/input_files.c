#include "clients/cli/input_files.h"

#include "base/alloc.h"
#include "wire/request.h"
#include "wire/recorded_input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MOST LIMIT_LINES

static void input_files_append_bytes(struct input_files *inputs, uint32_t line,
                                     const uint8_t *bytes, uint32_t size)
{
    if (line >= LINES_MOST || size > LIMIT_INPUT_BYTES - inputs->bytes) {
        inputs->wrong = true;
        return;
    }
    inputs->lines =
        array_reserve_zeroed(inputs->lines, &inputs->line_room, line + 1u, sizeof *inputs->lines);
    struct input_files_line *l = &inputs->lines[line];
    l->bytes = array_reserve(l->bytes, &l->room, l->size + size, 1);
    memcpy(l->bytes + l->size, bytes, size);
    l->size += size;
    inputs->bytes += size;
}

static void input_files_receive_chunk(void *user, const struct response_chunk *answer)
{
    struct input_files *inputs = user;
    struct decoder *in = answer->in;
    if (answer->part != RESPONSE_INPUT)
        return;
    uint32_t line = decode_u32(in);
    uint64_t calls = decode_u64(in), passed = decode_u64(in);
    bool first = decode_u8(in) & 1;
    uint8_t without = decode_u8(in);
    uint32_t size = decode_u32(in);
    const uint8_t *bytes = decode_bytes(in, size);
    if (!decoder_finish(in))
        return;
    inputs->calls += calls;
    inputs->passed += passed;
    inputs->cut += first && without & 1;
    inputs->streams |= (without & 2) != 0;
    if (size && line)
        input_files_append_bytes(inputs, line, bytes, size);
}

bool input_files_request(const struct command *command, struct command_source *subject, bool whole,
                         struct input_files *inputs)
{
    struct encoder body = {0};
    encode_u8(&body, whole);
    return command_source_request(command, subject, REQUEST_INPUT, &body, input_files_receive_chunk,
                                  inputs);
}

static bool write_all(const struct input_files *inputs, FILE *f)
{
    uint32_t count = inputs->line_room ? (uint32_t)inputs->line_room : 1;
    struct input_head head = {.magic = INPUT_MAGIC, .line_count = count - 1};
    head.data_at = sizeof head + count * sizeof(struct input_line);
    head.bytes = head.data_at + inputs->bytes;
    bool good = fwrite(&head, sizeof head, 1, f) == 1;
    struct input_line place = {0};
    for (uint32_t i = 0; good && i < count; i++) {
        place = (struct input_line){place.first + place.bytes,
                                    inputs->line_room ? inputs->lines[i].size : 0};
        good = fwrite(&place, sizeof place, 1, f) == 1;
    }
    for (uint32_t i = 0; good && i < inputs->line_room; i++)
        good = !inputs->lines[i].size ||
               fwrite(inputs->lines[i].bytes, inputs->lines[i].size, 1, f) == 1;
    return good;
}

bool input_files_write(const struct command *command, const struct input_files *inputs,
                       const char *path)
{
    FILE *f = inputs->wrong ? NULL : fopen(path, "we");
    bool good = f && write_all(inputs, f);
    good = f && fclose(f) == 0 && good;
    if (!good)
        command_fail(command, "%s: %s", path, inputs->wrong ? "input too large" : strerror(errno));
    return good;
}

void input_files_free(struct input_files *inputs)
{
    for (size_t i = 0; i < inputs->line_room; i++)
        free(inputs->lines[i].bytes);
    free(inputs->lines);
    *inputs = (struct input_files){0};
}
