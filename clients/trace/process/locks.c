/* File locks: flock, fcntl and lockf.  A lock is a read-write lock that processes share, called by the file and
 * the range that is locked.  What this process holds is kept here, since closing or ending gives it back. */
#define _GNU_SOURCE
#include "clients/trace/process/locks.h"

#include "clients/trace/mix.h"
#include "clients/trace/poet.h"
#include "clients/trace/process/entry.h"
#include "clients/trace/process/events.h"

#include <fcntl.h>
#include <pthread.h>
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

/* Whose it is: of an open file, asked for by flock; of the process; of an open file, by fcntl. */
enum owner { NOBODY, OF_FLOCK, OF_PROCESS, OF_FILE };

struct lock {
    enum owner owner;
    int fd;
    uint64_t device, inode, start, end; /* end: the first byte that is not locked */
    uint64_t born; /* ns: when the file was made, 0 not known; a later one may get its inode number */
    bool exclusive;
    uint64_t group; /* the same for all descriptors of an open file */
    uint64_t taken; /* how often the lock had been taken then, by anybody */
    bool inherited; /* from before a fork: its parent may give it back */
};

enum { LOCK_KEY = 0x6c6f636b, STATE_KEY, RANGES_KEY, TAKEN_KEY };
#define WHOLE_END UINT64_MAX
#define EXCLUSIVE (1ull << 63)

/* ---- what this process holds ---- */

#define MOST_HELD 256u
static struct lock held[MOST_HELD];
static unsigned held_count; /* up to the last one in use */
static char busy;

/* Held for a few instructions.  A nap leaves the processor also to threads of lower priority. */
static void take(void)
{
    for (unsigned tries = 1; __atomic_test_and_set(&busy, __ATOMIC_ACQUIRE); tries++)
        if (tries % 64 == 0)
            syscall(SYS_nanosleep, &(struct timespec){0, 50000}, NULL); /* no cancellation point */
}
static void give(void) { __atomic_clear(&busy, __ATOMIC_RELEASE); }

static void hold(struct lock lock)
{
    static uint64_t groups;
    unsigned at = 0;
    if (!lock.group)
        lock.group = __atomic_add_fetch(&groups, 1, __ATOMIC_RELAXED);
    take();
    while (at < MOST_HELD && held[at].owner)
        at++;
    if (at < MOST_HELD)
        held[at] = lock;
    held_count = at < MOST_HELD && at >= held_count ? at + 1 : held_count;
    give();
    if (at == MOST_HELD)
        poet_unseen("more than 256 file locks held at once");
}

typedef bool choice(const struct lock *held, const struct lock *wanted);

/* Takes out the next one from *at on; false: there is no more. */
static bool pick(unsigned *at, choice *fits, const struct lock *wanted, struct lock *found,
                 bool remove)
{
    bool any = false;
    if (!LOAD(&held_count))
        return false;
    take();
    for (; !any && *at < held_count; ++*at) {
        any = held[*at].owner && fits(&held[*at], wanted);
        if (any) {
            *found = held[*at];
            held[*at].owner = remove ? NOBODY : held[*at].owner;
        }
    }
    give();
    return any;
}

static bool same_file(const struct lock *a, const struct lock *b)
{
    return a->device == b->device && a->inode == b->inode;
}
static bool same_owner(const struct lock *a, const struct lock *b)
{
    return a->owner == b->owner && same_file(a, b) && (a->owner == OF_PROCESS || a->fd == b->fd);
}
static bool overlaps(const struct lock *a, const struct lock *b)
{
    return same_owner(a, b) && a->start < b->end && b->start < a->end;
}
static bool same_range(const struct lock *a, const struct lock *b)
{
    return same_owner(a, b) && a->start == b->start && a->end == b->end;
}
static bool same_group(const struct lock *a, const struct lock *b)
{
    return a->owner == b->owner && a->group == b->group;
}
static bool by_descriptor(const struct lock *a, const struct lock *b)
{
    return a->owner != OF_PROCESS && a->fd == b->fd;
}
static bool lost_by_closing(const struct lock *a, const struct lock *b)
{
    return a->owner == OF_PROCESS ? same_file(a, b) : a->fd == b->fd;
}
static bool whichever(const struct lock *a, const struct lock *b)
{
    return a->owner != NOBODY && b;
}
static bool of_process(const struct lock *a, const struct lock *b)
{
    return a->owner == OF_PROCESS && b;
}

/* ---- what is told ---- */

static uint64_t key_of_file(uint64_t what, const struct lock *l)
{
    return mix(mix(mix(what, l->device), l->inode), l->born);
}

static uint64_t key_of(const struct lock *l)
{
    return mix(mix(key_of_file(mix(LOCK_KEY, l->owner == OF_FLOCK), l), l->start), l->end);
}

