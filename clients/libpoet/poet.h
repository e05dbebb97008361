/* poet.h - tell Poet what your program does.
 *
 * Compile and link with `poetcc -trace`: threads and what they meet at (mutexes, conditions,
 * semaphores, barriers, ...) are traced by themselves.  This header adds what only you know: named
 * events, lines of your own, and how they are ordered.
 *
 * Every function may be called by any thread at any time, but not from a signal handler, unless its
 * comment says otherwise; a runtime that switches tasks in a signal handler forbids that around
 * each of these calls.  None of them changes errno, blocks for more than POET_MAX_STALL_MS
 * milliseconds (default 1000) or makes the program end.  Where tracing is disabled, they do nothing
 * and return 0.
 *
 * The slots of one thread are its order: whatever a thread reports comes after
 * what it reported before.
 */
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

/* One event.  line 0: none, as where tracing is disabled. */
typedef struct {
    poet_line_t line;
    uint64_t number;
} poet_event_t;

#define POET_SHARED 1u /* visits to the line overlap: its succession is no order */
#define POET_CLOSES 2u /* the event ends its line */

/* ---- named events ---- */

/* A `note` where the thread is, and its text (printf; at most 4095 bytes, then
 * cut).  Also safe while the thread holds locks. */
poet_event_t poet_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A text for an event, however long ago it was.  An event may bear several. */
void poet_annotate(poet_event_t event, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Names the line of the calling thread; at most 4095 bytes. */
void poet_set_name(const char *name);

/* ---- lines and events of your own ---- */

/* Adds an environment: the target description, config/NAME.conf, that names the kinds
 * and types used below.  Call it before they are used; at most 255 bytes. */
void poet_environment(const char *name);

/* Opens a line of a kind that the description knows, after what the thread did last.
 * `object` is shown as its id.  0 if there are too many lines (2^24). */
poet_line_t poet_line(const char *kind, const char *name, const void *object, unsigned flags);
void poet_line_name(poet_line_t line, const char *name);
/* The line is of another kind than it was opened as, and called so: a thread that turns out to be a
 * rank. */
void poet_line_kind(poet_line_t line, const char *kind, const char *name);

/* The code of an event type, by its name.  On shared lines its events come after
 * all earlier events of the types in `after` (NULL, or ended by NULL).  The same name gives
 * the same code.  0 if there are too many types (16 384). */
poet_type_t poet_type(const char *name, const char *const *after);

/* The line where the calling thread is now: its own, or the object it is in. */
poet_line_t poet_current_line(void);

/* One event on `line` (0: where the thread is), about another line (0: none). */
poet_event_t poet_event(poet_line_t line, poet_type_t type, poet_line_t about, unsigned flags);

/* Two events that are one point of the order.  Returns the one on line a. */
poet_event_t poet_pair(poet_line_t a, poet_type_t type_a, poet_line_t b, poet_type_t type_b,
                       poet_event_t *on_b);

/* A pair after which the thread is on line `to` (poet_enter) or, leaving `from`, where
 * it was before (poet_leave): until then its events without a line are there. */
poet_event_t poet_enter(poet_line_t to, poet_type_t enter, poet_type_t entered);
poet_event_t poet_leave(poet_line_t from, poet_type_t leave, poet_type_t left);

/* The thread is on `line` now (0: its own), and no longer wherever poet_enter took it: for a
 * runtime that keeps its own books, and says poet_pair. */
void poet_set_current_line(poet_line_t line);

/* A choice of the program's own among `of`, numbered from 0, as a scheduler makes: an event
 * `choose` on `line` (0:  where the thread is) with the text "CHOSEN of OF".  Gives back what is to
 * be taken: `chosen`; in a run that `poet replay` repeats, what was chosen then. */
uint32_t poet_record_choice(poet_line_t line, uint32_t of, uint32_t chosen);

/* What a call that takes something is told before it does, in a run that `poet replay` repeats.
 * poet_replay_next_is: whether the next event of the calling thread was of that type (1 or 0);
 * where nothing is repeated, or no more, `otherwise`.  poet_replay_wait_turn: waits until the next
 * of its next few events of that type may happen, on `line`: until all is there that was before it
 * then; not for ever, and not at all where nothing is repeated. */
int poet_replay_next_is(poet_type_t type, int otherwise);
void poet_replay_wait_turn(poet_line_t line, poet_type_t type);

/* Whether the next event of the calling thread, or that which came so many behind it (31 at most),
 * was of that type, and about what all processes of the run know by that key (as of
 * poet_line_by_identity; 0: whatever it was about): 1; 0: it was something else; 2: of that type,
 * but what it was about has not been used yet.  Where nothing is repeated, no more, or the thread
 * has done all that it did, -1.  poet_replay_commit: the next event is about to be told, and from
 * here on what it was about then is what has the key. */
int poet_replay_peek(poet_type_t type, uint64_t key, unsigned ahead);
void poet_replay_commit(poet_type_t type, uint64_t key);
/* Whether the next event of the calling thread, of that type, came after one of another by
 * POET_AFTER; as of poet_replay_peek. */
int poet_replay_peek_after(poet_type_t type);

/* Calls that take up what some thread has sent, as a task that it made.  poet_replay_peek_sender:
 * whether the next event of the calling thread was of that type, and which send it received: waits,
 * not for ever, until that is there, and gives it back.  1: *send is it; 0: something else is next,
 * or nothing, or it is not known; -1: nothing is repeated, or no more.  poet_replay_commit_sender:
 * the next event is about to be told, which receives that: where it was something else, that is a
 * difference.  poet_replay_timeout_ms: so many milliseconds the calling thread may wait for what
 * its next event needs, and goes freely then. */
int poet_replay_peek_sender(poet_type_t type, poet_event_t *send);
void poet_replay_commit_sender(poet_type_t type, poet_event_t send);
unsigned poet_replay_timeout_ms(void);

/* Calls that take whatever there is, as the next message of anybody, and in which order several of
 * them are done. poet_replay_begin_nondeterministic: the calling thread begins one, which is its
 * *asked-th; gives back what it got then, as the event of that type says that tells of it
 * (poet_record_t), in a run that is repeated; else `otherwise`. Type 0: it is counted only, as what
 * it will get is clear. poet_replay_result: which of them the thread's next event tells of, if it
 * has that type, and what that got; else 0. together (NULL: does not matter): whether the same call
 * told of the event behind it, too (POET_TOGETHER). */
uint32_t poet_replay_begin_nondeterministic(poet_type_t type, uint32_t *asked, uint32_t otherwise);
uint32_t poet_replay_result(poet_type_t type, uint32_t *got, int *together);

/* A message: the send is before each of its receives.  By event, where the
 * receiver knows it; else by a key of 128 bits that both sides know and no other
 * message has.  At most 4096 sends for one receive; more are ignored. */
poet_event_t poet_send(poet_line_t line, poet_type_t type);
poet_event_t poet_receive(poet_line_t line, poet_type_t type, const poet_event_t *sends,
                          size_t count);
poet_event_t poet_send_key(poet_line_t line, poet_type_t type, uint64_t high, uint64_t low);
poet_event_t poet_receive_key(poet_line_t line, poet_type_t type, uint64_t high, uint64_t low);

/* Comes after `earlier` without an arrow. */
poet_event_t poet_event_after(poet_line_t line, poet_type_t type, poet_event_t earlier);

/* `count` events with one key are one point: a sync pair by key (count 2 and both say
 * poet_barrier_event), a barrier. */
poet_event_t poet_barrier_event(poet_line_t line, poet_type_t type, uint64_t high, uint64_t low,
                                uint32_t count);

/* All that an event can be, for libraries that record for others; what is 0 is not there. */
#define POET_SEND 0x10u /* of a message with a key */
#define POET_RECEIVE 0x20u /* of messages with keys, any number of them */
#define POET_MEET 0x40u /* `count` events with this key are one point */
#define POET_STREAM                                                                                \
    0x80u /* with SEND or RECEIVE: high is a stream of bytes, *low the first byte and
                            * count how many; a receive is after the sends of all its bytes */
/* More may be before this event than is told, because a stream is no longer traced; a thread
 * or a process is not recorded, or not to its end; or it is not known which of several objects this
 * is. */
#define POET_DOUBT_STREAM 0x100u
#define POET_DOUBT_THREAD 0x200u
#define POET_DOUBT_OBJECT 0x400u
#define POET_AFTER 0x800u /* comes after event number *low of the line `high`, without an arrow */
#define POET_TOGETHER                                                                              \
    0x1000u /* with `asked`: one call tells of this and of the thread's next event */
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
    poet_type_t other_type; /*   and its type; what is given back is the event on `line` */
    uint32_t asked,
        /* which poet_replay_begin_nondeterministic it tells of, and what that got, as a text; 0:
         * none.  At most one key */
        got;
    uint64_t began; /* of a single event: it happened then already, as poet_time said; 0: now */
} poet_record_t;
poet_event_t poet_record(const poet_record_t *record);
uint64_t poet_time(void); /* of the calling thread's records; 0: it is not recorded */

