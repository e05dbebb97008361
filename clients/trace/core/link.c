/* The connection to the event server, and the queues that are handed over on it.  Used at thread
 * starts, never on an event. */
#define _GNU_SOURCE
#include "clients/trace/core/link.h"

#include "clients/trace/core/allowed.h"
#include "clients/trace/core/clock.h"
#include "clients/trace/core/descriptor.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/environ.h"
#include "clients/trace/core/filter.h"
#include "clients/trace/core/grow.h"
#include "clients/trace/core/line.h"
#include "clients/trace/core/lock.h"
#include "clients/trace/core/say.h"
#include "clients/trace/core/sender.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/measure/region.h"
#include "wire/limits.h"
#include "wire/message.h"
#include "wire/region.h"
#include "wire/slot.h"
#include "wire/told.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t instance;
#define LIVE_PAGE_BYTES 4096
static struct live_page {
    _Atomic uint32_t life;
    _Atomic uint32_t kept; /* 0: the page was cleared, or is not begun */
    char rest[LIVE_PAGE_BYTES - 2 * sizeof(uint32_t)];
} live_page __attribute__((aligned(LIVE_PAGE_BYTES), used));
/* (an alias of the compiler's would be an object of its own for a sanitizer) */
__asm__(".globl live\n.hidden live\n.set live, live_page\n");
static _Atomic uint32_t known; /* the same where nothing clears it */
static bool may_clear;

uint32_t live_exchange(uint32_t life)
{
    atomic_store(&known, life);
    return atomic_exchange(&live, life);
}

static void live_begin(void)
{
    atomic_store(&live_page.kept, 1);
    may_clear = syscall(SYS_madvise, &live_page, sizeof live_page, MADV_WIPEONFORK) == 0;
}

bool live_cleared(void) { return may_clear && !atomic_load(&live_page.kept); }

uint32_t live_before_fork(void) { return atomic_load(&known); }

static int connection = -1;
static struct stat connection_is; /* a program may close every descriptor, ours too */
static latch sending; /* around the connection: messages on it are whole */
static _Atomic bool wake_wanted;
static unsigned wait_ms = 1000;
static uint32_t queue_slots = 4096;

unsigned server_wait_ms(void) { return wait_ms; }

static unsigned number_from(const char *variable, unsigned otherwise, unsigned low, unsigned high)
{
    const char *s = environment_get(variable);
    if (!s || !*s)
        return otherwise;
    char *end;
    unsigned long v = strtoul(s, &end, 10);
    if (*end || v < low || v > high) {
        say_once("%s=%s: must be a number from %u to %u: using %u", variable, s, low, high, otherwise);
        return otherwise;
    }
    return (unsigned)v;
}

static bool ours(void)
{
    struct stat st;
    return connection >= 0 && syscall(SYS_fstat, connection, &st) == 0 &&
           st.st_ino == connection_is.st_ino && st.st_dev == connection_is.st_dev;
}

static bool greeting; /* whoever sends the first words says what became of them */

static void give_up(const char *why)
{
    if (!live_exchange(0))
        return;
    if (why && !greeting)
        say("the server is gone (%s): the program goes on untraced", why);
}

/* The connection stands, but the server does not read: it is slow, or stopped.  It is waited for once, until it
 * has read something. */
static bool slow;

/* How long is waited for room; a message that is cut would be the end of tracing, and the sender has time. */
static int patience_ms(bool begun)
{
    unsigned least = begun || server_sends ? 1000 : 0, wanted = server_wait_ms();
    return slow ? 0 : (int)(wanted > least ? wanted : least);
}

/* Sends all of it, or nothing where the server is slow; gives tracing up where it is gone, or a message would be
 * cut.  Call under the lock. */
static bool send_all(const struct out *out, int descriptor)
{
    if (out->failed)
        return false;
    if (!ours()) {
        give_up("the program closed the connection");
        return false;
    }
    for (size_t sent = 0; sent < out->size;) {
        struct iovec iov = {out->data + sent, out->size - sent};
        char control[CMSG_SPACE(sizeof(int))] = {0};
        struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
        if (descriptor >= 0 && sent == 0) {
            message.msg_control = control;
            message.msg_controllen = sizeof control;
            struct cmsghdr *c = CMSG_FIRSTHDR(&message);
            c->cmsg_level = SOL_SOCKET;
            c->cmsg_type = SCM_RIGHTS;
            c->cmsg_len = CMSG_LEN(sizeof(int));
            memcpy(CMSG_DATA(c), &descriptor, sizeof descriptor);
        }
        ssize_t n = sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0) {
            sent += (size_t)n;
            slow = false;
            continue;
        }
        struct pollfd p = {.fd = connection, .events = POLLOUT};
        bool full = errno == EAGAIN;
        if (errno == EINTR || (full && poll(&p, 1, patience_ms(sent > 0)) == 1))
            continue;
        slow = full;
        if (full && sent == 0)
            return false;
        give_up(full ? "it does not read" : strerror(errno));
        return false;
    }
    return true;
}

