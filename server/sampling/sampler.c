#define _GNU_SOURCE
#include "server/sampling/sampler.h"

#include "memory/map.h"
#include "memory/memory.h"
#include "server/sampling/proc.h"
#include "wire/limits.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define OFTEN_NS 100000000u /* between two samples */
#define AGE_PARTS 2000u     /* later: a part of how long it has been sampled */
#define FIGURES 32u         /* of one process or thread, at most */

struct sampler {
    int process; /* its folder in /proc: no other process is ever taken for it */
    bool filtered;
    uint64_t first_ns, next_ns;
    uint64_t every_ns; /* 0: as it sees fit */
    struct proc_units units;
    struct map told; /* thread and meter -> value + 1 that was told last */
};

static size_t text_of_file(const struct sampler *s, const char *name, char *to, size_t room)
{
    int fd = openat(s->process, name, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, to, room) : -1;
    if (fd >= 0)
        close(fd);
    return got > 0 ? (size_t)got : 0;
}

static void look_for_filter(struct sampler *s)
{
    struct usage_figure unused;
    char text[4096];
    proc_status(text, text_of_file(s, "status", text, sizeof text), &s->filtered, &unused, 1);
}

struct sampler *sampler_new(pid_t pid)
{
    char name[32];
    snprintf(name, sizeof name, "/proc/%d", (int)pid);
    int process = pid > 0 ? open(name, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (process < 0)
        return NULL;
    struct sampler *s = memory_zeroed(1, sizeof *s);
    long ticks = sysconf(_SC_CLK_TCK), page = sysconf(_SC_PAGESIZE);
    *s = (struct sampler){.process = process,
                          .filtered = true,
                          .units = {.tick_ns = 1000000000u / (uint64_t)(ticks > 0 ? ticks : 100),
                                    .page_bytes = (uint64_t)(page > 0 ? page : 4096)}};
    look_for_filter(s);
    return s;
}

void sampler_free(struct sampler *s)
{
    if (!s)
        return;
    close(s->process);
    map_free(&s->told);
    free(s);
}

void sampler_rate(struct sampler *s, unsigned hertz)
{
    hertz = hertz < 1 ? 1 : hertz > 1000 ? 1000 : hertz;
    s->every_ns = 1000000000u / hertz;
    s->next_ns = 0;
}

/* When the next sample is due, after one at `now`: those that are late do not make others late. */
static uint64_t next_of(const struct sampler *s, uint64_t now_ns)
{
    if (s->every_ns)
        return s->next_ns && now_ns < s->next_ns + s->every_ns ? s->next_ns + s->every_ns
                                                               : now_ns + s->every_ns;
    uint64_t rest = (now_ns - s->first_ns) / AGE_PARTS;
    return now_ns + (rest > OFTEN_NS ? rest : OFTEN_NS);
}

bool sampler_due(const struct sampler *s, uint64_t now_ns) { return now_ns >= s->next_ns; }
bool sampler_filtered(const struct sampler *s) { return s->filtered; }

/* Those that changed, with their thread. */
static uint32_t put_changed(struct sampler *s, uint32_t thread, const struct usage_figure *figures,
                            size_t count, struct out *body)
{
    uint32_t put = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t key = figures[i].meter;
        void *as = (void *)(uintptr_t)(figures[i].value + 1);
        if (!as || map_get(&s->told, thread, key) == as)
            continue;
        map_put(&s->told, thread, key, as);
        put_u32(body, thread);
        put_u8(body, figures[i].meter);
        put_u64(body, figures[i].value);
        put++;
    }
    return put;
}

static uint32_t put_process(struct sampler *s, struct out *body)
{
    struct usage_figure f[FIGURES];
    char text[4096];
    size_t n = 0, size;
    size = text_of_file(s, "stat", text, sizeof text);
    n += proc_stat(text, size, s->units, f + n, FIGURES - n);
    size = text_of_file(s, "io", text, sizeof text);
    n += proc_io(text, size, f + n, FIGURES - n);
    size = text_of_file(s, "status", text, sizeof text);
    n += proc_status(text, size, &s->filtered, f + n, FIGURES - n);
    return put_changed(s, 0, f, n, body);
}

static uint32_t put_thread(struct sampler *s, const struct sampled_thread *thread, struct out *body)
{
    struct usage_figure f[2];
    char name[48], text[128];
    snprintf(name, sizeof name, "task/%d/schedstat", (int)thread->tid);
    size_t size = text_of_file(s, name, text, sizeof text);
    return put_changed(s, thread->code, f, proc_schedstat(text, size, f, 2), body);
}

bool sampler_take(struct sampler *s, uint64_t now_ns, const struct sampled_thread *threads,
                  size_t count, struct out *body)
{
    if (!s->first_ns)
        s->first_ns = now_ns;
    s->next_ns = next_of(s, now_ns);
    put_u8(body, 0);
    put_u64(body, now_ns);
    size_t count_at = body->size;
    put_u32(body, 0);
    if (s->told.count >
        2 * USAGE_METERS * (1 + count)) { /* of threads that are long gone: all is told again */
        map_free(&s->told);
        s->told = (struct map){0};
    }
    uint32_t n = put_process(s, body);
    for (size_t i = 0; i < count && n + 2 <= LIMIT_USAGE_FIGURES; i++)
        if (threads[i].tid && threads[i].code)
            n += put_thread(s, &threads[i], body);
    if (!body->failed)
        for (unsigned i = 0; i < 4; i++)
            body->data[count_at + i] = (uint8_t)(n >> (8 * i));
    return n && !body->failed;
}