/* The same as without _at, for libraries that record for others.  site: an address within the call
 * of whom it is done for, such as (char *)__builtin_return_address(0) - 1; of a line, where it was
 * made.  NULL: the caller's; a line was made nowhere. */
poet_line_t poet_line_at(const char *kind, const char *name, const void *object, unsigned flags,
                         const void *site);
poet_event_t poet_pair_at(poet_line_t a, poet_type_t type_a, poet_line_t b, poet_type_t type_b,
                          poet_event_t *on_b, const void *site);
poet_event_t poet_enter_at(poet_line_t to, poet_type_t enter, poet_type_t entered,
                           const void *site);
poet_event_t poet_leave_at(poet_line_t from, poet_type_t leave, poet_type_t left, const void *site);

/* The identity of a line among those of all processes, and a line of another process by its
 * identity, for events to be about.  The kind and name are shown until that process names them. */
int poet_identity(poet_line_t line,
                  uint64_t identity[2]); /* 0: it is not traced, or an object of several */
poet_line_t poet_line_by_identity(const char *kind, const char *name, const uint64_t identity[2]);

/* A line that all processes of the run on this machine have, found by its key, for what they meet
 * at: each may report events on it, and its visits overlap (POET_SHARED).  0: nothing can be
 * shared. */
poet_line_t poet_line_shared(const char *kind, const char *name, uint64_t key);

