/* Objects of a program that the adapter for uC++ 7 traces: its tasks, monitors, coroutines and
 * locks, with their trace lines. The adapter reports them through poet.h (P. A. Buhr, uC++
 * Annotated Reference Manual; the marks are those of D. Zak, Analyzing Multi-Threaded Program
 * Performance with uProfiler, 2000, chapter 8).
 *
 * Program and uC++ are unmodified: by the linker's --wrap, calls of uC++'s kernel come here
 * first, those of the program and those between files of the library. poetcc++ compiles these
 * files with the user's own u++, in which each combination of -debug and -multi has its own
 * classes, and with -fno-access-control: much of what is read here is private. All functions may
 * be called by any task; those that say so within a section. */
#ifndef CLIENTS_UCPP_OBJECTS_H
#define CLIENTS_UCPP_OBJECTS_H

#include <poet.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OUT_OF_LINE __attribute__((noinline))

/* Defines the function that calls of `symbol` go to instead; it calls __real_SYMBOL. It begins a
 * line, and the symbol is on it: poetcc++ reads the symbols from there. */
#define WRAP(result, symbol, ...)                                                                  \
    extern "C" result __real_##symbol(__VA_ARGS__);                                                \
    extern "C" OUT_OF_LINE result __wrap_##symbol(__VA_ARGS__)

/* A lock that is held while time slices are disabled. Initially zero. With one processor, that is
 * enough. */
class spinlock
{
    bool held;

  public:
#ifdef __U_MULTI__
    void acquire()
    {
        for (unsigned tries = 1; __atomic_test_and_set(&held, __ATOMIC_ACQUIRE); tries++)
            if (tries % 64 == 0) /* its holder's processor may have no CPU */
                syscall(SYS_sched_yield);
    }
    void release() { __atomic_clear(&held, __ATOMIC_RELEASE); }
#else
    void acquire() {}
    void release() {}
#endif
};

/* A lock of the adapter's own data. A kernel thread holds one of these at most. */
class data_lock
{
    spinlock lock;

  public:
    /* Returns false if the kernel thread holds one: a signal handler has interrupted what that
     * protects, and what the handler does remains untraced. */
    bool acquire();
    void release();
};

enum object_kind { MONITOR, TASK, COROUTINE, COROUTINE_MONITOR, LOCK, CONDITION_LOCK, SEMAPHORE };

struct object;

/* A mutex object that the calls on a stack are in. */
struct visit {
    visit *outer;
    object *in;
    const void *member; /* the library's object for the call */
};

/* An exception that was raised at a task or coroutine, which has not handled it yet. */
struct raised_exception {
    raised_exception *next;
    const void *source; /* the task or coroutine that raised it */
    const std::type_info *type;
    poet_event_t raise;
};

/* A task, monitor, coroutine or lock. One with a mutex is also found by it. */
struct object {
    object_kind kind;
    const void *address;
    /* Call site that made it, and the place of its line, which is in the constructor of a monitor,
     * as that names it. */
    const void *made_at, *site;
    const char *name, *of_class;
    poet_line_t line; /* 0: not open yet */
    object *next_early;
    /* of tasks and coroutines */
    visit *innermost, *free_visits;
    poet_stack_t stack;
    const void *deletes_at; /* its last event but exceptions that it raises is the deletion there */
    raised_exception *raised, *newest_raised;
    data_lock raised_lock;
    unsigned raising; /* exceptions that are being raised at it now */
    /* A monitor that a task constructs, unless the constructor of another kind follows;
     * its last event; and the one that ended its wait for a condition lock, or in the queue of a
     * lock whose calls are inlined. */
    object *pending;
    poet_event_t last, woken_by;
    object *queue;
    bool started, ended;
    bool waits_for_io; /* what the library does for it meanwhile is not followed */
    /* its call of pthread_*, and the mutex or condition variable of that; nullptr: there is none */
    const char *pthread_site;
    const void *pthread_object;
    /* The last event of the task that deletes a mutex object; and twice the number of its visits,
     * plus 1 once it is deleted. */
    poet_event_t deleter;
    unsigned visited;
    /* of condition locks: held while a waiting task is chosen */
    spinlock choosing;
};

