#include "server/tracefile/agent_positions.h"

#include "base/alloc.h"
#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

#define FLAG_ENDED 1u

void agent_position_encode(struct encoder *out, const struct agent_position_mark *mark)
{
    encode_bytes(out, mark->id, FORWARD_ID_BYTES);
    encode_u64(out, mark->next);
    encode_u64(out, mark->bytes);
    encode_u8(out, mark->ended ? FLAG_ENDED : 0);
    encode_u64(out, mark->message.next);
    encode_u64(out, (uint64_t)mark->message.stream_ns);
    encode_string(out, mark->run);
    encode_u32(out, mark->from);
    encode_u32(out, mark->count);
    for (uint32_t i = 0; i < mark->count; i++)
        encode_u32(out, mark->sessions[i]);
}

bool agent_position_decode(struct decoder *in, struct agent_position_mark *mark)
{
    *mark = (struct agent_position_mark){0};
    const uint8_t *id = decode_bytes(in, FORWARD_ID_BYTES);
    if (id)
        memcpy(mark->id, id, FORWARD_ID_BYTES);
    mark->next = decode_u64(in);
    mark->bytes = decode_u64(in);
    mark->ended = decode_u8(in) & FLAG_ENDED;
    mark->message.next = decode_u64(in);
    mark->message.stream_ns = (int64_t)decode_u64(in);
    mark->run = decode_string(in, LIMIT_TEXT_BYTES);
    mark->from = decode_u32(in);
    uint32_t count = decode_u32(in);
    if (in->error || count > decoder_remaining(in) / 4 || mark->from > LIMIT_LINES ||
        count > LIMIT_LINES - mark->from) {
        decoder_fail(in, "too many sessions");
        return false;
    }
    mark->sessions = xmalloc(((size_t)count + 1) * sizeof *mark->sessions);
    for (; mark->count < count; mark->count++)
        mark->sessions[mark->count] = decode_u32(in);
    return decoder_finish(in);
}

void agent_position_mark_free(struct agent_position_mark *mark)
{
    free(mark->run);
    free(mark->sessions);
}

/* ---- resulting positions ---- */

static struct agent_position *agent_position_get(struct agent_positions *list,
                                                 const struct agent_position_mark *mark)
{
    for (size_t i = 0; i < list->count; i++)
        if (memcmp(list->items[i].id, mark->id, FORWARD_ID_BYTES) == 0)
            return &list->items[i];
    list->items = array_reserve(list->items, &list->room, list->count + 1, sizeof *list->items);
    struct agent_position *reached = &list->items[list->count++];
    *reached = (struct agent_position){.run = xstrdup(mark->run)};
    memcpy(reached->id, mark->id, FORWARD_ID_BYTES);
    return reached;
}

static bool agent_position_apply_mark(struct agent_positions *list,
                                      const struct agent_position_mark *mark)
{
    struct agent_position *reached = agent_position_get(list, mark);
    if (mark->from > reached->count || mark->next < reached->next)
        return false;
    size_t end = (size_t)mark->from + mark->count;
    reached->sessions =
        array_reserve(reached->sessions, &reached->room, end + 1, sizeof *reached->sessions);
    for (uint32_t i = 0; i < mark->count; i++)
        reached->sessions[mark->from + i] = mark->sessions[i];
    reached->count = end > reached->count ? end : reached->count;
    reached->next = mark->next;
    reached->ended = mark->ended;
    if (mark->message.next)
        reached->message = mark->message;
    reached->unsaved = true;
    return true;
}

bool agent_position_apply(struct agent_positions *list, const uint8_t *data, size_t size)
{
    struct decoder in = decoder_init(data, size);
    struct agent_position_mark mark;
    bool good = agent_position_decode(&in, &mark) && agent_position_apply_mark(list, &mark);
    agent_position_mark_free(&mark);
    return good;
}

void agent_position_note_hangup(struct agent_positions *list, uint32_t session)
{
    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < list->items[i].count; k++)
            if (list->items[i].sessions[k] == session) {
                list->items[i].sessions[k] = AGENT_POSITION_NONE;
                list->items[i].unsaved = true;
            }
}

struct agent_positions agent_positions_copy(const struct agent_positions *list)
{
    struct agent_positions copy = {0};
    copy.items = array_reserve(NULL, &copy.room, list->count + 1, sizeof *copy.items);
    for (; copy.count < list->count; copy.count++) {
        struct agent_position *to = &copy.items[copy.count];
        *to = list->items[copy.count];
        to->run = xstrdup(to->run);
        to->room = 0;
        to->sessions = array_reserve(NULL, &to->room, to->count + 1, sizeof *to->sessions);
        if (to->count)
            memcpy(to->sessions, list->items[copy.count].sessions,
                   to->count * sizeof *to->sessions);
    }
    return copy;
}

void agent_positions_free(struct agent_positions *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].run);
        free(list->items[i].sessions);
    }
    free(list->items);
    *list = (struct agent_positions){0};
}

void agent_positions_save(struct agent_positions *list,
                          void (*save)(void *context, const struct encoder *body), void *context)
{
    for (size_t i = 0; i < list->count; i++) {
        struct agent_position *reached = &list->items[i];
        struct encoder body = {0};
        if (!reached->unsaved)
            continue;
        agent_position_encode(&body,
                              &(struct agent_position_mark){.next = reached->next,
                                                            .message = reached->message,
                                                            .ended = reached->ended,
                                                            .run = reached->run,
                                                            .sessions = reached->sessions,
                                                            .count = (uint32_t)reached->count});
        memcpy(body.data, reached->id, FORWARD_ID_BYTES);
        save(context, &body);
        encoder_free(&body);
        reached->unsaved = false;
    }
}
