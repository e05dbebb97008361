#include "server/decode/tsc_clock.h"

#include "base/clock.h"

#include <time.h>

bool tsc_clock_known(void)
{
#if defined(__x86_64__)
    return true;
#else
    return false;
#endif
}

uint64_t tsc_clock_counter(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

void tsc_clock_add(struct tsc_clock *ticks, uint64_t counter, uint64_t ns)
{
    if (ticks->count) {
        size_t last = (ticks->count - 1) % TSC_CLOCK_POINTS;
        if (counter <= ticks->points[last].ticks || ns <= ticks->points[last].ns)
            return;
    }
    ticks->points[ticks->count % TSC_CLOCK_POINTS].ticks = counter;
    ticks->points[ticks->count++ % TSC_CLOCK_POINTS].ns = ns;
}

/* Of three tries the one in which least time passed between the two readings of the counter. */
void tsc_clock_read(struct tsc_clock *ticks)
{
    uint64_t least = UINT64_MAX, at = 0, ns = 0;
    for (int i = 0; i < 3; i++) {
        uint64_t before = tsc_clock_counter(), now = clock_read_ns(CLOCK_MONOTONIC);
        uint64_t after = tsc_clock_counter();
        if (i == 0 && ticks->count &&
            now - ticks->points[(ticks->count - 1) % TSC_CLOCK_POINTS].ns < 1000000)
            return;
        if (after - before >= least)
            continue;
        least = after - before;
        at = before + least / 2;
        ns = now;
    }
    tsc_clock_add(ticks, at, ns);
}

struct tsc_clock_range tsc_clock_span(const struct tsc_clock *ticks, uint64_t counter)
{
    size_t last = ticks->count - 1,
           oldest = ticks->count > TSC_CLOCK_POINTS ? ticks->count - TSC_CLOCK_POINTS : 0;
    size_t low = oldest, high = last; /* between which readings? */
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (ticks->points[middle % TSC_CLOCK_POINTS].ticks <= counter)
            low = middle;
        else
            high = middle;
    }
    const uint64_t t0 = ticks->points[low % TSC_CLOCK_POINTS].ticks,
                   n0 = ticks->points[low % TSC_CLOCK_POINTS].ns;
    const uint64_t t1 = ticks->points[high % TSC_CLOCK_POINTS].ticks,
                   n1 = ticks->points[high % TSC_CLOCK_POINTS].ns;
    return (struct tsc_clock_range){.from = low == oldest ? 0 : t0,
                                    .to = high == last ? UINT64_MAX : t1,
                                    .ticks = t0,
                                    .ns = n0,
                                    .otherwise = n1,
                                    .slope = (double)(n1 - n0) / (double)(t1 - t0)};
}

double tsc_clock_rate(const struct tsc_clock *ticks)
{
    size_t last = ticks->count - 1,
           oldest = ticks->count > TSC_CLOCK_POINTS ? ticks->count - TSC_CLOCK_POINTS : 0;
    if (ticks->count < 2)
        return 0;
    last %= TSC_CLOCK_POINTS;
    oldest %= TSC_CLOCK_POINTS;
    return (double)(ticks->points[last].ns - ticks->points[oldest].ns) /
           (double)(ticks->points[last].ticks - ticks->points[oldest].ticks);
}

uint64_t tsc_clock_ns(const struct tsc_clock *ticks, uint64_t counter)
{
    const struct tsc_clock_range span = tsc_clock_span(ticks, counter);
    return tsc_clock_within(&span, counter);
}
