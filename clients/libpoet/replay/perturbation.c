#define _GNU_SOURCE
#include "clients/libpoet/replay/perturbation.h"

#include "clients/libpoet/core/environment.h"
#include "clients/libpoet/core/stderr_log.h"
#include "clients/libpoet/core/tracer.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define PAUSES_IN_BITS_MOST 4u /* one of 2, 4, 8 or 16 events, by the seed */
#define PAUSE_BITS_LEAST 13u /* about 8 us */
#define PAUSE_BITS_MOST 21u /* about 2 ms */
#define PAUSES_NS_MOST 1000000000u /* of a thread */

static uint64_t perturbation_seed;
static uint32_t perturbation_pauses_in;
static _Atomic uint64_t perturbation_threads;

static __thread struct perturbation_state {
    uint64_t random; /* 0: not begun */
    uint64_t paused_ns;
} perturbation_state __attribute__((tls_model("initial-exec")));

bool perturbation_begin(void)
{
    const char *text = environment_get("POET_PERTURB");
    char *end;
    if (!text || !*text)
        return false;
    perturbation_seed = strtoull(text, &end, 10);
    if (*end) {
        stderr_log_print_once("POET_PERTURB: %s: not a number; running without perturbation", text);
        return false;
    }
    perturbation_pauses_in = 2u << perturbation_seed % PAUSES_IN_BITS_MOST;
    tracer.replay.perturbs = true;
    return true;
}

/* A generator of Marsaglia's xorshift family (Vigna 2016: xorshift64*). */
static uint32_t perturbation_next(struct perturbation_state *s)
{
    if (!s->random)
        s->random = ((perturbation_seed << 20) + atomic_fetch_add(&perturbation_threads, 1) + 1) *
                    UINT64_C(0x9e3779b97f4a7c15);
    s->random ^= s->random >> 12;
    s->random ^= s->random << 25;
    s->random ^= s->random >> 27;
    return (uint32_t)(s->random * UINT64_C(0x2545f4914f6cdd1d) >> 32);
}

void perturbation_before_event(void)
{
    struct perturbation_state *s = &perturbation_state;
    uint32_t random = perturbation_next(s);
    if (random % perturbation_pauses_in != 0 || s->paused_ns >= PAUSES_NS_MOST)
        return;
    random /= perturbation_pauses_in;
    unsigned bits = PAUSE_BITS_LEAST + random % (PAUSE_BITS_MOST - PAUSE_BITS_LEAST);
    uint32_t ns = (1u << bits) + (random >> 8) % (1u << bits);
    int saved = errno;
    nanosleep(&(struct timespec){0, (long)ns}, NULL);
    s->paused_ns += ns;
    errno = saved;
}
