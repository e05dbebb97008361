/* File locks: flock, fcntl and lockf. A lock is a read-write lock that processes share, identified
 * by the file and the locked range. Locks held by this process are tracked here, since closing or
 * exiting releases them. */
#define _GNU_SOURCE
#include "clients/libpoet/ipc/ipc_tracer.h"

#include "clients/libpoet/key_mixing.h"
#include "clients/libpoet/poet.h"
#include "clients/libpoet/ipc/ipc_entries.h"
#include "clients/libpoet/ipc/ipc_events.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

REAL(int, flock, (int, int))
REAL(int, lockf, (int, int, off_t))
REAL(int, lockf64, (int, int, off64_t))
REAL(int, fcntl, (int, int, ...))
REAL(int, fcntl64, (int, int, ...))

/* Owner of a lock: an open file description, by flock; the process; an open file description, by
 * fcntl. */
enum file_lock_owner { NOBODY, OF_FLOCK, OF_PROCESS, OF_FILE };

struct file_lock {
    enum file_lock_owner owner;
    int fd;
    uint64_t device, inode, start, end; /* end: the first byte that is not locked */
    /* ns: when the file was made, 0 not known; a later one may get its inode number */
    uint64_t born;
    bool exclusive;
    uint64_t group; /* the same for all descriptors of an open file */
    uint64_t taken; /* how often the lock had been acquired then, by any thread */
    bool inherited; /* from before a fork: its parent may release it */
};

enum { LOCK_KEY = 0x6c6f636b, STATE_KEY, RANGES_KEY, TAKEN_KEY };
#define WHOLE_END UINT64_MAX
#define EXCLUSIVE (1ull << 63)

/* ---- what this process holds ---- */

#define MOST_HELD 256u
static struct file_lock file_lock_table[MOST_HELD];
static unsigned held_count; /* up to the last one in use */
static char file_lock_table_busy;

/* Held for a few instructions. A sleep leaves the processor also to threads of lower priority. */
static void file_lock_table_lock(void)
{
    for (unsigned tries = 1; __atomic_test_and_set(&file_lock_table_busy, __ATOMIC_ACQUIRE);
         tries++)
        if (tries % 64 == 0)
            syscall(SYS_nanosleep, &(struct timespec){0, 50000}, NULL); /* no cancellation point */
}
static void file_lock_table_unlock(void)
{
    __atomic_clear(&file_lock_table_busy, __ATOMIC_RELEASE);
}

static void file_lock_add(struct file_lock lock)
{
    static uint64_t groups;
    unsigned at = 0;
    if (!lock.group)
        lock.group = __atomic_add_fetch(&groups, 1, __ATOMIC_RELAXED);
    file_lock_table_lock();
    while (at < MOST_HELD && file_lock_table[at].owner)
        at++;
    if (at < MOST_HELD)
        file_lock_table[at] = lock;
    held_count = at < MOST_HELD && at >= held_count ? at + 1 : held_count;
    file_lock_table_unlock();
    if (at == MOST_HELD)
        poet_untraced("more than 256 file locks held at once");
}

typedef bool choice(const struct file_lock *held, const struct file_lock *wanted);

/* Removes the next one from *at on. Returns false if there is no more. */
static bool file_lock_pop(unsigned *at, choice *fits, const struct file_lock *wanted,
                          struct file_lock *found, bool remove)
{
    bool any = false;
    if (!LOAD(&held_count))
        return false;
    file_lock_table_lock();
    for (; !any && *at < held_count; ++*at) {
        any = file_lock_table[*at].owner && fits(&file_lock_table[*at], wanted);
        if (any) {
            *found = file_lock_table[*at];
            file_lock_table[*at].owner = remove ? NOBODY : file_lock_table[*at].owner;
        }
    }
    file_lock_table_unlock();
    return any;
}

static bool file_lock_same_file(const struct file_lock *a, const struct file_lock *b)
{
    return a->device == b->device && a->inode == b->inode;
}
static bool file_lock_same_owner(const struct file_lock *a, const struct file_lock *b)
{
    return a->owner == b->owner && file_lock_same_file(a, b) &&
           (a->owner == OF_PROCESS || a->fd == b->fd);
}
static bool file_lock_overlaps(const struct file_lock *a, const struct file_lock *b)
{
    return file_lock_same_owner(a, b) && a->start < b->end && b->start < a->end;
}
static bool file_lock_same_range(const struct file_lock *a, const struct file_lock *b)
{
    return file_lock_same_owner(a, b) && a->start == b->start && a->end == b->end;
}
static bool file_lock_same_group(const struct file_lock *a, const struct file_lock *b)
{
    return a->owner == b->owner && a->group == b->group;
}
static bool file_lock_by_descriptor(const struct file_lock *a, const struct file_lock *b)
{
    return a->owner != OF_PROCESS && a->fd == b->fd;
}
static bool file_lock_lost_by_close(const struct file_lock *a, const struct file_lock *b)
{
    return a->owner == OF_PROCESS ? file_lock_same_file(a, b) : a->fd == b->fd;
}
static bool file_lock_any(const struct file_lock *a, const struct file_lock *b)
{
    return a->owner != NOBODY && b;
}
static bool file_lock_of_process(const struct file_lock *a, const struct file_lock *b)
{
    return a->owner == OF_PROCESS && b;
}

