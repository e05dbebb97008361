/* Selection of what is measured: POET_MEASURE, or how the program was compiled. */
#define _GNU_SOURCE
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/profile/region_owner.h"

#include "clients/libpoet/core/environment.h"
#include "clients/libpoet/core/stderr_log.h"
#include "wire/profile_region.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* Defined if a unit of the program was compiled with poetcc -profile. */
#pragma weak poet_profiled
extern const char poet_profiled[];

#define CALLS_CPU (WANTED_COUNTS | WANTED_REAL | WANTED_CPU)
static const struct {
    const char *word;
    uint32_t bits;
} words[] = {{"calls", CALLS_CPU},
             {"calls=counts", WANTED_COUNTS},
             {"calls=real", WANTED_COUNTS | WANTED_REAL},
             {"calls=cpu", CALLS_CPU},
             {"calls=every", CALLS_CPU | WANTED_EVERY},
             {"calls=libraries", WANTED_LIBRARIES},
             {"states", WANTED_STATES},
             {"memory", WANTED_MEMORY},
             {"metrics", WANTED_METERS},
             {"throttle", WANTED_THROTTLE},
             {"usage", WANTED_USAGE},
             {"counters", WANTED_COUNTERS},
             {"waits", 0}, /* derived from the order */
             {"none", 0}};

static uint32_t first;
static struct measurement_options besides;

/* Returns SIZE_MAX if there is none. */
static size_t measurement_wanted_find_word(const char *word, size_t size)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == size && strncmp(words[i].word, word, size) == 0)
            return i;
    return SIZE_MAX;
}

#define RATE_MOST 1000u

/* Returns N of NAME=N, from 1 to `most`; 0: the word is another one. */
static unsigned measurement_wanted_rate(const char *word, size_t size, const char *name,
                                        unsigned most)
{
    size_t before = strlen(name);
    unsigned value = 0;
    if (size <= before || size > before + 5 || strncmp(word, name, before) != 0)
        return 0;
    for (size_t i = before; i < size && value <= most; i++)
        value =
            word[i] >= '0' && word[i] <= '9' ? 10 * value + (unsigned)(word[i] - '0') : most + 1;
    return value <= most ? value : 0;
}

static uint32_t measurement_wanted_parse(const char *at)
{
    uint32_t bits = 0;
    for (;; at++) {
        size_t size = strcspn(at, ","), found = measurement_wanted_find_word(at, size);
        unsigned rate = measurement_wanted_rate(at, size, "rate=", RATE_MOST),
                 samples = measurement_wanted_rate(at, size, "samples=", SAMPLES_MOST);
        if (rate)
            besides.rate = rate;
        else if (samples)
            bits = (bits & UINT16_MAX) | WANTED_SAMPLES(samples);
        else if (size && found == SIZE_MAX)
            stderr_log_print_once(
                "POET_MEASURE: %.*s: unknown measurement; valid: calls (calls=counts, =real, =cpu, "
                "=every, =libraries), samples=1 to samples=10000, states, memory, metrics, usage, "
                "counters, waits, throttle, rate=1 to rate=1000, none",
                size < 100 ? (int)size : 100, at);
        else if (size)
            bits |= words[found].bits;
        at += size;
        if (!*at)
            return bits;
    }
}

/* Returns whether the heap is traced, which needs a library that was loaded before the program. */
static bool measurement_wanted_heap_is_traced(void)
{
    const char *loaded = environment_get("LD_PRELOAD");
    Dl_info info;
    if (loaded && strstr(loaded, "libpoet-memory.so"))
        return true;
    void *allocates = dlsym(RTLD_DEFAULT, "malloc"); /* (the program's, not what libpoet calls) */
    return allocates && dladdr(allocates, &info) && info.dli_fname &&
           strstr(info.dli_fname, "libpoet-memory.so");
}

void measurement_wanted_begin(void)
{
    const char *chosen = environment_get("POET_MEASURE");
    uint32_t usual = WANTED_METERS | (poet_profiled ? CALLS_CPU : 0);
    besides.file = chosen && *chosen == '@' ? chosen + 1 : NULL;
    besides.asks = chosen && strcmp(chosen, "ask") == 0;
    uint32_t bits =
        chosen && !besides.file && !besides.asks ? measurement_wanted_parse(chosen) : usual;
    if (chosen && bits & WANTED_MEMORY && !measurement_wanted_heap_is_traced())
        stderr_log_print_once(
            "POET_MEASURE: memory: libpoet-memory.so was not preloaded, memory is not traced; "
            "start the program with: poet record -m memory");
    if (WANTED_RATE(bits) && bits & (CALLS_CPU | WANTED_EVERY | WANTED_LIBRARIES)) {
        stderr_log_print_once("POET_MEASURE: samples and calls exclude each other: calls are "
                              "measured, no samples are taken");
        bits &= UINT16_MAX;
    }
    if (bits & (WANTED_THROTTLE | WANTED_LIBRARIES) && !(bits & CALLS_CPU))
        bits |= CALLS_CPU; /* of calls */
    if (tracer.server.needs_socket && bits && chosen)
        stderr_log_print_once(
            "POET_MEASURE: no memory is shared with the server; nothing is measured");
    first = tracer.server.needs_socket ? 0 : bits;
}

void measurement_wanted_set_samples(uint32_t rate) { first |= WANTED_SAMPLES(rate); }

uint32_t measurement_wanted_initial(void) { return first; }

struct measurement_options measurement_wanted_options(void) { return besides; }
