/* Results of queries on the order: waiting threads and their diagnosis, counts of related events,
 * search hits, the order among selected events; as structs and as bytes. The structs own what is
 * decoded into them; their _free frees it, as in trace_view.h. */
#ifndef WIRE_QUERY_RESULTS_H
#define WIRE_QUERY_RESULTS_H

#include "wire/event_types.h"
#include "wire/message.h"
#include "wire/trace_view.h"

/* The diagnosis of a blocked thread. */
enum wait_outcome {
    OUTCOME_OPEN, /* it may resume */
    OUTCOME_POSSIBLE, /* possibly never */
    OUTCOME_NEVER,
    OUTCOME_COUNT
};

/* Why a diagnosis is uncertain or incomplete: bits. */
enum diagnosis_uncertainty {
    UNCERTAIN_WAKER =
        /* a thread may have woken the waiters: it did not happen before the wait; they have not
         * resumed yet */
    1,
    UNCERTAIN_RUNS = 2, /* another thread is running, which never woke them before */
    UNCERTAIN_HANDLER = 4, /* a signal handler might wake them */
    UNCERTAIN_UNTRACED = 8, /* some threads or calls are not traced */
    UNCERTAIN_PAST = 16, /* not all recorded events have been examined */
    UNCERTAIN_TYPES = 32, /* the description does not say which types wake them */
    UNCERTAIN_MEMORY = 64, /* processes that are not traced may map the memory of the object */
    UNCERTAIN_KERNEL = 128, /* the kernel may wake them, at the end of an asynchronous call */
    UNCERTAIN_NAME = 256 /* processes that are not traced may open the object by its name */
};

/* The way in which a thread keeps another one from resuming: what it did at the event that a
 * holder_info names, or has not done since. */
enum hold_kind {
    HOLD_LOCK, /* acquired the lock, */
    HOLD_READ, /* for reading, */
    HOLD_WRITE, /* for writing, */
    HOLD_AT_FORK, /* and the fork made a copy of the held lock, but not of the thread */
    HOLD_UNIT, /* acquired a unit of the semaphore, and has not posted it */
    HOLD_READER, /* read from the stream, as a thread must that makes space in it */
    HOLD_WRITER, /* wrote to it */
    HOLD_QUEUED, /* requested the read-write lock before */
    HOLD_LOADER, /* holds the loader's lock, in dlopen or dlclose; no event says so */
    HOLD_CHILD, /* belongs to the child process that is awaited */
    HOLD_TASK, /* runs the task of the future that is awaited */
    /* was to help at the barrier, but is a thread of the process that forked: the runtime in the
     * child takes it for its own.  It only says why. */
    HOLD_TEAM,
    /* acquired the mutex that a wait for a condition variable acquires again before it returns, and
     * of which the event is */
    HOLD_MUTEX,
    HOLD_DELETED, /* deleted the object that is awaited; it may be about to wake the waiters */
    HOLD_MEMBER, /* belongs to the group, and has not arrived at its collective call */
    HOLD_LEFT, /* never will: it left all groups with that event */
    HOLD_KINDS
};

/* Returns whether only that thread can end the wait. */
static inline bool hold_is_of_lock(unsigned how)
{
    return how <= HOLD_AT_FORK || how == HOLD_LOADER || how == HOLD_TASK || how == HOLD_MUTEX;
}

/* A thread that must release something before another one resumes. */
struct holder_info {
    uint32_t thread;
    struct event_id since; /* the event by which it entered; number 0: discarded */
    uint32_t process; /* of the call site of that event */
    uint64_t site; /* its address; 0: none */
    uint8_t how; /* an enum hold_kind */
};

/* A thread that is blocked at the end of the recording. */
struct wait_info {
    uint32_t thread, about; /* lines; about 0: an untraced object */
    struct event_info event; /* its last one */
    struct holder_info *holders;
    uint32_t holder_count;
    /* It waits in a signal handler: the event by which the signal was sent, and by which thread; 0
     * if that is not recorded. */
    struct event_id signal;
    uint32_t sender;
    enum wait_outcome fate;
    /* its program ended by itself meanwhile: only a cycle proves that it could not resume */
    bool at_exit;
    /* it waits for the end of `about`; the wait began after its last event, and is not an event */
    bool end;
    /* it sleeps at the loader's lock, likewise after its last event; about is 0 */
    bool loader;
    int64_t since_ns; /* when the wait began */
    /* A process of which nothing is recorded that can end it, too, 0: none was seen; its name,
     * eight bytes in each */
    uint32_t outsider;
    uint64_t outsider_name, outsider_rest;
};

