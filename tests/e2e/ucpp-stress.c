/* Two monitors that call each other, a coroutine that calls a monitor, coroutines that resume each
 * other, and a task whose callers wait inside until others signal them. */
#include "ucpp.h"

#include <stdio.h>

enum { INNER = 1, OUTER = 2, PUT = 1, GET = 2, CLIENTS = 3 };

static struct object m1, m2, caller, left, right, server;
static struct condition stored;
static int inner_calls;

static void inner(void)
{
    struct object *from = enter(&m1, INNER);
    inner_calls++;
    leave(&m1, from);
}

static void middle(void)
{
    struct object *from = enter(&m2, INNER);
    inner();
    leave(&m2, from);
}

static void outer(void)
{
    struct object *from = enter(&m1, OUTER);
    middle(); /* and back into this monitor, by the thread that is in it */
    inner();
    leave(&m1, from);
}

static void call(void *unused)
{
    (void)unused;
    middle();
    suspend();
    middle();
}

static void go_right(void *unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++)
        resume(&right);
}

static void go_left(void *unused)
{
    (void)unused;
    for (;;)
        resume(&left);
}

static void put(void)
{
    struct object *from = enter(&server, PUT);
    condition_signal(&stored);
    condition_signal(&stored);
    leave(&server, from);
}

static void get(void)
{
    struct object *from = enter(&server, GET);
    condition_wait(&stored);
    leave(&server, from);
}

static void serve(void *unused)
{
    (void)unused;
    for (uint32_t member; (member = accept_call(&server, PUT | GET | DESTRUCTOR)) != DESTRUCTOR;)
        poet_text("served %u", member);
}

static void client(void *unused)
{
    (void)unused;
    get();
    outer();
}

static void give(void *unused)
{
    (void)unused;
    for (int i = 0; i < 4; i++) {
        put();
        yield();
    }
}

void uc_main(void)
{
    static struct object clients[CLIENTS], giver;
    inner_calls = 0;
    monitor_make(&m1, "m1");
    monitor_make(&m2, "m2");
    coroutine_make(&caller, "caller", call, NULL);
    coroutine_make(&left, "left", go_right, NULL);
    coroutine_make(&right, "right", go_left, NULL);
    resume(&caller);
    resume(&caller);
    resume(&left);
    task_make(&server, "server", serve, NULL);
    condition_make(&stored, &server);
    for (int i = 0; i < CLIENTS; i++)
        task_make(&clients[i], "client", client, NULL);
    for (int i = 0; i < CLIENTS; i++)
        yield();
    task_make(&giver, "giver", give, NULL);
    for (int i = 0; i < 30; i++) {
        put();
        yield();
    }
    for (int i = 0; i < CLIENTS; i++)
        object_delete(&clients[i]);
    struct object *rest[] = {&giver, &server, &caller, &left, &right, &m2, &m1};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        object_delete(rest[i]);
    if (inner_calls != 2 + 2 * CLIENTS)
        printf("%d calls\n", inner_calls);
}