/* Types of events, and their names in config/ucpp.conf. */
#define EVENT_TYPES(X)                                                                             \
    X(CREATE, "create")                                                                            \
    X(START, "start")                                                                              \
    X(END, "end")                                                                                  \
    X(DELETE, "delete")                                                                            \
    X(PETITION, "petition")                                                                        \
    X(ENTER, "enter")                                                                              \
    X(ENTERED, "entered")                                                                          \
    X(LEAVE, "leave")                                                                              \
    X(LEFT, "left")                                                                                \
    X(FAILED, "failed")                                                                            \
    X(WAIT, "wait")                                                                                \
    X(SIGNAL, "signal")                                                                            \
    X(READY, "ready")                                                                              \
    X(ACCEPT, "accept")                                                                            \
    X(TIMED_ACCEPT, "timed_accept")                                                                \
    X(ACCEPTED, "accepted")                                                                        \
    X(TIMEOUT, "timeout")                                                                          \
    X(RESUME, "resume")                                                                            \
    X(RESUMED, "resumed")                                                                          \
    X(SUSPEND, "suspend")                                                                          \
    X(SUSPENDED, "suspended")                                                                      \
    X(ACQUIRE, "acquire")                                                                          \
    X(LOCKS, "lock")                                                                               \
    X(ACQUIRED, "acquired")                                                                        \
    X(RELOCK, "relock")                                                                            \
    X(NOT_ACQUIRED, "not_acquired")                                                                \
    X(INNER_UNLOCK, "inner_unlock")                                                                \
    X(UNLOCK, "unlock")                                                                            \
    X(RELEASED, "released")                                                                        \
    X(LOCK_WAIT, "lock_wait")                                                                      \
    X(TIMED_LOCK_WAIT, "timed_lock_wait")                                                          \
    X(LOCK_SIGNAL, "lock_signal")                                                                  \
    X(LOCK_READY, "lock_ready")                                                                    \
    X(P, "P")                                                                                      \
    X(TIMED_P, "timed_P")                                                                          \
    X(PASSED, "passed")                                                                            \
    X(LOWERED, "lowered")                                                                          \
    X(V, "V")                                                                                      \
    X(INCREASED, "increased")                                                                      \
    X(SLEEP, "sleep")                                                                              \
    X(AWAKE, "awake")                                                                              \
    X(IO_WAIT, "io_wait")                                                                          \
    X(IO_READY, "io_ready")                                                                        \
    X(MOVE, "move")                                                                                \
    X(RAISE, "raise")                                                                              \
    X(RAISED, "raised")                                                                            \
    X(VIOLATION, "violation")

#define EVENT_TYPE_OF(type, name) type,
enum event_type { EVENT_TYPES(EVENT_TYPE_OF) TYPES };

/* Returns memory that is never freed, and not the program's; nullptr: none. Within a section, or an
 * unsliced part. */
void *memory_get(size_t bytes);
/* Returns whether a class of that name is the library's. */
inline bool name_is_of_library(const char *name)
{
    return name[0] == 'u' && name[1] >= 'A' && name[1] <= 'Z';
}
/* Finds the object at an address or with that mutex. Returns nullptr if there is none. Within a
 * section. */
object *object_find(const void *address);
/* Makes an object; its line is opened later. Returns nullptr if there is no memory. */
object *object_new(object_kind kind, const void *address, const void *site);
/* Lets an object be found at another address, too. */
void object_add(const void *address, object *o);
void object_free(object *o, const void *mutex);
/* Returns the class of the object at an address or with that mutex; nullptr: unknown. Outside of
 * sections. */
const char *object_class(const void *address);
/* The mutex that the running task constructs is that of a task of the kernel, which has no line. */
void object_forget_pending(const void *mutex);
/* Opens the line of an object, unless it is open. `self`: the running task, or nullptr. Within a
 * section. */
