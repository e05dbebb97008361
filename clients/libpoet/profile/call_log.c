/* Call log: when each call began and ended, as words in a ring that the server empties. A begin is
 * written only if there is room for its end, too, and for those of all open calls: so the end of a
 * call needs no check, and begins and ends in the ring always match. A signal handler reserves
 * words behind those of the call that it interrupts. */
#define _GNU_SOURCE
#include "clients/libpoet/profile/call_log.h"

#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/profile/thread_profile.h"
#include "wire/call_records.h"
#include "wire/program_messages.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

/* Calls until the next attempt if no ring could be made, and never. */
#define LATER 4096u
#define NEVER UINT32_MAX
/* For handlers between checking for room and reserving it; and for the word that reports losses. */
#define SPARE 64u

/* ---- making ---- */

static bool call_log_send_ring(int fd, const struct traced_thread *t)
{
    uint8_t message[MESSAGE_FRAME_BYTES + 4];
    struct encoder out = {.data = message, .room = sizeof message};
    encoder_begin_message(&out, MESSAGE_ENTRIES);
    encode_entries(&out, &(struct entries_message){trace_line_index(t->own)});
    encoder_end_message(&out);
    return server_send_with(&out, fd, t->life);
}

static struct call_records_head *call_log_create_ring(const struct traced_thread *t, uint32_t clock)
{
    int fd = queue_memory(CALL_RECORDS_MAP_BYTES);
    void *memory =
        fd < 0 ? MAP_FAILED
               : mmap(NULL, CALL_RECORDS_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    struct call_records_head *ring = NULL;
    if (memory != MAP_FAILED) {
        ring = memory;
        *ring = (struct call_records_head){.magic = CALL_RECORDS_MAGIC,
                                           .version = CALL_RECORDS_VERSION,
                                           .thread = trace_line_index(t->own),
                                           .clock = clock};
        if (!call_log_send_ring(fd, t)) {
            munmap(memory, CALL_RECORDS_MAP_BYTES);
            ring = NULL;
        }
    }
    if (fd >= 0)
        close(fd);
    return ring;
}

static bool call_log_may_have(const struct traced_thread *t, struct thread_profile *m)
{
    if (m->call_log.retry && m->call_log.retry != NEVER)
        m->call_log.retry--;
    return t && seccomp_allows(ALLOWED_QUEUES) && t->profile == m && !t->busy &&
           !m->call_log.retry &&
           t->life == atomic_load_explicit(&tracer.lifetime.number, memory_order_relaxed);
}

/* No handler runs in between: its calls must be recorded, too. */
static __attribute__((noinline, cold)) bool call_log_begin_ring(struct thread_profile *m)
{
    struct traced_thread *t = thread_mine;
    sigset_t all, before;
    int saved = errno, cancelling;
    if (!call_log_may_have(t, m))
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    busy_begin(t);
    m->call_log.ring = call_log_create_ring(t, m->clock);
    m->call_log.retry = m->call_log.ring ? 0 : LATER;
    m->call_log.open = m->call_log.lost = 0;
    m->call_log.room = CALL_RECORDS_WORDS;
    busy_end(t);
    pthread_setcancelstate(cancelling, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return m->call_log.ring != NULL;
}

/* ---- writing ---- */

static inline uint64_t call_log_reserve(struct call_records_head *ring)
{
    uint64_t at = 1;
#if defined(__x86_64__)
    __asm__ volatile("xaddq %0, %1" : "+r"(at), "+m"(ring->reserved) : : "cc");
    return at;
#else
    return atomic_fetch_add_explicit(&ring->reserved, at, memory_order_relaxed);
#endif
}

static inline void call_log_write_word(struct call_records_head *ring, uint64_t word)
{
    atomic_store_explicit(&call_records_words(ring)[call_log_reserve(ring) % CALL_RECORDS_WORDS],
                          word, memory_order_release);
}

static __attribute__((noinline)) bool call_log_check_space(struct thread_profile *m,
                                                           uint64_t needed)
{
    m->call_log.room =
        atomic_load_explicit(&m->call_log.ring->taken, memory_order_acquire) + CALL_RECORDS_WORDS;
    return needed <= m->call_log.room;
}

static inline bool call_log_has_space(struct thread_profile *m)
{
    uint64_t needed = sum_of(&m->call_log.ring->reserved) + sum_of(&m->call_log.open) + SPARE;
    return LIKELY(needed <= m->call_log.room) || call_log_check_space(m, needed);
}

static __attribute__((noinline, cold)) void call_log_append_lost(struct thread_profile *m)
{
    uint64_t lost = atomic_exchange_explicit(&m->call_log.lost, 0, memory_order_relaxed);
    if (lost)
        call_log_write_word(m->call_log.ring, call_record_word(0, false, lost));
}

static inline size_t call_log_number(const struct thread_profile *m,
                                     const struct profile_region_frame *frame)
{
    return (size_t)(frame - frames_of(m));
}

void call_log_begin(struct thread_profile *m, const struct profile_region_frame *frame,
                    uint32_t context, uint64_t now)
{
    size_t number = call_log_number(m, frame);
    m->call_log.begun[number] = 0;
    if (!context || (UNLIKELY(!m->call_log.ring) && !call_log_begin_ring(m)))
        return;
    if (!call_log_has_space(m)) {
        sum_add(&m->call_log.lost, 1);
        sum_add(&m->call_log.ring->lost, 1);
        return;
    }
    if (UNLIKELY(sum_of(&m->call_log.lost)))
        call_log_append_lost(m);
    sum_add(&m->call_log.open, 1);
    call_log_write_word(m->call_log.ring, call_record_word(context, false, now));
    m->call_log.begun[number] = 1;
}

void call_log_end(struct thread_profile *m, const struct profile_region_frame *frame,
                  uint32_t context, uint64_t now)
{
    size_t number = call_log_number(m, frame);
    if (!m->call_log.begun[number])
        return;
    m->call_log.begun[number] = 0;
    call_log_write_word(m->call_log.ring, call_record_word(context, true, now));
    sum_add(&m->call_log.open, UINT64_MAX);
}

void call_log_leave(struct thread_profile *m)
{
    if (!m->call_log.ring)
        return;
    if (sum_of(&m->call_log.lost))
        call_log_append_lost(m);
    munmap(m->call_log.ring, CALL_RECORDS_MAP_BYTES);
    m->call_log.ring = NULL;
}

void call_log_forked(struct thread_profile *m)
{
    if (m->call_log.ring)
        mmap(m->call_log.ring, CALL_RECORDS_MAP_BYTES, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

bool call_log_rehearse(struct thread_profile *m)
{
    void *memory = mmap(NULL, CALL_RECORDS_MAP_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    m->call_log.ring = memory == MAP_FAILED ? NULL : memory;
    m->call_log.room = CALL_RECORDS_WORDS;
    return m->call_log.ring != NULL;
}
