#include "server/transport/clock_offset.h"

void clock_offset_at(const struct clock_offset *offset, uint64_t now_ns, int64_t *low_ns,
                     int64_t *high_ns)
{
    uint64_t age = now_ns > offset->at_ns ? now_ns - offset->at_ns : 0;
    int64_t wider = (int64_t)(age / 1000000 * CLOCK_OFFSET_DRIFT_PPM + CLOCK_OFFSET_DRIFT_PPM);
    *low_ns = offset->low_ns - (offset->known ? wider : 0);
    *high_ns = offset->high_ns + (offset->known ? wider : 0);
}

bool clock_offset_add(struct clock_offset *offset, uint64_t t0, uint64_t t1, uint64_t t2,
                      uint64_t t3)
{
    const uint64_t most = INT64_MAX / 4;
    if (t3 < t0 || t2 < t1 || t2 - t1 > t3 - t0 || t1 > most || t2 > most || t3 > most)
        return false;
    struct clock_offset next = {true, (int64_t)t2 - (int64_t)t3, (int64_t)t1 - (int64_t)t0, t3};
    int64_t low, high;
    clock_offset_at(offset, t3, &low, &high);
    if (offset->known && high - low <= next.high_ns - next.low_ns)
        return false;
    *offset = next;
    return true;
}