static void send_wake(void)
{
    static const uint8_t wake[MESSAGE_FRAME_BYTES] = {
        0, 0, 0, 0, MESSAGE_WAKE, 0, MESSAGE_MARK & 0xff, MESSAGE_MARK >> 8};
    if (!ours())
        give_up("the program closed the connection");
    else if (send(connection, wake, sizeof wake, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
             errno != EAGAIN && errno != EINTR)
        give_up(strerror(errno));
}

/* Nobody waits for the connection to wake the server: whoever has it now does it when it has done. */
static void wake_if_wanted(void)
{
    while (atomic_load(&wake_wanted) && latch_try(&sending)) {
        if (atomic_exchange(&wake_wanted, false))
            send_wake();
        latch_give(&sending);
    }
}

static bool send_whole(const struct out *out, int descriptor, uint32_t life)
{
    int cancelling;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    latch_take(&sending);
    bool sent = atomic_load(&live) == life && send_all(out, descriptor);
    latch_give(&sending);
    wake_if_wanted();
    pthread_setcancelstate(cancelling, NULL);
    return sent;
}

#define TRIES 100 /* while others are sending */

/* The same for a message of few bytes, if it can be sent without waiting: also by a signal handler that came
 * between whoever is sending. */
bool server_send_at_once(const struct out *out, int descriptor, uint32_t life)
{
    for (int tries = 0; !latch_try(&sending); syscall(SYS_sched_yield))
        if (tries++ == TRIES)
            return false;
    struct iovec iov = {out->data, out->size};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
    struct msghdr message = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &descriptor, sizeof descriptor);
    bool may = atomic_load(&live) == life && !out->failed && ours();
    ssize_t n = may ? sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT) : -1;
    if (n > 0 && (size_t)n < out->size)
        give_up("a message was cut");
    latch_give(&sending);
    wake_if_wanted();
    return n > 0 && (size_t)n == out->size;
}

/* ---- queues ---- */

bool server_sends, server_follows, server_regions, server_heaps, server_meters, server_entries,
    server_spans, server_far, server_ends, server_scarce, server_awaits;
static bool queues_grow; /* whoever names a size wants that */

bool queue_may_grow(const struct thread *t)
{
    return allowed(ALLOWED_QUEUES) && queues_grow && server_follows && !server_sends && t->queue &&
           t->mask + 1 >= queue_slots && t->life == atomic_load(&live);
}

void queue_prepare(struct thread *t, void *memory, uint32_t slots)
{
    t->queue = memory;
    t->slots = (struct slot *)((char *)memory + QUEUE_HEAD_BYTES);
    t->mask = slots - 1;
}

static void prepare_queue(struct thread *t, void *memory, uint32_t slots)
{
    queue_prepare(t, memory, slots);
    t->life = atomic_load(&live);
    t->queue->magic = QUEUE_MAGIC;
    t->queue->version = WIRE_VERSION;
    t->queue->slots = slots;
    t->queue->clock = clock_ticks ? QUEUE_CLOCK_TICKS : QUEUE_CLOCK_NS;
    atomic_store(&t->queue->asleep, 1);
    /* Who ends before the server has looked at it says what it used, too. */
    atomic_store(&t->queue->wanted, wanted_first() | (filter_none() ? WANTED_USAGE : 0));
}

static bool make_sent_queue(struct thread *t, size_t bytes, uint32_t slots)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return false;
    prepare_queue(t, p, slots);
    if (sender_add(p, bytes))
        return true;
    munmap(p, bytes);
    t->queue = NULL;
    t->life = NO_LIFE;
    return false;
}

