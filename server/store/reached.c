#include "server/store/reached.h"

#include "memory/memory.h"
#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

#define FLAG_ENDED 1u

void put_reached(struct out *out, const struct reached_mark *mark)
{
    put_bytes(out, mark->id, FORWARD_ID_BYTES);
    put_u64(out, mark->next);
    put_u64(out, mark->bytes);
    put_u8(out, mark->ended ? FLAG_ENDED : 0);
    put_u64(out, mark->message.next);
    put_u64(out, (uint64_t)mark->message.stream_ns);
    put_string(out, mark->run);
    put_u32(out, mark->from);
    put_u32(out, mark->count);
    for (uint32_t i = 0; i < mark->count; i++)
        put_u32(out, mark->sessions[i]);
}

bool reached_get(struct in *in, struct reached_mark *mark)
{
    *mark = (struct reached_mark){0};
    const uint8_t *id = get_bytes(in, FORWARD_ID_BYTES);
    if (id)
        memcpy(mark->id, id, FORWARD_ID_BYTES);
    mark->next = get_u64(in);
    mark->bytes = get_u64(in);
    mark->ended = get_u8(in) & FLAG_ENDED;
    mark->message.next = get_u64(in);
    mark->message.stream_ns = (int64_t)get_u64(in);
    mark->run = get_string(in, LIMIT_TEXT_BYTES);
    mark->from = get_u32(in);
    uint32_t count = get_u32(in);
    if (in->error || count > in_left(in) / 4 || mark->from > LIMIT_LINES ||
        count > LIMIT_LINES - mark->from) {
        in_fail(in, "too many sessions");
        return false;
    }
    mark->sessions = memory_bytes(((size_t)count + 1) * sizeof *mark->sessions);
    for (; mark->count < count; mark->count++)
        mark->sessions[mark->count] = get_u32(in);
    return in_done(in);
}

void reached_mark_free(struct reached_mark *mark)
{
    free(mark->run);
    free(mark->sessions);
}

/* ---- what they come to ---- */

static struct reached *find(struct reached_list *list, const struct reached_mark *mark)
{
    for (size_t i = 0; i < list->count; i++)
        if (memcmp(list->items[i].id, mark->id, FORWARD_ID_BYTES) == 0)
            return &list->items[i];
    list->items = grow(list->items, &list->room, list->count + 1, sizeof *list->items);
    struct reached *reached = &list->items[list->count++];
    *reached = (struct reached){.run = memory_copied(mark->run)};
    memcpy(reached->id, mark->id, FORWARD_ID_BYTES);
    return reached;
}

static bool take(struct reached_list *list, const struct reached_mark *mark)
{
    struct reached *reached = find(list, mark);
    if (mark->from > reached->count || mark->next < reached->next)
        return false;
    size_t end = (size_t)mark->from + mark->count;
    reached->sessions = grow(reached->sessions, &reached->room, end + 1, sizeof *reached->sessions);
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

bool reached_take(struct reached_list *list, const uint8_t *data, size_t size)
{
    struct in in = in_from(data, size);
    struct reached_mark mark;
    bool good = reached_get(&in, &mark) && take(list, &mark);
    reached_mark_free(&mark);
    return good;
}

void reached_hung_up(struct reached_list *list, uint32_t session)
{
    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < list->items[i].count; k++)
            if (list->items[i].sessions[k] == session) {
                list->items[i].sessions[k] = REACHED_NONE;
                list->items[i].unsaved = true;
            }
}

struct reached_list reached_copied(const struct reached_list *list)
{
    struct reached_list copy = {0};
    copy.items = grow(NULL, &copy.room, list->count + 1, sizeof *copy.items);
    for (; copy.count < list->count; copy.count++) {
        struct reached *to = &copy.items[copy.count];
        *to = list->items[copy.count];
        to->run = memory_copied(to->run);
        to->room = 0;
        to->sessions = grow(NULL, &to->room, to->count + 1, sizeof *to->sessions);
        if (to->count)
            memcpy(to->sessions, list->items[copy.count].sessions,
                   to->count * sizeof *to->sessions);
    }
    return copy;
}

void reached_free(struct reached_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].run);
        free(list->items[i].sessions);
    }
    free(list->items);
    *list = (struct reached_list){0};
}

void reached_save(struct reached_list *list, void (*save)(void *context, const struct out *body),
                  void *context)
{
    for (size_t i = 0; i < list->count; i++) {
        struct reached *reached = &list->items[i];
        struct out body = {0};
        if (!reached->unsaved)
            continue;
        put_reached(&body, &(struct reached_mark){.next = reached->next,
                                                  .message = reached->message,
                                                  .ended = reached->ended,
                                                  .run = reached->run,
                                                  .sessions = reached->sessions,
                                                  .count = (uint32_t)reached->count});
        memcpy(body.data, reached->id, FORWARD_ID_BYTES);
        save(context, &body);
        out_free(&body);
        reached->unsaved = false;
    }
}
