/* A library of actors in one page, traced by ten calls of poet.h: each actor is a line, on which a
 * worker thread is while it handles a message; sending is an arrow.  config/actors.conf says what
 * they look like.  The program passes a number round a ring of three.
 *
 *     poetcc -trace -g actors.c -o actors && ./actors && poet view latest */
#include <poet.h>
#include <pthread.h>
#include <stdio.h>

struct actor;
struct message {
    struct actor *to;
    int value;
    poet_event_t sent;
};
struct actor {
    const char *name;
    struct actor *next;
    poet_line_t line;
    int busy; /* a thread runs it: its next message has to wait */
};

#define PLACES 16
static struct message queue[PLACES];
static unsigned put, taken;
static int over;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static poet_type_t created, scheduled, running, idle, returned, sends, receives, destroyed;

static void begin(void)
{
    poet_environment("actors");
    created = poet_type("created", NULL), destroyed = poet_type("destroyed", NULL);
    scheduled = poet_type("scheduled", NULL), running = poet_type("running", NULL);
    idle = poet_type("idle", NULL), returned = poet_type("returned", NULL);
    sends = poet_type("send", NULL), receives = poet_type("receive", NULL);
}

static void make(struct actor *a)
{
    a->line = poet_line("actor", a->name, a, 0);
    poet_event(a->line, created, 0, 0);
}

static void tell(struct actor *to, int value)
{
    struct message m = {to, value, poet_send(0, sends)}; /* from where this thread is */
    pthread_mutex_lock(&lock);
    queue[put++ % PLACES] = m;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
}

static void rest(struct actor *a)
{
    pthread_mutex_lock(&lock);
    a->busy = 0;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
}

static void finish(void)
{
    pthread_mutex_lock(&lock);
    over = 1;
    pthread_cond_broadcast(&filled);
    pthread_mutex_unlock(&lock);
}

/* What each actor does. */
static void handle(struct actor *self, int value)
{
    if (value == 0)
        finish();
    else
        tell(self->next, value - 1);
}

static void *worker(void *argument)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        while (taken == put ? !over : queue[taken % PLACES].to->busy)
            pthread_cond_wait(&filled, &lock);
        int more = taken != put;
        struct message m = more ? queue[taken++ % PLACES] : (struct message){0};
        if (more)
            m.to->busy = 1;
        pthread_mutex_unlock(&lock);
        if (!more)
            return argument;
        poet_enter(m.to->line, scheduled, running);
        poet_receive(0, receives, &m.sent, 1);
        handle(m.to, m.value);
        poet_leave(m.to->line, idle, returned);
        rest(m.to);
    }
}

int main(void)
{
    static struct actor ring[3] = {
        {"ada", &ring[1], 0, 0}, {"bob", &ring[2], 0, 0}, {"cid", &ring[0], 0, 0}};
    pthread_t workers[2];
    begin();
    for (int i = 0; i < 3; i++)
        make(&ring[i]);
    for (int i = 0; i < 2; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    tell(&ring[0], 7);
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i], NULL);
    for (int i = 0; i < 3; i++)
        poet_event(ring[i].line, destroyed, 0, POET_CLOSES);
    puts("seven times round");
    return 0;
}
