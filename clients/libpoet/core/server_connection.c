/* The connection to the server, and the queues that are handed over on it. Used at thread starts,
 * never for an event. */
#define _GNU_SOURCE
#include "clients/libpoet/core/server_connection.h"

#include "clients/libpoet/core/environment.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/ring_slots.h"
#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/socket_sender.h"
#include "clients/libpoet/core/stderr_log.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/profile/region_owner.h"
#include "wire/limits.h"
#include "wire/message.h"
#include "wire/profile_region.h"
#include "wire/program_messages.h"
#include "wire/slot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* a copy, for systems where the kernel does not clear the page */
static _Atomic uint32_t current_lifetime_copy;
static bool may_clear;

uint32_t current_lifetime_exchange(uint32_t life)
{
    atomic_store(&current_lifetime_copy, life);
    return atomic_exchange(&tracer.lifetime.number, life);
}

static void current_lifetime_begin(void)
{
    atomic_store(&tracer.lifetime.kept, 1);
    may_clear =
        syscall(SYS_madvise, &tracer.lifetime, sizeof tracer.lifetime, MADV_WIPEONFORK) == 0;
}

bool current_lifetime_is_cleared(void) { return may_clear && !atomic_load(&tracer.lifetime.kept); }

uint32_t current_lifetime_before_fork(void) { return atomic_load(&current_lifetime_copy); }

static int server_socket = -1;
/* to detect that the program has closed every descriptor, including libpoet's */
static struct stat connection_is;
static latch server_send_latch; /* protects the connection, so that messages are sent whole */
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
        stderr_log_print_once("%s=%s: not a number from %u to %u; using %u", variable, s, low, high,
                              otherwise);
        return otherwise;
    }
    return (unsigned)v;
}

static bool server_connection_is_ours(void)
{
    struct stat st;
    return server_socket >= 0 && syscall(SYS_fstat, server_socket, &st) == 0 &&
           st.st_ino == connection_is.st_ino && st.st_dev == connection_is.st_dev;
}

/* the thread that sends the first message reports what became of them */
static bool server_is_greeted;

static void server_connection_give_up(const char *why)
{
    if (!current_lifetime_exchange(0))
        return;
    if (why && !server_is_greeted)
        stderr_log_print("lost connection to server (%s); tracing stopped", why);
}

/* The connection is open, but the server does not read: it is slow, or stopped. Senders wait for it
 * once, until it has read something. */
static bool server_is_slow;

/* Returns how long to wait for room; a truncated message would end tracing, and the sender has
 * time. */
static int server_connection_timeout_ms(bool begun)
{
    unsigned least = begun || tracer.server.needs_socket ? 1000 : 0, wanted = server_wait_ms();
    return server_is_slow ? 0 : (int)(wanted > least ? wanted : least);
}

/* Sends all of it, or nothing if the server is slow; ends tracing if the server is gone, or a
 * message would be truncated. Must hold the lock. */
static bool server_connection_send_all(const struct encoder *out, int descriptor)
{
    if (out->failed)
        return false;
    if (!server_connection_is_ours()) {
        server_connection_give_up("the program closed the connection");
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
        ssize_t n = sendmsg(server_socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0) {
            sent += (size_t)n;
            server_is_slow = false;
            continue;
        }
        struct pollfd p = {.fd = server_socket, .events = POLLOUT};
        bool full = errno == EAGAIN;
        if (errno == EINTR || (full && poll(&p, 1, server_connection_timeout_ms(sent > 0)) == 1))
            continue;
        server_is_slow = full;
        if (full && sent == 0)
            return false;
        server_connection_give_up(full ? "server not responding" : strerror(errno));
        return false;
    }
    return true;
}

