#define _GNU_SOURCE
#include "server/osmetrics/usage_sampler.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/map.h"
#include "server/osmetrics/poll_sets.h"
#include "server/osmetrics/proc_files.h"
#include "server/osmetrics/stream_holders.h"
#include "wire/limits.h"
#include "wire/program_messages.h"
#include "wire/os_usage.h"
#include "wire/slot.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define OFTEN_NS 100000000u /* between two samples of a program */
#define AGE_PARTS 2000u     /* later: a part of how long it has been sampled */
#define THREADS_NS 10000000u /* between two samples of its threads */
#define THREADS_PARTS 10000u /* later likewise */
#define COST_PARTS                                                                                 \
    100u /* of a processor: no more than one of them goes into that, else they come more rarely */
#define KEPT_MOST 1024u /* descriptors */
/* after so long without running, the call in which a thread sleeps is looked up */
#define ASLEEP_NS 100000000u
#define CLOSED (-1)
#define FIGURES 32u         /* of one process or thread, at most */

#define POLL_SETS_PER_ROUND 8u /* examined at most, in one round of a process */

struct usage_sampler {
    int process; /* its folder in /proc: no other process is ever taken for it */
    pid_t pid;
    bool filtered, same_numbers;
    uint64_t first_ns, next_ns, threads_ns; /* the latter: the next time for threads */
    uint64_t last_ns; /* when threads were read last */
    uint64_t process_ns; /* and the process */
    uint64_t reported_ns[USAGE_METERS]; /* time of the last report of this metric for the process */
    uint64_t every_ns; /* 0: as it sees fit */
    struct proc_units units;
    struct map reported; /* thread and metric -> last reported value + 1 */
    struct map kept; /* code of a thread -> struct kept */
    uint64_t round;
    size_t thread_count; /* of the round */
    unsigned poll_sets; /* examined in the round; so are the holders of streams */
    bool (*is_connected)(const void *context, pid_t pid); /* NULL: not known */
    const void *context;
};

struct sampler_thread { /* of a thread */
    int schedstat; /* CLOSED: it cannot be read */
    pid_t tid;
    uint64_t round; /* when it was there last */
    uint64_t reported_ns; /* time of its last report */
    uint64_t still_ns; /* the sample by which it had run last */
    bool looked; /* where it sleeps since then */
    uint64_t asleep; /* as last reported: a value of USAGE_ASLEEP */
    uint64_t held_ns; /* when the holder of the lock at which it sleeps was last reported */
};

static size_t text_of_file(const struct usage_sampler *s, const char *name, char *to, size_t room)
{
    int fd = openat(s->process, name, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, to, room) : -1;
    if (fd >= 0)
        close(fd);
    return got > 0 ? (size_t)got : 0;
}

static void sampler_read_status(struct usage_sampler *s)
{
    struct usage_figure unused;
    char text[4096];
    size_t size = text_of_file(s, "status", text, sizeof text);
    proc_status(text, size, &s->filtered, &unused, 1);
    s->same_numbers = proc_same_numbers(text, size);
}

/* Else it is that of another name space of processes, as after unshare --pid, where a number is
 * another one's. */
static bool proc_is_ours(void)
{
    char self[32], is[32];
    ssize_t n = readlink("/proc/self", is, sizeof is - 1);
    is[n > 0 ? n : 0] = 0;
    snprintf(self, sizeof self, "%d", (int)getpid());
    return strcmp(is, self) == 0;
}

