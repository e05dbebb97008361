/* The runtime: who runs, who may enter, whose stack it is; and a page that tells Poet. */
#include "ucpp.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACK_BYTES 65536
#define ALL (~0u)

static struct object *self; /* the task that runs */

static void stop(const char *why)
{
    fprintf(stderr, "ucpp: %s\n", why);
    abort(); /* a core file has all stacks */
}

/* ---- telling Poet ----
 *
 * All there is to it: a line for each object, events on lines, pairs where the thread goes from one
 * line to another, and, wherever a task resumes, whose thread it is, and on which stack.  The place
 * of an event is where the program called this runtime last. */

#define CALLED_HERE() (void)(self && (self->site = (char *)__builtin_return_address(0) - 1))

POET_RUNTIME("ucpp");

static poet_type_t type(const char *name) { return poet_type(name, NULL); }

static void mark(struct object *o, const char *name, struct object *about)
{
    self->last = poet_event_at(o->line, type(name), about ? about->line : 0, 0, self->site);
}

/* An order without an arrow: what `earlier` did is the reason. */
static void mark_after(struct object *o, const char *name, struct object *earlier)
{
    self->last = poet_event_after_at(o->line, type(name), earlier->last, self->site);
}

/* The thread goes from where it is to another object. */
static void go(struct object *to, const char *leaves, const char *arrives)
{
    self->last =
        poet_pair_at(self->place->line, type(leaves), to->line, type(arrives), NULL, self->site);
    self->place = to;
    poet_set_current_line(to->line);
}

/* Choices of the scheduler are recorded on a line of their own; `poet replay` repeats them. */
static enum { FIFO, LIFO, RANDOM } schedule;
static uint64_t seed, state;
static bool by_chance(void) { return schedule == RANDOM || seed; }
static poet_line_t scheduler;

static void open_scheduler(void)
{
    scheduler = poet_task("scheduler", "scheduler", NULL);
    poet_event(scheduler, type("create"), 0, 0);
}

static void close_scheduler(void)
{
    poet_event(scheduler, type("delete"), 0, POET_CLOSES);
    poet_task_release(scheduler);
    scheduler = 0;
}

static unsigned choose(unsigned of, unsigned chosen)
{
    if (!scheduler)
        return chosen;
    poet_task_switch(scheduler);
    chosen = poet_record_choice(0, of, chosen);
    poet_task_switch(self->line);
    return chosen;
}

static void open_line(struct object *o, const char *name)
{
    const void *site = self ? self->site : NULL;
    o->line =
        o->thread ? poet_task_at(o->kind, name, o, site) : poet_line_at(o->kind, name, o, 0, site);
    if (o->thread)
        poet_task_stack(o->line, o->memory, STACK_BYTES);
    else if (o->memory)
        o->traced = poet_stack(o->memory, STACK_BYTES);
    if (!self) { /* the task "main": no task made it */
        self = o;
        poet_task_switch(o->line);
    }
    mark(o, "create", NULL);
    if (self == o && by_chance())
        open_scheduler();
}

static void close_line(struct object *o)
{
    if (self == o && scheduler)
        close_scheduler();
    self->last = poet_event_at(o->line, type("delete"), 0, POET_CLOSES, self->site);
    poet_stack_gone(o->traced);
    poet_task_release(o->line);
}

void object_name(struct object *o, const char *name) { poet_line_name(o->line, name); }

/* ---- queues ---- */

static void put(struct queue *q, struct object *o)
{
    o->next = NULL;
    *(q->first ? &q->last->next : &q->first) = o;
    q->last = o;
}

static void put_first(struct queue *q, struct object *o)
{
    o->next = q->first;
    q->last = q->first ? q->last : o;
    q->first = o;
}

static struct object *take_after(struct queue *q, struct object *before)
{
    struct object **at = before ? &before->next : &q->first, *o = *at;
    *at = o->next;
    if (q->last == o)
        q->last = before;
    return o;
}

/* The first that wants to call one of these members. */
static struct object *take(struct queue *q, uint32_t members)
{
    struct object *before = NULL, *o = q->first;
    while (o && !(o->calls & members)) {
        before = o;
        o = o->next;
    }
    return o ? take_after(q, before) : NULL;
}