static void server_connection_send_wake(void)
{
    static const uint8_t wake[MESSAGE_FRAME_BYTES] = {
        0, 0, 0, 0, MESSAGE_WAKE, 0, MESSAGE_MARK & 0xff, MESSAGE_MARK >> 8};
    if (!server_connection_is_ours())
        server_connection_give_up("the program closed the connection");
    else if (send(server_socket, wake, sizeof wake, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
             errno != EAGAIN && errno != EINTR)
        server_connection_give_up(strerror(errno));
}

/* No thread waits for the connection in order to wake the server: its holder does so when it has
 * finished. */
static void server_connection_wake_if_wanted(void)
{
    while (atomic_load(&wake_wanted) && latch_try_lock(&server_send_latch)) {
        if (atomic_exchange(&wake_wanted, false))
            server_connection_send_wake();
        latch_unlock(&server_send_latch);
    }
}

static bool server_connection_send_whole(const struct encoder *out, int descriptor, uint32_t life)
{
    int cancelling;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    latch_lock(&server_send_latch);
    bool sent =
        atomic_load(&tracer.lifetime.number) == life && server_connection_send_all(out, descriptor);
    latch_unlock(&server_send_latch);
    server_connection_wake_if_wanted();
    pthread_setcancelstate(cancelling, NULL);
    return sent;
}

#define TRIES 100 /* while others are sending */

/* Does the same for a short message, if it can be sent without waiting; also from a signal handler
 * that interrupted the sender. */
bool server_send_at_once(const struct encoder *out, int descriptor, uint32_t life)
{
    for (int tries = 0; !latch_try_lock(&server_send_latch); syscall(SYS_sched_yield))
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
    bool may =
        atomic_load(&tracer.lifetime.number) == life && !out->failed && server_connection_is_ours();
    ssize_t n = may ? sendmsg(server_socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) : -1;
    if (n > 0 && (size_t)n < out->size)
        server_connection_give_up("truncated message");
    latch_unlock(&server_send_latch);
    server_connection_wake_if_wanted();
    return n > 0 && (size_t)n == out->size;
}

/* ---- queues ---- */

static bool queues_grow; /* set if the user names a size */

bool queue_may_grow(const struct traced_thread *t)
{
    return seccomp_allows(ALLOWED_QUEUES) && queues_grow && !tracer.server.needs_socket &&
           t->queue && t->mask + 1 >= queue_slots &&
           t->life == atomic_load(&tracer.lifetime.number);
}

void queue_prepare(struct traced_thread *t, void *memory, uint32_t slots)
{
    t->queue = memory;
    t->slots = (struct ring_slot *)((char *)memory + QUEUE_HEAD_BYTES);
    t->mask = slots - 1;
}

static void prepare_queue(struct traced_thread *t, void *memory, uint32_t slots)
{
    queue_prepare(t, memory, slots);
    t->life = atomic_load(&tracer.lifetime.number);
    t->queue->magic = QUEUE_MAGIC;
    t->queue->version = WIRE_VERSION;
    t->queue->slots = slots;
    t->queue->clock = tracer.clock.has_ticks ? QUEUE_CLOCK_TICKS : QUEUE_CLOCK_NS;
    atomic_store(&t->queue->asleep, 1);
    /* A thread that ends before the server has read this reports its usage, too. */
    atomic_store(&t->queue->wanted,
                 measurement_wanted_initial() | (seccomp_filter_is_none() ? WANTED_USAGE : 0));
}

static bool make_sent_queue(struct traced_thread *t, size_t bytes, uint32_t slots)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return false;
    prepare_queue(t, p, slots);
    if (socket_sender_add(p, bytes))
        return true;
    munmap(p, bytes);
    t->queue = NULL;
    t->life = NO_LIFE;
    return false;
}

/* Sets the size. RLIMIT_FSIZE applies to this memory, too, and exceeding it raises a signal. */
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

/* Makes memory that the server may map, of a fixed size. Returns its descriptor, or -1 if that is
 * not possible. */