struct usage_sampler *usage_sampler_new(pid_t pid)
{
    char name[32];
    snprintf(name, sizeof name, "/proc/%d", (int)pid);
    int process = pid > 0 && proc_is_ours() ? open(name, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (process < 0)
        return NULL;
    struct usage_sampler *s = xcalloc(1, sizeof *s);
    long ticks = sysconf(_SC_CLK_TCK), page = sysconf(_SC_PAGESIZE);
    *s = (struct usage_sampler){
        .process = process,
        .pid = pid,
        .filtered = true,
        .units = {.tick_ns = 1000000000u / (uint64_t)(ticks > 0 ? ticks : 100),
                  .page_bytes = (uint64_t)(page > 0 ? page : 4096)}};
    sampler_read_status(s);
    return s;
}

static void sampler_drop_thread(struct sampler_thread *kept)
{
    if (kept->schedstat != CLOSED)
        close(kept->schedstat);
    free(kept);
}

void usage_sampler_free(struct usage_sampler *s)
{
    if (!s)
        return;
    for (struct map_walk walk = {.map = &s->kept}; map_next(&walk);)
        sampler_drop_thread(walk.value);
    close(s->process);
    map_free(&s->reported);
    map_free(&s->kept);
    free(s);
}

void usage_sampler_rate(struct usage_sampler *s, unsigned hertz)
{
    hertz = hertz < 1 ? 1 : hertz > 1000 ? 1000 : hertz;
    s->every_ns = 1000000000u / hertz;
    s->next_ns = s->threads_ns = 0;
}

void usage_sampler_know_processes(struct usage_sampler *s,
                                  bool (*is_connected)(const void *context, pid_t pid),
                                  const void *context)
{
    s->is_connected = is_connected;
    s->context = context;
}

bool usage_sampler_due(const struct usage_sampler *s, uint64_t now_ns)
{
    return now_ns >= s->next_ns || now_ns >= s->threads_ns;
}

bool usage_sampler_filtered(const struct usage_sampler *s) { return s->filtered; }
bool usage_sampler_same_numbers(const struct usage_sampler *s) { return s->same_numbers; }

/* ---- bodies ---- */

struct sampler_usage {
    struct encoder *out;
    size_t count_at;
    uint32_t count;
};

static struct sampler_usage usage_begin(struct encoder *out, uint64_t now_ns)
{
    struct sampler_usage usage = {.out = out};
    encode_u8(out, 0);
    encode_u64(out, now_ns);
    usage.count_at = out->size;
    encode_u32(out, 0);
    return usage;
}

static void usage_put(struct sampler_usage *usage, uint32_t thread, unsigned meter, uint64_t value)
{
    if (usage->count == LIMIT_USAGE_FIGURES)
        return;
    encode_u32(usage->out, thread);
    encode_u8(usage->out, (uint8_t)meter);
    encode_u64(usage->out, value);
    usage->count++;
}

static void usage_end(struct sampler_usage *usage)
{
    if (usage->out->failed || !usage->count) {
        usage->out->size = 0;
        return;
    }
    for (unsigned i = 0; i < 4; i++)
        usage->out->data[usage->count_at + i] = (uint8_t)(usage->count >> (8 * i));
}

/* ---- what has changed ---- */

/* Returns whether a value differs from the last reported one (*before: that value + 1, 0: none);
 * unchanged values are not reported. */
static bool has_changed(struct usage_sampler *s, uint32_t thread, const struct usage_figure *figure,
                        uint64_t *before)
{
    void *as = (void *)(uintptr_t)(figure->value + 1),
         *was = map_get(&s->reported, thread, figure->meter);
    *before = (uint64_t)(uintptr_t)was;
    if (!as || was == as)
        return false;
    map_put(&s->reported, thread, figure->meter, as);
    return true;
}

static void encode_process_info(struct usage_sampler *s, struct sampler_usage *last,
                                struct sampler_usage *now, uint64_t now_ns)
{
    struct usage_figure f[FIGURES];
    char text[4096];
    size_t n = 0, size;
    uint64_t before;
    size = text_of_file(s, "stat", text, sizeof text);
    n += proc_stat(text, size, s->units, f + n, FIGURES - n);
    size = text_of_file(s, "io", text, sizeof text);
    n += proc_io(text, size, f + n, FIGURES - n);
    size = text_of_file(s, "status", text, sizeof text);
    n += proc_status(text, size, &s->filtered, f + n, FIGURES - n);
    for (size_t i = 0; i < n; i++) {
        uint64_t *reported_ns = &s->reported_ns[f[i].meter];
        if (!has_changed(s, 0, &f[i], &before))
            continue;
        if (before && *reported_ns < s->process_ns)
            usage_put(last, 0, f[i].meter, before - 1);
        usage_put(now, 0, f[i].meter, f[i].value);
        *reported_ns = now_ns;
    }
    s->process_ns = now_ns;
}

static struct sampler_thread *kept_of(struct usage_sampler *s, const struct sampled_thread *thread)
{
    struct sampler_thread *kept = map_get(&s->kept, thread->code, 0);
    char name[48];
    if (!kept) {
        kept = xcalloc(1, sizeof *kept);
        map_put(&s->kept, thread->code, 0, kept);
        snprintf(name, sizeof name, "task/%d/schedstat", (int)thread->tid);
        kept->schedstat =
            s->kept.count <= KEPT_MOST ? openat(s->process, name, O_RDONLY | O_CLOEXEC) : CLOSED;
    }
    kept->round = s->round;
    return kept;
}

/* The rest of a name in the thread's folder, as text_of_file(). */
static size_t text_of_thread(const struct usage_sampler *s, pid_t tid, const char *of, char *to,
                             size_t room)
{
    char name[48];
    snprintf(name, sizeof name, "task/%d/%s", (int)tid, of);
    return text_of_file(s, name, to, room);
}

/* Describes the memory of a futex; any process can use it if that is not known. */
static struct sleep_memory sampler_futex_memory(const struct usage_sampler *s, uint64_t word)
{
    int fd = openat(s->process, "maps", O_RDONLY | O_CLOEXEC);
    FILE *maps = fd >= 0 ? fdopen(fd, "r") : NULL;
    char *line = NULL;
    size_t room = 0;
    struct sleep_memory memory = {.reach = LINE_NAMED_MEMORY};
    bool found = false;
    while (maps && !found && getline(&line, &room, maps) > 0)
        found = asleep_memory_of(line, word, &memory);
    free(line);
    if (maps)
        fclose(maps);
    else if (fd >= 0)
        close(fd);
    return memory;
}

/* Returns a value of USAGE_ASLEEP.  *reach: which other processes can use the futex. */
static uint64_t asleep_in(const struct usage_sampler *s, pid_t tid, uint8_t *reach)
{
    char text[256];
    uint64_t word;
    *reach = 0;
    size_t size = text_of_thread(s, tid, "syscall", text, sizeof text);
    if (!size)
        return asleep_wchan(text, text_of_thread(s, tid, "wchan", text, sizeof text));
    enum sleep_call is = asleep_syscall(text, size, &word);
    if (is != SLEEP_IN_FUTEX)
        return is == SLEEP_IN_TIMED_FUTEX ? SLEEP_VALUE(is, word) : is;
    struct sleep_memory memory = sampler_futex_memory(s, word);
    *reach = memory.reach;
    return SLEEP_VALUE(memory.loader ? SLEEP_IN_LOADER : is, word);
}

/* Reports that only threads of the process can make ready what a thread waits for in such a call.
 * Returns false if that is left to a later round: it looks at all processes. */
static bool sampler_put_poll_set(struct usage_sampler *s, const struct sampled_thread *thread,
                                 unsigned call, struct sampler_usage *now)
{
    char text[256];
    if (call != SLEEP_IN_POLL && call != SLEEP_IN_SELECT && call != SLEEP_IN_EPOLL)
        return true;
    if (s->poll_sets++ >= POLL_SETS_PER_ROUND)
        return false;
    text[text_of_thread(s, thread->tid, "syscall", text, sizeof text - 1)] = 0;
    struct poll_wait wait = {
        .process = s->process, .pid = s->pid, .threads = s->thread_count, .call = text};
    if (poll_set_is_own(&wait))
        usage_put(now, thread->code, USAGE_POLLS_OWN, 1);
    return true;
}

/* Reports a process that is not connected, and that can end the wait of a thread in such a call.
 * Returns false if that is left to a later round. */
static bool sampler_put_end_holder(struct usage_sampler *s, const struct sampled_thread *thread,
                                   unsigned call, struct sampler_usage *now)
{
    char text[256], name[STREAM_HOLDER_NAME] = "";
    uint64_t parts[2] = {0, 0};
    if (!s->is_connected || !s->same_numbers ||
        (call != SLEEP_IN_READ && call != SLEEP_IN_WRITE && call != SLEEP_IN_OTHER))
        return true;
    if (s->poll_sets++ >= POLL_SETS_PER_ROUND)
        return false;
    text[text_of_thread(s, thread->tid, "syscall", text, sizeof text - 1)] = 0;
    struct stream_wait wait = {.process = s->process,
                               .pid = s->pid,
                               .call = text,
                               .is_traced = s->is_connected,
                               .context = s->context};
    pid_t holder = stream_holder_find(&wait, name);
    for (size_t i = 0; i < sizeof parts; i++)
        parts[i / 8] |= (uint64_t)(unsigned char)name[i] << 8 * (i % 8);
    usage_put(now, thread->code, USAGE_END_HOLDER, (uint64_t)holder);
    usage_put(now, thread->code, USAGE_END_NAME, parts[0]);
    usage_put(now, thread->code, USAGE_END_NAME_REST, parts[1]);
    return true;
}

/* Looks once for each sleep.  Reports that the thread runs again one sample later, since running
 * only to exit means nothing. */
static void put_asleep(struct usage_sampler *s, const struct sampled_thread *thread,
                       struct sampler_thread *kept, bool ran, struct sampler_usage *now,
                       uint64_t now_ns)
{
    if (kept->asleep && !kept->looked) {
        usage_put(now, thread->code, USAGE_ASLEEP, SLEEP_IN_NOT);
        kept->asleep = SLEEP_IN_NOT;
    }
    if (ran) {
        kept->still_ns = now_ns;
        kept->looked = false;
    }
    if (kept->looked || now_ns - kept->still_ns < ASLEEP_NS)
        return;
    kept->looked = true;
    uint8_t reach;
    kept->asleep = asleep_in(s, thread->tid, &reach);
    if (kept->asleep)
        usage_put(now, thread->code, USAGE_ASLEEP, kept->asleep);
    unsigned call = SLEEP_VALUE_CALL(kept->asleep);
    kept->looked =
        sampler_put_poll_set(s, thread, call, now) && sampler_put_end_holder(s, thread, call, now);
    if (!thread->futex_word || (call != SLEEP_IN_FUTEX && call != SLEEP_IN_TIMED_FUTEX) ||
        SLEEP_VALUE_WORD(kept->asleep) - thread->futex_word >= QUEUE_FUTEX_BYTES)
        return;
    usage_put(now, thread->code, USAGE_FUTEX_SITE, thread->futex_site);
    usage_put(now, thread->code, USAGE_FUTEX_LIBRARY, thread->futex_library);
    usage_put(now, thread->code, USAGE_FUTEX_ONCE, thread->futex_once);
    usage_put(now, thread->code, USAGE_FUTEX_REACH, reach);
}

/* Returns the thread that holds the lock of the loader at that address, or NULL. */
static const struct sampled_thread *sampler_lock_holder(const struct usage_sampler *s,
                                                        uint64_t word,
                                                        const struct sampled_thread *threads,
                                                        size_t count)
{
    uint8_t bytes[SLEEP_LOCK_BYTES];
    int fd = s->same_numbers ? openat(s->process, "mem", O_RDONLY | O_CLOEXEC) : -1;
    bool read = fd >= 0 && pread(fd, bytes, sizeof bytes, (off_t)word) == (ssize_t)sizeof bytes;
    if (fd >= 0)
        close(fd);
    uint32_t tid = read ? asleep_lock_holder(bytes) : 0;
    for (size_t i = 0; i < count && tid; i++)
        if ((uint32_t)threads[i].tid == tid)
            return &threads[i];
    return NULL;
}

/* Reports which thread holds the lock of the loader at which another one sleeps, once that sleeps,
 * too: until it runs again it holds the lock. */
static void sampler_put_lock_holder(struct usage_sampler *s, const struct sampled_thread *threads,
                                    size_t count, size_t sleeper, struct sampler_usage *now,
                                    uint64_t now_ns)
{
    struct sampler_thread *kept = map_get(&s->kept, threads[sleeper].code, 0);
    if (!kept || !kept->looked || SLEEP_VALUE_CALL(kept->asleep) != SLEEP_IN_LOADER)
        return;
    const struct sampled_thread *by =
        sampler_lock_holder(s, SLEEP_VALUE_WORD(kept->asleep), threads, count);
    const struct sampler_thread *holder = by ? map_get(&s->kept, by->code, 0) : NULL;
    if (!holder || !holder->looked || kept->held_ns > holder->still_ns + ASLEEP_NS)
        return;
    usage_put(now, threads[sleeper].code, USAGE_LOADER_HOLDER, by->code);
    kept->held_ns = now_ns;
}

static void put_thread(struct usage_sampler *s, const struct sampled_thread *thread,
                       struct sampler_usage *last, struct sampler_usage *now, uint64_t now_ns)
{
    struct usage_figure f[2];
    char text[128];
    struct sampler_thread *kept = kept_of(s, thread);
    ssize_t size = kept->schedstat != CLOSED ? pread(kept->schedstat, text, sizeof text, 0) : 0;
    size_t n = size > 0 ? proc_schedstat(text, (size_t)size, f, 2) : 0;
    bool silent = kept->reported_ns && kept->reported_ns < s->last_ns, any = false;
    for (size_t i = 0; i < n; i++) {
        uint64_t before;
        if (!has_changed(s, thread->code, &f[i], &before))
            continue;
        any = true;
        if (before && silent)
            usage_put(last, thread->code, f[i].meter, before - 1);
        usage_put(now, thread->code, f[i].meter, f[i].value);
    }
    kept->reported_ns = any ? now_ns : kept->reported_ns;
    if (n)
        put_asleep(s, thread, kept, any, now, now_ns);
}

static bool is_gone(void *context, uint64_t a, uint64_t b, void *value)
{
    const struct usage_sampler *s = context;
    struct sampler_thread *kept = value;
    (void)a;
    (void)b;
    if (kept->round == s->round)
        return false;
    sampler_drop_thread(kept);
    return true;
}

static void put_threads(struct usage_sampler *s, const struct sampled_thread *threads, size_t count,
                        struct sampler_usage *last, struct sampler_usage *now, uint64_t now_ns)
{
    struct map_removal weeding = {0};
    s->round++;
    s->thread_count = s->poll_sets = 0;
    for (size_t i = 0; i < count; i++)
        s->thread_count += threads[i].tid && threads[i].code;
    for (size_t i = 0; i < count; i++)
        if (threads[i].tid && threads[i].code)
            put_thread(s, &threads[i], last, now, now_ns);
    for (size_t i = 0; i < count; i++)
        if (threads[i].tid && threads[i].code)
            sampler_put_lock_holder(s, threads, count, i, now, now_ns);
    if (s->kept.count > count)
        while (!map_remove_if(&s->kept, &weeding, 1024, is_gone, s))
            ;
    s->last_ns = now_ns;
}

/* ---- when ---- */

/* When the next sample is due, after one at `now`: those that are late do not make others late. */
static uint64_t next_of(const struct usage_sampler *s, uint64_t was_ns, uint64_t now_ns,
                        uint64_t parts, uint64_t often_ns)
{
    if (s->every_ns)
        return was_ns && now_ns < was_ns + s->every_ns ? was_ns + s->every_ns
                                                       : now_ns + s->every_ns;
    uint64_t rest = (now_ns - s->first_ns) / parts;
    return now_ns + (rest > often_ns ? rest : often_ns);
}

static uint64_t spent_ns(void) { return clock_read_ns(CLOCK_THREAD_CPUTIME_ID); }

static uint64_t sampler_max(uint64_t a, uint64_t b) { return a > b ? a : b; }

static void sampler_sample_threads(struct usage_sampler *s, uint64_t now_ns,
                                   const struct sampled_thread *threads, size_t count,
                                   struct sampler_usage *last, struct sampler_usage *now)
{
    uint64_t began_ns = spent_ns();
    put_threads(s, threads, count, last, now, now_ns);
    uint64_t next_ns = next_of(s, s->threads_ns, now_ns, THREADS_PARTS, THREADS_NS);
    s->threads_ns = sampler_max(next_ns, now_ns + (spent_ns() - began_ns) * COST_PARTS);
}

void usage_sampler_sample(struct usage_sampler *s, uint64_t now_ns,
                          const struct sampled_thread *threads, size_t count,
                          struct encoder bodies[SAMPLER_BODIES])
{
    if (!s->first_ns)
        s->first_ns = now_ns;
    struct sampler_usage process = usage_begin(&bodies[0], s->process_ns),
                         last = usage_begin(&bodies[1], s->last_ns),
                         now = usage_begin(&bodies[2], now_ns);
    /* of threads that exited long ago: all values are reported again */
    if (s->reported.count > 2 * USAGE_METERS * (1 + count)) {
        map_free(&s->reported);
        s->reported = (struct map){0};
    }
    if (now_ns >= s->next_ns) {
        encode_process_info(s, &process, &now, now_ns);
        s->next_ns = next_of(s, s->next_ns, now_ns, AGE_PARTS, OFTEN_NS);
    }
    sampler_sample_threads(s, now_ns, threads, count, &last, &now);
    usage_end(&process);
    usage_end(&last);
    usage_end(&now);
}