/* A thread that is not blocked in a traced call, but sleeps at the end of the recording. */
struct sleeper_info {
    uint32_t thread; /* the thread line */
    int64_t since_ns; /* when it went to sleep */
    uint8_t call; /* an enum sleep_call (wire/os_usage.h); 0: the call is unknown */
    uint64_t word; /* address of the futex at which it waits; 0: none, or unknown */
    /* Addresses of the call in the program by which it waits there, and in the function of the C++
     * library that it called; 0: not known */
    uint64_t site, library;
    /* Only of a wait at a futex: whether it ends; and the thread that runs the task of the future
     * that is awaited, thread 0: not known */
    enum wait_outcome fate;
    struct holder_info holder;
    struct event_info event; /* its last one */
};

/* A deadlock cycle: each thread waits for the next, by what it waits about, and the last for the
 * first. */
struct cycle_info {
    struct cycle_step_info {
        uint32_t thread, about;
        /* its last event; the event by which the next one entered, number 0: discarded */
        struct event_id at, since;
        uint8_t how; /* an enum hold_kind: how the next one keeps it waiting */
        bool only; /* it is the only one that does */
        int64_t time_ns; /* of the last event */
    } *steps;
    uint32_t count;
    uint32_t doubts; /* why it is only likely: bits of enum diagnosis_uncertainty; 0: certain */
};

enum wake_effect { WAKE_NO_THREAD, WAKE_SOME_THREAD, WAKE_UNKNOWN };

/* An object on which threads wait to be woken. */
struct diagnosis_info {
    uint32_t about; /* line; 0: the futexes at which threads sleep, or the descriptors */
    bool polls; /* the descriptors for which threads wait in poll, select or epoll_wait */
    enum wait_outcome fate; /* the worst one of its waiters */
    uint32_t doubts; /* bits of enum diagnosis_uncertainty */
    /* one of the waits; the last event that might have woken it, line 0: none */
    struct event_id wait, waker;
    uint32_t waker_type; /* code; 0: none */
    /* the call site of the waker; 0: not known */
    uint32_t process;
    uint64_t site;
    uint8_t waker_relation; /* RELATION_CODE: of the waker to the wait; 0: none */
    uint8_t went_on; /* enum wake_effect: did a thread resume after it? */
    /* the only thread that resumed after it, and that waits there again, or does not although the
     * event woke one only (`woken_left`); 0: there is none such */
    uint32_t woken;
    bool woken_left;
    bool woken_elsewhere; /* another thread waits there at another call, and it woke one only */
    /* at a barrier: number of threads that have arrived, and that it waits for; 0: not known */
    uint32_t arrived, participants;
    struct waker_info { /* threads that ever woke a waiter, the last one first */
        uint32_t thread;
        uint8_t state; /* enum waker_state */
        struct event_id last;
    } *able;
    uint32_t able_count;
    uint32_t *runs; /* some of the running threads that never woke a waiter */
    uint32_t run_count;
    /* No thread waits there, but `able` are all that ever waited, as those of a pool do for work:
     * they hang elsewhere, and `waker`, a signal, came later. `wait` is one of their waits. */
    bool pool;
};

enum waker_state { WAKER_ENDED, WAKER_WAITS, WAKER_RUNS, WAKER_COUNT };

/* The times of a run. */
struct trace_time_info {
    int64_t last_ns; /* of the latest event */
    int64_t now_ns; /* current time by the run's clock; of an ended run, its end; -1: unknown */
    bool live;
};

/* Numbers of events by their relation to one event. */
struct relation_counts {
    struct event_id at;
    bool known; /* the event exists and is ordered */
    uint64_t before, after, concurrent, same; /* same: itself and the events simultaneous with it */
    uint64_t unknown; /* untraced synchronization may order them */
    bool whole; /* false: lower bounds, since not all events are counted */
};

/* The events and the time between two events, excluding both. */
struct between_info {
    struct event_id from, to;
    bool known; /* both exist */
    bool whole; /* false: the numbers are lower bounds */
    int64_t ns; /* from the one to the other; negative if the second one is earlier */
    uint64_t events; /* recorded between them */
    struct type_count {
        uint32_t type; /* code */
        uint64_t events;
    } *kinds;
    uint32_t kind_count;
};

