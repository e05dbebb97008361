/* Processes that make, become and wait for each other.
 *
 * A fork is a message to the child, an exec one to the new program, an end one to whoever waits for it.
 * Their keys are serial numbers of the run; which one is meant stands beside the process id in a
 * number that all processes of the run share: what a process says there outlives it. */
#define _GNU_SOURCE
#include "clients/trace/calls/child.h"

#include "clients/trace/calls/roster.h"
#include "clients/trace/core/attach.h"
#include "clients/trace/core/clock.h"
#include "clients/trace/core/codes.h"
#include "clients/trace/core/forbid.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/losses.h"
#include "clients/trace/core/record.h"
#include "clients/trace/core/sender.h"
#include "clients/trace/core/shared.h"
#include "clients/trace/core/tell.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/measure/region.h"
#include "clients/trace/measure/vforked.h"
#include "clients/trace/poet.h"
#include "wire/event.h"
#include "wire/slot.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- what a process says of itself: pid, flags, state, serial ---- */

enum state {
    STATE_SILENT = 1, /* has recorded nothing; serial: of the fork that made it */
    STATE_EXEC,       /* becomes another program; serial: of the message to it */
    STATE_LIVING,
    STATE_ENDED       /* serial: of the message to who waits */
};
#define SERIAL_BITS 37
#define SERIAL_MASK ((UINT64_C(1) << SERIAL_BITS) - 1)
#define STATE(state) ((uint64_t)(state) << SERIAL_BITS)
#define STATE_OF(value) ((enum state)((value) >> SERIAL_BITS & 7))
#define OTHERS (UINT64_C(1) << 40) /* other threads were there, whose last events are not known */
#define FOREIGN (UINT64_C(1) << 41) /* not all of its signals come to us */
#define PID(pid) ((uint64_t)(pid) << 42)
#define PID_OF(value) ((pid_t)((value) >> 42))

#define CHILD_KEYS 0x706f65742e6c6966u
#define SLOTS 4096u
enum { OF_PROCESS = 0x10001, OF_SPAWNING, OF_SERIALS };

static pid_t self;
static bool has_foreign;
static uint64_t names; /* the name space of process ids */

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t z = (a ^ b) * 0x9e3779b97f4a7c15u;
    return (z ^ z >> 31) * 0xbf58476d1ce4e5b9u;
}

static _Atomic uint64_t *shared(unsigned what, pid_t pid, unsigned most)
{
    struct stat st;
    int saved = errno;
    if (!names)
        names = stat("/proc/self/ns/pid", &st) == 0 ? mix(st.st_dev, st.st_ino) | 1 : 0;
    errno = saved;
    return names && pid > 0
               ? (_Atomic uint64_t *)poet_counter(mix(mix(names, what), (unsigned)pid % most), 1)
               : NULL;
}

_Atomic uint64_t *child_spawning(pid_t parent) { return shared(OF_SPAWNING, parent, 256); }
static _Atomic uint64_t *slot_of(pid_t pid) { return shared(OF_PROCESS, pid, SLOTS); }

/* 0: nothing is known of it. */
static uint64_t known_of(pid_t pid)
{
    _Atomic uint64_t *slot = slot_of(pid);
    uint64_t value = slot ? atomic_load(slot) : 0;
    return PID_OF(value) == pid ? value : 0;
}

static void tell(enum state state, uint64_t serial)
{
    _Atomic uint64_t *slot = slot_of(self);
    if (slot)
        atomic_store(slot, PID(self) | STATE(state) | serial |
                               (roster_recorded() > 1 ? OTHERS : 0) | (has_foreign ? FOREIGN : 0));
}

/* Of all processes that share numbers, whichever name space of process ids they are in. */
uint64_t child_serial(void)
{
    _Atomic uint64_t *serials = (_Atomic uint64_t *)poet_counter(OF_SERIALS, 1);
    return serials ? (atomic_fetch_add(serials, 1) + 1) & SERIAL_MASK : 0;
}

uint64_t child_keys(void) { return CHILD_KEYS ^ shared_machine; }

bool child_known(pid_t pid) { return known_of(pid) != 0; }

bool child_lives(pid_t pid)
{
    uint64_t value = known_of(pid);
    return STATE_OF(value) == STATE_LIVING && !(value & FOREIGN);
}

void child_is_foreign(void)
{
    has_foreign = true;
    _Atomic uint64_t *slot = slot_of(self);
    if (slot && PID_OF(atomic_load(slot)) == self)
        atomic_fetch_or(slot, FOREIGN);
}

/* ---- birth ---- */

void child_born(uint64_t serial)
{
    self = getpid();
    names = 0;
    tell(STATE_SILENT, serial);
}

#define PATIENCE_NS 20000000u

/* Who made it is about to say so. */
static uint64_t wait_for_parent(pid_t parent)
{
    _Atomic uint64_t *spawning = child_spawning(parent);
    uint64_t begin = clock_now(), value = known_of(self);
    while (!value && spawning && atomic_load(spawning) && clock_now() - begin < PATIENCE_NS) {
        nanosleep(&(struct timespec){0, 50000}, NULL);
        value = known_of(self);
    }
    return value ? value : known_of(self);
}