/* Whether the calling thread is recorded as things are: a child after fork begins to be with its
 * first event.  Also in a signal handler. */
int poet_recorded(void);

/* Says that the program synchronises by `what` (at most 119 bytes), which nobody follows: told
 * once. */
void poet_untraced(const char *what);

/* Whether the program itself, not its libraries, calls any of these functions (ended by NULL) of
 * others.  0 in a static program. */
int poet_imports(const char *const *names);

/* A number that all processes of the run on this machine share, 0 at first, found by its key; to be
 * used with atomic operations.  It stays valid; after a fork, or under another server, the same key
 * may be another number.  NULL: there is none, unless `make` is set; or too many (65 536), or none
 * can be shared. */
uint64_t *poet_counter(uint64_t key, int make);

/* What those processes have in common, and nobody else: to be mixed into keys that are made of what
 * only one machine knows, as an inode, or a number from a counter.  0: nothing can be shared. */
uint64_t poet_host_id(void);

/* Streams (POET_STREAM) between machines.  poet_is_distributed: whether programs of other machines
 * may be in the run; where not, none of this is wanted.  poet_stream_end: this process reads or
 * writes the stream, whose key the process at its other end has, too, told before the first event
 * of that; or does not write it any more, though others may.  Who reads waits in the order until
 * the other end is told, or it is clear that it will not be.  poet_stream_gap: no event writes its
 * bytes from `first` up to `end`; doubt: somebody may have written them.  0: nothing was told, as
 * where the thread is not recorded. */
