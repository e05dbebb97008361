/* Tasks, monitors, coroutines and coroutine-monitors, as in uC++ (P. A. Buhr, uC++ Annotated
 * Reference Manual), in plain C: user-level threads on one kernel thread, or on several in turn.
 *
 * Everything is an object.  One with a mutex lets one task in at a time; one with a `main` has a
 * stack.  A task has both, and a thread; a monitor only the mutex, a coroutine only the stack, a
 * coroutine-monitor both but no thread.  A program begins in uc_main(), the main of task "main".
 *
 *     poetcc -trace -g prodcons.c ucpp.c -o prodcons && ./prodcons && poet show latest
 *
 * The environment chooses among the allowed orders; the same choice repeats the same run:
 *     UCPP_SCHEDULE=fifo|lifo|random    who runs next (default fifo)
 *     UCPP_SEED=N                       for random, and for time slices; 0 (the default): no slices
 *     UCPP_PROCESSORS=N                 kernel threads that run tasks in turn (1 to 64, default 1)
 *     UCPP_CLUSTERS=N                   groups that these are in (default 1)
 *     UCPP_RUNS=N                       runs uc_main() that often, with seeds from UCPP_SEED on
 */
#ifndef UCPP_H
#define UCPP_H

#include <poet.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

struct object;

struct queue { /* of tasks; each is in one at most */
    struct object *first, *last;
};

struct object {
    const char *kind; /* "task", "monitor", "coroutine", "coroutine-monitor" */
    poet_line_t line;

    /* with a mutex */
    bool mutex;
    struct object *owner;   /* the task inside, NULL none */
    unsigned depth;         /* how often it is */
    uint32_t open;          /* members that may be called while no task is inside */
    struct queue entry;     /* callers that wait */
    struct object *stack;   /* acceptors and signalled tasks: the newest goes first */
    struct object *deleter; /* waits for the end */

    /* with a main */
    void (*main)(void *);
    void *argument;
    ucontext_t context;
    char *memory;
    poet_stack_t traced;              /* of a coroutine, as Poet knows it */
    struct object *resumer, *starter; /* whose stack resumes at suspend, and at the end */
    struct object *came, *began;      /* and where the thread is then */
    bool ended;

    /* with a thread: a task */
    bool thread;
    struct object *place;  /* where its thread is */
    struct object *strand; /* on whose stack it runs */
    struct object *next;   /* in a queue or stack */
    uint32_t calls;        /* the member that it waits to call */
    uint32_t accepted;     /* the member that it let in */
    poet_event_t last;     /* what it did last */
    const char *site;      /* where it called this runtime last */
};

struct condition {
    struct object *monitor;
    struct queue waiting;
};

/* ---- objects ---- */

/* Each is made by the task that runs, under the name of its class. */
void task_make(struct object *o, const char *name, void (*main)(void *), void *argument);
void monitor_make(struct object *o, const char *name);
void coroutine_make(struct object *o, const char *name, void (*main)(void *), void *argument);
void coroutine_monitor_make(struct object *o, const char *name, void (*main)(void *),
                            void *argument);
void object_name(struct object *o, const char *name);

/* Waits for a task's end, or until no task is inside, and closes the line. */
void object_delete(struct object *o);

/* ---- mutex members ---- */

/* A member is a bit, of the program's choice; the highest one is the destructor.  The first line
 * of a member is enter() and its last one leave(), with what enter() returned. */
#define DESTRUCTOR (1u << 31)
struct object *enter(struct object *o, uint32_t member);
void leave(struct object *o, struct object *from);

/* External scheduling: lets in one caller of these members, and resumes when its call is done, or,
 * with the destructor, at once.  Returns the member. */
uint32_t accept_call(struct object *o, uint32_t members);

/* Internal scheduling.  A signalled task resumes when the signaller leaves or blocks. */
void condition_make(struct condition *c, struct object *monitor);
bool condition_empty(const struct condition *c);
void condition_wait(struct condition *c);
void condition_signal(struct condition *c);

/* ---- coroutines ---- */

void resume(struct object *coroutine);
void suspend(void); /* back to the coroutine that resumed this one */

/* ---- the program ---- */

void yield(void);
void uc_main(void); /* the program's */

#endif