static void push(struct object **stack, struct object *o)
{
    o->next = *stack;
    *stack = o;
}

static struct object *pop(struct object **stack)
{
    struct object *o = *stack;
    *stack = o->next;
    return o;
}

/* ---- who runs ---- */

static struct queue ready;

static unsigned chance(unsigned of) /* splitmix64 (Steele, Lea and Flood, 2014) */
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return choose(of, (unsigned)((z ^ z >> 31) % of));
}

static void make_ready(struct object *task)
{
    if (schedule == LIFO)
        put_first(&ready, task);
    else
        put(&ready, task);
}

static struct object *next_ready(void)
{
    unsigned count = 0;
    for (struct object *o = ready.first; o; o = o->next)
        count++;
    if (!count)
        stop("all tasks are blocked");
    struct object *before = NULL;
    for (unsigned skip = schedule == RANDOM ? chance(count) : 0; skip--;)
        before = before ? before->next : ready.first;
    return take_after(&ready, before);
}

/* ---- processors ----
 *
 * Kernel threads that take turns: one runs a task, the others wait for their turn.  So none of this
 * needs a lock, and yet a task resumes on whichever thread has the turn. */

#define PROCESSORS_MOST 64
static struct processor {
    pthread_t thread;
    ucontext_t loop; /* of serve() */
    char name[16], cluster[16];
} processors[PROCESSORS_MOST];
static unsigned processor_count = 1, turn, next_turn; /* next_turn: of the task that runs next */
static bool finished; /* the task "main" has ended */
static pthread_mutex_t turning = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;

static unsigned choose_processor(void)
{
    return processor_count == 1 ? 0 : seed ? chance(processor_count) : (turn + 1) % processor_count;
}

/* Runs tasks when it has the turn, until the program has ended. */
static void *serve(void *p)
{
    struct processor *processor = p;
    unsigned me = (unsigned)(processor - processors);
    poet_worker_thread(processor->name, processor->cluster);
    for (;;) {
        pthread_mutex_lock(&turning);
        if (turn == me)
            turn = next_turn;
        pthread_cond_broadcast(&turned);
        while (turn != me && !finished)
            pthread_cond_wait(&turned, &turning);
        pthread_mutex_unlock(&turning);
        if (finished)
            return NULL;
        poet_task_switch(self->line);
        swapcontext(&processor->loop, &self->strand->context);
    }
}

/* The task stops here, and another one resumes: on this processor at once, or on another one. */
static void block(void)
{
    ucontext_t *here = &self->strand->context;
    self = next_ready();
    next_turn = choose_processor();
    if (next_turn == turn) {
        poet_task_switch(self->line);
        swapcontext(here, &self->strand->context);
    } else {
        poet_task_switch(0);
        swapcontext(here, &processors[turn].loop);
    }
}

void yield(void)
{
    CALLED_HERE();
    put(&ready, self); /* behind all others, or it would be its own successor */
    block();
}

/* A time slice may end wherever the runtime is called. */
static void slice(void)
{
    if (seed && chance(4) == 0) {
        put(&ready, self);
        block();
    }
}

/* ---- the mutex ---- */

/* The task inside gives it up: to the newest acceptor or signalled task, else to a caller. */
static void pass_on(struct object *o)
{
    uint32_t members = !o->thread ? ALL : o->ended ? DESTRUCTOR : ~DESTRUCTOR;
    o->owner = o->stack ? pop(&o->stack) : take(&o->entry, members);
    o->depth = 0;
    if (o->owner)
        make_ready(o->owner);
}

static void get_in(struct object *o, uint32_t member)
{
    if (!o->owner && (o->open & member) && !(o->thread && o->ended)) {
        if (o->open != ALL)
            o->stack->accepted = member;
        o->owner = self;
    } else {
        self->calls = member;
        put(&o->entry, self);
        block();
    }
    o->open = ALL;
}

struct object *enter(struct object *o, uint32_t member)
{
    CALLED_HERE();
    slice();
    struct object *from = self->place;
    mark(from, "petition", o);
    if (o->owner != self)
        get_in(o, member);
    o->depth++;
    if (from == o)
        mark(o, "enter", NULL);
    else
        go(o, "enter", "entered");
    return from;
}

