/* poet.h - the API by which a program tells Poet what it does. Compile and link with
 * `poetcc -trace`: threads and synchronization objects (mutexes, condition variables,
 * semaphores, barriers, ...) are then traced automatically. This header adds what only
 * the program knows: named events, its own trace lines, and how they are ordered.
 *
 * Every function may be called by any thread at any time, but not from a signal
 * handler, unless its comment says otherwise; a runtime that switches tasks in a signal
 * handler must block that signal around each of these calls. None of them changes
 * errno, blocks for more than POET_MAX_STALL_MS milliseconds (default 1000) or
 * terminates the program. If tracing is disabled, they do nothing and return 0.
 *
 * The slots of one thread are its order: every event that a thread reports happened
 * after those that it reported before. */
#ifndef POET_H
#define POET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef uint32_t poet_line_t; /* a trace line of this process, 0 none */
typedef uint16_t poet_type_t; /* an event type of this process, 0 none */

/* An event. line is 0 if there is none, as where tracing is disabled. */
typedef struct {
    poet_line_t line;
    uint64_t number;
} poet_event_t;

#define POET_SHARED                                                                                \
    1u /* critical sections on the line may overlap: their succession is not an order */
#define POET_CLOSES 2u /* the event ends its line */

/* ---- named events ---- */

/* Records a `note` event on the line where the thread is, with a text (printf format;
 * truncated to 4095 bytes). Safe while the thread holds locks. */
