/* System V semaphores: units that are added and taken, as those of a semaphore, and waits for units
 * or for zero. A semaphore is identified by its set and its number there. */
#define _GNU_SOURCE
#include "clients/libpoet/ipc/ipc_entries.h"
#include "clients/libpoet/ipc/ipc_events.h"
#include "clients/libpoet/key_mixing.h"
#include "clients/libpoet/poet.h"
#include "wire/annotation_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <time.h>

REAL(int, semop, (int, struct sembuf *, size_t))
REAL(int, semtimedop, (int, struct sembuf *, size_t, const struct timespec *))
REAL(int, semctl, (int, int, int, ...))

enum { SYSV_SEMAPHORE = 0x73766d };
#define SYSV_OPERATIONS_MOST 16u /* of a call; those beyond are not recorded */

/* A call under way. */
struct sysv_call {
    int set;
    const struct sembuf *operations;
    size_t count; /* 0: it is not recorded */
    const void *site;
    poet_line_t awaited; /* 0: it does not wait */
    poet_type_t type;
};

static poet_line_t sysv_semaphore_line(int set, unsigned number)
{
    char name[48];
    uint64_t key =
        key_mix(key_mix(SYSV_SEMAPHORE ^ poet_host_id(), (uint64_t)(unsigned)set), number);
    snprintf(name, sizeof name, "semaphore %u of set %d", number, set);
    return ipc_event_line(IPC_OBJECT_SYSV_SEMAPHORE, key, name);
}

/* Returns whether a call takes units, or waits for zero: then it adds when it returns. */
static bool sysv_call_may_wait(const struct sysv_call *c)
{
    bool waits = false;
    for (size_t i = 0; i < c->count; i++)
        waits |= c->operations[i].sem_op <= 0;
    return waits;
}

static void sysv_call_record(const struct sysv_call *c, bool adds)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct sembuf *o = &c->operations[i];
        if (o->sem_op == 0 || (o->sem_op > 0) != adds)
            continue;
        poet_line_t line = sysv_semaphore_line(c->set, o->sem_num);
        if (adds)
            ipc_event_pair(ADD, ADDED, line, 0, c->site);
        else
            ipc_event_pair(TAKE, DRAINED, line, 0, c->site);
    }
}

/* Records the wait for the first operation that has to wait. */
static void sysv_call_begin_wait(struct sysv_call *c, bool timed)
{
    for (size_t i = 0; i < c->count && !c->awaited; i++) {
        const struct sembuf *o = &c->operations[i];
        int value = real_semctl(c->set, o->sem_num, GETVAL, 0);
        bool waits = o->sem_op < 0 ? value + o->sem_op < 0 : o->sem_op == 0 && value > 0;
        if (value < 0 || !waits || o->sem_flg & IPC_NOWAIT)
            continue;
        enum ipc_event event = o->sem_op == 0 ? (timed ? TIMED_ZERO_WAIT : ZERO_WAIT)
                               : timed        ? TIMED_UNITS_WAIT
                                              : UNITS_WAIT;
        c->awaited = sysv_semaphore_line(c->set, o->sem_num);
        c->type = event_type(event);
        poet_annotate(ipc_event_about(event, c->awaited, 0, c->site),
                      TEXT_OF_OBJECT "value %d, %d needed", value, -o->sem_op);
    }
    if (c->awaited)
        poet_wait_begin(c->type);
}

static void sysv_call_begin(struct sysv_call *c, int set, const struct sembuf *operations,
                            size_t count, bool timed, const void *site)
{
    *c = (struct sysv_call){.set = set, .operations = operations, .site = site};
    if (!operations || !ipc_entry_is_traced(site) || !ipc_entry_is_own_process() ||
        !poet_current_line())
        return;
    int saved = errno;
    ipc_inside_library = true;
    c->count = count < SYSV_OPERATIONS_MOST ? count : SYSV_OPERATIONS_MOST;
    for (size_t i = 0; i < c->count; i++)
        if (operations[i].sem_flg & SEM_UNDO)
            poet_untraced("SEM_UNDO, by which the end of a process changes semaphores");
    if (sysv_call_may_wait(c))
        sysv_call_begin_wait(c, timed);
    else
        sysv_call_record(c, true);
    ipc_inside_library = false;
    errno = saved;
}

static void sysv_call_end(struct sysv_call *c, int e)
{
    int saved = errno;
    if (!c->count)
        return;
    ipc_inside_library = true;
    if (c->awaited)
        poet_wait_done(c->type);
    if (e == 0) {
        sysv_call_record(c, false);
        if (sysv_call_may_wait(c))
            sysv_call_record(c, true);
    }
    bool took = false;
    for (size_t i = 0; i < c->count; i++)
        took |= c->operations[i].sem_op != 0;
    if (c->awaited && (e != 0 || !took))
        ipc_event_about(WOKEN, c->awaited, 0, c->site);
    ipc_inside_library = false;
    errno = saved;
}

API int semop(int set, struct sembuf *operations, size_t count)
{
    struct sysv_call c;
    find_semop();
    sysv_call_begin(&c, set, operations, count, false, SITE);
    int e = real_semop(set, operations, count);
    sysv_call_end(&c, e);
    return e;
}

API int semtimedop(int set, struct sembuf *operations, size_t count, const struct timespec *limit)
{
    struct sysv_call c;
    find_semtimedop();
    sysv_call_begin(&c, set, operations, count, limit != NULL, SITE);
    int e = real_semtimedop(set, operations, count, limit);
    sysv_call_end(&c, e);
    return e;
}

/* The thread that sets a value adds no units that it has taken: only the use is reported. */
API int semctl(int set, int number, int command, ...)
{
    va_list ap;
    va_start(ap, command);
    unsigned long argument = va_arg(ap, unsigned long);
    va_end(ap);
    find_semctl();
    if ((command == SETVAL || command == SETALL) && ipc_entry_is_traced(SITE))
        QUIETLY(poet_untraced("semctl, which sets the values of System V semaphores"));
    return real_semctl(set, number, command, argument);
}
