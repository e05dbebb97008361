#include "clients/connection/wait_list.h"

#include "base/alloc.h"
#include "clients/symbols/demangle.h"
#include "wire/os_usage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY_WORDS "__waiter_pool" /* words of libstdc++ at which threads wait for others */

#define OBJECT_BYTES 40u /* of a mutex, a condition variable, a semaphore or a barrier, at least */

const struct wait_info *wait_list_of_thread(const struct wait_list *waits, uint32_t thread)
{
    for (size_t i = 0; i < waits->count; i++)
        if (waits->items[i].thread == thread)
            return &waits->items[i];
    return NULL;
}

const struct wait_info *wait_list_awaited(const struct wait_list *waits,
                                          const struct wait_info *wait)
{
    bool only = !wait->about && wait->holder_count == 1;
    return wait_list_of_thread(waits, only ? wait->holders[0].thread : wait->about);
}

bool wait_list_is_in_cycle(const struct wait_list *waits, uint32_t thread)
{
    for (size_t i = 0; i < waits->cycle_count; i++)
        for (uint32_t k = 0; k < waits->cycles[i].count; k++)
            if (waits->cycles[i].steps[k].thread == thread)
                return true;
    return false;
}

bool wait_list_has_deadlock(const struct wait_list *waits)
{
    for (size_t i = 0; i < waits->cycle_count; i++)
        if (!waits->cycles[i].doubts)
            return true;
    return false;
}

char *wait_list_outsider(const struct wait_info *wait)
{
    char name[17] = "";
    uint64_t parts[2] = {wait->outsider_name, wait->outsider_rest};
    for (size_t i = 0; i < sizeof name - 1; i++) {
        unsigned char c = (unsigned char)(parts[i / 8] >> 8 * (i % 8));
        name[i] = (char)(c && (c < ' ' || c > '~') ? '?' : c);
    }
    return wait->outsider ? xasprintf("also open in process %u (%s), of which nothing is recorded",
                                      wait->outsider, name)
                          : NULL;
}

bool wait_list_is_explained(const struct wait_list *waits, const struct diagnosis_info *verdict)
{
    for (size_t i = 0; i < waits->count; i++)
        if (event_id_equal(waits->items[i].event.at, verdict->wait))
            return wait_list_is_in_cycle(waits, waits->items[i].thread);
    for (size_t i = 0; i < waits->sleeper_count; i++)
        if (event_id_equal(waits->sleepers[i].event.at, verdict->wait))
            return wait_list_is_in_cycle(waits, waits->sleepers[i].thread);
    return false;
}

static bool wait_list_has_sleeper(const struct wait_list *waits, uint32_t thread)
{
    for (size_t i = 0; i < waits->sleeper_count; i++)
        if (waits->sleepers[i].thread == thread)
            return true;
    return false;
}

/* A holder that is not blocked and yet will never release the lock has exited, or is not in its
 * process. */
static bool wait_list_is_abandoned(const struct wait_list *waits, const struct wait_info *w)
{
    return w->fate == OUTCOME_NEVER && !w->at_exit && w->holder_count == 1 &&
           hold_is_of_lock(w->holders[0].how) &&
           (w->holders[0].how == HOLD_AT_FORK ||
            (!wait_list_of_thread(waits, w->holders[0].thread) &&
             !wait_list_has_sleeper(waits, w->holders[0].thread)));
}

const struct wait_info *wait_list_abandoned_lock(const struct wait_list *waits,
                                                 const struct wait_info *wait)
{
    for (size_t i = wait ? (size_t)(wait - waits->items) + 1 : 0; i < waits->count; i++) {
        bool first = wait_list_is_abandoned(waits, &waits->items[i]);
        for (size_t k = 0; first && k < i; k++)
            first = waits->items[k].about != waits->items[i].about;
        if (first)
            return &waits->items[i];
    }
    return NULL;
}

struct event_id *wait_list_pairs(const struct wait_list *waits, uint32_t *count)
{
    struct event_id *pairs = NULL;
    *count = 0;
    for (size_t i = 0; i < waits->cycle_count; i++)
        for (uint32_t k = 0; k < waits->cycles[i].count; k++) {
            ARRAY_PUSH(pairs, *count, waits->cycles[i].steps[k].at);
            ARRAY_PUSH(pairs, *count, waits->cycles[i].steps[k].since);
        }
    return pairs;
}

bool wait_list_receive(struct wait_list *waits, const struct response_chunk *answer)
{
    struct decoder *in = answer->in;
    if (answer->part == RESPONSE_WAIT) {
        waits->items =
            array_reserve(waits->items, &waits->room, waits->count + 1, sizeof *waits->items);
        decode_wait(in, &waits->items[waits->count++]);
    } else if (answer->part == RESPONSE_CYCLE) {
        waits->cycles = array_reserve(waits->cycles, &waits->cycle_room, waits->cycle_count + 1,
                                      sizeof *waits->cycles);
        decode_cycle(in, &waits->cycles[waits->cycle_count++]);
    } else if (answer->part == RESPONSE_SLEEPER) {
        waits->sleepers = array_reserve(waits->sleepers, &waits->sleeper_room,
                                        waits->sleeper_count + 1, sizeof *waits->sleepers);
        decode_sleeper(in, &waits->sleepers[waits->sleeper_count++]);
    } else if (answer->part == RESPONSE_DIAGNOSIS) {
        waits->verdicts = array_reserve(waits->verdicts, &waits->verdict_room,
                                        waits->verdict_count + 1, sizeof *waits->verdicts);
        decode_diagnosis(in, &waits->verdicts[waits->verdict_count++]);
    } else if (answer->part == RESPONSE_NOW) {
        decode_now(in, &waits->now);
        return !in->error;
    }
    return false;
}