/* ---- what is recorded ---- */

static uint64_t file_lock_file_key(uint64_t what, const struct file_lock *l)
{
    return key_mix(key_mix(key_mix(what, l->device), l->inode), l->born);
}

static uint64_t file_lock_key(const struct file_lock *l)
{
    return key_mix(
        key_mix(file_lock_file_key(key_mix(LOCK_KEY, l->owner == OF_FLOCK), l), l->start), l->end);
}

static poet_line_t file_lock_line(const struct file_lock *l, int fd)
{
    char link[48], path[256];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = fd >= 0 ? readlink(link, path, sizeof path - 1) : 0;
    path[n > 0 ? n : 0] = 0;
    return ipc_event_line(IPC_OBJECT_FILE_LOCK, file_lock_key(l), path);
}

/* Ranges that may overlap order each other in ways that are not recorded. */
static unsigned file_lock_range_doubt(const struct file_lock *l)
{
    uint64_t *ranges = poet_counter(file_lock_file_key(RANGES_KEY, l), true), none = 0;
    uint64_t mine = key_mix(l->start, l->end) | 1;
    if (l->owner == OF_FLOCK || !ranges ||
        __atomic_compare_exchange_n(ranges, &none, mine, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST) ||
        none == mine)
        return 0;
    STORE(ranges, UINT64_MAX);
    return POET_DOUBT_OBJECT;
}

/* The last holder was killed, or executed another program: its release was not recorded. */
static unsigned file_lock_holder_doubt(const struct file_lock *l)
{
    uint64_t *state = poet_counter(key_mix(STATE_KEY, file_lock_key(l)), true), before;
    if (!state)
        return POET_DOUBT_OBJECT;
    if (l->exclusive) {
        before = __atomic_exchange_n(state, EXCLUSIVE, __ATOMIC_SEQ_CST);
        return before ? POET_DOUBT_THREAD : 0;
    }
    before = __atomic_fetch_add(state, 1, __ATOMIC_SEQ_CST);
    if (before & EXCLUSIVE)
        __atomic_fetch_and(state, ~EXCLUSIVE, __ATOMIC_SEQ_CST);
    return before & EXCLUSIVE ? POET_DOUBT_THREAD : 0;
}

static uint64_t *file_lock_acquire_counter(const struct file_lock *l)
{
    return poet_counter(key_mix(TAKEN_KEY, file_lock_key(l)), true);
}

static void file_lock_record_acquired(struct file_lock *l, const void *site)
{
    uint64_t *taken = file_lock_acquire_counter(l);
    l->taken = taken ? __atomic_add_fetch(taken, 1, __ATOMIC_SEQ_CST) : 0;
    unsigned doubt = file_lock_range_doubt(l) | file_lock_holder_doubt(l);
    ipc_event_pair(LOCK, l->exclusive ? LOCKED : LOCKED_SHARED, file_lock_line(l, l->fd), doubt,
                   site);
}

