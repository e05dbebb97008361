/* waiting EVENTS THREADS STEPS: the cost of attributing waits. Makes intervals of a synthetic
 * program, a tenth of them waits, then one hundredth more. Prints lines "name figure", in seconds
 * and bytes. */
#include "server/analysis/wait_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define MOST 256

struct program {
    struct intervals all;
    int threads, steps;
    int64_t now[MOST];
    uint32_t latency;
    uint64_t events, waits, chance;
};

static uint32_t below(struct program *p, uint32_t n)
{
    p->chance = p->chance * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((p->chance >> 33) % n);
}

static void begin(struct program *p, int threads, int steps)
{
    *p = (struct program){.threads = threads, .steps = steps, .chance = 1};
    p->latency =
        code_segments_code(&p->all.steps, (struct code_segment_key){.from = 1, .is = STEP_LATENCY});
    for (int i = 0; i < steps; i++)
        code_segments_code(&p->all.steps, (struct code_segment_key){.from = (uint32_t)i + 1,
                                                                    .to = (uint32_t)i + 2});
    for (int i = 0; i < threads; i++) {
        if (i)
            intervals_set_created(&p->all, (uint32_t)i + 1, 1, 0, 0);
        intervals_start(&p->all, (uint32_t)i + 1, 0, 0);
    }
}

/* Returns the next step of a loop of a dozen steps; occasionally another step, and after a while
 * another loop. */
static uint32_t next_step(struct program *p)
{
    uint32_t loop = (uint32_t)(p->events / 100000) * 12;
    return 2 + (loop + (below(p, 50) ? below(p, 12) : below(p, (uint32_t)p->steps))) %
                   (uint32_t)p->steps;
}

static void runs(struct program *p, int thread)
{
    p->now[thread] += 200 + below(p, 20000);
    intervals_add_run(&p->all, (uint32_t)thread + 1, next_step(p), p->now[thread], ++p->events);
}

static void waits(struct program *p, int thread, int other, enum wait_class class)
{
    struct wait_interval segment = {.to_ns = p->now[other],
                                    .thread = (uint32_t)other + 1,
                                    .release = p->events,
                                    .class = (uint8_t) class};
    struct wait_record wait = {.from_ns = p->now[thread],
                               .to_ns = p->now[other] + 500,
                               .thread = (uint32_t)thread + 1,
                               .place = 1 + below(p, 20),
                               .type = (uint32_t) class,
                               .class = (uint8_t) class};
    if (p->now[other] <= p->now[thread])
        return;
    intervals_add_wait(&p->all, wait, &segment, 1, p->latency);
    p->now[thread] = wait.to_ns;
    p->events++;
    p->waits++;
}

static int first(const struct program *p)
{
    int thread = 0;
    for (int i = 1; i < p->threads; i++)
        if (p->now[i] < p->now[thread])
            thread = i;
    return thread;
}

/* Returns another thread, usually a neighbor. */
static int partner(struct program *p, int thread)
{
    int by = below(p, 8) ? (below(p, 2) ? 1 : p->threads - 1) : (int)below(p, (uint32_t)p->threads);
    return (thread + by) % p->threads;
}

/* Continues the thread that is behind the others: it runs, or, once in nine times, waits for a
 * thread. */
static void go_on(struct program *p, uint64_t events)
{
    while (p->events < events) {
        int thread = first(p);
        if (below(p, 9))
            runs(p, thread);
        else
            waits(p, thread, partner(p, thread), below(p, 2) ? WAIT_RENDEZVOUS : WAIT_CONTENTION);
    }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static long most_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024L;
}

static void explain(struct program *p, struct wait_attribution *why, struct wait_groups *groups,
                    const char *name)
{
    double from = seconds();
    while (!wait_attribution_step(why, 1 << 20))
        ;
    double known = seconds();
    while (!wait_groups_step(groups, 1 << 16))
        ;
    printf("%s %.3f\n%s_explained %.3f\nwaits %zu\nrows %u\nbytes %ld\n", name, seconds() - from,
           name, known - from, p->all.wait_count, groups->count, most_bytes());
}

int main(int argc, char **argv)
{
    static struct program p;
    static int64_t until[MOST];
    uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    int threads = argc > 2 ? atoi(argv[2]) : 16, steps = argc > 3 ? atoi(argv[3]) : 200;
    if (threads < 2 || threads > MOST || steps < 1)
        return 2;
    for (int i = 0; i < MOST; i++)
        until[i] = INT64_MAX;
    begin(&p, threads, steps);
    go_on(&p, events);
    struct wait_attribution why = {.paths.all = &p.all};
    struct wait_groups groups = {
        .why = &why,
        .grouping = {
            .which = PATH_EXPANDED, .from_ns = INT64_MIN, .until_ns = until, .until_count = MOST}};
    printf("before %ld\n", most_bytes());
    explain(&p, &why, &groups, "first");
    go_on(&p, events + events / 100);
    explain(&p, &why, &groups, "further");
    wait_groups_free(&groups);
    wait_attribution_free(&why);
    intervals_free(&p.all);
    return 0;
}
