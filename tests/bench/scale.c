/* scale WORKLOAD LINES EVENTS [LATE]: measures the order at scale: insertion, memory, queries,
 * windows. Prints one line for each figure. */
#define _GNU_SOURCE
#include "server/order/layout/column_assignment.h"
#include "server/tracefile/tracefile.h"
#include "tests/bench/workload.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BATCH 4096

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void print_times(const char *what, double *times, size_t n, double unit, const char *name)
{
    qsort(times, n, sizeof *times, by_value);
    printf("  %-44s p50 %8.2f  p99 %8.2f  max %8.2f %s\n", what, times[n / 2] / unit,
           times[n - 1 - n / 100] / unit, times[n - 1] / unit, name);
}

/* Returns the private resident memory of this process in bytes. */
static double resident(void)
{
    unsigned long total = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%lu %lu", &total, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static uint64_t part_put(void *context, const void *bytes, size_t size)
{
    return tracefile_put(context, CHUNK_PART, bytes, size);
}

static uint8_t *part_get(void *context, uint64_t place, size_t *size)
{
    return tracefile_get(context, CHUNK_PART, place, size);
}

static uint64_t random_state = 88172645463325252u;

static uint64_t random_below(uint64_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % n;
}

static struct event_id ref_at(const struct order *order, uint64_t position)
{
    struct order_event e = order_event(order, position);
    return (struct event_id){e.line, e.number};
}

static uint64_t visible_position(const struct order *order, uint64_t position)
{
    while (order_event(order, position).line & HIDDEN_LINE)
        position = position ? position - 1 : random_below(order_count(order));
    return position;
}

static void ask_order(const struct order *order, const char *what, uint64_t distance, size_t n,
                      double unit, const char *name)
{
    double *times = calloc(n, sizeof *times);
    uint64_t count = order_count(order), before = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t a = visible_position(order, random_below(count));
        uint64_t b = distance ? a + 1 + random_below(distance) : random_below(count);
        b = visible_position(order, b < count ? b : count - 1);
        struct event_id ra = ref_at(order, a), rb = ref_at(order, b);
        double t = now();
        before += order_compare(order, ra, rb) == ORDER_BEFORE;
        times[i] = now() - t;
    }
    print_times(what, times, n, unit, name);
    free(times);
}

static void ask_windows(const struct order *order, uint32_t lines, size_t n)
{
    double *whole = calloc(n, sizeof *whole), *scroll = calloc(n, sizeof *scroll);
    uint32_t *row_of = calloc(lines, sizeof *row_of), rows = 60;
    uint8_t cluster[60] = {0};
    uint64_t shown = 0;
    for (size_t i = 0; i < n; i++) {
        struct layout_result p;
        memset(row_of, 0, lines * sizeof *row_of);
        for (uint32_t r = 0; r < rows; r++)
            row_of[random_below(lines)] = r + 1;
        struct layout_params placing = {.anchor = random_below(order_count(order)),
                                        .columns = 200,
                                        .row_of = row_of,
                                        .cluster = cluster,
                                        .rows = rows};
        placing.anchor = order_event(order, placing.anchor).point;
        double t = now();
        struct layout_job *job = layout_columns_begin(order, &placing);
        while (!layout_columns_step(job, 100000))
            ;
        layout_columns_collect(job, &p);
        whole[i] = now() - t;
        shown += p.count;
        layout_result_free(&p);
        t = now();
        layout_columns_want(job, 10, 200);
        while (!layout_columns_step(job, 100000))
            ;
        layout_columns_collect(job, &p);
        scroll[i] = now() - t;
        layout_result_free(&p);
        layout_columns_end(job);
    }
    print_times("window of 60 rows x 200 columns", whole, n, 1e-3, "ms");
    print_times("the same, 10 columns further", scroll, n, 1e-3, "ms");
    printf("  %-44s %.0f\n", "events shown in a window, mean", (double)shown / (double)n);
    free(whole);
    free(scroll);
    free(row_of);
}

/* The reference: appends the same arrivals to an array, as records of 32 bytes. */
static double append_only(struct workload *w, struct happening *batch)
{
    struct record {
        uint64_t line_type, number, time, partner;
    } *records = malloc(sizeof *records * 2 * BATCH);
    double spent = 0;
    uint64_t count = 0;
    for (int round = 0; records && round < 100; round++) {
        for (size_t i = 0; i < BATCH; i++)
            workload_next(w, &batch[i]);
        double t = now();
        size_t n = 0;
        for (size_t i = 0; i < BATCH; i++)
            for (unsigned k = 0; k < batch[i].count; k++) {
                const struct arrival *a = &batch[i].arrivals[k];
                records[n++] = (struct record){(uint64_t)a->at.line << 32 | a->type, a->at.number,
                                               (uint64_t)a->time_ns, batch[i].partners[k].number};
            }
        spent += now() - t;
        count += n;
        __asm__ volatile("" : : "g"(records) : "memory");
    }
    free(records);
    return (double)count / spent / 1e6;
}

