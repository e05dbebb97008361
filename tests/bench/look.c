/* look SOURCE [WINDOWS [PAIRS] | living | growing MORE | why EVENT | table WHAT [tree]]: measures
 * queries: opening a run, overviews, windows, and pairs of events. Prints a line "name: value" for
 * each; cpu: ms of CPU time of this process and of the private server. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "clients/connection/session.h"
#include "wire/event_types.h"
#include "wire/layout_results.h"
#include "wire/request.h"
#include "wire/state_bands.h"
#include "wire/table_rows.h"
#include "wire/trace_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROWS 60u
#define PIXELS 1920u

static struct session source;
static struct state_bands strip; /* the newest */
static bool living;              /* measured states of threads are requested */
static unsigned parts;           /* number of parts of the newest response */
static uint64_t random_state = 88172645463325252u;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static uint64_t random_below(uint64_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % n;
}

/* Returns the CPU time of this process and of its private server, which is independent of other
 * users of the machine. */
static double cpu_ms(void)
{
    struct timespec t;
    char path[64];
    unsigned long long ns = 0;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    snprintf(path, sizeof path, "/proc/%d/schedstat", source.child);
    FILE *f = source.child ? fopen(path, "r") : NULL;
    if (f && fscanf(f, "%llu", &ns) != 1)
        ns = 0;
    if (f)
        fclose(f);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec + 1e-6 * (double)ns;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* cpu: CPU time before the first one */
static void print_times(const char *what, double *times, unsigned n, double cpu)
{
    qsort(times, n, sizeof *times, by_value);
    printf("%s: p50 %.2f p99 %.2f max %.2f ms, cpu %.2f\n", what, times[n / 2],
           times[n - 1 - n / 100], times[n - 1], (cpu_ms() - cpu) / n);
    fflush(stdout);
}

/* Sends a request; returns the ms until the response is complete. */
static double ask(enum request_type what, struct encoder *body, source_take *take, void *user)
{
    struct error error;
    double begin = now_ms();
    parts = 0;
    uint32_t id = session_send(&source, what, body, take, user);
    if (!session_wait(&source, id, &error)) {
        fprintf(stderr, "look: %s\n", error.text);
        exit(1);
    }
    return now_ms() - begin;
}

/* ---- overview ---- */

static void take_strip(void *user, const struct response_chunk *answer)
{
    double *first = user;
    if (answer->part != RESPONSE_STATE_BANDS)
        return;
    state_bands_free(&strip);
    decode_state_bands(answer->in, &strip);
    decoder_finish(answer->in);
    if (!parts++)
        *first = now_ms();
}

static void put_far(struct encoder *body, bool by_time, int64_t from, int64_t to)
{
    uint32_t rows[ROWS], count = 0;
    uint8_t joined[ROWS] = {0};
    for (uint32_t line = 1; line <= source.book.line_count && count < ROWS; line++)
        if (!living || strncmp(metadata_label(&source.book, line), "T:", 2) == 0)
            rows[count++] = line;
    struct density_request r = {.by_time = by_time,
                                .from = from,
                                .to = to,
                                .pixels = PIXELS,
                                .rows = rows,
                                .joined = joined,
                                .row_count = count,
                                .living = living};
    encode_density_request(body, &r);
}

/* Requests the number of events in each pixel, as the viewer does when it opens a run. */
static double ask_map(bool by_time)
{
    struct encoder body = {0};
    put_far(&body, by_time, 0, 0);
    return ask(REQUEST_DENSITY, &body, NULL, NULL);
}

static double ask_strip(bool by_time, int64_t from, int64_t to, double *first)
{
    struct encoder body = {0};
    put_far(&body, by_time, from, to);
    double begin = now_ms(), spent = ask(REQUEST_STATE_BANDS, &body, take_strip, first);
    *first -= begin;
    return spent;
}

/* Prints the ms of each line in each state, added up over the pixels. */
static void print_sums(void)
{
    double pixel_ms = 1e-6 * (double)(strip.to - strip.from) / strip.pixels;
    for (uint32_t i = 0; i < strip.row_count; i++) {
        double sums[BAND_MOST] = {0};
        for (uint32_t p = 0; p < strip.pixels; p++)
            for (unsigned k = 0; k < strip.classes; k++)
                sums[k] += pixel_ms * strip.cells[(size_t)i * strip.pixels + p].share[k] / 255;
        printf("line %u:", strip.rows[i]);
        for (unsigned k = 0; k < strip.classes; k++)
            printf(" %.3f", sums[k]);
        printf("\n");
    }
}

/* Zooms in at random places, by halves, down to 2000 positions or ns. */
static void zoom(bool by_time, const char *what)
{
    double times[200], first, cpu;
    unsigned n = 0;
    ask_strip(by_time, 0, 0, &first);
    cpu = cpu_ms();
    int64_t from = strip.from, to = strip.to;
    while (n < 200 && to - from > 4002)
        for (int64_t span = (to - from) / 2; span > 2000 && n < 200; span /= 2) {
            int64_t at = from + (int64_t)random_below((uint64_t)(to - from - span));
            times[n++] = ask_strip(by_time, at, at + span, &first);
        }
    if (n)
        print_times(what, times, n, cpu);
}

static void far_away(void)
{
    double cpu = cpu_ms(), first, all = ask_strip(false, 0, 0, &first), times[20];
    printf("strip, first look: %.0f ms, its first picture after %.0f ms, %u pictures, cpu %.0f\n",
           all, first, parts, cpu_ms() - cpu);
    cpu = cpu_ms();
    for (unsigned i = 0; i < 20; i++)
        times[i] = ask_strip(false, 0, 0, &first);
    print_times("strip of all, by order", times, 20, cpu);
    cpu = cpu_ms();
    for (unsigned i = 0; i < 20; i++)
        times[i] = ask_strip(true, 0, 0, &first);
    print_times("strip of all, by time", times, 20, cpu);
    zoom(false, "strip after a zoom, by order");
    zoom(true, "strip after a zoom, by time");
}

/* ---- windows ---- */

static double ask_window(uint64_t position)
{
    struct window_request r = {
        .anchor = ANCHOR_POSITION, .position = position, .from = -100, .columns = 200};
    struct encoder body = {0};
    encode_window_request(&body, &r);
    return ask(REQUEST_WINDOW, &body, NULL, NULL);
}

static void windows(uint64_t events, unsigned n)
{
    double *times = xcalloc(n, sizeof *times), cpu = cpu_ms();
    for (unsigned i = 0; i < n; i++)
        times[i] = ask_window(random_below(events));
    print_times("window of 200 columns, at a random place", times, n, cpu);
    free(times);
}

static void take_event(void *user, const struct response_chunk *answer)
{
    struct event_id *ref = user;
    struct event_info e;
    if (answer->part != RESPONSE_EVENT)
        return;
    decode_event_info(answer->in, &e);
    *ref = e.at;
    event_info_free(&e);
}

static struct event_id random_ref(uint64_t events)
{
    struct event_id ref = {0};
    while (!ref.line || ref.line & HIDDEN_LINE) {
        struct encoder body = {0};
        encode_u64(&body, random_below(events));
        encode_u32(&body, 1);
        ask(REQUEST_LOG_RANGE, &body, take_event, &ref);
    }
    return ref;
}

static void pairs(uint64_t events, unsigned n)
{
    double *times = xcalloc(n, sizeof *times), cpu = cpu_ms();
    for (unsigned i = 0; i < n; i++) {
        struct encoder body = {0};
        encode_event_id(&body, random_ref(events));
        encode_event_id(&body, random_ref(events));
        times[i] = ask(REQUEST_ORDER, &body, NULL, NULL);
    }
    print_times("order of a random pair", times, n, cpu);
    free(times);
}

/* Requests the measured states of threads: prints the time until the response, then the sums of
 * each thread. */
static void look_living(void)
{
    double cpu = cpu_ms(), first, all, times[20];
    living = true;
    all = ask_strip(true, 0, 0, &first);
    printf("states of threads, first look: %.0f ms, cpu %.0f\n", all, cpu_ms() - cpu);
    cpu = cpu_ms();
    for (unsigned i = 0; i < 20; i++)
        times[i] = ask_strip(true, 0, 0, &first);
    print_times("states of threads, strip of all", times, 20, cpu);
    printf("states of threads, rows: %u\n", strip.row_count);
    print_sums();
    zoom(true, "states of threads, strip after a zoom");
    state_bands_free(&strip);
    session_close(&source);
}

/* ---- tables ---- */

static struct result_table table; /* the newest */

static void take_table(void *user, const struct response_chunk *answer)
{
    (void)user;
    if (answer->part == RESPONSE_TABLE)
        decode_table_head(answer->in, &table);
    else if (answer->part == RESPONSE_ROWS)
        decode_table_rows(answer->in, &table);
}

static double ask_table(const struct table_request *request)
{
    struct encoder body = {0};
    encode_table_request(&body, request);
    return ask(REQUEST_TABLE, &body, take_table, NULL);
}

/* Requests a table repeatedly; the first time does not count. */
static void look_table(const struct table_request *request, const char *what)
{
    double times[50], cpu;
    ask_table(request);
    cpu = cpu_ms();
    for (unsigned i = 0; i < 50; i++)
        times[i] = ask_table(request);
    print_times(what, times, 50, cpu);
    session_close(&source);
}

static char none[] = "";

/* Requests the causes of the wait at an event. */
static void look_why(char *event)
{
    static char key[] = "event", what[] = "explanation";
    struct table_option option = {key, event};
    struct table_request r = {
        .what = what, .by = none, .sort = none, .options = &option, .option_count = 1};
    look_table(&r, "why a wait");
}

static void look_calls(char *what, bool tree)
{
    struct table_request r = {
        .what = what, .by = none, .sort = none, .flags = tree ? TABLE_TREE : 0};
    char title[64];
    snprintf(title, sizeof title, "table of %s%s", what, tree ? ", tree" : "");
    look_table(&r, title);
    printf("rows of the %s: %u\n", tree ? "tree" : "table", table.row_count);
}

/* ---- a run that grows ---- */

static void take_stat(void *user, const struct response_chunk *answer)
{
    struct stat_info stat;
    if (answer->part != RESPONSE_STAT)
        return;
    decode_stat_info(answer->in, &stat);
    *(uint64_t *)user = stat.events;
    stat_info_free(&stat);
}

/* Waits until the run has a number of events, and none are added for a tenth of a second. */
static uint64_t settled(uint64_t least)
{
    uint64_t now = 0, before;
    do {
        before = now;
        nanosleep(&(struct timespec){0, 100000000}, NULL);
        ask(REQUEST_STAT, NULL, take_stat, &now);
    } while (now < least || now != before);
    return now;
}

static double ask_waits(void)
{
    static char what[] = "waits";
    struct table_request r = {.what = what, .by = none, .sort = none};
    return ask_table(&r);
}

/* Prints a newline, for which `contend` records MORE further events, and requests the table of
 * waits; repeatedly. */
static void look_growing(uint64_t more)
{
    double times[11];
    uint64_t events = settled(more);
    ask_waits();
    for (unsigned i = 0; i < 11; i++) {
        fputc('\n', stdout);
        fflush(stdout);
        uint64_t now = settled(events + more / 2);
        times[i] = ask_waits() * (double)more / (double)(now - events);
        events = now;
    }
    qsort(times, 11, sizeof *times, by_value);
    fprintf(stderr, "waits of a run that grows: p50 %.0f max %.0f ms\n", times[5], times[10]);
    session_close(&source);
}

int main(int argc, char **argv)
{
    struct error error;
    if (argc < 2)
        return 2;
    double begin = now_ms();
    if (!session_open(&source, argv[1], SESSION_ALL_LINES, &error)) {
        fprintf(stderr, "look: %s\n", error.text);
        return 1;
    }
    if (argc > 3 && strcmp(argv[2], "growing") == 0) {
        look_growing(strtoull(argv[3], NULL, 10));
        return 0;
    }
    printf("opening: %.0f ms\n", now_ms() - begin);
    if (argc > 2 && strcmp(argv[2], "living") == 0) {
        look_living();
        return 0;
    }
    if (argc > 3 && strcmp(argv[2], "table") == 0) {
        look_calls(argv[3], argc > 4);
        return 0;
    }
    if (argc > 3 && strcmp(argv[2], "why") == 0) {
        look_why(argv[3]);
        return 0;
    }
    ask_window(0);
    printf("opening, until a picture is here: %.0f ms\n", now_ms() - begin);
    double cpu = cpu_ms(), map = ask_map(false);
    printf("opening, the map of all, by order: %.0f ms, cpu %.0f\n", map, cpu_ms() - cpu);
    cpu = cpu_ms();
    map = ask_map(true);
    printf("opening, the map of all, by time: %.0f ms, cpu %.0f\n", map, cpu_ms() - cpu);
    fflush(stdout);
    far_away();
    uint64_t events = strip.count;
    windows(events, argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 100);
    pairs(events, argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 300);
    state_bands_free(&strip);
    session_close(&source);
    return 0;
}
