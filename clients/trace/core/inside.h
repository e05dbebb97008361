/* What the files of libpoet share.  The program sees only poet.h. */
#ifndef CLIENTS_TRACE_CORE_INSIDE_H
#define CLIENTS_TRACE_CORE_INSIDE_H

#include "clients/trace/core/codes.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/lock.h"
#include "clients/trace/core/object.h"
#include "clients/trace/poet.h"
#include "clients/trace/core/stranger.h"
#include "wire/event.h"
#include "wire/limits.h"
#include "wire/message.h"
#include "wire/slot.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>

#pragma GCC visibility push(hidden)

/* ---- module.c: what is mapped, and whose calls are recorded without -trace ---- */

struct thread;
extern bool modules_record; /* some calls of untraced code are */
/* The site of a call by untraced code as far as it is recorded, else 0: the call itself, or what
 * in the program made the C++ runtime call. */
uintptr_t modules_site(uintptr_t site);
static inline uintptr_t site_of_untraced(uintptr_t site)
{
    return LIKELY(!modules_record) ? 0 : modules_site(site);
}
void modules_begin(void);               /* before any other */
bool modules_under_record(void);
void modules_look_again(void); /* for what was loaded meanwhile */
void modules_announce(struct out *out); /* a MODULE for each */
/* A record comes from a module that is not the thread's last one; announces what is new. */
void modules_meet(struct thread *thread, uintptr_t site);
bool modules_has_code(uintptr_t address);
bool modules_is_runtime(uintptr_t address);
/* The file that an address was loaded from, and where to; NULL unknown. */
const char *modules_path(uintptr_t address, uintptr_t *bias);
/* The site of a call by traced code: the call itself, or what called the C++ library's inline
 * function that it lies in. */
uintptr_t modules_user_site(uintptr_t site);
extern bool modules_cxx; /* a C++ runtime is loaded */
static inline uintptr_t site_of_traced(uintptr_t site)
{
    return LIKELY(!modules_cxx) ? site : modules_user_site(site);
}

/* The same for calls whose names are words, which programs use for their own things, so that they are not
 * redirected: those of the program itself are recorded, as if it were compiled with -trace. */
uintptr_t modules_program_site(uintptr_t site);
static inline uintptr_t site_of_program(uintptr_t site)
{
    return modules_record ? modules_site(site) : modules_program_site(site);
}

/* ---- cxx.c ---- */

/* What a new thread runs, seen from the function and argument that it is created with. */
uintptr_t cxx_callable(uintptr_t function, const void *argument);
/* Whether the call that returns there went to the C++ runtime, which jumped on (a tail call). */
bool cxx_calls_runtime(uintptr_t returns);
bool cxx_in_library(uintptr_t site); /* in a function of the C++ library that lives in the program */

/* ---- after a fork, in the child: nobody else is there any more ---- */

void objects_begin_child(void);
void signals_begin_child(struct object *condition);
void barriers_forked(void);
void objects_forked(void); /* in the child: nobody else is there any more */
void codes_forked(void);
void modules_forked(void);
void life_forked(bool was_traced);

/* ---- unseen.c: what is not followed ---- */

/* Tells the server of it, once for each `what`, by the connection. */
void unseen_tell(enum unseen reason, const char *what);
void unseen_forked(void);
void unseen_pass_on(void); /* what the server had no time for then */
void unseen_announce(struct out *out); /* an UNSEEN for each that was told before */
void unseen_forked(void);
/* ---- imports.c ---- */
void imports_tell(void); /* what the program's files say that it calls, and nobody follows */

/* ---- text.c ---- */

/* The size without a character that is not whole at its end. */
size_t text_whole(const char *text, size_t size);
size_t text_size(const char *text, size_t most); /* of a string as far as it is kept */
void put_text(struct out *out, const char *text, size_t most); /* NULL is "" */
#define NAME_BYTES 255u /* of kinds and descriptions */
/* Where a message of so many bytes is put together: in `small`, or in the thread's scratch.  Call while busy
 * until it is told.  It has failed if it does not fit. */
struct out message_room(struct thread *thread, void *small, size_t small_bytes, size_t needed);

/* ---- shared.c: objects that several processes share ---- */

void shared_begin(int fd); /* the counters that the server gave, -1 none; takes the descriptor */
/* The key of its identity, and its far counter set; 0: it is this process's alone. */
uint64_t shared_key(struct object *object);

/* Announces a line through the calling thread's queue; its index.  identity: its own, if other processes
 * have the line, too, else NULL. */