static struct order *take_in(struct workload *w, struct tracefile *file, uint64_t events)
{
    struct order *order = order_new_on((struct block_store){file, part_put, part_get, NULL});
    struct happening *batch = calloc(BATCH, sizeof *batch);
    double spent = 0;
    workload_lines(w, order);
    while (order_figures(order).events + order_figures(order).pending < events) {
        for (size_t i = 0; i < BATCH; i++)
            workload_next(w, &batch[i]);
        for (size_t i = 0; i < BATCH; i++)
            for (unsigned k = 0; k < batch[i].count; k++)
                batch[i].arrivals[k].partners = &batch[i].partners[k];
        double t = now();
        order_pin(order);
        for (size_t i = 0; i < BATCH; i++)
            workload_accept(order, &batch[i]);
        order_unpin(order);
        spent += now() - t;
    }
    double t = now();
    while (workload_rest(w, &batch[0]))
        workload_accept(order, &batch[0]);
    spent += now() - t;
    struct order_figures f = order_figures(order);
    printf("  %-44s %.2f M events/s\n", "intake from memory, order and store",
           (double)(f.events) / spent / 1e6);
    printf("  %-44s %llu, hidden %llu, pending %llu, contradictions %llu\n", "events",
           (unsigned long long)f.events, (unsigned long long)f.hidden_events,
           (unsigned long long)f.pending, (unsigned long long)f.contradictions);
    struct workload_options options = {
        .kind = UNIFORM, .lines = order_line_count(order), .seed = 9};
    struct workload *reference = workload_new(&options);
    double bare = append_only(reference, batch);
    printf("  %-44s %.1f M events/s, %.0f times as fast\n", "reference: 32 bytes appended an event",
           bare, bare * 1e6 * spent / (double)f.events);
    workload_free(reference);
    free(batch);
    return order;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    struct workload_options options = {.lines = (uint32_t)strtoul(argv[2], NULL, 10),
                                       .lag = 300000};
    uint64_t events = strtoull(argv[3], NULL, 10);
    while (options.kind < WORKLOADS && strcmp(workload_names[options.kind], argv[1]) != 0)
        options.kind++;
    options.late = argc > 4 ? strtod(argv[4], NULL) : 0;
    char path[] = "/tmp/poet-scale-XXXXXX.poet", *used;
    int fd = mkstemps(path, 5);
    close(fd);
    unlink(path);
    struct tracefile *file = tracefile_create(path, "scale", &used);
    if (!file)
        return 1;
    printf("%s, %u lines, %llu events, %.0f %% of the lines late\n", argv[1], options.lines,
           (unsigned long long)events, 100 * options.late);
    double base = resident();
    struct workload *w = workload_new(&options);
    struct order *order = take_in(w, file, events);
    workload_free(w);
    double total = (double)order_figures(order).events;
    printf("  %-44s %.1f\n", "resident bytes an event, live", (resident() - base) / total);
    size_t size;
    double t = now();
    tracefile_save_begin(file, (struct chunk){.kind = CHUNK_THREADS}, UINT32_MAX);
    uint8_t *state = order_save(order, &size);
    uint64_t written = size + order_saved_bytes(order);
    printf("  %-44s %.1f MB in %.0f ms\n", "state", (double)written / 1e6, 1e3 * (now() - t));
    uint32_t lines = order_line_count(order);
    order_free(order);
    struct stat st;
    tracefile_save_end(file, &(struct checkpoint){.data = state, .size = size, .written = written});
    stat(path, &st);
    printf("  %-44s %.1f\n", "bytes an event on disk", 512.0 * (double)st.st_blocks / total);
    t = now();
    order = order_new_on((struct block_store){file, part_put, part_get, NULL});
    for (uint32_t i = 1; i <= lines; i++)
        order_line(order, options.kind > MONITORS && i > lines - lines / 10, 1);
    if (!order_restore(order, state, size))
        printf("  RESTORE FAILED\n");
    printf("  %-44s %.0f ms\n", "restored in", 1e3 * (now() - t));
    free(state);
    order_cache(order, (size_t)3 << 30);
    ask_order(order, "order of a nearby pair", 200, 2000, 1e-6, "us");
    ask_order(order, "order of a random pair", 0, 300, 1e-3, "ms");
    ask_windows(order, lines, 40);
    printf("  %-44s %.1f\n", "resident bytes an event, after questions",
           (resident() - base) / total);
    order_release_caches(order);
    malloc_trim(0);
    printf("  %-44s %.1f\n", "the same, at rest", (resident() - base) / total);
    order_free(order);
    tracefile_close(file);
    unlink(path);
    free(used);
    return 0;
}