void leave(struct object *o, struct object *from)
{
    CALLED_HERE();
    if (from == o)
        mark(o, "leave", NULL);
    else
        go(from, "leave", "left");
    if (--o->depth == 0)
        pass_on(o);
    slice();
}

/* The acceptor resumes at once: the destructor itself runs after the task's end. */
static void accept_destructor(struct object *o)
{
    self->accepted = DESTRUCTOR;
    mark_after(o, "accepted", o->deleter);
}

uint32_t accept_call(struct object *o, uint32_t members)
{
    CALLED_HERE();
    unsigned depth = o->depth;
    mark(o, "accept", NULL);
    if ((members & DESTRUCTOR) && o->deleter) {
        accept_destructor(o);
        return DESTRUCTOR;
    }
    o->owner = take(&o->entry, members);
    o->depth = 0;
    push(&o->stack, self);
    if (o->owner) {
        self->accepted = o->owner->calls;
        make_ready(o->owner);
    } else {
        o->open = members;
    }
    block();
    o->depth = depth;
    if (self->accepted == DESTRUCTOR)
        accept_destructor(o);
    else
        mark(o, "accepted", NULL);
    return self->accepted;
}

void condition_make(struct condition *c, struct object *monitor)
{
    *c = (struct condition){.monitor = monitor};
}

bool condition_empty(const struct condition *c) { return !c->waiting.first; }

void condition_wait(struct condition *c)
{
    CALLED_HERE();
    struct object *o = c->monitor;
    unsigned depth = o->depth;
    mark(o, "wait", NULL);
    self->calls = ALL;
    put(&c->waiting, self);
    pass_on(o);
    block();
    o->depth = depth;
    mark(o, "ready", NULL);
}

void condition_signal(struct condition *c)
{
    CALLED_HERE();
    if (condition_empty(c))
        return;
    mark(c->monitor, "signal", NULL);
    push(&c->monitor->stack, take(&c->waiting, ALL));
}

/* ---- stacks ---- */

void resume(struct object *c)
{
    CALLED_HERE();
    struct object *from = self->strand;
    if (c == from)
        return;
    if (c->ended)
        stop("resume of a coroutine that has ended");
    slice();
    c->resumer = from;
    c->came = self->place;
    if (!c->starter || c->mutex) { /* a coroutine-monitor goes back to its last caller */
        c->starter = from;
        c->began = c->came;
    }
    if (c->came == c)
        mark(c, "resume", NULL);
    else
        go(c, "resume", "resumed");
    self->strand = c;
    poet_stack_run(c->traced, POET_STACK_CALLED);
    swapcontext(&from->context, &c->context);
}

static void go_back(struct object *c, struct object *place, struct object *strand)
{
    if (place == c)
        mark(c, "suspend", NULL);
    else
        go(place, "suspend", "suspended");
    self->strand = strand;
}

void suspend(void)
{
    CALLED_HERE();
    struct object *c = self->strand;
    if (c->thread)
        stop("suspend outside of a coroutine");
    slice();
    go_back(c, c->came, c->resumer);
    poet_stack_run(self->strand->traced, 0);
    swapcontext(&c->context, &self->strand->context);
}

static void end_task(struct object *o)
{
    mark(o, "end", NULL);
    o->ended = true;
    pass_on(o);
    if (o->deleter != o)
        block();
    close_line(o); /* the task "main" */
    finished = true;
    setcontext(&processors[turn].loop);
}

/* The outermost function of a stack is what the program gave: this one is not measured. */
__attribute__((no_instrument_function)) static void run(unsigned high, unsigned low)
{
    struct object *o = (struct object *)((uintptr_t)high << 16 << 16 | low);
    const char *in_main = o->site = (const char *)(uintptr_t)o->main + 1;
    if (o->thread)
        mark(o, "start", NULL);
    o->main(o->argument);
    o->site = in_main;
    if (o->thread)
        end_task(o);
    o->ended = true;
    go_back(o, o->began, o->starter);
    poet_stack_gone(o->traced);
    o->traced = NULL;
    poet_stack_run(self->strand->traced, 0);
    setcontext(&self->strand->context);
}

