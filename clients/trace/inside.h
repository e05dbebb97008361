/* What the files of libpoet share.  The program sees only poet.h. */
#ifndef TRACE_INSIDE_H
#define TRACE_INSIDE_H

#include "clients/trace/poet.h"
#include "wire/event.h"
#include "wire/message.h"
#include "wire/slot.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define HIDDEN __attribute__((visibility("hidden")))
#pragma GCC visibility push(hidden)

/* ---- real.c: the functions that we stand before ---- */

struct real {
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    int (*join)(pthread_t, void **);
    int (*tryjoin)(pthread_t, void **);
    int (*timedjoin)(pthread_t, void **, const struct timespec *);
    int (*detach)(pthread_t);
    int (*setname)(pthread_t, const char *);
    int (*mutex_init)(pthread_mutex_t *, const pthread_mutexattr_t *);
    int (*mutex_destroy)(pthread_mutex_t *);
    int (*mutex_lock)(pthread_mutex_t *);
    int (*mutex_trylock)(pthread_mutex_t *);
    int (*mutex_timedlock)(pthread_mutex_t *, const struct timespec *);
    int (*mutex_clocklock)(pthread_mutex_t *, clockid_t, const struct timespec *);
    int (*mutex_unlock)(pthread_mutex_t *);
    int (*cond_init)(pthread_cond_t *, const pthread_condattr_t *);
    int (*cond_destroy)(pthread_cond_t *);
    int (*cond_wait)(pthread_cond_t *, pthread_mutex_t *);
    int (*cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    int (*cond_clockwait)(pthread_cond_t *, pthread_mutex_t *, clockid_t,
                          const struct timespec *);
    int (*cond_signal)(pthread_cond_t *);
    int (*cond_broadcast)(pthread_cond_t *);
    int (*sem_init)(sem_t *, int, unsigned);
    int (*sem_destroy)(sem_t *);
    int (*sem_wait)(sem_t *);
    int (*sem_trywait)(sem_t *);
    int (*sem_timedwait)(sem_t *, const struct timespec *);
    int (*sem_clockwait)(sem_t *, clockid_t, const struct timespec *);
    int (*sem_post)(sem_t *);
};
extern struct real real;
void real_find(void); /* idempotent; called before the first use */

/* Defines the two entries of one call: NAME, by which untraced code comes, and the
 * redirected one.  Both land in trace_NAME with the call's site, 0 if untraced. */
#define SITE ((uintptr_t)__builtin_return_address(0) - 1)
#define ENTRY(result, name, parameters, ...)                                            \
    static result trace_##name(uintptr_t site, POET_UNWRAP parameters);                 \
    __attribute__((visibility("default"))) result name parameters                       \
    {                                                                                   \
        return trace_##name(0, __VA_ARGS__);                                            \
    }                                                                                   \
    __attribute__((visibility("default"))) result poet_link_with_poetcc_trace__##name parameters; \
    __attribute__((visibility("default"))) result poet_link_with_poetcc_trace__##name parameters  \
    {                                                                                   \
        return trace_##name(SITE, __VA_ARGS__);                                         \
    }                                                                                   \
    static result trace_##name(uintptr_t site, POET_UNWRAP parameters)
#define POET_UNWRAP(...) __VA_ARGS__

/* ---- codes: types and compound shapes that libpoet itself uses ---- */

#define TRACE_TYPES(T)                                                                  \
    T(CREATE, "create") T(START, "start") T(END, "end") T(CLOSE, "close")               \
    T(FAILED, "failed") T(JOIN, "join") T(JOINED, "joined")                             \
    T(REFUSED_JOIN, "refused_join") T(DETACH, "detach") T(PETITION, "petition")         \
    T(REFUSED, "refused") T(ENTER, "enter") T(ENTERED, "entered") T(LEAVE, "leave")     \
    T(LEFT, "left") T(WAIT, "wait") T(WAKE, "wake") T(TIMEOUT, "timeout")               \
    T(SIGNAL, "signal") T(POST, "post") T(TAKEN, "taken") T(NOTE, "note")               \
    T(OFF, "off") T(ON, "on")

enum trace_type {
    TYPE_NONE,
#define T(code, name) TYPE_##code,
    TRACE_TYPES(T)
#undef T
    TYPE_COUNT
};

enum trace_shape {
    SHAPE_LOCK = SHAPE_COMPOUND, /* petition, enter/entered */
    SHAPE_ENTER,                 /* enter/entered */
    SHAPE_LEAVE,                 /* left/leave */
    SHAPE_REFUSED,               /* petition, refused */
    SHAPE_AGAIN,                 /* petition, enter; on the monitor's line */
    SHAPE_TAKE,                  /* enter/entered, taken, left/leave */
    SHAPE_POST,                  /* enter/entered, post, left/leave */
    SHAPE_AWAIT,                 /* enter/entered, wait */
    SHAPE_TAKEN,                 /* taken, left/leave */
    SHAPE_GAVE_UP,               /* timeout, left/leave */
    SHAPE_BROKEN,                /* refused, left/leave */
    SHAPE_END
};

void codes_announce(struct out *out);
/* A code for a name of the program's own; announced by the calling thread. */
poet_type_t codes_type(const char *name, const char *const *after);
/* A compound shape for a pair of types. */
uint16_t codes_pair(poet_type_t a, poet_type_t b);

/* ---- lines and objects ---- */

struct line {
    _Atomic uint32_t index;  /* 0: not announced yet */
    _Atomic uint64_t number; /* last one taken */
};

enum object_kind { OBJECT_TASK, OBJECT_MONITOR, OBJECT_CONDITION, OBJECT_SEMAPHORE };

struct thread;

/* Something at an address that threads meet at.  Never freed; a destroyed one is
 * used again for the next object at that address, under a new line. */
struct object {
    struct object *_Atomic next;
    const void *address;
    enum object_kind kind;
    struct line line;
    _Atomic uint32_t opening; /* a spin lock: one thread announces the line */
    uint64_t visit;           /* monitors: counts outermost visits; under the mutex */
    bool held;                /* monitors: a recorded visit goes on; under the mutex */
    struct task *_Atomic task; /* OBJECT_TASK */
    struct signals *_Atomic signals; /* OBJECT_CONDITION */
};

struct object *object_find(const void *address, enum object_kind kind); /* or NULL */
struct object *object_get(const void *address, enum object_kind kind);  /* NULL: table full */
/* The object's line, announced if need be by the calling thread; created: its first
 * event comes after what the thread did last.  NULL if it cannot be announced. */
struct line *object_line(struct thread *thread, struct object *object, bool created);
void object_destroy(const void *address, enum object_kind kind);

/* Announces a line through the calling thread's queue; its index. */
uint32_t line_announce(struct thread *thread, const char *kind, const char *name,
                       const void *object, uintptr_t entry, unsigned flags);
#define LINE_SHARED 1u
#define LINE_FOLLOWS 2u /* its first event comes after the thread's last */

/* A thread as others see it: what joins and detaches it. */
struct task {
    struct line line;
    struct task *free_next;
    uint64_t end; /* number of its end event, 0 none */
    uintptr_t entry; /* its function: the site of its start and end */
    _Atomic unsigned flags;
    _Atomic bool binding; /* a spin lock */
    _Atomic unsigned keepers; /* who still look at it: its creator, and its life until it is joined */
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
};

#define LOST_RANGES 64

struct thread {
    struct queue_head *queue;
    struct slot *slots;
    uint64_t head, tail; /* own copy of head; last seen tail */
    uint64_t mask;
    struct task *task;
    struct hold *holds;
    size_t hold_count, hold_room;
    volatile bool busy; /* recording now: a signal handler must not */
    bool dead;
    bool off_lines;     /* its lost ranges overflowed: silent for good */
    unsigned waiting;   /* inside a wait: handlers' events go to the own line */
    unsigned off;       /* nesting of poet_trace_off */
    int rounds;         /* of thread-specific data at its end */
    bool stalled;       /* waited once in vain: drop until there is room */
    struct lost_range {
        uint32_t line;
        uint64_t first, count;
    } lost[LOST_RANGES];
    size_t lost_count;
    struct thread *next_free;
};

/* The calling thread if it may record now, else NULL.  Makes it on first use. */
struct thread *thread_recording(void);
struct thread *thread_self(void); /* the same, also while off; NULL if there is none */
struct line *thread_place(struct thread *thread); /* where it stands */
struct hold *thread_hold(struct thread *thread, const struct object *object);
struct hold *thread_push(struct thread *thread, struct object *object, struct line *line);
void thread_pop(struct thread *thread, struct hold *hold);
void thread_begin_main(void);
void thread_end_main(void);
void thread_after_fork(void);

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

/* Writes one record and publishes it.  Returns the first number taken on a; *first_b likewise. */
uint64_t record_write(struct thread *thread, const struct record *record, uint64_t *first_b);
/* A single event without partners; its number. */
uint64_t record_event(struct thread *thread, uint16_t type, struct line *line, uint32_t about,
                      uintptr_t site);
/* Writes a control: a message body of that type. */
bool record_control(struct thread *thread, enum message type, const struct out *body);
uint64_t clock_now(void);


/* ---- server.c: the connection ---- */

extern _Atomic bool tracing; /* a server is there and the program is to be recorded */
extern _Atomic uint64_t unrecorded; /* calls from signal handlers that came in between */
extern _Atomic bool recorded;       /* anything beyond the life of main */
extern _Atomic uint64_t dropped;    /* events that found no room in time */
extern uint64_t instance;           /* names this process among all */

void server_start(void);
bool server_queue(struct thread *thread); /* makes the queue and hands it over */
void server_queue_done(struct thread *thread);
void server_wake(void);
bool server_alive(void);
void server_stop(void);
void server_forget(void); /* in a forked child */
unsigned server_wait_ms(void);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static inline void note_recorded(void)
{
    if (!atomic_load_explicit(&recorded, memory_order_relaxed))
        atomic_store_explicit(&recorded, true, memory_order_relaxed);
}

#pragma GCC visibility pop
#endif
