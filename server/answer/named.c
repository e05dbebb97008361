#include "server/answer/named.h"

#include "memory/memory.h"
#include "server/answer/line.h"
#include "server/answer/question.h"

#include <stdlib.h>
#include <string.h>

static struct {
    bool noting;
    uint32_t *lines;
    size_t count, room;
} named; /* in the answer that is put together now */

bool named_only(const struct run *run, const struct known *known)
{
    return known->named && order_lines(run->order) > LIMIT_LINES_TOLD;
}

bool named_told(const struct known *known, uint32_t line)
{
    return line <= known->lines ||
           (line / 8 < known->told_room && known->told[line / 8] >> line % 8 & 1);
}

void named_count(struct out *out, const struct run *run, struct known *known)
{
    uint32_t lines = order_lines(run->order);
    if (known->lines_are == lines)
        return;
    known->lines_are = lines;
    out_begin(out, MESSAGE_LINES_ARE);
    put_u32(out, lines);
    out_end(out);
}

void named_begin(const struct run *run, const struct known *known)
{
    named.count = 0;
    named.noting = named_only(run, known);
}

void named_note(uint32_t line)
{
    if (!named.noting || !line || line & HIDDEN_LINE)
        return;
    if (named.count && named.lines[named.count - 1] == line)
        return;
    named.lines = grow(named.lines, &named.room, named.count + 1, sizeof *named.lines);
    named.lines[named.count++] = line;
}

static void tell(struct out *out, const struct run *run, struct known *known, uint32_t line)
{
    if (!line || line & HIDDEN_LINE || line > order_lines(run->order) || named_told(known, line))
        return;
    known->told = grow_zeroed(known->told, &known->told_room, line / 8 + 1, 1);
    known->told[line / 8] |= (uint8_t)(1u << line % 8);
    tell_line(out, run, line);
}

/* Puts what is in `first` before the bytes from `at` on. */
static void put_before(struct out *out, size_t at, struct out *first)
{
    size_t size = out->size - at;
    put_bytes(out, first->data, first->size);
    out->failed |= first->failed;
    if (out->failed)
        return;
    memmove(out->data + at + first->size, out->data + at, size);
    memcpy(out->data + at, first->data, first->size);
}

void named_end(struct out *out, size_t answer, const struct run *run, struct known *known)
{
    struct out names = {0};
    for (size_t i = 0; named.noting && i < named.count; i++) {
        uint32_t line = named.lines[i];
        tell(&names, run, known, line);
        if (line <= order_lines(run->order)) /* its facts name another */
            tell(&names, run, known, order_line_opened_by(run->order, line).line);
    }
    if (names.size)
        put_before(out, answer, &names);
    out_free(&names);
    named.noting = false;
    named.count = 0;
}

/* ---- asking for lines by their numbers ---- */

static void answer_lines(const struct run *run, struct in *in, struct reply *reply)
{
    uint32_t count = get_count(in, 4);
    if (count > LIMIT_LINES_ASKED)
        in_fail(in, "asks for too many lines");
    for (; count && !in->error; count--)
        named_note(get_u32(in)); /* they come before the answer, which has no other part */
    in_done(in);
}

const struct question question_lines = {.at_once = answer_lines};

/* ---- the end ---- */

void named_forget(struct known *known)
{
    free(known->told);
    *known = (struct known){0};
}