poet_event_t poet_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Adds an annotation to an event of any age. An event may have several. */
void poet_annotate(poet_event_t event, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Names the line of the calling thread; at most 4095 bytes. */
void poet_set_name(const char *name);

/* ---- lines and events of your own ---- */

/* Adds an environment: the target description, config/NAME.conf, that names the kinds
 * and types used below. Must be called before they are used; at most 255 bytes. */
void poet_environment(const char *name);

/* Opens a line of a kind that the description defines; its first event comes after the
 * last event of the calling thread. `object` is shown as its id. Returns 0 if there are
 * too many lines (2^24). */
poet_line_t poet_line(const char *kind, const char *name, const void *object, unsigned flags);
void poet_line_name(poet_line_t line, const char *name);
/* Changes the kind and the name of a line after it was opened, such as that of a thread
 * that turns out to be a rank. */
void poet_line_kind(poet_line_t line, const char *kind, const char *name);

/* Returns the code of an event type, by its name; the same name gives the same code. On
 * shared lines, events of this type come after all earlier events of the types in
 * `ordered_after` (NULL, or terminated by NULL). Returns 0 if there are too many types
 * (16 384). */
poet_type_t poet_type(const char *name, const char *const *ordered_after);

/* Returns the line where the calling thread is now: its own, or the object it is in. */
poet_line_t poet_current_line(void);

/* Records one event on `line` (0: where the thread is) that names another line as its
 * object (0: none). */
poet_event_t poet_event(poet_line_t line, poet_type_t type, poet_line_t object, unsigned flags);

/* Records two events that are one synchronization point. Returns the one on line a. */
poet_event_t poet_pair(poet_line_t a, poet_type_t type_a, poet_line_t b, poet_type_t type_b,
                       poet_event_t *on_b);

/* Records a pair after which the thread is on line `to` (poet_enter), or leaves `from`
 * and is again where it was before (poet_leave). In between, its events without a line
 * are recorded on `to`. */
poet_event_t poet_enter(poet_line_t to, poet_type_t enter, poet_type_t entered);
poet_event_t poet_leave(poet_line_t from, poet_type_t leave, poet_type_t left);

/* Places the thread on `line` (0: its own) and undoes every poet_enter: for a runtime
 * that keeps track of this itself and calls poet_pair. */
void poet_set_current_line(poet_line_t line);

/* Records a choice of the program's own among `of` alternatives, numbered from 0, as a
 * scheduler makes: an event `choose` on `line` (0: where the thread is) with the text
 * "CHOSEN of OF". Returns the alternative to take: `chosen` or, when `poet replay`
 * repeats a run, the recorded one. */
uint32_t poet_record_choice(poet_line_t line, uint32_t of, uint32_t chosen);

/* Queries of calls that acquire something, made before they do, when `poet replay`
 * repeats a run. poet_replay_next_is() returns whether the next event of the calling
 * thread has that type (1 or 0), or `fallback` if no run is being replayed.
 * poet_replay_wait_turn() waits until the thread's next event of that type (among its
 * next few events) may happen on `line`, that is, until all events that came before it
 * are there. The wait is bounded; it returns at once if no run is being replayed.
 * poet_replay_is_turn() returns whether it would return at once (1 or 0): for a runtime
 * that runs another task meanwhile. */
int poet_replay_next_is(poet_type_t type, int fallback);
void poet_replay_wait_turn(poet_line_t line, poet_type_t type);
int poet_replay_is_turn(poet_line_t line, poet_type_t type);

/* Compares the next event of the calling thread, or the one `ahead` events (at most 31)
 * behind it, with a type and with its object, given by the key by which all processes
 * of the run know it (see poet_line_by_identity; 0: any object). Returns 1 if both
 * match, 0 if not, 2 if the type matches and its object has not been used yet, -1 if no
 * run is being replayed or the schedule of the thread has ended. poet_replay_commit()
 * says that the next event is about to be recorded, and from then on its object is the
 * one that has the key. */
int poet_replay_peek(poet_type_t type, uint64_t key, unsigned ahead);
void poet_replay_commit(poet_type_t type, uint64_t key);
/* Returns whether the next event of the calling thread has that type and came after
 * another event by POET_AFTER; results as of poet_replay_peek. */
int poet_replay_peek_after(poet_type_t type);

/* Queries of calls that receive what some thread has sent, such as a task that it
 * created. poet_replay_peek_sender() finds out whether the next event of the calling
 * thread has that type and which send it received, and waits (bounded) until that send
 * is there. It returns 1 and sets *send, 0 if another event or none is next or the send
 * is not known, -1 if no run is being replayed. poet_replay_commit_sender() says that
 * the next event, which receives that send, is about to be recorded; it is a divergence
 * if the recorded event is another one. poet_replay_timeout_ms() returns for how many
 * milliseconds the calling thread may wait for what its next event needs; after that it
 * runs on unconstrained. */
int poet_replay_peek_sender(poet_type_t type, poet_event_t *send);
void poet_replay_commit_sender(poet_type_t type, poet_event_t send);
unsigned poet_replay_timeout_ms(void);

/* Nondeterministic calls: those that receive whatever is available, such as the next
 * message of any sender, and several calls that complete in any order.
 * poet_replay_begin_nondeterministic() begins such a call of the calling thread, its
 * *asked-th. In a replayed run it returns the recorded result, taken from the event of
 * that type that reports this call (poet_record_t), else `fallback`. With type 0 the
 * call is only counted, since its result is determined. poet_replay_result() returns
 * which of these calls the thread's next event reports, if it has that type, and its
 * result; else 0. `together` (may be NULL) is set to whether one call reported the
 * following event, too (POET_TOGETHER). */
uint32_t poet_replay_begin_nondeterministic(poet_type_t type, uint32_t *asked, uint32_t fallback);
uint32_t poet_replay_result(poet_type_t type, uint32_t *got, int *together);

/* Records a message: the send happened before each of its receives. The receive names
 * its sends by event where the receiver knows them, else by a key of 128 bits that both
 * sides know and no other message has. At most 4096 sends for one receive; more are
 * ignored. */
poet_event_t poet_send(poet_line_t line, poet_type_t type);
poet_event_t poet_receive(poet_line_t line, poet_type_t type, const poet_event_t *sends,
                          size_t count);
poet_event_t poet_send_key(poet_line_t line, poet_type_t type, uint64_t high, uint64_t low);
poet_event_t poet_receive_key(poet_line_t line, poet_type_t type, uint64_t high, uint64_t low);

/* Records an event that happened after `earlier`, without an arrow. */
poet_event_t poet_event_after(poet_line_t line, poet_type_t type, poet_event_t earlier);

/* Records one of `count` events with one key that are one synchronization point: a sync
 * pair by key (count 2, and both call poet_barrier_event) or a barrier. */
poet_event_t poet_barrier_event(poet_line_t line, poet_type_t type, uint64_t high, uint64_t low,
                                uint32_t count);

/* All properties of an event, for libraries that record for others; those that are 0
 * are not set. */
#define POET_SEND 0x10u /* of a message with a key */
#define POET_RECEIVE 0x20u /* of messages with keys, of any number */
#define POET_MEET 0x40u /* `count` events with this key are one synchronization point */
#define POET_STREAM                                                                                \
    0x80u /* with SEND or RECEIVE: high is a stream of bytes, *low the first byte and
                            * count how many; a receive is after the sends of all its bytes */
/* The event may have more predecessors than are recorded: because a stream is no longer
 * traced; because a thread or a process is not recorded, or not to its end; or because
 * it is not known which of several objects this is. */
#define POET_DOUBT_STREAM 0x100u
#define POET_DOUBT_THREAD 0x200u
#define POET_DOUBT_OBJECT 0x400u
#define POET_AFTER 0x800u /* comes after event number *low of the line `high`, without an arrow */
#define POET_TOGETHER                                                                              \
    0x1000u /* with `asked`: the same call reports this event and the thread's next one, too */
#define POET_WAITS 0x2000u /* the thread has to wait: its call stack is recorded */
/* with SEND or RECEIVE: of a message without a key; a receive names the sends by event */
#define POET_BY_EVENT 0x4000u
typedef struct {
    poet_line_t line; /* 0: where the thread is */
    poet_line_t about;
    poet_type_t type;
    unsigned flags; /* POET_CLOSES, and at most one of SEND, RECEIVE, MEET */
    const void *site; /* the address that the call came from; NULL: the caller of poet_record */
    uint64_t high; /* keys of 128 bits: all have this first half, */
    const uint64_t *low; /*   and each its second one */
    size_t keys; /* SEND, MEET: 1; RECEIVE: at most 4096, more are ignored */
    /* MEET: members; SEND: its receives, 0 unknown; RECEIVE: 1 if no other has its keys */
    uint32_t count;
    poet_line_t other; /* no message: the other side of a pair, */
    poet_type_t other_type; /* and its type; poet_record() then returns the event on `line` */
    uint32_t asked,
        /* which poet_replay_begin_nondeterministic this event reports, and its result,
         * as a text; 0: none. At most one key */
        got;
    uint64_t began; /* single events: when it happened, as poet_time() returned it; 0: now */
    const poet_event_t *sends; /* RECEIVE by event: at least one, */
    size_t send_count; /* and at most 4096; more are ignored */
} poet_record_t;
poet_event_t poet_record(const poet_record_t *record);
/* Returns the current time in the unit of the calling thread's records; 0: it is not
 * recorded. */
uint64_t poet_time(void);

/* The position of the calling thread in its order: for libraries that find out which of
 * its events others are after. Lines and events are valid in one lifetime. */
typedef struct {
    poet_line_t thread; /* its own line, or that of the task as which it acts; 0: none yet */
    uint32_t lifetime; /* number of the connection to a server; 0: not traced */
    poet_event_t last; /* its last event; line 0: none */
} poet_position_t;
/* Async-signal-safe, and takes a few nanoseconds. */
void poet_position(poet_position_t *position);

/* It changes whenever the position of the calling thread may have changed within a lifetime. */
extern __thread uint64_t poet_progress __attribute__((tls_model("initial-exec")));

/* Gets the lines of the locks that the calling thread holds and that no other thread can hold
 * meanwhile, the innermost first, at most `most`. Returns their number. Async-signal-safe. */
unsigned poet_held_locks(poet_line_t *lines, unsigned most);

/* Records that two threads accessed the same bytes of memory, at least one of them by a write,
 * and so that their events tell whether one access happened before the other: each access comes
 * after the event `after` of its thread, and before that one's next event. The later access is
 * the calling thread's. */
#define POET_ACCESS_WRITE 1u
#define POET_ACCESS_ATOMIC 2u
#define POET_ACCESS_FREE 4u /* the memory was freed */
/* with ATOMIC: what synchronizes with it is only known to come after the event `after` */
#define POET_ACCESS_RELEASE 8u
#define POET_ACCESS_LOCKS 2u
typedef struct {
    poet_line_t thread;
    poet_event_t after;
    const void *site; /* an address within the instruction or the call; NULL: not known */
    unsigned flags; /* POET_ACCESS_ */
    poet_line_t locks[POET_ACCESS_LOCKS]; /* held then, the innermost first; 0: none */
} poet_access_t;
typedef enum {
    POET_MEMORY_OTHER,
    POET_MEMORY_HEAP,
    POET_MEMORY_STACK,
    POET_MEMORY_UNSEEN /* allocations are not seen: an address may be that of another block now */
} poet_memory_t;
typedef struct {
    poet_access_t earlier, later;
    const volatile void *address;
    size_t bytes;
    poet_memory_t memory;
    /* STACK: its thread; HEAP: the thread that allocated it; 0: not known */
    poet_line_t owner;
    const volatile void *block; /* HEAP: the block, */
    size_t block_bytes;
    const void *block_site; /*   and where it was allocated; NULL: not known */
    int with_callers; /* the callers of the function of the later access are recorded, too */
} poet_conflict_t;
/* Returns whether no seccomp filter forbids pthread_getattr_np() of the calling thread. */
int poet_may_find_stack(void);
/* Returns 1 if it was recorded. */
int poet_conflict(const poet_conflict_t *conflict);
/* Reports that `count` accesses or conflicts, in all, are not examined because of `why`, one
 * of the words of enum unexamined (wire/program_messages.h). */
void poet_unexamined(unsigned why, uint64_t count);

/* Variants of the functions without _at, for libraries that record for others. site: an
 * address within the call that is recorded, such as (char *)__builtin_return_address(0)
 * - 1; for a line, where its object was created. With NULL, the call site is the
 * caller's, and a line has no place of creation. */
poet_line_t poet_line_at(const char *kind, const char *name, const void *object, unsigned flags,
                         const void *site);
poet_event_t poet_event_at(poet_line_t line, poet_type_t type, poet_line_t object, unsigned flags,
                           const void *site);
poet_event_t poet_event_after_at(poet_line_t line, poet_type_t type, poet_event_t earlier,
                                 const void *site);
poet_event_t poet_pair_at(poet_line_t a, poet_type_t type_a, poet_line_t b, poet_type_t type_b,
                          poet_event_t *on_b, const void *site);
poet_event_t poet_enter_at(poet_line_t to, poet_type_t enter, poet_type_t entered,
                           const void *site);
poet_event_t poet_leave_at(poet_line_t from, poet_type_t leave, poet_type_t left, const void *site);
void poet_wait_end_at(poet_line_t awaited, const void *site);

/* poet_identity() gets the identity of a line among those of all processes;
 * poet_line_by_identity() returns the line of another process by its identity, as an
 * object of events. The kind and name are shown until that process names the line. */
/* Returns 0 if the line is not traced, or stands for one of several objects. */
int poet_identity(poet_line_t line, uint64_t identity[2]);
poet_line_t poet_line_by_identity(const char *kind, const char *name, const uint64_t identity[2]);

/* Says that `count` processes, of which this is one, take part in calls at a line of another
 * process's, such as those of a group. */
void poet_participants(poet_line_t line, uint32_t count);

/* Returns a line that all processes of the run on this machine share, found by its key,
 * as a synchronization object: each may record events on it, and its critical sections
 * may overlap (POET_SHARED). Returns 0 if no memory can be shared. */
poet_line_t poet_line_shared(const char *kind, const char *name, uint64_t key);

/* Returns whether the calling thread is currently recorded; a child after fork begins
 * to be with its first event. Async-signal-safe. */
int poet_recorded(void);

/* Reports that the program synchronizes by `what` (at most 119 bytes), which is not
 * traced. Each is reported once. */
void poet_untraced(const char *what);
/* Reports that the order of atomic operations, because of `what`, is not known. */
void poet_untraced_atomics(const char *what);

/* Returns whether the program itself, not its libraries, imports any of these functions
 * (terminated by NULL). Returns 0 in a static program. */
int poet_imports(const char *const *names);

/* Returns a number that all processes of the run on this machine share, initially 0,
 * found by its key; it must be accessed with atomic operations. The pointer stays
 * valid; after a fork, or under another server, the same key may be another number.
 * Returns NULL if there is none and `make` is not set, if there are too many (65 536),
 * or if no memory can be shared. */
uint64_t *poet_counter(uint64_t key, int make);

/* Returns a number that only those processes share: to be mixed into keys that are made
 * of what is unique on one machine only, such as an inode, or a number from a counter.
 * Returns 0 if no memory can be shared. */
uint64_t poet_host_id(void);

/* Streams (POET_STREAM) between machines. poet_is_distributed() returns whether programs of other
 * machines may be in the run; where not, the other two are not needed. poet_stream_end() reports
 * that this process reads or writes the stream; the process at its other end has its key, too,
 * before the first such event; or that this process no longer writes it, though others may. A
 * reader stays pending in the order until the other end is reported, or cannot be any more.
 * poet_stream_gap() reports that no event writes the bytes from `first` up to `end`; doubt: an
 * untraced call may have written them. The last two return 0 if nothing was reported, as where the
 * thread is not recorded. */
typedef struct {
    uint64_t high, low; /* the address: of IPv6, or ::ffff:1.2.3.4; as numbers */
    uint16_t port;
} poet_place_t;
/* Numbers from here on are not bytes: each is one closing of a writing end. */
#define POET_STREAM_CLOSINGS (UINT64_C(1) << 62)
typedef enum { POET_STREAM_READS, POET_STREAM_WRITES, POET_STREAM_LEFT } poet_stream_end_t;
int poet_is_distributed(void);
int poet_stream_end(uint64_t stream, poet_stream_end_t end, const poet_place_t *here,
                    const poet_place_t *there);
int poet_stream_gap(uint64_t stream, uint64_t first, uint64_t end, int doubt);

/* Returns the name, NAME@ID, of the launch that this process belongs to, which makes
 * its processes one run where no environment variable does. Defined by a library that
 * is linked or preloaded, and called before main(). */
const char *poet_job_id(void);

/* ---- user-level threads ----
 *
 * For runtimes that switch threads of their own (tasks, fibers, green threads). Such a
 * task has its own line, and its events are ordered along it, whichever thread of the
 * system runs it. */

/* Declares, once and outside every function, that the program's threads are those of a
 * runtime:
 *     POET_RUNTIME("NAME");
 * config/NAME.conf then describes the program, the system's own threads get no line,
 * their events outside of tasks are not recorded, and contexts are stacks of tasks, not
 * coroutines. */
#define POET_RUNTIME(environment)                                                                  \
    __attribute__((visibility("default"))) const char poet_runtime[] = environment
extern const char poet_runtime[];

/* Opens the line of a new task, after the last event of the caller. Returns 0 if it is
 * not traced. */
poet_line_t poet_task(const char *kind, const char *name, const void *object);

poet_line_t poet_task_at(const char *kind, const char *name, const void *object, const void *site);

/* Makes the calling thread of the system act as that task, or as itself (0). The
 * runtime must call it at each switch. A task acts on one thread of the system at a
 * time; handing it to another must synchronize the two. */
void poet_task_switch(poet_line_t task);

/* Returns whether the calling thread is within libpoet, such as in the hook of a
 * measured function. A runtime that switches tasks in a signal handler must not do so
 * then, but later. Async-signal-safe. */
int poet_busy(void);

/* Names the calling thread of the system, which runs tasks, in reports of task
 * placement, and the group of such threads that it is in (NULL: none). At most 63 bytes
 * each. Call it before the first poet_task_switch(); without it, such threads are
 * numbered. A thread that acts as one worker after the other, or in one group after the
 * other, calls it at each change; what has run under a name remains there. */
void poet_worker_thread(const char *name, const char *group);

/* Marks the calling task as waiting for the end of that one, until its next event: for
 * waits that have no event of their own, right before the runtime switches to another
 * task. The mark has no effect if the other task has ended. */
void poet_wait_end(poet_line_t awaited);

/* The task will not act any more: libpoet reuses what it kept for it. The line stays. */
void poet_task_release(poet_line_t task);

/* Additional stacks of tasks, such as those of coroutines: libpoet tracks which calls
 * are open on each, and which call stack allocates memory. Tasks may take turns at a
 * stack; one at a time runs on it. */
typedef struct poet_stack *poet_stack_t; /* NULL: the task's own, or none */

/* Registers a new stack of that many bytes from `memory` on (NULL: not known). Returns
 * NULL if it is not traced. */
poet_stack_t poet_stack(const void *memory, size_t bytes);
/* Registers the memory of a task's own stack. */
void poet_task_stack(poet_line_t task, const void *memory, size_t bytes);

/* Switches the calling task to that stack (NULL: its own). The function that makes the
 * switch must call it right before. If the task is within that stack already, it
 * returns to it and leaves those that it entered from there. With POET_STACK_CALLED the
 * switch is a call of what runs there, as the resume of a coroutine is: each counts as
 * a call of the outermost function on that stack. With POET_STACK_UNWOUND the calls that
 * are open there are left, as when a suspended coroutine is deleted: what they still take
 * belongs to none of them. */
#define POET_STACK_CALLED 1u
#define POET_STACK_UNWOUND 2u
void poet_stack_run(poet_stack_t stack, unsigned flags);

/* No task runs on the stack any more, nor will. If the calling task is on it, the calls
 * that are open there end, and the task returns to where it entered the stack;
 * otherwise they never end. */
void poet_stack_gone(poet_stack_t stack);

/* ---- parts of functions ---- */

/* Begins a named part of a function, which lasts until the next poet_scope_end: where
 * calls are measured (`poetcc -profile`, POET_MEASURE) it is counted and timed like a
 * function call; elsewhere this does nothing. Parts nest. `name` must be a literal, or
 * other read-only memory that never changes. Async-signal-safe. */
void poet_scope(const char *name);
void poet_scope_end(void);

/* Begins a part that lasts to the end of the block, however it is left; at most once in
 * a source line. When it is left by a longjmp or, in C, an exception, the part ends
 * with the function. */
#define POET_SCOPE(name) POET_SCOPE_AT(name, __LINE__)
#define POET_SCOPE_AT(name, line) POET_SCOPE_AS(name, line)
#define POET_SCOPE_AS(name, line)                                                                  \
    __attribute__((cleanup(poet_scope_left), unused)) int poet_scope_##line = (poet_scope(name), 0)
__attribute__((unused, no_instrument_function)) static inline void poet_scope_left(int *unused)
{
    (void)unused;
    poet_scope_end();
}

/* ---- user-defined metrics ----
 *
 * Numbers that only the program knows: how often, how much, how long. Each thread counts in its own
 * memory, without a lock and without an atomic operation, so counting takes a few nanoseconds and
 * nothing is lost when the program is killed; `poet metrics` shows them by metric and by thread,
 * also while the program runs. POET_MEASURE=none, or without "metrics" in it, counts nothing. A run
 * with a server on another machine has no metrics. */
typedef uint32_t poet_meter_t; /* a metric of this process, 0 none */

#define POET_COUNT 1u /* a sum: requests, bytes */
#define POET_GAUGE 2u /* a level: its last, least, greatest and mean value */
#define POET_DISTRIBUTION 3u /* a histogram of times or sizes */

/* Returns the metric of that name and creates it if needed; a name stands for one
 * metric, of the kind with which it was created. `unit` is shown behind its numbers
 * ("bytes", "items"; "ns" is shown in milliseconds; NULL: none). At most 255 bytes
 * each. Returns 0 if there are too many: all of them have 1023 cells, of which a
 * distribution takes five. */
poet_meter_t poet_meter(const char *name, const char *unit, unsigned kind);

/* Adds to a count, or to the level of a gauge of this thread. Async-signal-safe, as are
 * the next two. */
void poet_add(poet_meter_t meter, int64_t n);
/* Sets the level of a gauge for this thread. */
void poet_set(poet_meter_t meter, int64_t value);
/* Adds one value to a distribution, such as a duration in nanoseconds. */
void poet_observe(poet_meter_t meter, int64_t value);

/* Returns a number of the whole process that the program stores to, from any thread,
 * and that the server samples, at first every 10 ms: the length of a queue. Never
 * returns NULL, returns the same pointer for the same name, and it is valid as long as
 * the program runs; where the server does not sample, several names may share one. */
int64_t *poet_watch(const char *name, const char *unit);

/* Mark the beginning and the end of a wait of the calling thread, in a call that it has
 * recorded by an event of that type: for interposed libraries. The thread must record
 * nothing in between. If calls are measured, the wait appears below its caller. */
void poet_wait_begin(poet_type_t type);
void poet_wait_done(poet_type_t type);
/* Marks the calling thread as idle (1), such as one of a pool that has no work, or as
 * working again (0): calls that other threads make meanwhile are not concurrent with
 * it. Repeating a call has no effect. The thread may record events while idle. */
void poet_rests(int rests);

/* ---- on and off ---- */

/* Stops and resumes recording for the calling thread; calls nest. */
void poet_trace_off(void);
void poet_trace_on(void);

/* Stops and resumes measuring the calls of the calling thread or task, where calls are
 * measured; calls of these functions nest. Open calls continue, and their time counts. */
void poet_calls_off(void);
void poet_calls_on(void);

/* Returns how many events of this process were dropped because the server was
 * behind. */
uint64_t poet_lost(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