int queue_memory(size_t bytes)
{
    if (!seccomp_allows(ALLOWED_QUEUES))
        return -1;
    int fd =
        server_connection_move_fd(memfd_create("poet-queue", MFD_CLOEXEC | MFD_ALLOW_SEALING), 3);
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

static bool make_queue(struct traced_thread *t, uint32_t slots)
{
    size_t bytes = QUEUE_HEAD_BYTES + (size_t)slots * SLOT_BYTES;
    if (tracer.server.needs_socket)
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
    struct encoder out = {.data = message, .room = sizeof message};
    encoder_begin_message(&out, MESSAGE_THREAD);
    encode_thread(&out, &(struct thread_message){slots});
    encoder_end_message(&out);
    bool sent = server_connection_send_whole(&out, fd, t->life);
    close(fd);
    if (!sent) {
        munmap(p, bytes);
        t->queue = NULL;
        t->life = NO_LIFE;
    }
    return sent;
}

bool server_queue_create(struct traced_thread *t, uint32_t most_slots)
{
    int cancelling;
    if (!seccomp_allows(ALLOWED_QUEUES))
        return false;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    bool made = make_queue(t, queue_slots < most_slots ? queue_slots : most_slots);
    pthread_setcancelstate(cancelling, NULL);
    return made;
}

void server_queue_done(struct traced_thread *t)
{
    t->life = NO_LIFE;
    if (!t->queue)
        return;
    atomic_store_explicit(&t->queue->done, QUEUE_DONE, memory_order_release);
    queue_drop_older(&t->older_queue);
    queue_grow_forget(t);
    if (!tracer.server.needs_socket) /* else it goes when it has been sent */
        munmap(t->queue, QUEUE_HEAD_BYTES + (size_t)(t->mask + 1) * SLOT_BYTES);
    t->queue = NULL;
    t->slots = NULL;
}

void server_wake(void)
{
    if (tracer.server.needs_socket) {
        socket_sender_wake();
        return;
    }
    int cancelling; /* send() is a cancellation point, a lock is not */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    atomic_store(&wake_wanted, true);
    server_connection_wake_if_wanted();
    pthread_setcancelstate(cancelling, NULL);
}

void server_check(void)
{
    int cancelling;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    if (latch_try_lock(&server_send_latch)) {
        struct pollfd p = {.fd = server_socket, .events = POLLRDHUP};
        if (!server_connection_is_ours())
            server_connection_give_up("the program closed the connection");
        else if (poll(&p, 1, 0) == 1 && p.revents & (POLLRDHUP | POLLHUP | POLLERR))
            server_connection_give_up("connection closed by server");
        latch_unlock(&server_send_latch);
        server_connection_wake_if_wanted();
    }
    pthread_setcancelstate(cancelling, NULL);
}

bool server_send(const struct encoder *out, uint32_t life)
{
    return server_connection_send_whole(out, -1, life);
}

bool server_send_with(const struct encoder *out, int descriptor, uint32_t life)
{
    return server_connection_send_whole(out, descriptor, life);
}

/* The memory is shared with the parent: later writes must have no effect. */
void server_queue_forked(struct traced_thread *t)
{
    if (t->older_queue.queue)
        munmap(t->older_queue.queue,
               QUEUE_HEAD_BYTES + (size_t)t->older_queue.queue->slots * SLOT_BYTES);
    t->older_queue.queue = NULL;
    if (t->queue)
        mmap(t->queue, QUEUE_HEAD_BYTES + (size_t)(t->mask + 1) * SLOT_BYTES,
             PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

bool server_alive(void)
{
    return atomic_load_explicit(&tracer.lifetime.number, memory_order_relaxed) != 0;
}

void server_begin(void)
{
    current_lifetime_begin();
    wait_ms = number_from("POET_MAX_STALL_MS", 1000, 0, 10000);
    const char *chosen = environment_get("POET_QUEUE_KIB");
    queues_grow = !chosen || !*chosen;
    unsigned kib = number_from("POET_QUEUE_KIB", 256, 16, LIMIT_QUEUE_BYTES >> 10);
    for (queue_slots = 256; (size_t)queue_slots * 2 * SLOT_BYTES <= (size_t)kib * 1024;)
        queue_slots *= 2;
}

bool server_connection_begin(int fd, const struct encoder *first)
{
    static uint32_t lives;
    latch_lock(&server_send_latch);
    if (server_connection_is_ours())
        close(server_socket);
    server_socket = fd;
    server_is_slow = false;
    fstat(server_socket, &connection_is);
    current_lifetime_exchange(++lives);
    server_is_greeted = true;
    bool sent = server_connection_send_all(first, -1);
    server_is_greeted = false;
    latch_unlock(&server_send_latch);
    return sent;
}

static void server_connection_forget(void)
{
    current_lifetime_exchange(0);
    if (server_connection_is_ours())
        close(server_socket);
    server_socket = -1;
}

void server_forget(void)
{
    latch_lock(&server_send_latch);
    server_connection_forget();
    latch_unlock(&server_send_latch);
}

void server_connection_abandon(void)
{
    current_lifetime_exchange(0);
    atomic_store(&tracer.lifetime.kept, 1);
    server_socket = -1;
}

void server_forked(void)
{
    uint32_t life = current_lifetime_before_fork();
    if (life)
        tracer.process.parent = (struct process_parent){tracer.process.instance, life};
    atomic_store(&tracer.lifetime.kept, 1);
    latch_reset(&server_send_latch);
    queue_grow_forked();
    server_connection_forget();
}

/* ---- descriptors ----
 *
 * Numbers of libpoet's own descriptors. The limit RLIMIT_NOFILE applies to a number only when it is
 * opened, so that a descriptor beyond it uses none of the program's. */

int server_connection_move_fd(int fd, int least)
{
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, least);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

/* Beyond the numbers of programs that rely on low ones. */
#define DESCRIPTOR_HIGH 512
/* The kernel's table has an entry for each number up to the highest, which each fork copies. */
#define DESCRIPTOR_HIGHEST 4096

/* As in the kernel (prlimit64(2)), whatever the C library's is. */
struct descriptor_limits {
    uint64_t now, most;
};

#define DESCRIPTOR_LIMITS 7 /* RLIMIT_NOFILE */

static bool descriptor_limits(const struct descriptor_limits *set, struct descriptor_limits *were)
{
    return syscall(SYS_prlimit64, 0, DESCRIPTOR_LIMITS, set, were) == 0;
}

/* Returns whether no other thread could open files meanwhile, or change the limit. proc(5) has a
 * directory for each. */
static bool descriptor_alone(void)
{
    struct stat st;
    return stat("/proc/self/task", &st) == 0 && st.st_nlink == 3;
}

/* In a child its parent's descriptor is there, too. */
#define DESCRIPTOR_ROOM 16

static bool descriptor_raise(const struct descriptor_limits *were)
{
    uint64_t now = were->now + DESCRIPTOR_ROOM, most = were->most;
    if (descriptor_limits(&(struct descriptor_limits){now, most > now ? most : now}, NULL))
        return true;
    return most > were->now && descriptor_limits(&(struct descriptor_limits){most, most}, NULL);
}

/* Moves the descriptor beyond the limit, which is raised for one call, with no other thread and no
 * signal handled. */
static int descriptor_beyond(int fd)
{
    struct descriptor_limits were;
    if (!descriptor_limits(NULL, &were) || were.now < 3 || were.now > DESCRIPTOR_HIGHEST ||
        !descriptor_alone())
        return fd;
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    if (descriptor_raise(&were)) {
        fd = server_connection_move_fd(fd, (int)were.now);
        descriptor_limits(&were, NULL);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return fd;
}

int server_connection_move_aside(int fd)
{
    int saved = errno;
    if (fd >= 0 && seccomp_filter_is_none() && seccomp_allows(ALLOWED_LIMITS))
        fd = descriptor_beyond(fd);
    if (fd >= 0 && fd < DESCRIPTOR_HIGH)
        fd = server_connection_move_fd(fd, DESCRIPTOR_HIGH);
    errno = saved;
    return fd;
}