/* Appends " (futex 3, loader 1)": the sleepers in a known call. */
static void wait_list_append_calls(FILE *to, const struct wait_list *waits)
{
    const char *between = " (";
    for (unsigned call = SLEEP_IN_NOT + 1; call < SLEEP_IN_CALLS; call++) {
        size_t count = 0;
        for (size_t i = 0; i < waits->sleeper_count; i++)
            count += waits->sleepers[i].call == call;
        if (count && waits->sleeper_count == 1)
            fprintf(to, "%s%s", between, sleep_call_name(call));
        else if (count)
            fprintf(to, "%s%s %zu", between, sleep_call_name(call), count);
        between = count ? ", " : between;
    }
    if (*between == ',')
        putc(')', to);
}

/* Returns the label of the latest object that contains an address of a process; NULL: none. */
static const char *wait_list_object_at(const struct trace_metadata *book, uint32_t process,
                                       uint64_t address)
{
    for (uint32_t i = book->line_count; i; i--) {
        const struct line_metadata *line = metadata_line(book, i);
        const struct target_line_type *kind = line ? metadata_line_type(book, i) : NULL;
        if (kind && kind->category && line->is.process == process && line->is.object &&
            address - line->is.object < OBJECT_BYTES)
            return metadata_label(book, i);
    }
    return NULL;
}

char *wait_list_futex(const struct trace_metadata *book, struct symbolizer *sites,
                      const struct sleeper_info *sleeper)
{
    const struct line_metadata *line = metadata_line(book, sleeper->thread);
    if (!sleeper->word || !line)
        return NULL;
    const char *name = symbolizer_symbol(sites, line->is.process, sleeper->word),
               *object = wait_list_object_at(book, line->is.process, sleeper->word);
    if (object)
        return xstrdup(object);
    if (name && strstr(name, LIBRARY_WORDS)) /* objects share them */
        name = NULL;
    return name ? xasprintf("%s (0x%" PRIx64 ")", name, sleeper->word)
                : xasprintf("0x%" PRIx64, sleeper->word);
}

const char *wait_list_library_object(const struct trace_metadata *book, struct symbolizer *sites,
                                     const struct sleeper_info *sleeper)
{
    const struct line_metadata *line = metadata_line(book, sleeper->thread);
    const char *object = NULL;
    if (!line || !sleeper->library)
        return NULL;
    /* functions of the library that are inlined into the program's, the outermost first */
    for (uint32_t n = symbolizer_frames(sites, line->is.process, sleeper->site);
         n-- > 1 && !object;) {
        struct symbol_location at = symbolizer_frame(sites, line->is.process, sleeper->site, n - 1);
        object = strstr(at.path, "/c++/") ? demangle_library_object(at.function) : NULL;
    }
    for (uint32_t n = symbolizer_frames(sites, line->is.process, sleeper->library);
         n-- > 0 && !object;)
        object = demangle_library_object(
            symbolizer_frame(sites, line->is.process, sleeper->library, n).function);
    return object;
}

char *wait_list_sleepers(const struct wait_list *waits)
{
    int64_t since_ns = INT64_MIN; /* since when all of them sleep */
    char *text = NULL;
    size_t size, n = waits->sleeper_count;
    FILE *to = n ? open_memstream(&text, &size) : NULL;
    if (!to)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (waits->sleepers[i].since_ns > since_ns)
            since_ns = waits->sleepers[i].since_ns;
    if (n == 1)
        fputs("1 thread is asleep in an untraced call", to);
    else
        fprintf(to, "%zu threads are asleep in untraced calls", n);
    wait_list_append_calls(to, waits);
    fprintf(to, ", since %.6f s", (double)since_ns / 1e9);
    fclose(to);
    return text;
}

void wait_list_free(struct wait_list *waits)
{
    for (size_t i = 0; i < waits->count; i++)
        wait_info_free(&waits->items[i]);
    for (size_t i = 0; i < waits->cycle_count; i++)
        free(waits->cycles[i].steps);
    for (size_t i = 0; i < waits->verdict_count; i++)
        diagnosis_info_free(&waits->verdicts[i]);
    for (size_t i = 0; i < waits->sleeper_count; i++)
        sleeper_info_free(&waits->sleepers[i]);
    free(waits->sleepers);
    free(waits->verdicts);
    free(waits->items);
    free(waits->cycles);
    *waits = (struct wait_list){0};
}
