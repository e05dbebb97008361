/* Replay schedules of any content: everything that an accepted one refers to lies within it. */
#include "clients/libpoet/replay/shared_schedule.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum_of_line(const struct schedule_head *s, const struct schedule_line *lines,
                            const struct schedule_event *events, const char *names, uint32_t line)
{
    uint64_t sum = lines[line].last;
    for (uint64_t k = 0; k < lines[line].count; k++) {
        const struct schedule_event *e = &events[lines[line].first + k];
        sum += e->line <= s->line_count ? lines[e->line].last : e->about + e->after_line;
        sum += e->type < s->type_count ? strlen(names + (size_t)e->type * SCHEDULE_NAME_BYTES) : 0;
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct schedule_head *s;
    if (posix_memalign((void **)&s, 64, size + !size) != 0)
        return 0;
    memcpy(s, data, size);
    /* values that are hard to guess: the magic number, and the size of the file */
    if (size >= sizeof *s) {
        s->magic = SCHEDULE_MAGIC;
        s->version = SCHEDULE_VERSION;
        s->bytes = size;
    }
    volatile uint64_t sum = 0;
    if (!shared_schedule_validate(s, size)) {
        const struct schedule_line *lines = (const void *)((const char *)s + s->lines_at);
        const struct schedule_event *events = (const void *)((const char *)s + s->events_at);
        sum += lines[s->main].last;
        for (uint64_t i = 0; i <= s->line_count && i < 64; i++)
            sum += sum_of_line(s, lines, events, (const char *)s + s->types_at, (uint32_t)i);
        const uint32_t *order = (const void *)((const char *)s + s->order_at);
        for (uint64_t i = 0; i < s->event_count; i++)
            sum += order[i];
    }
    free(s);
    return 0;
}