/* A thread that is not recorded does not report it: the next thread that locks notices that. */
static void file_lock_record_released(const struct file_lock *l, const void *site)
{
    const uint64_t *taken = l->inherited ? file_lock_acquire_counter(l) : NULL;
    if (!poet_current_line())
        return;
    if (taken && LOAD(taken) != l->taken) { /* released long ago, or shared with other holders */
        poet_untraced("a file lock inherited from the parent");
        return;
    }
    uint64_t *state = poet_counter(key_mix(STATE_KEY, file_lock_key(l)), true);
    ipc_event_pair(UNLOCK, l->exclusive ? UNLOCKED : UNLOCKED_SHARED, file_lock_line(l, l->fd), 0,
                   site);
    uint64_t now = state ? LOAD(state) : 0;
    if (now && l->exclusive)
        __atomic_fetch_and(state, ~EXCLUSIVE, __ATOMIC_SEQ_CST);
    while (!l->exclusive && now & ~EXCLUSIVE &&
           !__atomic_compare_exchange_n(state, &now, now - 1, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
        ;
}

static unsigned file_lock_release(choice *which, const struct file_lock *like, const void *site)
{
    struct file_lock found;
    unsigned count = 0;
    for (unsigned at = 0; file_lock_pop(&at, which, like, &found, true); count++)
        file_lock_record_released(&found, site);
    return count;
}

void file_locks_closing(int fd, const struct stat *st, const void *site)
{
    file_lock_release(file_lock_lost_by_close,
                      &(struct file_lock){.fd = fd, .device = st->st_dev, .inode = st->st_ino},
                      site);
}

void file_locks_end(const void *site)
{
    file_lock_release(file_lock_any, &(struct file_lock){0}, site);
}

void file_locks_duplicated(int from, int to)
{
    struct file_lock found, like = {.fd = from};
    unsigned at = 0, count = held_count;
    while (at < count && file_lock_pop(&at, file_lock_by_descriptor, &like, &found, false)) {
        found.fd = to;
        file_lock_add(found);
    }
}

/* The child's locks are not those of its parent's process. */
void file_locks_forked(void)
{
    struct file_lock found;
    file_lock_table_unlock();
    for (unsigned at = 0;
         file_lock_pop(&at, file_lock_of_process, &(struct file_lock){0}, &found, true);)
        ;
    for (unsigned i = 0; i < held_count; i++)
        file_lock_table[i].inherited = true;
}

/* ---- acquiring and releasing ---- */

/* A lock request and its result. */
struct file_lock_request {
    struct file_lock lock, before; /* before: the lock that it replaces, if it had another mode */
    bool looked, held, asks;
    const void *site;
};

static void file_lock_begin_request(struct file_lock_request *a, bool may_wait)
{
    unsigned at = 0;
    struct file_lock same;
    if (file_lock_pop(&at, file_lock_same_range, &a->lock, &same, false)) {
        a->held = same.exclusive == a->lock.exclusive;
        a->before = same;
        if (!a->held)
            file_lock_record_released(&same, a->site);
    }
    at = 0;
    if (!a->before.owner && file_lock_pop(&at, file_lock_overlaps, &a->lock, &same, false))
        file_lock_range_doubt(&a->lock);
    a->asks = may_wait && !a->held;
    if (a->asks)
        ipc_event_about(ASK, file_lock_line(&a->lock, a->lock.fd), 0, a->site);
}

static void file_lock_end_request(struct file_lock_request *a, int result)
{
    if (a->held)
        return;
    /* flock releases it in any case */
    if (a->before.owner && (result == 0 || a->lock.owner == OF_FLOCK)) {
        struct file_lock found;
        a->lock.group = a->before.group;
        for (unsigned at = 0; file_lock_pop(&at, file_lock_same_range, &a->lock, &found, true);)
            ;
    }
    if (result == 0) {
        file_lock_record_acquired(&a->lock, a->site);
        file_lock_add(a->lock);
    } else if (a->asks) {
        ipc_event_about(DENIED, file_lock_line(&a->lock, a->lock.fd), 0, a->site);
    }
}

static void file_lock_release_flock(const struct file_lock *lock, const void *site)
{
    struct file_lock found;
    unsigned at = 0;
    if (!file_lock_pop(&at, file_lock_same_owner, lock, &found, true)) {
        poet_untraced("a file lock released without a traced acquisition");
        return;
    }
    file_lock_record_released(&found, site);
    for (at = 0; file_lock_pop(&at, file_lock_same_group, &found, &(struct file_lock){0}, true);)
        ;
}

static void file_lock_release_range(const struct file_lock *lock, const void *site)
{
    struct file_lock found;
    for (unsigned at = 0; file_lock_pop(&at, file_lock_overlaps, lock, &found, true);) {
        file_lock_record_released(&found, site);
        if (found.start < lock->start || found.end > lock->end) { /* a part of it stays */
            file_lock_range_doubt(lock);
            file_lock_add(found);
            at = MOST_HELD;
        }
    }
}

static bool file_lock_file(int fd, struct file_lock *lock)
{
    struct statx x;
    struct stat st;
    lock->fd = fd;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &x) == 0) {
        lock->device = makedev(x.stx_dev_major, x.stx_dev_minor);
        lock->inode = x.stx_ino;
        lock->born = x.stx_mask & STATX_BTIME
                         ? (uint64_t)x.stx_btime.tv_sec * 1000000000u + x.stx_btime.tv_nsec
                         : 0;
        return true;
    }
    if (fstat(fd, &st) != 0)
        return false;
    lock->device = st.st_dev;
    lock->inode = st.st_ino;
    return true;
}

