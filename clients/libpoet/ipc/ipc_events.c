/* Events of libpoet-process, recorded through poet.h: their types, and the lines that they are on
 * or name as objects. */
#include "clients/libpoet/ipc/ipc_events.h"

#include "clients/libpoet/key_mixing.h"
#include "clients/libpoet/ipc/ipc_entries.h"

#include <unistd.h>

/* ---- types ---- */

static const struct {
    const char *name, *after[3]; /* on lines that are shared */
} described[EVENTS] = {
    [WRITE] = {"write", {0}},
    [READ] = {"read", {0}},
    [FULL] = {"full", {0}},
    [EMPTY] = {"empty", {0}},
    [TIMED_FULL] = {"timed_full", {0}},
    [TIMED_EMPTY] = {"timed_empty", {0}},
    [OPEN_READING] = {"open_reading", {0}},
    [OPEN_WRITING] = {"open_writing", {0}},
    [OPENED] = {"opened", {0}},
    [UNITS_WAIT] = {"units_wait", {0}},
    [ZERO_WAIT] = {"zero_wait", {0}},
    [TIMED_UNITS_WAIT] = {"timed_units_wait", {0}},
    [TIMED_ZERO_WAIT] = {"timed_zero_wait", {0}},
    [WOKEN] = {"woken", {0}},
    [READABLE] = {"readable", {0}},
    [SHUT] = {"shut", {0}},
    [ENDED] = {"ended", {0}},
    [HANGUP] = {"hangup", {0}},
    [ADD] = {"add", {0}},
    [ADDED] = {"added", {0}},
    [TAKE] = {"take", {0}},
    [DRAINED] = {"drained", {"added"}},
    [SEE] = {"see", {0}},
    [SEEN] = {"seen", {"added"}},
    [SENT] = {"sent", {0}},
    [RECEIVED] = {"received", {0}},
    [ASK] = {"file_lock_request", {0}},
    [DENIED] = {"file_lock_denied", {0}},
    [LOCK] = {"file_lock", {0}},
    [LOCKED] = {"file_locked", {"file_unlocked", "file_unlocked_shared"}},
    [LOCKED_SHARED] = {"file_locked_shared", {"file_unlocked"}},
    [UNLOCK] = {"file_unlock", {0}},
    [UNLOCKED] = {"file_unlocked", {0}},
    [UNLOCKED_SHARED] = {"file_unlocked_shared", {0}},
};

poet_type_t event_type(enum ipc_event event)
{
    static poet_type_t types[EVENTS];
    static bool known;
    if (!types[event]) {
        if (!known)
            poet_environment("process");
        known = true;
        types[event] = poet_type(described[event].name, described[event].after);
    }
    return types[event];
}

/* ---- lines ---- */

static const struct {
    const char *kind;
    bool shared; /* there are events on it */
} kinds[] = {[IPC_OBJECT_SOCKET_PAIR] = {"socketpair", false},
             [IPC_OBJECT_STREAM] = {"stream", false},
             [IPC_OBJECT_CONNECTION] = {"connection", false},
             [IPC_OBJECT_FIFO] = {"fifo", false},
             [IPC_OBJECT_PIPE] = {"pipe", false},
             [IPC_OBJECT_TCP_STREAM] = {"farstream", false},
             [IPC_OBJECT_QUEUE] = {"queue", false},
             [IPC_OBJECT_UNLINKED_QUEUE] = {"unlinked_queue", false},
             [IPC_OBJECT_EVENTFD] = {"eventfd", true},
             [IPC_OBJECT_SYSV_SEMAPHORE] = {"sysv_semaphore", true},
             [IPC_OBJECT_FILE_LOCK] = {"filelock", true}};

#define KNOWN 256u
static struct {
    uint64_t key, instance; /* the lifetime in which it was announced */
    poet_line_t line;
} known[KNOWN];
static char ipc_event_busy;

void ipc_event_forked(void) { __atomic_clear(&ipc_event_busy, __ATOMIC_RELEASE); }

/* No thread waits for this lock: one that finds it taken does without. */
static bool ipc_event_try_lock(void)
{
    return !__atomic_test_and_set(&ipc_event_busy, __ATOMIC_ACQUIRE);
}

static poet_line_t ipc_event_announce_line(enum ipc_object_kind kind, uint64_t key,
                                           const char *name)
{
    return kinds[kind].shared ? poet_line_shared(kinds[kind].kind, name, key)
                              : poet_line_by_identity(kinds[kind].kind, name,
                                                      (const uint64_t[]){key, 0x706f65742e707273u});
}

poet_line_t ipc_event_line_known(uint64_t key)
{
    uint64_t here[2];
    if (!ipc_event_try_lock())
        return 0;
    poet_line_t line = known[key % KNOWN].key == key ? known[key % KNOWN].line : 0;
    uint64_t instance = known[key % KNOWN].instance;
    __atomic_clear(&ipc_event_busy, __ATOMIC_RELEASE);
    return line && poet_identity(line, here) && here[0] == instance ? line : 0;
}

static poet_line_t ipc_event_keep_line(uint64_t key, poet_line_t line)
{
    uint64_t here[2];
    if (!line || !poet_identity(line, here))
        return 0;
    if (!ipc_event_try_lock())
        return line;
    known[key % KNOWN].key = key;
    known[key % KNOWN].instance = here[0];
    known[key % KNOWN].line = line;
    __atomic_clear(&ipc_event_busy, __ATOMIC_RELEASE);
    return line;
}

poet_line_t ipc_event_line(enum ipc_object_kind kind, uint64_t key, const char *name)
{
    poet_line_t line = ipc_event_line_known(key);
    return line ? line : ipc_event_keep_line(key, ipc_event_announce_line(kind, key, name));
}

poet_line_t ipc_event_line_remote(const uint64_t identity[2])
{
    uint64_t here[2], key = key_mix(identity[0], identity[1]);
    if (poet_identity((poet_line_t)identity[1], here) && here[0] == identity[0])
        return (poet_line_t)identity[1];
    poet_line_t line = ipc_event_line_known(key);
    return line ? line : ipc_event_keep_line(key, poet_line_by_identity("thread", "", identity));
}

/* ---- events ---- */

/* Returns whether the thread may have to wait after the event. */
static bool ipc_event_waits(enum ipc_event event)
{
    return event == ASK || (event >= FULL && event <= TIMED_EMPTY) || event == OPEN_READING ||
           event == OPEN_WRITING || (event >= UNITS_WAIT && event <= TIMED_ZERO_WAIT);
}

poet_event_t ipc_event_about(enum ipc_event event, poet_line_t about, unsigned doubt,
                             const void *site)
{
    return poet_record(&(poet_record_t){.type = event_type(event),
                                        .about = about,
                                        .flags = doubt | (ipc_event_waits(event) ? POET_WAITS : 0),
                                        .site = site});
}

void ipc_event_pair(enum ipc_event here, enum ipc_event there, poet_line_t line, unsigned doubt,
                    const void *site)
{
    poet_record(&(poet_record_t){.type = event_type(here),
                                 .other = line,
                                 .other_type = event_type(there),
                                 .flags = doubt,
                                 .site = site});
}
