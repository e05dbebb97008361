/* When each call began and ended: words in a ring that the server empties.
 *
 * A begin is written only where there is room for its end, too, and for those of all calls that are open: so nothing has
 * to be looked at when a call ends, and what is in the ring is always balanced.  A signal handler that comes in between
 * reserves words behind those of the call that it interrupts. */
#define _GNU_SOURCE
#include "clients/trace/measure/every.h"

#include "clients/trace/core/allowed.h"
#include "clients/trace/core/line.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/thread.h"
#include "wire/told.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

/* Calls until it is tried again where there was no ring to be had, and never. */
#define LATER 4096u
#define NEVER UINT32_MAX
/* Of handlers that come in between looking for room and taking it; and the word that says what is lost. */
#define SPARE 64u

/* ---- making ---- */

static bool hand_over(int fd, const struct thread *t)
{
    uint8_t message[MESSAGE_FRAME_BYTES + 4];
    struct out out = {.data = message, .room = sizeof message};
    out_begin(&out, MESSAGE_ENTRIES);
    put_told_entries(&out, &(struct told_entries){line_index(t->own)});
    out_end(&out);
    return server_send_with(&out, fd, t->life);
}

static struct entries_head *make(const struct thread *t, uint32_t clock)
{
    int fd = queue_memory(ENTRIES_MAP_BYTES);
    void *memory = fd < 0
                       ? MAP_FAILED
                       : mmap(NULL, ENTRIES_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    struct entries_head *ring = NULL;
    if (memory != MAP_FAILED) {
        ring = memory;
        *ring = (struct entries_head){.magic = ENTRIES_MAGIC,
                                      .version = ENTRIES_VERSION,
                                      .thread = line_index(t->own),
                                      .clock = clock};
        if (!hand_over(fd, t)) {
            munmap(memory, ENTRIES_MAP_BYTES);
            ring = NULL;
        }
    }
    if (fd >= 0)
        close(fd);
    return ring;
}

static bool may_have(const struct thread *t, struct measured *m)
{
    if (m->every_later && m->every_later != NEVER)
        m->every_later--;
    return t && allowed(ALLOWED_QUEUES) && t->measured == m && !t->busy && !m->every_later &&
           server_entries && t->life == atomic_load_explicit(&live, memory_order_relaxed);
}

/* No handler comes in between: its calls are to be written down, too. */
static __attribute__((noinline, cold)) bool make_ring(struct measured *m)
{
    struct thread *t = thread_mine;
    sigset_t all, before;
    int saved = errno, cancelling;
    if (!may_have(t, m))
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    busy_begin(t);
    m->every = make(t, m->clock);
    m->every_later = m->every ? 0 : LATER;
    m->every_open = m->every_lost = 0;
    m->every_room = ENTRIES_WORDS;
    busy_end(t);
    pthread_setcancelstate(cancelling, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return m->every != NULL;
}

/* ---- writing ---- */

static inline uint64_t reserve(struct entries_head *ring)
{
    uint64_t at = 1;
#if defined(__x86_64__)
    __asm__ volatile("xaddq %0, %1" : "+r"(at), "+m"(ring->reserved) : : "cc");
    return at;
#else
    return atomic_fetch_add_explicit(&ring->reserved, at, memory_order_relaxed);
#endif
}

static inline void write_word(struct entries_head *ring, uint64_t word)
{
    atomic_store_explicit(&entries_words(ring)[reserve(ring) % ENTRIES_WORDS], word,
                          memory_order_release);
}

static __attribute__((noinline)) bool look_for_room(struct measured *m, uint64_t needed)
{
    m->every_room = atomic_load_explicit(&m->every->taken, memory_order_acquire) + ENTRIES_WORDS;
    return needed <= m->every_room;
}

static inline bool has_room(struct measured *m)
{
    uint64_t needed = sum_of(&m->every->reserved) + sum_of(&m->every_open) + SPARE;
    return LIKELY(needed <= m->every_room) || look_for_room(m, needed);
}

static __attribute__((noinline, cold)) void say_lost(struct measured *m)
{
    uint64_t lost = atomic_exchange_explicit(&m->every_lost, 0, memory_order_relaxed);
    if (lost)
        write_word(m->every, entry_word(0, false, lost));
}

static inline size_t number_of(const struct measured *m, const struct region_frame *frame)
{
    return (size_t)(frame - frames_of(m));
}

void every_begin(struct measured *m, const struct region_frame *frame, uint32_t context,
                 uint64_t now)
{
    size_t number = number_of(m, frame);
    m->every_told[number] = 0;
    if (!context || (!LIKELY(m->every != NULL) && !make_ring(m)))
        return;
    if (!has_room(m)) {
        sum_add(&m->every_lost, 1);
        sum_add(&m->every->lost, 1);
        return;
    }
    if (!LIKELY(!sum_of(&m->every_lost)))
        say_lost(m);
    sum_add(&m->every_open, 1);
    write_word(m->every, entry_word(context, false, now));
    m->every_told[number] = 1;
}

void every_end(struct measured *m, const struct region_frame *frame, uint32_t context, uint64_t now)
{
    size_t number = number_of(m, frame);
    if (!m->every_told[number])
        return;
    m->every_told[number] = 0;
    write_word(m->every, entry_word(context, true, now));
    sum_add(&m->every_open, UINT64_MAX);
}

void every_leave(struct measured *m)
{
    if (!m->every)
        return;
    if (sum_of(&m->every_lost))
        say_lost(m);
    munmap(m->every, ENTRIES_MAP_BYTES);
    m->every = NULL;
}

void every_forked(struct measured *m)
{
    if (m->every)
        mmap(m->every, ENTRIES_MAP_BYTES, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

bool every_practise(struct measured *m)
{
    void *memory =
        mmap(NULL, ENTRIES_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    m->every = memory == MAP_FAILED ? NULL : memory;
    m->every_room = ENTRIES_WORDS;
    return m->every != NULL;
}
