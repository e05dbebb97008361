#include "clients/trace/replay/script.h"

#include <stdbool.h>

static bool fits(uint64_t at, uint64_t count, uint64_t each, uint64_t bytes)
{
    return at <= bytes && count <= (bytes - at) / each;
}

static bool parts_fit(const struct script_head *s)
{
    return fits(s->lines_at, s->line_count + 1ull, sizeof(struct script_line), s->bytes) &&
           fits(s->events_at, s->event_count, sizeof(struct script_event), s->bytes) &&
           fits(s->types_at, s->type_count, SCRIPT_NAME_BYTES, s->bytes) &&
           fits(s->stops_at, s->line_count + 1ull, sizeof(struct script_stop), s->bytes) &&
           fits(s->order_at, s->event_count, sizeof(uint32_t), s->bytes) && s->order_at % 4 == 0 &&
           s->lines_at % 64 == 0 && s->stops_at % 64 == 0 && s->events_at % 8 == 0;
}

static bool lines_fit(const struct script_head *s)
{
    const struct script_line *lines = (const void *)((const char *)s + s->lines_at);
    for (uint64_t i = 0; i <= s->line_count; i++)
        if (!fits(lines[i].first, lines[i].count, 1, s->event_count))
            return false;
    return s->main <= s->line_count;
}

static bool types_end(const struct script_head *s)
{
    const char *names = (const char *)s + s->types_at;
    for (uint32_t i = 0; i < s->type_count; i++)
        if (names[(i + 1ull) * SCRIPT_NAME_BYTES - 1])
            return false;
    return s->type_count < SCRIPT_NO_TYPE;
}

const char *script_look(const struct script_head *s, uint64_t bytes)
{
    if (bytes < sizeof *s || s->magic != SCRIPT_MAGIC || s->bytes != bytes)
        return "no script";
    if (s->version != SCRIPT_VERSION)
        return "made by another version of Poet";
    return parts_fit(s) && lines_fit(s) && types_end(s) ? NULL : "damaged";
}
