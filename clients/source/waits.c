#include "clients/source/waits.h"

#include "memory/memory.h"
#include "wire/asleep.h"
#include "wire/found.h"

#include <stdio.h>
#include <stdlib.h>

const struct shown_wait *waits_of(const struct waits *waits, uint32_t thread)
{
    for (size_t i = 0; i < waits->count; i++)
        if (waits->items[i].thread == thread)
            return &waits->items[i];
    return NULL;
}

struct ref *waits_pairs(const struct waits *waits, uint32_t *count)
{
    struct ref *pairs = NULL;
    *count = 0;
    for (size_t i = 0; i < waits->cycle_count; i++)
        for (uint32_t k = 0; k < waits->cycles[i].count; k++) {
            PUSH(pairs, *count, waits->cycles[i].steps[k].at);
            PUSH(pairs, *count, waits->cycles[i].steps[k].since);
        }
    return pairs;
}

bool waits_take(struct waits *waits, const struct answer *answer)
{
    struct in *in = answer->in;
    if (answer->part == PART_WAIT) {
        waits->items = grow(waits->items, &waits->room, waits->count + 1, sizeof *waits->items);
        get_wait(in, &waits->items[waits->count++]);
    } else if (answer->part == PART_CYCLE) {
        waits->cycles =
            grow(waits->cycles, &waits->cycle_room, waits->cycle_count + 1, sizeof *waits->cycles);
        get_cycle(in, &waits->cycles[waits->cycle_count++]);
    } else if (answer->part == PART_SLEEPER) {
        waits->sleepers = grow(waits->sleepers, &waits->sleeper_room, waits->sleeper_count + 1,
                               sizeof *waits->sleepers);
        get_sleeper(in, &waits->sleepers[waits->sleeper_count++]);
    } else if (answer->part == PART_VERDICT) {
        waits->verdicts = grow(waits->verdicts, &waits->verdict_room, waits->verdict_count + 1,
                               sizeof *waits->verdicts);
        get_verdict(in, &waits->verdicts[waits->verdict_count++]);
    } else if (answer->part == PART_NOW) {
        get_now(in, &waits->now);
        return !in->error;
    }
    return false;
}

/* " (futex 3, loader 1)", of those whose call is known. */
static void put_calls(FILE *to, const struct waits *waits)
{
    const char *between = " (";
    for (unsigned call = ASLEEP_NOT + 1; call < ASLEEP_CALLS; call++) {
        size_t count = 0;
        for (size_t i = 0; i < waits->sleeper_count; i++)
            count += waits->sleepers[i].call == call;
        if (count && waits->sleeper_count == 1)
            fprintf(to, "%s%s", between, asleep_name(call));
        else if (count)
            fprintf(to, "%s%s %zu", between, asleep_name(call), count);
        between = count ? ", " : between;
    }
    if (*between == ',')
        putc(')', to);
}

char *waits_asleep(const struct waits *waits)
{
    int64_t since_ns = INT64_MIN; /* from when on all of them do */
    char *text = NULL;
    size_t size, n = waits->sleeper_count;
    FILE *to = n ? open_memstream(&text, &size) : NULL;
    if (!to)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (waits->sleepers[i].since_ns > since_ns)
            since_ns = waits->sleepers[i].since_ns;
    if (n == 1)
        fputs("1 thread sleeps in a call that is not traced", to);
    else
        fprintf(to, "%zu threads sleep in calls that are not traced", n);
    put_calls(to, waits);
    fprintf(to, ", since %.6f s", (double)since_ns / 1e9);
    fclose(to);
    return text;
}

void waits_free(struct waits *waits)
{
    for (size_t i = 0; i < waits->count; i++)
        shown_wait_free(&waits->items[i]);
    for (size_t i = 0; i < waits->cycle_count; i++)
        free(waits->cycles[i].steps);
    for (size_t i = 0; i < waits->verdict_count; i++)
        shown_verdict_free(&waits->verdicts[i]);
    for (size_t i = 0; i < waits->sleeper_count; i++)
        shown_sleeper_free(&waits->sleepers[i]);
    free(waits->sleepers);
    free(waits->verdicts);
    free(waits->items);
    free(waits->cycles);
    *waits = (struct waits){0};
}