static poet_line_t line_of(const struct lock *l, int fd)
{
    char link[48], path[256];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = fd >= 0 ? readlink(link, path, sizeof path - 1) : 0;
    path[n > 0 ? n : 0] = 0;
    return event_line(LINE_FILELOCK, key_of(l), path);
}

/* Ranges that may overlap order each other in ways that are not told. */
static unsigned doubt_of_ranges(const struct lock *l)
{
    uint64_t *ranges = poet_counter(key_of_file(RANGES_KEY, l), true), none = 0;
    uint64_t mine = mix(l->start, l->end) | 1;
    if (l->owner == OF_FLOCK || !ranges ||
        __atomic_compare_exchange_n(ranges, &none, mine, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST) ||
        none == mine)
        return 0;
    STORE(ranges, UINT64_MAX);
    return POET_DOUBT_OBJECT;
}

/* Whoever held it last was killed, or executed another program: it was not told that it gave it back. */
static unsigned doubt_of_holder(const struct lock *l)
{
    uint64_t *state = poet_counter(mix(STATE_KEY, key_of(l)), true), before;
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

static uint64_t *takings(const struct lock *l)
{
    return poet_counter(mix(TAKEN_KEY, key_of(l)), true);
}

static void tell_taken(struct lock *l, const void *site)
{
    uint64_t *taken = takings(l);
    l->taken = taken ? __atomic_add_fetch(taken, 1, __ATOMIC_SEQ_CST) : 0;
    unsigned doubt = doubt_of_ranges(l) | doubt_of_holder(l);
    event_pair(LOCK, l->exclusive ? LOCKED : LOCKED_SHARED, line_of(l, l->fd), doubt, site);
}

/* By a thread that is not recorded it is not told: whoever locks next finds that. */
static void tell_given(const struct lock *l, const void *site)
{
    const uint64_t *taken = l->inherited ? takings(l) : NULL;
    if (!poet_here())
        return;
    if (taken && LOAD(taken) != l->taken) { /* given back long ago, or shared with others */
        poet_unseen("a file lock that a child has from its parent");
        return;
    }
    uint64_t *state = poet_counter(mix(STATE_KEY, key_of(l)), true);
    event_pair(UNLOCK, l->exclusive ? UNLOCKED : UNLOCKED_SHARED, line_of(l, l->fd), 0, site);
    uint64_t now = state ? LOAD(state) : 0;
    if (now && l->exclusive)
        __atomic_fetch_and(state, ~EXCLUSIVE, __ATOMIC_SEQ_CST);
    while (!l->exclusive && now & ~EXCLUSIVE &&
           !__atomic_compare_exchange_n(state, &now, now - 1, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
        ;
}

static unsigned give_back(choice *which, const struct lock *like, const void *site)
{
    struct lock found;
    unsigned count = 0;
    for (unsigned at = 0; pick(&at, which, like, &found, true); count++)
        tell_given(&found, site);
    return count;
}

void locks_closing(int fd, const struct stat *st, const void *site)
{
    give_back(lost_by_closing, &(struct lock){.fd = fd, .device = st->st_dev, .inode = st->st_ino},
              site);
}

void locks_end(const void *site) { give_back(whichever, &(struct lock){0}, site); }

void locks_duplicated(int from, int to)
{
    struct lock found, like = {.fd = from};
    unsigned at = 0, count = held_count;
    while (at < count && pick(&at, by_descriptor, &like, &found, false)) {
        found.fd = to;
        hold(found);
    }
}

/* The child's are not those of its parent's process. */
void locks_forked(void)
{
    struct lock found;
    give();
    for (unsigned at = 0; pick(&at, of_process, &(struct lock){0}, &found, true);)
        ;
    for (unsigned i = 0; i < held_count; i++)
        held[i].inherited = true;
}

/* ---- taking and giving ---- */

/* A lock that is asked for; what came of it. */
struct asked {
    struct lock lock, before; /* before: what it stands for from here on, if it had another mode */
    bool looked, held, asks;
    const void *site;
};

static void ask(struct asked *a, bool may_wait)
{
    unsigned at = 0;
    struct lock same;
    if (pick(&at, same_range, &a->lock, &same, false)) {
        a->held = same.exclusive == a->lock.exclusive;
        a->before = same;
        if (!a->held)
            tell_given(&same, a->site);
    }
    at = 0;
    if (!a->before.owner && pick(&at, overlaps, &a->lock, &same, false))
        doubt_of_ranges(&a->lock);
    a->asks = may_wait && !a->held;
    if (a->asks)
        event_about(ASK, line_of(&a->lock, a->lock.fd), 0, a->site);
}

static void asked_for(struct asked *a, int result)
{
    if (a->held)
        return;
    if (a->before.owner &&
        (result == 0 || a->lock.owner == OF_FLOCK)) { /* flock loses it in any case */
        struct lock found;
        a->lock.group = a->before.group;
        for (unsigned at = 0; pick(&at, same_range, &a->lock, &found, true);)
            ;
    }
    if (result == 0) {
        tell_taken(&a->lock, a->site);
        hold(a->lock);
    } else if (a->asks) {
        event_about(DENIED, line_of(&a->lock, a->lock.fd), 0, a->site);
    }
}

static void give_flock(const struct lock *lock, const void *site)
{
    struct lock found;
    unsigned at = 0;
    if (!pick(&at, same_owner, lock, &found, true)) {
        poet_unseen("a file lock given back by whom it was not seen to be taken");
        return;
    }
    tell_given(&found, site);
    for (at = 0; pick(&at, same_group, &found, &(struct lock){0}, true);)
        ;
}

static void give_range(const struct lock *lock, const void *site)
{
    struct lock found;
    for (unsigned at = 0; pick(&at, overlaps, lock, &found, true);) {
        tell_given(&found, site);
        if (found.start < lock->start || found.end > lock->end) { /* a part of it stays */
            doubt_of_ranges(lock);
            hold(found);
            at = MOST_HELD;
        }
    }
}

static bool file_of(int fd, struct lock *lock)
{
    struct statx x;
    struct stat st;
    lock->fd = fd;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &x) == 0) {
        lock->device = makedev(x.stx_dev_major, x.stx_dev_minor);
        lock->inode = x.stx_ino;
        lock->born = x.stx_mask & STATX_BTIME ? (uint64_t)x.stx_btime.tv_sec * 1000000000u +
                                                    x.stx_btime.tv_nsec
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
    struct asked a = {
        .lock = {.owner = OF_FLOCK, .end = WHOLE_END, .exclusive = operation & LOCK_EX},
        .site = SITE};
    find_flock();
    a.looked = looks(a.site) && is_own_process();
    if (a.looked)
        QUIETLY(a.looked = file_of(fd, &a.lock));
    if (a.looked && operation & LOCK_UN)
        QUIETLY(give_flock(&a.lock, a.site));
    a.looked &= !(operation & LOCK_UN);
    if (a.looked)
        QUIETLY(ask(&a, !(operation & LOCK_NB)));
    int e = real_flock(fd, operation);
    if (a.looked)
        QUIETLY(asked_for(&a, e));
    return e;
}

/* ---- ranges ---- */

static bool range_of(int fd, const struct flock *f, struct lock *lock)
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

/* Before the call. */
static void begin_range(struct asked *a, int fd, const struct flock *f, enum owner owner,
                        bool may_wait)
{
    a->lock = (struct lock){.owner = owner, .exclusive = f->l_type == F_WRLCK};
    a->looked = file_of(fd, &a->lock) && range_of(fd, f, &a->lock);
    if (!a->looked)
        return;
    a->looked = f->l_type != F_UNLCK;
    if (a->looked)
        ask(a, may_wait);
    else
        give_range(&a->lock, a->site);
}

static int locking(int fd, int command, void *argument, const void *site,
                   int (*real)(int, int, ...))
{
    struct asked a = {.site = site};
    bool ofd = command == F_OFD_SETLK || command == F_OFD_SETLKW;
    bool waits = command == F_SETLKW || command == F_OFD_SETLKW;
    bool sets = ofd || waits || command == F_SETLK;
    if (sets && argument && looks(site) && is_own_process())
        QUIETLY(begin_range(&a, fd, argument, ofd ? OF_FILE : OF_PROCESS, waits));
    int e = real(fd, command, argument);
    if (a.looked)
        QUIETLY(asked_for(&a, e));
    if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && e >= 0 && !inside && is_own_process())
        QUIETLY(locks_duplicated(fd, e));
    return e;
}

API int fcntl(int fd, int command, ...)
{
    va_list ap;
    va_start(ap, command);
    void *argument = va_arg(ap, void *);
    va_end(ap);
    find_fcntl();
    return locking(fd, command, argument, SITE, real_fcntl);
}

API int fcntl64(int fd, int command, ...)
{
    va_list ap;
    va_start(ap, command);
    void *argument = va_arg(ap, void *);
    va_end(ap);
    find_fcntl64();
    return locking(fd, command, argument, SITE, real_fcntl64);
}

static int lock_here(int fd, int command, off_t length, const void *site,
                     int (*real)(int, int, off_t))
{
    struct asked a = {.site = site};
    struct flock f = {
        .l_type = command == F_ULOCK ? F_UNLCK : F_WRLCK, .l_whence = SEEK_CUR, .l_len = length};
    if (command != F_TEST && looks(site) && is_own_process())
        QUIETLY(begin_range(&a, fd, &f, OF_PROCESS, command == F_LOCK));
    int e = real(fd, command, length);
    if (a.looked)
        QUIETLY(asked_for(&a, e));
    return e;
}

API int lockf(int fd, int command, off_t length)
{
    find_lockf();
    return lock_here(fd, command, length, SITE, real_lockf);
}

API int lockf64(int fd, int command, off64_t length)
{
    find_lockf64();
    return lock_here(fd, command, length, SITE, real_lockf64);
}
