#include "clients/poet/inputs.h"

#include "memory/memory.h"
#include "wire/ask.h"
#include "wire/input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MOST LIMIT_LINES

static void add(struct inputs *inputs, uint32_t line, const uint8_t *bytes, uint32_t size)
{
    if (line >= LINES_MOST || size > LIMIT_INPUT_BYTES - inputs->bytes) {
        inputs->wrong = true;
        return;
    }
    inputs->lines =
        grow_zeroed(inputs->lines, &inputs->line_room, line + 1u, sizeof *inputs->lines);
    struct inputs_line *l = &inputs->lines[line];
    l->bytes = grow(l->bytes, &l->room, l->size + size, 1);
    memcpy(l->bytes + l->size, bytes, size);
    l->size += size;
    inputs->bytes += size;
}

static void take(void *user, const struct answer *answer)
{
    struct inputs *inputs = user;
    struct in *in = answer->in;
    if (answer->part != PART_INPUT)
        return;
    uint32_t line = get_u32(in);
    uint64_t calls = get_u64(in), passed = get_u64(in);
    bool first = get_u8(in) & 1;
    uint8_t without = get_u8(in);
    uint32_t size = get_u32(in);
    const uint8_t *bytes = get_bytes(in, size);
    if (!in_done(in))
        return;
    inputs->calls += calls;
    inputs->passed += passed;
    inputs->cut += first && without & 1;
    inputs->streams |= (without & 2) != 0;
    if (size && line)
        add(inputs, line, bytes, size);
}

bool inputs_ask(const struct command *command, struct subject *subject, bool whole,
                struct inputs *inputs)
{
    struct out body = {0};
    put_u8(&body, whole);
    return subject_ask(command, subject, ASK_INPUT, &body, take, inputs);
}

static bool write_all(const struct inputs *inputs, FILE *f)
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

bool inputs_write(const struct command *command, const struct inputs *inputs, const char *path)
{
    FILE *f = inputs->wrong ? NULL : fopen(path, "we");
    bool good = f && write_all(inputs, f);
    good = f && fclose(f) == 0 && good;
    if (!good)
        command_fail(command, "%s: %s", path,
                     inputs->wrong ? "more input than there can be" : strerror(errno));
    return good;
}

void inputs_free(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->line_room; i++)
        free(inputs->lines[i].bytes);
    free(inputs->lines);
    *inputs = (struct inputs){0};
}