typedef struct {
    uint64_t high, low; /* the address: of IPv6, or ::ffff:1.2.3.4; as numbers */
    uint16_t port;
} poet_place_t;
/* From here on these are no bytes, but one for each closing of an end that writes. */
#define POET_STREAM_CLOSINGS (UINT64_C(1) << 62)
typedef enum { POET_STREAM_READS, POET_STREAM_WRITES, POET_STREAM_LEFT } poet_stream_end_t;
int poet_is_distributed(void);
int poet_stream_end(uint64_t stream, poet_stream_end_t end, const poet_place_t *here,
                    const poet_place_t *there);
int poet_stream_gap(uint64_t stream, uint64_t first, uint64_t end, int doubt);

/* The name of the launch that this process is one of several of, NAME@ID, which makes them one run
 * where no environment variable does: defined by a library that is linked, or preloaded, and called
 * before main(). */
const char *poet_job_id(void);

/* ---- threads of your own ----
 *
 * For runtimes that switch threads of their own (tasks, fibers, green threads).  Such a
 * task has a line, and what it does has an order of its own, on whichever thread of the
 * system it runs. */

/* Says, once and outside every function, that the program's threads are those of a
 * runtime:
 *     POET_RUNTIME("NAME");
 * config/NAME.conf then describes the program, the system's own threads get no line, what they
 * do outside of tasks is not recorded, and contexts are stacks of tasks, not coroutines. */
#define POET_RUNTIME(environment)                                                                  \
    __attribute__((visibility("default"))) const char poet_runtime[] = environment
extern const char poet_runtime[];

/* Opens the line of a new task, after what the caller did last.  0 if it is not traced. */
poet_line_t poet_task(const char *kind, const char *name, const void *object);

poet_line_t poet_task_at(const char *kind, const char *name, const void *object, const void *site);

/* From here on the calling thread of the system acts as that task; 0: as itself.  The runtime
 * calls it at each switch.  A task acts on one thread of the system at a time; what hands it to
 * another must be a synchronisation between the two. */
void poet_task_switch(poet_line_t task);

/* What the calling thread of the system, which runs tasks, is called in reports of which task ran
 * where, and the group of such threads that it is in (NULL: none).  At most 63 bytes each.  Said
 * before its first poet_task_switch(), or again when it changes; without it, such threads are told
 * apart by numbers. */
void poet_worker_thread(const char *name, const char *cluster);

/* From here to its next event the calling task waits for the end of that one: for waits that
 * have no event of their own, right before the runtime switches to another task.  Until that
 * event it counts as waiting, unless the other task has ended. */
void poet_wait_end(poet_line_t awaited);

/* The task will not act any more: what libpoet kept for it is used again.  Its line stays. */
void poet_task_release(poet_line_t task);

/* Stacks that tasks run on besides their own, as those of coroutines: of each it is known which
 * calls are open on it, and whose call stack allocates memory.  Tasks may take turns at a stack;
 * one at a time runs on it. */
typedef struct poet_stack *poet_stack_t; /* NULL: the task's own, or none */

/* A stack that was made: so many bytes from `memory` on (NULL: that is not known).  NULL: it is not
 * traced. */
poet_stack_t poet_stack(const void *memory, size_t bytes);
/* The same for a task's own stack. */
void poet_task_stack(poet_line_t task, const void *memory, size_t bytes);

/* From here on the calling task runs on that stack (NULL: on its own).  The function that makes the
 * switch calls it right before.  A task that names a stack which it is within already goes back to
 * it, and leaves those that it entered from there.  With POET_STACK_CALLED the switch is a call of
 * what runs there, as the resume of a coroutine is: each counts as a call of the outermost function
 * on that stack. */