void object_open(object *o, object *self);
/* Returns the lock or semaphore at an address; its line begins with its first use, as its
 * constructor is inlined. */
object *object_of_lock(const void *address, object_kind kind, object *self, const void *site,
                       const char *name = nullptr);
/* Returns the object with that mutex, with an open line; nullptr: none. */
object *object_of_mutex(const void *mutex, object *self);
/* Objects made before the task main: their lines open when it starts. */
void object_add_early(object *o);
void object_open_early(object *self);

bool visit_begin(object *stack, object *in, const void *member);
void visit_end(object *stack);
raised_exception *raised_exception_new();
void raised_exception_free(raised_exception *raised);

inline bool object_is_deleted(const object *o)
{
    return __atomic_load_n(&o->visited, __ATOMIC_ACQUIRE) & 1;
}

/* The line where a thread is that executes a task's or coroutine's stack: the innermost object
 * that still exists. */
inline poet_line_t place_of(const object *stack)
{
    const visit *v = stack->innermost;
    while (v && object_is_deleted(v->in))
        v = v->outer;
    return v ? v->in->line : stack->line;
}

/* Records an event of a task. `after`: an event that it comes after, if any. Within a section. */
void mark(object *self, poet_line_t line, event_type type, const void *site,
          const object *about = nullptr, unsigned flags = 0, poet_event_t after = {0, 0});
/* Records two events that are one synchronization point. Within a section. */
void pair(object *self, poet_line_t a, event_type type_a, poet_line_t b, event_type type_b,
          const void *site);

/* Records that the program breaks a rule of uC++, which only its -debug kernels check: what follows
 * is what happens, in whatever order. Within a section. */
void mark_violation(object *self, poet_line_t line, const void *site, const char *rule,
                    const object *about);

/* True if the run is a replay. */
extern const bool turns_are_kept;
/* In a replay, lets other tasks run until the running task's next event of that type may happen on
 * the line; before the call that acquires something. 0: no line. Outside of sections. */
void turn_await(poet_line_t line, event_type type);
/* Returns whether a replay has another event than that next for the running task: what was tried
 * failed then. Outside of sections. */
bool turn_has_other(event_type type);

/* A part of the running task in which no time slice ends. Parts nest. */
class unsliced
{
  public:
    unsliced();
    unsliced(const unsliced &) = delete;
    ~unsliced();
};

/* One in which the task reports what it does. */
struct section : unsliced {
    uBaseTask *task;
    object *self; /* nullptr: a task of the kernel, or one that waits for I/O */

    /* constructing: the mutex of an object that is not known to be a monitor yet */
    explicit section(const void *constructing = nullptr);

    /* The stack that the task executes: its own one, or a coroutine's. */
    object *stack() const;
};

/* ---- places in the code ---- */

/* Within a function that is called: the place of the call, and the frame. */
#define SITE (static_cast<const char *>(__builtin_return_address(0)) - 1)
#define FRAME (static_cast<void *const *>(__builtin_frame_address(0)))

/* Returns the class of the member function at an address, without namespaces; nullptr: none.
 * Outside of sections. */
const char *code_class(const char *site);
/* Returns whether that is in the library's own pthread_* functions. Outside of sections. */
bool code_is_pthread(const char *site);
/* Returns whether that is in the program, or in the part of the library that the program calls
 * and that calls the kernel: inline functions and pthread_*. Outside of sections. */
bool code_is_inline(const char *site);
/* Returns where the program called the member function that made the call at `site`; `frame` is
 * that of the called function. An inlined one has no frame of its own: that is `site`. Outside of
 * sections. */
const char *code_call_of_member(const char *site, void *const *frame, const char *of_class);
/* Returns where the program called the inline functions of the library of which one made the call
 * at `site`, if the compiler left them out of line; else `site`. Outside of sections. */
const char *code_call_of_inline(const char *site, void *const *frame);
/* Returns where the program called the library's function that made the call at `site`, by others
 * of it or not; `site` if the library did, or if that is in no function of it. Outside of
 * sections. */
const char *code_call_of_library(const char *site);

#endif