uint32_t line_announce(struct thread *thread, const char *kind, const char *name,
                       const void *object, uintptr_t entry, unsigned flags,
                       const uint64_t identity[2]);
#define SHARED_KEYS 0x706f65742e736864u /* second half of identities: no serial of a process */
#define LINE_SHARED 1u
/* Its object is gone.  Not of a line that other processes have, too. */
void line_close(struct thread *thread, const struct line *line);
void lines_begin(void);           /* a new life begins */
bool line_current(uint32_t code); /* announced in this life */
#define LINE_FOLLOWS 2u /* its first event comes after the thread's last */

extern _Atomic uint32_t live; /* see attach.c, below */

/* ThreadSanitizer's own state of a thread is gone in the last round of thread-specific destructors. */
#if defined(__SANITIZE_THREAD__)
#define LAST_ROUND (PTHREAD_DESTRUCTOR_ITERATIONS - 1)
#else
#define LAST_ROUND PTHREAD_DESTRUCTOR_ITERATIONS
#endif

/* Who cancelled a thread: one, or several, or one who was not recorded. */
struct cancel {
    const void *by; /* NULL: nobody yet */
    struct ref at;  /* the first time; line 0: not known */
    uint32_t life;
    bool several;
};

/* A thread as others see it: what joins and detaches it. */
struct task {
    struct line line;
    struct task *free_next;
    uint64_t end; /* number of its end event, 0 none */
    bool dropped; /* it ended, but that found no room */
    uintptr_t entry; /* its function: the site of its start and end */
    _Atomic unsigned flags;
    latch binding;
    struct cancel cancel; /* under it */
    pid_t tid; /* set by the thread itself; 0 not yet */
    _Atomic unsigned keepers; /* who still look at it: its creator, and its life until it is joined */
    /* Created by a call that is not recorded: */
    void *(*function)(void *); /* what it runs */
    thrd_start_t function_c11; /*   or this */
    void *argument;
    struct ref after; /* the last event of who created it, */
    uint32_t after_life; /* and in which life */
    bool doubtful;       /* more than that is before its first event */
};
#define TASK_ENDED 1u
#define TASK_DETACHED 2u
#define TASK_BOUND 4u /* found by its id */

struct task *task_new(unsigned keepers);
void task_release(struct task *task);

/* Memory that is never given back and never malloc's. */
void *arena_take(size_t bytes);

/* ---- threads ---- */

struct hold {
    struct object *object; /* NULL for a line that the program moved to */
    struct line *line;
    uint64_t visit;
    unsigned depth; /* recursive visits */
    bool writing;   /* a read-write lock, held by its writer */
};

#define LOST_RANGES 64
#define ONCE_REMEMBERED 16
#define NO_LIFE UINT32_MAX

struct thread {
    struct queue_head *queue;
    struct slot *slots;
    uint64_t head, tail; /* own copy of head; last seen tail */
    uint64_t mask;
    uintptr_t module_start, module_bytes; /* where the last call came from */
    uint32_t life; /* the one in which its queue was made */
    struct line *own;   /* where it stands by itself */
    struct line *alone; /* the same as far as nobody else numbers it, else NULL */
    struct task *task;  /* NULL: a task of the program's own */
    struct hold *holds;
    size_t hold_count, hold_room;
    volatile unsigned busy; /* more than 0: recording, or in a lock of ours; see lock.c */
    volatile uint8_t doubt; /* an enum unseen: of the calls since the last record one is not in the trace */
    volatile uint16_t untold; /* UNSEEN_BITs: what was not followed, and is to be told with the next record */
    unsigned waiting;   /* inside a wait: handlers' events go to the own line */
    unsigned off;       /* nesting of poet_trace_off */
    int rounds;         /* of thread-specific data at its end */
    bool stalled;       /* waited once in vain: drop until there is room */
    struct queue_head *older; /* the queue before a larger one, until the server has taken what is in it */
    uint64_t older_head;
    uint64_t untaken;   /* events that an earlier server had not taken from the queue when it went */
    uint64_t look_at;   /* the time, as slots bear it, of the next look at the server */
    struct lost_range {
        uint32_t line;
        uint64_t first, count;
    } lost[LOST_RANGES];
    bool unnumbered; /* records were dropped that are not in it */
    size_t lost_count;
    struct coroutine *strand;                     /* the one it runs, NULL its own stack */
    struct once_call *once;                       /* the initialiser about to run */
    const struct object *ready[ONCE_REMEMBERED];  /* found initialised before */
    unsigned ready_next;
    struct ref last;      /* its last event, once it had written as much as `last_head` */
    uint64_t last_head;
    bool exiting;                  /* by pthread_exit */
    bool cancelled;                /* its first event after that was recorded */
    struct _pthread_cleanup_buffer cleanup; /* cancel.c */
    struct wire_partner *partners; /* where those of one event are put together */
    char *scratch;                 /* SCRATCH_BYTES for one text or message, while busy */
    struct thread *next_free;
};