static void give_stack(struct object *o)
{
    o->memory = malloc(STACK_BYTES);
    if (!o->memory || getcontext(&o->context) != 0)
        stop("no memory for a stack");
    o->context.uc_stack.ss_sp = o->memory;
    o->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&o->context, (void (*)(void))(uintptr_t)run, 2,
                (unsigned)((uintptr_t)o >> 16 >> 16), (unsigned)(uintptr_t)o);
}

/* ---- objects ---- */

static void make(struct object *o, struct object as, const char *name)
{
    *o = as;
    o->open = ALL;
    if (o->main)
        give_stack(o);
    if (o->thread) {
        o->owner = o->place = o->strand = o; /* its main runs inside its mutex */
        o->depth = 1;
    }
    open_line(o, name);
    if (self == o)
        return;
    if (o->thread)
        make_ready(o);
    slice();
}

void task_make(struct object *o, const char *name, void (*main)(void *), void *argument)
{
    CALLED_HERE();
    make(o,
         (struct object){
             .kind = "task", .mutex = true, .thread = true, .main = main, .argument = argument},
         name);
}

void monitor_make(struct object *o, const char *name)
{
    CALLED_HERE();
    make(o, (struct object){.kind = "monitor", .mutex = true}, name);
}

void coroutine_make(struct object *o, const char *name, void (*main)(void *), void *argument)
{
    CALLED_HERE();
    make(o, (struct object){.kind = "coroutine", .main = main, .argument = argument}, name);
}

void coroutine_monitor_make(struct object *o, const char *name, void (*main)(void *),
                            void *argument)
{
    CALLED_HERE();
    make(o,
         (struct object){
             .kind = "coroutine-monitor", .mutex = true, .main = main, .argument = argument},
         name);
}

void object_delete(struct object *o)
{
    CALLED_HERE();
    slice();
    o->deleter = self;
    if (!o->owner && o->open != ALL && (o->open & DESTRUCTOR)) { /* it waits for this */
        o->owner = pop(&o->stack);
        o->owner->accepted = DESTRUCTOR;
        o->open = ALL;
        make_ready(o->owner);
    }
    if (o->owner || (o->thread && !o->ended)) {
        self->calls = DESTRUCTOR;
        put(&o->entry, self);
        if (o->thread && !o->ended)
            poet_wait_end_at(o->line, self->site); /* of which no mark tells */
        block();
    }
    close_line(o);
    free(o->memory);
}

/* ---- the program ---- */

static void main_task(void *argument)
{
    (void)argument;
    uc_main();
}

static uint64_t number(const char *variable, uint64_t otherwise)
{
    const char *s = getenv(variable);
    return s ? strtoull(s, NULL, 10) : otherwise;
}

/* Those beside the one that main() is. */
static void start_processors(void)
{
    uint64_t wanted = number("UCPP_PROCESSORS", 1), clusters = number("UCPP_CLUSTERS", 1);
    processor_count = wanted < 1                 ? 1
                      : wanted < PROCESSORS_MOST ? (unsigned)wanted
                                                 : PROCESSORS_MOST;
    for (unsigned i = 0; i < processor_count; i++) {
        struct processor *p = &processors[i];
        snprintf(p->name, sizeof p->name, "P%u", i);
        snprintf(p->cluster, sizeof p->cluster, "c%u", clusters ? (unsigned)(i % clusters) : 0);
        if (i && pthread_create(&p->thread, NULL, serve, p) != 0)
            stop("no thread for a processor");
    }
}

int main(void)
{
    const char *how = getenv("UCPP_SCHEDULE");
    schedule = !how                         ? FIFO
               : strcmp(how, "lifo") == 0   ? LIFO
               : strcmp(how, "random") == 0 ? RANDOM
                                            : FIFO;
    seed = number("UCPP_SEED", 0);
    for (uint64_t run = 0, runs = number("UCPP_RUNS", 1); run < runs; run++) {
        static struct object program;
        state = seed += run != 0;
        self = NULL;
        task_make(&program, "main", main_task, NULL);
        program.deleter = &program;
        finished = false;
        turn = next_turn = 0;
        poet_task_switch(0); /* what follows is the processor's, until it runs the task */
        start_processors();
        serve(&processors[0]);
        for (unsigned i = 1; i < processor_count; i++)
            pthread_join(processors[i].thread, NULL);
        free(program.memory);
    }
    return 0;
}
