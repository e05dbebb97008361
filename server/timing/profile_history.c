#include "server/timing/profile_history.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void profile_history_append(struct profile_history *e, size_t *bytes, uint64_t time_ns,
                            const uint8_t *body, size_t size)
{
    e->full |= *bytes + size > PROFILE_HISTORY_BYTES || size > UINT32_MAX;
    if (e->full || !size)
        return;
    struct earlier_body one = {time_ns, xmalloc(size), (uint32_t)size};
    memcpy(one.data, body, size);
    ARRAY_PUSH(e->items, e->count, one);
    *bytes += size;
}

uint32_t profile_history_times(const struct profile_history *e)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < e->count; i++)
        times += !i || e->items[i].time_ns != e->items[i - 1].time_ns;
    return times;
}

void profile_history_free(struct profile_history *e)
{
    for (uint32_t i = 0; i < e->count; i++)
        free(e->items[i].data);
    free(e->items);
    *e = (struct profile_history){0};
}
