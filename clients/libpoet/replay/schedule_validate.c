#include "clients/libpoet/replay/schedule_validate.h"

#include <stdbool.h>

static bool schedule_validate_range(uint64_t at, uint64_t count, uint64_t each, uint64_t bytes)
{
    return at <= bytes && count <= (bytes - at) / each;
}

static bool schedule_validate_parts(const struct schedule_head *s)
{
    return schedule_validate_range(s->lines_at, s->line_count + 1ull, sizeof(struct schedule_line),
                                   s->bytes) &&
           schedule_validate_range(s->events_at, s->event_count, sizeof(struct schedule_event),
                                   s->bytes) &&
           schedule_validate_range(s->types_at, s->type_count, SCHEDULE_NAME_BYTES, s->bytes) &&
           schedule_validate_range(s->stops_at, s->line_count + 1ull,
                                   sizeof(struct schedule_breakpoint), s->bytes) &&
           schedule_validate_range(s->order_at, s->event_count, sizeof(uint32_t), s->bytes) &&
           s->order_at % 4 == 0 && s->lines_at % 64 == 0 && s->stops_at % 64 == 0 &&
           s->events_at % 8 == 0;
}

static bool schedule_validate_lines(const struct schedule_head *s)
{
    const struct schedule_line *lines = (const void *)((const char *)s + s->lines_at);
    for (uint64_t i = 0; i <= s->line_count; i++)
        if (!schedule_validate_range(lines[i].first, lines[i].count, 1, s->event_count))
            return false;
    return s->main <= s->line_count;
}

static bool schedule_validate_types(const struct schedule_head *s)
{
    const char *names = (const char *)s + s->types_at;
    for (uint32_t i = 0; i < s->type_count; i++)
        if (names[(i + 1ull) * SCHEDULE_NAME_BYTES - 1])
            return false;
    return s->type_count < SCRIPT_NO_TYPE;
}

const char *schedule_validate_file(const struct schedule_head *s, uint64_t bytes)
{
    if (bytes < sizeof *s || s->magic != SCHEDULE_MAGIC || s->bytes != bytes)
        return "invalid schedule file";
    if (s->version != SCHEDULE_VERSION)
        return "created by a different version of Poet";
    return schedule_validate_parts(s) && schedule_validate_lines(s) && schedule_validate_types(s)
               ? NULL
               : "damaged";
}
