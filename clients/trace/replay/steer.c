#define _GNU_SOURCE
#include "clients/trace/replay/steer.h"

#include "clients/trace/core/clock.h"
#include "clients/trace/core/codes.h"
#include "clients/trace/core/environ.h"
#include "clients/trace/core/lock.h"
#include "clients/trace/core/module.h"
#include "clients/trace/core/object.h"
#include "clients/trace/core/record.h"
#include "clients/trace/core/say.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/replay/slow.h"
#include "clients/trace/replay/stop.h"
#include "wire/steer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 500000
#define SETTLE_NS 3000000 /* what was recorded before its call is done by then */
#define PATIENCE_LOOK_NS 10000000u
#define HELD_MOST 64u
#define HOLDS_SEEN 8u

bool steers;
static struct steer_head *head;

/* ---- points ---- */

static uintptr_t _Atomic at[STEER_POINTS]; /* the site, once it is known */

static bool is_at(unsigned i, uintptr_t site)
{
    uintptr_t known = atomic_load_explicit(&at[i], memory_order_relaxed);
    if (LIKELY(known != 0) || !site)
        return known == site && site;
    uintptr_t bias = 0;
    const char *path = modules_path(site, &bias), *slash = path ? strrchr(path, '/') : NULL;
    if (!path || site - bias != head->points[i].address ||
        strcmp(slash ? slash + 1 : path, head->points[i].file) != 0)
        return false;
    atomic_store_explicit(&at[i], site, memory_order_relaxed);
    return true;
}

static bool is_type(unsigned i, uint16_t type)
{
    const char *name = type ? codes_name(type) : NULL;
    return name && strcmp(name, head->points[i].type) == 0;
}

static bool is_whose(unsigned i, const struct thread *t)
{
    uint32_t wanted = head->points[i].thread;
    return !wanted || atomic_load_explicit(&t->own->script, memory_order_relaxed) == wanted;
}

static uint32_t find(const struct thread *t, uint16_t type, uintptr_t site)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < head->point_count; i++)
        if (is_at(i, site) && is_type(i, type) && is_whose(i, t))
            bits |= 1u << i;
    return bits;
}

static uint32_t sum(const struct steer_point *p, bool inside)
{
    uint32_t all = 0;
    for (unsigned i = 0; i < head->point_count; i++)
        if (p->others >> i & 1)
            all += atomic_load(inside ? &head->points[i].inside : &head->points[i].done);
    return all;
}

/* ---- who is held, by what it asks for ---- */

static latch held_lock;
static struct held {
    const struct thread *thread; /* NULL: nobody */
    const struct line *asks, *holds[HOLDS_SEEN];
    unsigned count;
    bool goes;
} held[HELD_MOST];

static struct held *holder_of(const struct line *line, const struct held *but)
{
    for (unsigned i = 0; i < HELD_MOST; i++)
        for (unsigned k = 0; held[i].thread && &held[i] != but && k < held[i].count; k++)
            if (held[i].holds[k] == line)
                return &held[i];
    return NULL;
}

/* Lets a circle go that one closes. */
static void close_circle(struct held *me)
{
    struct held *circle[HELD_MOST], *next = me;
    unsigned count = 0;
    do {
        circle[count++] = next;
        next = holder_of(next->asks, next);
    } while (next && next != me && count < HELD_MOST);
    for (unsigned i = 0; next == me && i < count; i++)
        circle[i]->goes = true;
}

static struct held *come(struct thread *t, const struct line *asks)
{
    struct held *me = NULL;
    latch_take(&held_lock);
    for (unsigned i = 0; i < HELD_MOST && !me; i++)
        me = held[i].thread ? NULL : &held[i];
    if (me) {
        *me = (struct held){.thread = t, .asks = asks};
        for (size_t i = 0; i < t->hold_count && me->count < HOLDS_SEEN; i++)
            me->holds[me->count++] = t->holds[i].line;
        close_circle(me);
    }
    latch_give(&held_lock);
    return me;
}

static bool goes(const struct held *me)
{
    latch_take(&held_lock);
    bool goes = me->goes;
    latch_give(&held_lock);
    return goes;
}

static void go(struct held *me)
{
    latch_take(&held_lock);
    me->thread = NULL;
    latch_give(&held_lock);
}

/* ---- holding ---- */

static bool is_so(const struct steer_point *p, const struct held *me, uint32_t since)
{
    switch ((enum steer_until)p->until) {
    case STEER_CYCLE:
        return me && goes(me);
    case STEER_DONE:
        return sum(p, false) >= p->count;
    case STEER_ANEW:
        return sum(p, false) - since >= p->count;
    case STEER_WAITING:
        return sum(p, true) >= p->count;
    case STEER_NOBODY:
        break;
    }
    return true;
}

static void pause_for(long ns) { nanosleep(&(struct timespec){0, ns}, NULL); }

/* How long it is waited: of what went by, what the thread that is to come could have used. */
struct patience {
    uint64_t begun_ns, looked_ns, used_ns;
    struct slow slow;
};

/* Whose time counts: the thread that is to come, or, where that is not known or has not begun, the
 * first one of this process. */