/* Results of a search. */
struct search_hit {
    struct event_id at;
    uint64_t position;
};

struct search_result {
    bool done;
    uint64_t looked; /* number of events examined */
    uint64_t count; /* of hits so far, whether sent or not */
    char *problem; /* what is wrong with the expression; "": nothing */
    struct search_hit *hits; /* new ones, in the order of the log, or the reverse if backwards */
    uint32_t hit_count;
};

void encode_wait(struct encoder *out, const struct wait_info *wait);
void decode_wait(struct decoder *in, struct wait_info *wait);
void wait_info_free(struct wait_info *wait);
void encode_sleeper(struct encoder *out, const struct sleeper_info *sleeper);
void decode_sleeper(struct decoder *in, struct sleeper_info *sleeper);
void sleeper_info_free(struct sleeper_info *sleeper);
void encode_cycle(struct encoder *out, const struct cycle_info *cycle);
void decode_cycle(struct decoder *in, struct cycle_info *cycle);
void encode_diagnosis(struct encoder *out, const struct diagnosis_info *verdict);
void decode_diagnosis(struct decoder *in, struct diagnosis_info *verdict);
void diagnosis_info_free(struct diagnosis_info *verdict);
void encode_now(struct encoder *out, const struct trace_time_info *now);
void decode_now(struct decoder *in, struct trace_time_info *now);
void encode_relation_counts(struct encoder *out, const struct relation_counts *count);
void decode_relation_counts(struct decoder *in, struct relation_counts *count);
void encode_between(struct encoder *out, const struct between_info *span);
void decode_between(struct decoder *in, struct between_info *span);
void between_info_free(struct between_info *span);
void encode_search_result(struct encoder *out, const struct search_result *found);
void decode_search_result(struct decoder *in, struct search_result *found);
void search_result_free(struct search_result *found);

/* ---- the happened-before order among selected events ---- */

/* It is complete in itself: for each event its immediate causes among them, and its uncertainty. */

/* The selected events: ascending positions in the log. */
struct causal_edges_request {
    uint64_t *positions;
    uint32_t count; /* at most LIMIT_STANDS */
};

#define NO_CHAIN UINT32_MAX /* the event is missing or not ordered */
#define ANY_DOUBTS UINT32_MAX /* its order to events that it is not ordered with is unknown */

/* Simultaneous events have the same `point`, the index of the first of them, which alone has their
 * causes. The points of a chain follow each other in the order of the request. A point happened
 * before another if a path of causes and chains leads from the one to the other. If there is none
 * in either direction, they are concurrent if their doubts are the same number; otherwise their
 * order is unknown. For an event without a chain, doubts are the reasons for that, as bits. */
struct causal_edge_info {
    uint32_t point, chain, doubts;
    /* of `causes`: indices of points, including its predecessor on its chain */
    uint32_t first, count;
    /* of its point; raised to that of its latest cause, if it would be earlier */
    int64_t time_ns;
};

/* If two events have different doubts, the reasons for an unknown order are those of different
 * kinds. */
struct uncertainty_info {
    uint32_t doubts; /* the number of the set, each once */
    uint32_t kinds[UNTRACED_COUNT]; /* by reason; 0: not in the set */
};

struct causal_edges_info {
    bool whole; /* false: the result was too large, and is empty */
    /* bits of enum untraced_reason, for the whole run; if hiding is not 0, everything that is not
     * ordered is unknown */
    uint32_t hiding, mechanisms;
    struct causal_edge_info *events;
    uint32_t event_count;
    uint32_t *causes;
    uint32_t cause_count;
    uint32_t any; /* bits: the reasons where doubts are ANY_DOUBTS */
    struct uncertainty_info *doubts;
    uint32_t doubts_count;
};

void encode_causal_edges_request(struct encoder *out, const struct causal_edges_request *request);
void decode_causal_edges_request(struct decoder *in, struct causal_edges_request *request);
void causal_edges_request_free(struct causal_edges_request *request);
void encode_causal_edges(struct encoder *out, const struct causal_edges_info *causes);
/* Validates references: points and causes are indices of events, and causes precede their
 * effects. */
void decode_causal_edges(struct decoder *in, struct causal_edges_info *causes);
void causal_edges_info_free(struct causal_edges_info *causes);

#endif