API int flock(int fd, int operation)
{
    struct file_lock_request a = {
        .lock = {.owner = OF_FLOCK, .end = WHOLE_END, .exclusive = operation & LOCK_EX},
        .site = SITE};
    find_flock();
    a.looked = ipc_entry_is_traced(a.site) && ipc_entry_is_own_process();
    if (a.looked)
        QUIETLY(a.looked = file_lock_file(fd, &a.lock));
    if (a.looked && operation & LOCK_UN)
        QUIETLY(file_lock_release_flock(&a.lock, a.site));
    a.looked &= !(operation & LOCK_UN);
    if (a.looked)
        QUIETLY(file_lock_begin_request(&a, !(operation & LOCK_NB)));
    int e = real_flock(fd, operation);
    if (a.looked)
        QUIETLY(file_lock_end_request(&a, e));
    return e;
}

/* ---- ranges ---- */

static bool file_lock_range(int fd, const struct flock *f, struct file_lock *lock)
{
    struct stat st;
    off_t from = f->l_start;
    if (f->l_whence == SEEK_CUR)
        from += lseek(fd, 0, SEEK_CUR);
    else if (f->l_whence == SEEK_END)
        from += fstat(fd, &st) == 0 ? st.st_size : 0;
    off_t first = f->l_len < 0 ? from + f->l_len : from;
    if (first < 0)
        return false;
    lock->start = (uint64_t)first;
    lock->end = f->l_len < 0 ? (uint64_t)from
                : f->l_len   ? (uint64_t)from + (uint64_t)f->l_len
                             : WHOLE_END;
    return true;
}

/* Called before the call. */
static void file_lock_begin_range(struct file_lock_request *a, int fd, const struct flock *f,
                                  enum file_lock_owner owner, bool may_wait)
{
    a->lock = (struct file_lock){.owner = owner, .exclusive = f->l_type == F_WRLCK};
    a->looked = file_lock_file(fd, &a->lock) && file_lock_range(fd, f, &a->lock);
    if (!a->looked)
        return;
    a->looked = f->l_type != F_UNLCK;
    if (a->looked)
        file_lock_begin_request(a, may_wait);
    else
        file_lock_release_range(&a->lock, a->site);
}

static int file_lock_call_fcntl(int fd, int command, void *argument, const void *site,
                                int (*real)(int, int, ...))
{
    struct file_lock_request a = {.site = site};
    bool ofd = command == F_OFD_SETLK || command == F_OFD_SETLKW;
    bool waits = command == F_SETLKW || command == F_OFD_SETLKW;
    bool sets = ofd || waits || command == F_SETLK;
    if (sets && argument && ipc_entry_is_traced(site) && ipc_entry_is_own_process())
        QUIETLY(file_lock_begin_range(&a, fd, argument, ofd ? OF_FILE : OF_PROCESS, waits));
    int e = real(fd, command, argument);
    if (a.looked)
        QUIETLY(file_lock_end_request(&a, e));
    if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && e >= 0 && !ipc_inside_library &&
        ipc_entry_is_own_process())
        QUIETLY(file_locks_duplicated(fd, e));
    return e;
}

API int fcntl(int fd, int command, ...)
{
    va_list ap;
    va_start(ap, command);
    void *argument = va_arg(ap, void *);
    va_end(ap);
    find_fcntl();
    return file_lock_call_fcntl(fd, command, argument, SITE, real_fcntl);
}

API int fcntl64(int fd, int command, ...)
{
    va_list ap;
    va_start(ap, command);
    void *argument = va_arg(ap, void *);
    va_end(ap);
    find_fcntl64();
    return file_lock_call_fcntl(fd, command, argument, SITE, real_fcntl64);
}

static int file_lock_call_lockf(int fd, int command, off_t length, const void *site,
                                int (*real)(int, int, off_t))
{
    struct file_lock_request a = {.site = site};
    struct flock f = {
        .l_type = command == F_ULOCK ? F_UNLCK : F_WRLCK, .l_whence = SEEK_CUR, .l_len = length};
    if (command != F_TEST && ipc_entry_is_traced(site) && ipc_entry_is_own_process())
        QUIETLY(file_lock_begin_range(&a, fd, &f, OF_PROCESS, command == F_LOCK));
    int e = real(fd, command, length);
    if (a.looked)
        QUIETLY(file_lock_end_request(&a, e));
    return e;
}

API int lockf(int fd, int command, off_t length)
{
    find_lockf();
    return file_lock_call_lockf(fd, command, length, SITE, real_lockf);
}

API int lockf64(int fd, int command, off64_t length)
{
    find_lockf64();
    return file_lock_call_lockf(fd, command, length, SITE, real_lockf64);
}