static inline void line_opened(struct line *line, const struct thread *thread, uint32_t index)
{
    atomic_store_explicit(&line->life, thread->life, memory_order_relaxed);
    atomic_store_explicit(&line->index, index, memory_order_release);
}

/* The calling thread records, or changes what it records from: a signal handler that comes in between must
 * not.  Nested as often as need be. */
static inline void busy_begin(struct thread *thread)
{
    thread->busy++;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void busy_end(struct thread *thread)
{
    atomic_signal_fence(memory_order_seq_cst);
    thread->busy--;
}

/* The calling thread, or NULL if it is none of ours. */
extern __thread struct thread *thread_mine __attribute__((tls_model("initial-exec")));

/* The same as far as it may record, now or once it is on again. */
static inline struct thread *thread_self(void)
{
    struct thread *t = thread_mine;
    return t && t->life == atomic_load_explicit(&live, memory_order_relaxed) ? t : NULL;
}

/* One that does not simply record: NULL, or a thread that has begun a new life. */
struct thread *thread_otherwise(struct thread *thread);

/* The same as far as it may record now. */
static inline struct thread *thread_present(void)
{
    struct thread *t = thread_mine;
    if (!t || LIKELY(t->life == atomic_load_explicit(&live, memory_order_relaxed) &&
                     !t->off && !t->busy))
        return t;
    return thread_otherwise(t);
}

/* The same for a call that is to be recorded: a thread that has no line yet gets one. */
static inline struct thread *thread_recording(void)
{
    if (LIKELY(thread_mine != NULL))
        return thread_present();
    return atomic_load_explicit(&live, memory_order_relaxed) ? thread_adopt() : NULL;
}

/* For a call that matters to the books even where it is not to be recorded: `site` 0. */
static inline struct thread *thread_at(uintptr_t site)
{
    return site ? thread_recording() : thread_present();
}

/* Of the system's thread itself, whichever task it acts as. */
extern __thread struct thread *thread_base __attribute__((tls_model("initial-exec")));
/* The environment of a runtime that has threads of its own, so that the system's have no lines; else NULL. */
const char *thread_runtime(void);

struct thread *thread_make(struct task *task); /* for the calling thread; NULL: not to be traced */
struct thread *thread_make_own(struct line *line); /* for a task of the program's own */
void thread_end(struct thread *thread);
/* A synchronising call was seen but cannot be followed. */
void thread_unfollowed(struct thread *thread, enum unseen why);
/* A call that would have been recorded is not: it is counted, and the thread's next record bears the reason. */
void thread_missed(struct thread *thread, enum unseen why);
#define SCRATCH_BYTES (LIMIT_TEXT_BYTES + 512u)
char *thread_scratch(struct thread *thread); /* call while busy; NULL: no memory */
void thread_forget(bool unborn); /* in a child after fork; unborn: it may begin a life */
struct line *thread_place(struct thread *thread); /* where it stands */
struct hold *thread_hold(struct thread *thread, const struct object *object);
struct hold *thread_push(struct thread *thread, struct object *object, struct line *line);
void thread_pop(struct thread *thread, struct hold *hold);
void line_rename(struct thread *thread, const struct line *line, const char *name);
/* A line of the program by its code: its own, where the thread is, or one that it opened; NULL. */
struct line *line_by_code(struct thread *thread, uint32_t code);

/* ---- forbid.c: what the calling thread forbids itself ---- */

/* Before a call of prctl or seccomp, with its first two arguments; whether the thread is quiet for it. */
bool forbid_before(long number, long what, long how);
void forbid_failed(void); /* it goes on as before */
bool forbid_quiet(void);  /* the thread must not make any system call */

/* ---- life.c ---- */

void life_begin_main(void);
void life_end_main(void);
/* Gives the calling thread a line, and leaves it busy until its start is told; NULL: it gets none. */
struct thread *life_begin_thread(struct task *task, const char *name);
void life_at_end(void *p); /* what the thread's end is told by, in each round of its specific data */
void life_bind(struct task *task, const pthread_t *id); /* it is found by its id from here on */
/* It has ended without a line; nothing of it is looked at here any more. */
void life_ended(struct task *task);
struct task *life_task(pthread_t id); /* NULL: none that is known */
bool life_renew(struct thread *thread); /* under another server; call while busy */
struct thread *life_begin_child(uint64_t high, uint64_t low); /* after the message with this key */

unsigned life_threads(void); /* how many are recorded now */

/* ---- cancel.c ---- */

void cancel_watch(struct thread *thread); /* the calling one: it is seen when it is cancelled */

/* What an event of another thread or process was, for the event that comes after it. */
struct origin {
    struct ref at;  /* number 0: it is not known */
    uint64_t key;   /* 0: at is an event of this process; else its number is the second half of a key */
    unsigned doubt; /* enum unseen: more may be before it */
};

/* ---- child.c: processes of the run that wait for each other ----
 *
 * What a process says to its next program and to its parent it puts beside its process id into the numbers
 * that all processes of the run share. */

uint64_t child_serial(void);      /* of a message between processes of the run; 0: there are none */
#define CHILD_KEYS 0x706f65742e6c6966u /* first half of the keys of such messages */
void child_born(uint64_t serial); /* in a child after its fork, by the message `serial` */
struct origin child_begins(void); /* a program begins to record: after what */
void child_records(void);         /* so does a child of a fork, which knows after what */
void child_ends(uintptr_t site);  /* the process is about to end: its last event */
bool child_known(pid_t pid);      /* it is of the run */
bool child_lives(pid_t pid);      /* it is of the run, records, and its signals all come to us */
void child_is_foreign(void);      /* some of its own do not */
/* The end of a child that its parent has seen; last: it will not be asked for again. */
struct origin child_ended(pid_t pid, bool last);

/* ---- what the names of C11 stand for: life.c, mutex.c, condition.c, once.c ---- */

enum how { HOW_LOCK, HOW_TRY, HOW_TIMED, HOW_CLOCK };
int follow_join(uintptr_t site, pthread_t id, void **result, const clockid_t *clock,
                const struct timespec *deadline);
int follow_detach(uintptr_t site, pthread_t id);
int follow_lock(uintptr_t site, enum how how, pthread_mutex_t *m, clockid_t clock,
                const struct timespec *ts);
int follow_unlock(uintptr_t site, pthread_mutex_t *m);
/* A mutex that the thread holds though its lock was not recorded: from here on it is; NULL: it does not. */
struct hold *follow_held(uintptr_t site, struct thread *thread, pthread_mutex_t *m);
void follow_mutex_made(uintptr_t site, pthread_mutex_t *m);
int follow_wait(uintptr_t site, pthread_cond_t *c, pthread_mutex_t *m, const clockid_t *clock,
                const struct timespec *ts);
int follow_signal(uintptr_t site, pthread_cond_t *c, bool broadcast);
int follow_once(uintptr_t site, pthread_once_t *flag, void (*function)(void));

/* ---- record.c: writing slots ---- */

struct record {
    uint16_t shape;
    uint16_t flags;
    struct line *a, *b;
    unsigned take_a, take_b; /* numbers taken on each */
    uint32_t about;
    uintptr_t site;
    struct ref partner; /* if b is NULL: line_b and number_b as they are */
    uint64_t key;
    uint32_t count;
    const void *payload;
    uint32_t payload_bytes;
};

/* Writes one record and publishes it.  Returns the first number taken on a; *first_b likewise; 0 if
 * it was dropped without a trace but a count. */
uint64_t record_write(struct thread *thread, const struct record *record, uint64_t *first_b);
/* A pair, on b and after take_a - 1 others on a; the hot path. */
void record_pair(struct thread *thread, uint16_t shape, struct line *a, unsigned take_a, struct line *b,
                 uintptr_t site);
/* A thread does not get what it asked for: after its petition, or with it. */
void record_refused(struct thread *thread, const struct line *line, bool petitioned, uintptr_t site);
/* A single event without partners; its number. */
uint64_t record_event(struct thread *thread, uint16_t type, struct line *line, uint32_t about,
                      uintptr_t site);
/* The thread's last event; line 0: none. */
struct ref record_last(struct thread *thread);
/* Writes a control: a message body of that type. */
bool record_control(struct thread *thread, enum message type, const struct out *body);
bool record_is_told(enum unseen reason, const struct thread *thread); /* thread->untold was told in its life */
/* Tells what was dropped, also by threads that have ended, as far as there is room. */
void lost_pass_on(struct thread *thread);
void lost_leave(struct thread *thread); /* it ends: others tell the rest */
void lost_send(void);                   /* the process ends */
void lost_forked(void);
/* Of what lies in the queue, how many events the server has not taken. */
uint64_t record_untaken(struct thread *thread);
uint64_t clock_now(void);
extern _Atomic bool clock_ticks; /* slots of new queues bear the time-stamp counter */
void clock_begin(void);
void clock_forbidden(void); /* from here on the counter is not read, nor anything that reads it */


/* ---- attach.c: the lives of the process ----
 *
 * A life begins when a server is reached and ends when it is gone: at the start, in a child after
 * its fork, and when a server comes again.  What belongs to an earlier life is told anew or is not
 * there: lines, queues, what threads hold.  `live` counts them from 1; 0: not traced. */

uint32_t attach_retry(void);  /* looks for a server, at most once a second; the new life or 0 */
struct thread *attach_child(void); /* begins the life of a child; NULL: in vain */
void attach_forked(void); /* in a child whose fork ran no handlers */
void attach_forking(uint64_t high, uint64_t low); /* the key of the message to the child; 0, 0 none */

/* A line's code as far as it belongs to this life, else 0. */
static inline uint32_t line_index(const struct line *line)
{
    return atomic_load_explicit(&line->life, memory_order_relaxed) ==
                   atomic_load_explicit(&live, memory_order_relaxed)
               ? atomic_load_explicit(&line->index, memory_order_acquire)
               : 0;
}

/* ---- sender.c: a server on another machine ---- */

bool sender_begin(void); /* for the present life */
bool sender_add(struct queue_head *head, size_t bytes); /* takes the memory; false: it does not */
void sender_wake(void);
void sender_flush(unsigned most_ms); /* waits until what is there now has been sent */
void sender_forked(void);

/* ---- launch.c ---- */

/* Starts one that writes *file; a connection to it, or -1.  Sets *endpoint to where it listens. */
int launch_server(char *file, size_t file_size, char *endpoint, size_t endpoint_size);
/* The same for all processes of a launch: the first starts it, the others connect to it (*file is not
 * set).  They wait for each other, at most 3 s, until launch_done() says that it answers. */
int launch_shared(const char *launch, char *file, size_t file_size, char *endpoint, size_t endpoint_size);
void launch_done(void);
void launch_end(void); /* of the process that started it: nobody else will come */

/* ---- server.c: the connection ---- */

extern _Atomic bool recorded;       /* anything beyond the life of main */
extern _Atomic uint64_t dropped;    /* events that found no room in time */
extern _Atomic bool library_threads; /* threads were created by calls that are not recorded */
extern uint64_t instance;           /* names this process among all */

void server_begin(void); /* reads the environment */
bool server_use(int fd, const struct out *first); /* a new life on it; false: it does not take the first */
bool server_queue(struct thread *thread, uint32_t most_slots); /* makes the queue and hands it over */
/* grow.c: a larger queue for a thread whose queue is full; false: there is none now */
bool queue_grow(struct thread *thread);
void queue_drop_older(struct thread *thread);
void queue_forget(const struct thread *thread); /* it is done */
void queue_grown_forked(void);
/* link.c */
extern bool server_follows; /* the server takes what is in an older queue first */
bool queue_may_grow(const struct thread *thread);
int queue_memory(size_t bytes); /* that the server may map, of a size that stays; -1: there is none here */
void queue_prepare(struct thread *thread, void *memory, uint32_t slots);
bool server_send_at_once(const struct out *out, int descriptor, uint32_t life);

#define QUEUE_WHOLE UINT32_MAX
#define QUEUE_SMALL 1024u
void server_queue_done(struct thread *thread);
void server_queue_forked(struct thread *thread); /* in a child: it is not the child's to write to */
void server_wake(void);
void server_look(void); /* gives up if the server has gone; does not wait */
bool server_alive(void);
bool server_send(const struct out *out, uint32_t life); /* false: that life is over */
extern bool server_remote; /* over TCP, or where no memory can be shared: queues are sent */
bool server_may_share(void);
/* The same descriptor under a number of at least `least`: 0 to 2 are the program's, also where it has closed
 * them. */
int descriptor_away(int fd, int least);
void server_forget(void); /* the life ends here, quietly */
void server_forked(void); /* the same, in the child */
unsigned server_wait_ms(void);
void say_begin(void); /* before any other: what standard error is */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));


static inline void note_recorded(void)
{
    if (!atomic_load_explicit(&recorded, memory_order_relaxed))
        atomic_store_explicit(&recorded, true, memory_order_relaxed);
}

#pragma GCC visibility pop
#endif