struct origin child_begins(void)
{
    self = getpid();
    pid_t parent = getppid();
    uint64_t value = wait_for_parent(parent);
    struct origin from = {0};
    bool told = STATE_OF(value) == STATE_SILENT || STATE_OF(value) == STATE_EXEC;
    if (told && value & SERIAL_MASK)
        from = (struct origin){.at = {0, value & SERIAL_MASK}, .key = child_keys()};
    if (told ? value & OTHERS || !from.key : known_of(parent) != 0)
        from.doubt = UNSEEN_THREAD;
    tell(STATE_LIVING, 0);
    return from;
}

void child_records(void) { tell(STATE_LIVING, 0); }

/* ---- messages ---- */

uint64_t child_message(struct thread *t, uint16_t type, uintptr_t site)
{
    uint64_t serial = child_serial();
    uint64_t number = record_write(
        t,
        &(struct record){.shape = type,
                         .flags = (uint16_t)(RELATION_SEND | (serial ? SLOT_KEYED : 0u)),
                         .a = thread_place(t),
                         .take_a = 1,
                         .site = site,
                         .key = serial ? child_keys() : 0,
                         .partner = {0, serial}},
        NULL);
    note_recorded();
    return number && !t->lost_count ? serial : 0;
}

static struct thread *recording_here(void)
{
    struct thread *t = thread_self();
    return t && !t->off && !t->busy ? t : NULL;
}

/* ---- another program ---- */

struct becoming child_becomes(uintptr_t site)
{
    if (forbid_quiet())
        return (struct becoming){0};
    pid_t pid = getpid();
    int saved = errno;
    struct becoming b = {.slot = slot_of(pid)};
    struct thread *t = site && b.slot ? recording_here() : NULL;
    b.before = b.slot ? atomic_load(b.slot) : 0;
    if (pid == self && STATE_OF(known_of(pid)) == STATE_SILENT)
        atomic_store(b.slot, (b.before & ~STATE(7)) | STATE(STATE_EXEC));
    else if (b.slot && (pid == self ? t != NULL : site != 0))
        atomic_store(b.slot,
                     PID(pid) | STATE(STATE_EXEC) |
                         (pid == self && roster_recorded() > 1 ? OTHERS : 0) |
                         (t ? child_message(t, pid == self ? TYPE_EXEC : TYPE_FORK, site) : 0));
    else
        b.slot = NULL;
    b.vforked = pid != self && thread_mine ? thread_mine->measured : NULL;
    vforked_leaves(b.vforked);
    if (pid == self && thread_mine)
        region_gone(thread_mine);
    b.paused = server_sends && pid == self && server_alive() && recording_here() != NULL;
    if (b.paused)
        sender_pause(SENDER_MS);
    errno = saved;
    return b;
}

int child_still_here(struct becoming b, int result)
{
    int saved = errno;
    if (b.slot)
        atomic_store(b.slot, b.before);
    vforked_stays(b.vforked);
    if (thread_mine && getpid() == self)
        region_stays(thread_mine);
    if (b.paused)
        sender_stay();
    errno = saved;
    return result;
}

/* ---- a child with another program ---- */

void child_named(pid_t child, uint64_t serial)
{
    _Atomic uint64_t *slot = slot_of(child);
    uint64_t value = slot ? atomic_load(slot) : 0;
    while (slot && PID_OF(value) != child &&
           !atomic_compare_exchange_weak(slot, &value, PID(child) | STATE(STATE_EXEC) | serial))
        ;
}

/* ---- the end ---- */

void child_ends(uintptr_t site)
{
    int saved = errno;
    struct thread *t = getpid() == self ? recording_here() : NULL;
    bool lived = server_alive() && STATE_OF(known_of(self)) == STATE_LIVING;
    if (lived && known_of(getppid()) != 0)
        tell(STATE_ENDED, t ? child_message(t, TYPE_EXIT, site) : 0);
    errno = saved;
}

void child_ends_at_once(uintptr_t site)
{
    if (forbid_quiet())
        return;
    pid_t pid = getpid();
    if (pid == self) {
        child_ends(site);
        struct thread *t = server_alive() ? recording_here() : NULL;
        if (t)
            tell_ends(ENDS_AT_ONCE);
        if (server_sends && t)
            sender_leave(SENDER_MS);
        if (t)
            attach_say_lost(lost_for_room(t));
        if (thread_mine)
            region_gone(thread_mine);
        return;
    }
    vforked_ends(thread_mine ? thread_mine->measured : NULL);
    if (site && slot_of(pid)) /* a child of vfork: what it did is its parent's */
        atomic_store(slot_of(pid), PID(pid) | STATE(STATE_SILENT));
}

struct origin child_ended(pid_t pid, bool last)
{
    uint64_t value = known_of(pid);
    struct origin from = {0};
    if (STATE_OF(value) == STATE_SILENT)
        return from; /* it did nothing that is followed */
    if (STATE_OF(value) == STATE_ENDED && value & SERIAL_MASK)
        from = (struct origin){.at = {0, value & SERIAL_MASK}, .key = child_keys()};
    if (!from.key || value & OTHERS)
        from.doubt = UNSEEN_THREAD;
    if (value && last)
        atomic_compare_exchange_strong(slot_of(pid), &value, 0);
    return from;
}