static void choose_thread(const struct steer_point *p, uint32_t *process, uint32_t *id)
{
    *process = *id = (uint32_t)getpid();
    for (unsigned i = 0; i < head->point_count; i++) {
        uint32_t line = p->others >> i & 1 ? head->points[i].thread : 0;
        if (line && script && line <= script->line_count && stop_id(line)) {
            *process = stop_process(line);
            *id = stop_id(line);
            return;
        }
    }
}

static bool is_late(struct patience *patience, const struct steer_point *p)
{
    uint32_t most_ms = head->hold_ms < STEER_HOLD_MS ? head->hold_ms : STEER_HOLD_MS, process, id;
    uint64_t most = most_ms * UINT64_C(1000000), now = clock_now();
    if (now - patience->looked_ns >= PATIENCE_LOOK_NS) {
        choose_thread(p, &process, &id);
        patience->used_ns +=
            slow_used(&patience->slow, process, id, now - patience->looked_ns);
        patience->looked_ns = now;
    }
    return patience->used_ns >= most || now - patience->begun_ns >= STEER_STARVED * most;
}

/* Until it is as it should be, or too late. */
static void wait_for(struct steer_point *p, const struct held *me)
{
    uint32_t since = sum(p, false);
    struct patience patience = {.begun_ns = clock_now()};
    patience.looked_ns = patience.begun_ns;
    bool so = is_so(p, me, since), first = so;
    while (!so && !is_late(&patience, p)) {
        pause_for(LOOK_NS);
        so = is_so(p, me, since);
    }
    if (so && !first)
        pause_for(SETTLE_NS);
    atomic_fetch_add(so ? &p->freed : &p->late, 1);
}

static bool is_one_of(const struct steer_point *p, uint32_t came)
{
    return came >= p->skip && (!p->most || came - p->skip < p->most);
}

/* Before what it is about to do there. */
static void hold(struct thread *t, uint32_t bits, const struct line *asks)
{
    int saved = errno;
    for (unsigned i = 0; i < head->point_count; i++) {
        struct steer_point *p = &head->points[i];
        bool circle = p->until == STEER_CYCLE;
        if (!(bits >> i & 1) || !is_one_of(p, atomic_fetch_add(&p->came, 1)) ||
            p->until == STEER_NOBODY || atomic_load(&p->late) >= head->late_most ||
            (circle && !t->hold_count))
            continue;
        busy_begin(t);
        struct held *me = circle ? come(t, asks) : NULL;
        wait_for(p, me);
        if (me)
            go(me);
        busy_end(t);
    }
    errno = saved;
}

void steer_lock(struct thread *t, const struct line *line, uintptr_t site)
{
    uint32_t bits = find(t, TYPE_PETITION, site);
    if (bits)
        hold(t, bits, line);
}

/* ---- records ---- */

/* Of the thread's record that is being made, and of what it does as long as it does nothing else. */
static __thread uint32_t meets, within __attribute__((tls_model("initial-exec")));

static void leave_inside(void)
{
    for (unsigned i = 0; within && i < head->point_count; i++)
        if (within >> i & 1)
            atomic_fetch_sub(&head->points[i].inside, 1);
    within = 0;
}

void steer_meet(struct thread *t, const struct record *r)
{
    struct step steps[CODES_STEPS];
    unsigned count = codes_steps(r->shape, steps);
    uint32_t before = 0;
    leave_inside();
    meets = 0;
    if (t->part.line && t->part.next < t->part.count)
        return; /* it repeats */
    for (unsigned i = 0; i < count; i++) {
        meets |= find(t, steps[i].type_a, r->site) | find(t, steps[i].type_b, r->site);
        if (i == 0 && !r->b && steps[i].type_a != TYPE_PETITION)
            before = meets;
    }
    if (before)
        hold(t, before, NULL);
}

void steer_met(void)
{
    for (unsigned i = 0; meets && i < head->point_count; i++)
        if (meets >> i & 1) {
            atomic_fetch_add(&head->points[i].inside, 1);
            atomic_fetch_add(&head->points[i].done, 1);
        }
    within = meets;
    meets = 0;
}

/* ---- the file ---- */

static struct steer_head *map(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat st;
    void *s = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_size == sizeof(struct steer_head))
        s = mmap(NULL, sizeof(struct steer_head), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    return s == MAP_FAILED ? NULL : s;
}

static bool is_sound(const struct steer_head *s)
{
    bool sound =
        s->magic == STEER_MAGIC && s->version == STEER_VERSION && s->point_count <= STEER_POINTS;
    for (unsigned i = 0; sound && i < s->point_count; i++)
        sound = memchr(s->points[i].type, 0, STEER_TYPE_BYTES) &&
                memchr(s->points[i].file, 0, STEER_FILE_BYTES);
    return sound;
}

bool steer_begin(void)
{
    const char *path = environment_get("POET_STEER");
    if (!path || !*path)
        return false;
    struct steer_head *s = map(path);
    if (!s || !is_sound(s)) {
        say_once("POET_STEER: %s: nothing to be led by: the program runs freely", path);
        return false;
    }
    head = s;
    steers = true;
    return true;
}
