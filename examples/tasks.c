/* A library of tasks with stacks of their own in one page, as libtask is, traced by a dozen calls
 * of poet.h: tasks are lines, messages through channels are arrows.  config/fibers.conf says what
 * they look like.  The program is a pipeline: numbers, those that are squared, and their sum.
 *
 *     poetcc -trace -g tasks.c -o tasks && ./tasks && poet show latest */
#include <poet.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

POET_RUNTIME("fibers");

#define STACK_BYTES 65536
#define PLACES 16

struct task {
    const char *name;
    void (*run)(void);
    ucontext_t context;
    struct task *next; /* in the queue of those that are ready */
    poet_line_t line;
};

struct channel {
    const char *name;
    int places[PLACES];
    unsigned put, taken; /* how many messages; a number and the channel identify one */
    struct task *waits;
    poet_line_t line;
};

static struct task *self, *first, *last;
static ucontext_t scheduler;

static poet_type_t type(const char *name) { return poet_type(name, NULL); }

static void ready(struct task *t)
{
    t->next = NULL;
    *(first ? &last->next : &first) = t;
    last = t;
}

static void task_main(void)
{
    poet_event(0, type("start"), 0, 0);
    self->run();
    poet_event(0, type("end"), 0, POET_CLOSES);
    poet_task_switch(0);
    setcontext(&scheduler);
}

static void task_create(struct task *t)
{
    char *stack = malloc(STACK_BYTES);
    if (!stack || getcontext(&t->context) != 0)
        exit(1);
    t->context.uc_stack.ss_sp = stack;
    t->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&t->context, task_main, 0);
    t->line = poet_task("task", t->name, t);
    poet_task_stack(t->line, stack, STACK_BYTES);
    poet_task_switch(t->line); /* no task created it */
    poet_event(t->line, type("create"), 0, 0);
    poet_task_switch(0);
    ready(t);
}

/* Runs tasks as long as one is ready. */
static void schedule(void)
{
    while ((self = first)) {
        first = first->next;
        poet_task_switch(self->line);
        swapcontext(&scheduler, &self->context);
    }
}

static void block(void)
{
    poet_task_switch(0);
    swapcontext(&self->context, &scheduler);
}

static poet_line_t channel_line(struct channel *c)
{
    if (!c->line)
        c->line = poet_line("channel", c->name, c, POET_SHARED);
    return c->line;
}

static void channel_send(struct channel *c, int value)
{
    uint64_t number = c->put;
    poet_record(&(poet_record_t){.about = channel_line(c),
                                 .type = type("send"),
                                 .flags = POET_SEND,
                                 .high = (uint64_t)(uintptr_t)c,
                                 .low = &number,
                                 .keys = 1,
                                 .count = 1});
    c->places[c->put++ % PLACES] = value;
    if (c->waits)
        ready(c->waits);
    c->waits = NULL;
}

static int channel_receive(struct channel *c)
{
    if (c->taken == c->put) {
        poet_event(0, type("wait"), channel_line(c), 0);
        c->waits = self;
        block();
    }
    poet_receive_key(0, type("receive"), (uint64_t)(uintptr_t)c, c->taken);
    return c->places[c->taken++ % PLACES];
}

/* ---- the program ---- */

static struct channel numbers = {.name = "numbers"}, squares = {.name = "squares"};
static int sum;

static void count(void)
{
    for (int i = 1; i <= 3; i++)
        channel_send(&numbers, i);
    channel_send(&numbers, 0);
}

static void square(void)
{
    for (int n; (n = channel_receive(&numbers));)
        channel_send(&squares, n * n);
    channel_send(&squares, 0);
}

static void add(void)
{
    for (int n; (n = channel_receive(&squares));)
        sum += n;
}

int main(void)
{
    static struct task tasks[] = {{.name = "add", .run = add},
                                  {.name = "square", .run = square},
                                  {.name = "count", .run = count}};
    for (int i = 0; i < 3; i++)
        task_create(&tasks[i]);
    schedule();
    printf("%d\n", sum);
    return sum != 14;
}
