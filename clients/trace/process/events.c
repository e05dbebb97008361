/* What is told through poet.h: the types of events, and the lines that they are on or about. */
#include "clients/trace/process/events.h"

#include "clients/trace/mix.h"
#include "clients/trace/process/entry.h"

#include <unistd.h>

/* ---- types ---- */

static const struct {
    const char *name, *after[3]; /* on lines that are shared */
} described[EVENTS] = {
    [WRITE] = {"write", {0}},
    [READ] = {"read", {0}},
    [FULL] = {"full", {0}},
    [EMPTY] = {"empty", {0}},
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
    [ASK] = {"ask", {0}},
    [DENIED] = {"denied", {0}},
    [LOCK] = {"lock", {0}},
    [LOCKED] = {"locked", {"unlocked", "unlocked_shared"}},
    [LOCKED_SHARED] = {"locked_shared", {"unlocked"}},
    [UNLOCK] = {"unlock", {0}},
    [UNLOCKED] = {"unlocked", {0}},
    [UNLOCKED_SHARED] = {"unlocked_shared", {0}},
};

poet_type_t event_type(enum event event)
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
} kinds[] = {[LINE_STREAM] = {"stream", false},
             [LINE_FARSTREAM] = {"farstream", false},
             [LINE_QUEUE] = {"queue", false},
             [LINE_EVENTFD] = {"eventfd", true},
             [LINE_FILELOCK] = {"filelock", true}};

#define KNOWN 256u
static struct {
    uint64_t key, instance; /* the life in which it was announced */
    poet_line_t line;
} known[KNOWN];
static char busy;

void events_forked(void) { __atomic_clear(&busy, __ATOMIC_RELEASE); }

/* Nobody waits for it: who finds it taken does without. */
static bool take(void) { return !__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE); }

static poet_line_t announce(enum line_kind kind, uint64_t key, const char *name)
{
    return kinds[kind].shared
               ? poet_line_shared(kinds[kind].kind, name, key)
               : poet_line_of(kinds[kind].kind, name, (const uint64_t[]){key, 0x706f65742e707273u});
}

poet_line_t event_line_known(uint64_t key)
{
    uint64_t here[2];
    if (!take())
        return 0;
    poet_line_t line = known[key % KNOWN].key == key ? known[key % KNOWN].line : 0;
    uint64_t instance = known[key % KNOWN].instance;
    __atomic_clear(&busy, __ATOMIC_RELEASE);
    return line && poet_identity(line, here) && here[0] == instance ? line : 0;
}

static poet_line_t keep(uint64_t key, poet_line_t line)
{
    uint64_t here[2];
    if (!line || !poet_identity(line, here))
        return 0;
    if (!take())
        return line;
    known[key % KNOWN].key = key;
    known[key % KNOWN].instance = here[0];
    known[key % KNOWN].line = line;
    __atomic_clear(&busy, __ATOMIC_RELEASE);
    return line;
}

poet_line_t event_line(enum line_kind kind, uint64_t key, const char *name)
{
    poet_line_t line = event_line_known(key);
    return line ? line : keep(key, announce(kind, key, name));
}

poet_line_t event_line_elsewhere(const uint64_t identity[2])
{
    uint64_t here[2], key = mix(identity[0], identity[1]);
    if (poet_identity((poet_line_t)identity[1], here) && here[0] == identity[0])
        return (poet_line_t)identity[1];
    poet_line_t line = event_line_known(key);
    return line ? line : keep(key, poet_line_of("task", "", identity));
}

/* ---- events ---- */

void event_about(enum event event, poet_line_t about, unsigned doubt, const void *site)
{
    poet_record(
        &(poet_record_t){.type = event_type(event), .about = about, .flags = doubt, .site = site});
}

void event_pair(enum event here, enum event there, poet_line_t line, unsigned doubt,
                const void *site)
{
    poet_record(&(poet_record_t){.type = event_type(here),
                                 .other = line,
                                 .other_type = event_type(there),
                                 .flags = doubt,
                                 .site = site});
}