/* The limit on the size of files holds for this memory, too, and to go beyond it is a signal. */
static bool set_size(int fd, size_t bytes)
{
    sigset_t size_exceeded, before;
    sigemptyset(&size_exceeded);
    sigaddset(&size_exceeded, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &size_exceeded, &before);
    bool set = ftruncate(fd, (off_t)bytes) == 0;
    if (!set && errno == EFBIG)
        sigtimedwait(&size_exceeded, NULL, &(struct timespec){0, 0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return set;
}

/* Memory that the server may map, of a size that stays; -1: there is none here. */
int queue_memory(size_t bytes)
{
    if (!allowed(ALLOWED_QUEUES))
        return -1;
    int fd = descriptor_away(memfd_create("poet-queue", MFD_CLOEXEC | MFD_ALLOW_SEALING), 3);
    if (fd >= 0 && set_size(fd, bytes) &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

bool server_may_share(void)
{
    int fd = queue_memory(QUEUE_HEAD_BYTES + (size_t)queue_slots * SLOT_BYTES);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool make_queue(struct thread *t, uint32_t slots)
{
    size_t bytes = QUEUE_HEAD_BYTES + (size_t)slots * SLOT_BYTES;
    if (server_sends)
        return make_sent_queue(t, bytes, slots);
    int fd = queue_memory(bytes);
    void *p = fd < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    prepare_queue(t, p, slots);
    uint8_t message[MESSAGE_FRAME_BYTES + 4];
    struct out out = {.data = message, .room = sizeof message};
    out_begin(&out, MESSAGE_THREAD);
    put_told_thread(&out, &(struct told_thread){slots});
    out_end(&out);
    bool sent = send_whole(&out, fd, t->life);
    close(fd);
    if (!sent) {
        munmap(p, bytes);
        t->queue = NULL;
        t->life = NO_LIFE;
    }
    return sent;
}

bool server_queue(struct thread *t, uint32_t most_slots)
{
    int cancelling;
    if (!allowed(ALLOWED_QUEUES))
        return false;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    bool made = make_queue(t, queue_slots < most_slots ? queue_slots : most_slots);
    pthread_setcancelstate(cancelling, NULL);
    return made;
}

void server_queue_done(struct thread *t)
{
    t->life = NO_LIFE;
    if (!t->queue)
        return;
    atomic_store_explicit(&t->queue->done, QUEUE_DONE, memory_order_release);
    queue_drop_older(t);
    queue_forget(t);
    if (!server_sends) /* else it goes when it has been sent */
        munmap(t->queue, QUEUE_HEAD_BYTES + (size_t)(t->mask + 1) * SLOT_BYTES);
    t->queue = NULL;
    t->slots = NULL;
}

void server_wake(void)
{
    if (server_sends) {
        sender_wake();
        return;
    }
    int cancelling; /* send() is a cancellation point, a lock is not */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    atomic_store(&wake_wanted, true);
    wake_if_wanted();
    pthread_setcancelstate(cancelling, NULL);
}

void server_look(void)
{
    int cancelling;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    if (latch_try(&sending)) {
        struct pollfd p = {.fd = connection, .events = POLLRDHUP};
        if (!ours())
            give_up("the program closed the connection");
        else if (poll(&p, 1, 0) == 1 && p.revents & (POLLRDHUP | POLLHUP | POLLERR))
            give_up("it hung up");
        latch_give(&sending);
        wake_if_wanted();
    }
    pthread_setcancelstate(cancelling, NULL);
}

bool server_send(const struct out *out, uint32_t life) { return send_whole(out, -1, life); }

bool server_send_with(const struct out *out, int descriptor, uint32_t life)
{
    return send_whole(out, descriptor, life);
}

/* Its memory is the parent's as well: whatever is still written goes nowhere. */
void server_queue_forked(struct thread *t)
{
    if (t->older)
        munmap(t->older, QUEUE_HEAD_BYTES + (size_t)t->older->slots * SLOT_BYTES);
    t->older = NULL;
    if (t->queue)
        mmap(t->queue, QUEUE_HEAD_BYTES + (size_t)(t->mask + 1) * SLOT_BYTES,
             PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

bool server_alive(void) { return atomic_load_explicit(&live, memory_order_relaxed) != 0; }

void server_begin(void)
{
    live_begin();
    wait_ms = number_from("POET_WAIT_MS", 1000, 0, 10000);
    const char *chosen = environment_get("POET_QUEUE_KIB");
    queues_grow = !chosen || !*chosen;
    unsigned kib = number_from("POET_QUEUE_KIB", 256, 16, LIMIT_QUEUE_BYTES >> 10);
    for (queue_slots = 256; (size_t)queue_slots * 2 * SLOT_BYTES <= (size_t)kib * 1024;)
        queue_slots *= 2;
}

bool server_use(int fd, const struct out *first)
{
    static uint32_t lives;
    latch_take(&sending);
    if (ours())
        close(connection);
    connection = fd;
    slow = false;
    fstat(connection, &connection_is);
    live_exchange(++lives);
    greeting = true;
    bool sent = send_all(first, -1);
    greeting = false;
    latch_give(&sending);
    return sent;
}

static void forget(void)
{
    live_exchange(0);
    if (ours())
        close(connection);
    connection = -1;
}

void server_forget(void)
{
    latch_take(&sending);
    forget();
    latch_give(&sending);
}

void server_left(void)
{
    live_exchange(0);
    atomic_store(&live_page.kept, 1);
    connection = -1;
}

void server_forked(void)
{
    atomic_store(&live_page.kept, 1);
    latch_reset(&sending);
    queue_grown_forked();
    forget();
}