#define POET_STACK_CALLED 1u
void poet_stack_run(poet_stack_t stack, unsigned flags);

/* No task runs on it any more, nor will.  Where the calling task does, the calls that are open
 * there have ended, and it goes back to where it entered the stack; else they never end. */
void poet_stack_gone(poet_stack_t stack);

/* ---- parts of functions ---- */

/* Names a part of what a thread does, from here to the next poet_scope_end: where calls are
 * measured (`poetcc -profile`, POET_MEASURE) it is counted and timed like the call of a function;
 * else nothing happens.  Parts nest.  `name` must stay as it is while the program runs, in its own
 * read-only memory: a literal.  Also in a signal handler. */
void poet_scope(const char *name);
void poet_scope_end(void);

/* The same to the end of the block, however it is left, at most once in a line; by a longjmp or, in
 * C, an exception it is left unseen, and ends with the function. */
#define POET_SCOPE(name) POET_SCOPE_AT(name, __LINE__)
#define POET_SCOPE_AT(name, line) POET_SCOPE_AS(name, line)
#define POET_SCOPE_AS(name, line)                                                                  \
    __attribute__((cleanup(poet_scope_left), unused)) int poet_scope_##line = (poet_scope(name), 0)
__attribute__((unused, no_instrument_function)) static inline void poet_scope_left(int *unused)
{
    (void)unused;
    poet_scope_end();
}

/* ---- meters of your own ----
 *
 * Numbers that only you know: how often, how much, how long.  Each thread counts in memory of its
 * own, without a lock and without an atomic operation, so counting takes a few nanoseconds and
 * nothing is lost when the program is killed; `poet metrics` shows them by metric and by thread, also
 * while the program runs.  POET_MEASURE=none, or without "metrics" in it, counts nothing.  A run
 * whose server is on another machine has none of it. */
typedef uint32_t poet_meter_t; /* a meter of this process, 0 none */

#define POET_COUNT 1u /* a sum: requests, bytes */
#define POET_GAUGE 2u /* what it stands at: the last, least, greatest and mean of what was set */
#define POET_DISTRIBUTION 3u /* of times or sizes: also how many of each size there were */

/* The meter of that name, made if need be; of one name there is one, of the kind that it was made
 * as.  `unit` is shown behind its numbers ("bytes", "items"; "ns" is shown in milliseconds; NULL:
 * none).  At most 255 bytes each.  0 if there are too many: all of them have 1023 cells, of which a
 * distribution takes five. */
poet_meter_t poet_meter(const char *name, const char *unit, unsigned kind);

/* Adds to a count, or to what a gauge of this thread stands at.  Also in a signal handler, as the
 * next two. */
void poet_add(poet_meter_t meter, int64_t n);
/* What a gauge stands at for this thread from now on. */
void poet_set(poet_meter_t meter, int64_t value);
/* One value of a distribution, such as the nanoseconds that something took. */
void poet_observe(poet_meter_t meter, int64_t value);

/* A number of the whole process that you just store to, from any thread, and that the server looks
 * at now and then, every 10 ms at first: the length of a queue.  Never NULL, the same for the same
 * name, and there as long as the program runs; where nobody looks, several names may share one. */
int64_t *poet_watch(const char *name, const char *unit);

/* The calling thread waits, in a call that it has told by an event of that type, and goes on: for
 * libraries that stand before calls.  Between the two it tells nothing.  Where calls are measured
 * the wait is one, below who makes it. */
void poet_wait_begin(poet_type_t type);
void poet_wait_done(poet_type_t type);
/* The calling thread does nothing from now on (1), as one of a pool that has no work, or works
 * again (0): calls that other threads make meanwhile are not concurrent with it.  Twice the same is
 * once.  It may make events in between. */
void poet_rests(int rests);

/* ---- on and off ---- */

/* Stops and resumes recording for the calling thread; calls nest. */
void poet_trace_off(void);
void poet_trace_on(void);

/* Events of this process that were dropped because the server was behind. */
uint64_t poet_lost(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
