/* Tasks and the processors that run them; coroutines; exceptions that are raised at another
 * task. */
#include "objects.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <poll.h>
#include <sys/select.h>

static bool task_is_of_kernel(const char *name)
{
    static const char *const of_kernel[] = {"uBootTask", "uProcessorTask", "uSystemTask",
                                            "uProcessorKernel"};
    for (const char *n : of_kernel)
        if (strcmp(n, name) == 0)
            return true;
    return false;
}

static bool task_is_main(const uBaseTask &task)
{
    return strcmp(task.getName(), "program main") == 0;
}

/* ---- switches ---- */

struct processor_name {
    processor_name *next;
    const uProcessor *processor;
    char name[32];
};

static const char *processor_number(processor_name *p)
{
    static unsigned count;
    snprintf(p->name, sizeof p->name, "processor %u",
             __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED));
    return p->name;
}

/* Returns the name of the processor that runs tasks now; nullptr: there is no memory. With -multi
 * it is the kernel thread, else one for which that runs tasks; then a processor that is made where
 * another one was has the number of that. */
static const char *processor_name_now()
{
#ifdef __U_MULTI__
    static __thread processor_name own;
    return *own.name ? own.name : processor_number(&own);
#else
    static processor_name *newest;
    processor_name *p = newest;
    while (p && p->processor != &uThisProcessor())
        p = p->next;
    if (p)
        return p->name;
    p = static_cast<processor_name *>(memory_get(sizeof *p));
    if (!p)
        return nullptr;
    p->processor = &uThisProcessor();
    p->next = newest;
    newest = p;
    return processor_number(p);
#endif
}

static void task_announce_processor()
{
    static __thread const uProcessor *announced;
    static __thread const uCluster *announced_cluster;
    const uProcessor *processor = &uThisProcessor();
    const uCluster *cluster = &uThisCluster();
    if (announced == processor && announced_cluster == cluster)
        return;
    const char *name = processor_name_now();
    if (!name)
        return;
    announced = processor;
    announced_cluster = cluster;
    poet_worker_thread(name, cluster->getName());
}

static OUT_OF_LINE void task_switch_begin()
{
    if (object_find(&uThisTask()))
        poet_task_switch(0);
}

/* (Not inlined: the task may go on on another processor.) */
static OUT_OF_LINE void task_switch_end()
{
    const object *o = object_find(&uThisTask());
    if (!o || !o->line)
        return;
    task_announce_processor();
    poet_task_switch(o->line);
}

WRAP(void, _ZN14uBaseCoroutine9taskCxtSwEv, uBaseCoroutine *kernel)
{
    task_switch_begin();
    __real__ZN14uBaseCoroutine9taskCxtSwEv(kernel);
    task_switch_end();
}

/* The end of a time slice, in a signal handler: it is skipped if that interrupts libpoet. */
WRAP(void, _ZN9uBaseTask17uYieldInvoluntaryEv, uBaseTask *task)
{
    if (!poet_busy())
        __real__ZN9uBaseTask17uYieldInvoluntaryEv(task);
}

/* ---- tasks ---- */

static void task_starts(uBaseTask &task, const void *site)
{
    section s;
    if (s.self && s.task == &task)
        mark(s.self, s.self->line, START, site);
    if (object *o = object_find(&task))
        o->started = true;
}

static void task_ends(const uBaseTask &task, const void *site)
{
    section s;
    if (!s.self)
        return;
    if (s.task != &task)
        mark_violation(s.self, s.self->line, site, "it ends another task's main",
                       object_find(&task));
    mark(s.self, s.self->line, END, site);
    s.self->ended = true;
}

/* The program's main, which u++ has renamed; nullptr: not found. */
static const void *task_main_address()
{
    unsliced part; /* the dynamic linker has a lock */
    static const char *const names[] = {"_Z9uCpp_mainv", "_Z9uCpp_mainiPPc", "_Z9uCpp_mainiPPcS0_"};
    const void *address = nullptr;
    for (const char *name : names)
        address = address ? address : dlsym(RTLD_DEFAULT, name);
    return address;
}

/* (Before the task is made ready.) */
static void task_create(uBaseTask *task, UPP::uSerial *mutex, const char *name, const char *site)
{
    bool is_main = strcmp(name, "uMain") == 0;
    section s(mutex);
    object *o = object_find(mutex);
    if (!o)
        o = object_new(TASK, mutex, site);
    if (!o)
        return;
    o->kind = TASK;
    o->address = task;
    o->made_at = o->site = is_main ? task_main_address() : site;
    o->of_class = name;
    o->name = is_main ? "main" : name;
    object_add(task, o);
    object_open(o, s.self);
    poet_task_stack(o->line, task->limit_, size_t((char *)task->base_ - (char *)task->limit_));
}

WRAP(void, _ZN9uBaseTask16uTaskConstructorC1EN3UPP7uActionERNS1_7uSerialERS_R8uBasePIQPKcb,
     uBaseTask::uTaskConstructor *self, UPP::uAction f, UPP::uSerial *mutex, uBaseTask *task,
     uBasePIQ *queue, const char *name, bool profile)
{
    if (f == UPP::uYes && task_is_of_kernel(name))
        object_forget_pending(mutex);
    else if (f == UPP::uYes)
        task_create(task, mutex, name, code_call_of_member(SITE, FRAME, name));
    __real__ZN9uBaseTask16uTaskConstructorC1EN3UPP7uActionERNS1_7uSerialERS_R8uBasePIQPKcb(
        self, f, mutex, task, queue, name, profile);
}

static void task_delete(uBaseTask &task, const char *site)
{
    section s;
    object *o = object_find(&task);
    if (!o)
        return;
    object *deleter = s.self ? s.self : o;
    if (!s.self)
        poet_task_switch(o->line);
    if (o->started && !o->ended)
        mark_violation(deleter, o->line, site, "it is deleted before its main has ended", nullptr);
    mark(deleter, o->line, DELETE, site, nullptr, POET_CLOSES);
    if (!s.self)
        poet_task_switch(0);
    poet_task_release(o->line);
    object_free(o, task.serial_);
}

WRAP(void, _ZN9uBaseTask15uTaskDestructorD1Ev, uBaseTask::uTaskDestructor *self)
{
    const char *of_class = object_class(&self->task);
    if (self->f == UPP::uYes && task_is_main(self->task))
        task_delete(self->task, static_cast<const char *>(task_main_address()));
    else if (self->f == UPP::uYes)
        task_delete(self->task, code_call_of_member(SITE, FRAME, of_class));
    __real__ZN9uBaseTask15uTaskDestructorD1Ev(self);
}

WRAP(void, _ZN9uBaseTask9uTaskMainC1ERS_, uBaseTask::uTaskMain *self, uBaseTask *task)
{
    __real__ZN9uBaseTask9uTaskMainC1ERS_(self, task);
    if (task->recursion_ == 1)
        task_starts(*task, SITE);
}

WRAP(void, _ZN9uBaseTask9uTaskMainD1Ev, uBaseTask::uTaskMain *self)
{
    if (self->task.recursion_ == 1)
        task_ends(self->task, SITE);
    __real__ZN9uBaseTask9uTaskMainD1Ev(self);
}

static void task_open_early()
{
    section s;
    if (s.self)
        object_open_early(s.self);
}

WRAP(void, _ZN3UPP12uMachContext10invokeTaskER9uBaseTask, uBaseTask *task)
{
    task_switch_end();
    if (task_is_main(*task)) {
        task_starts(*task, task_main_address());
        task_open_early();
    }
    __real__ZN3UPP12uMachContext10invokeTaskER9uBaseTask(task);
}

WRAP(void, _ZN9uBaseTask8setStateENS_5StateE, uBaseTask *task, uBaseTask::State state)
{
    if (state == uBaseTask::Terminate && task_is_main(*task))
        task_ends(*task, task_main_address());
    __real__ZN9uBaseTask8setStateENS_5StateE(task, state);
}

WRAP(const char *, _ZN14uBaseCoroutine7setNameEPKc, uBaseCoroutine *self, const char *name)
{
    if (strcmp(name, "program main") != 0) {
        section s;
        const object *o = object_find(self);
        if (o && o->line)
            poet_line_name(o->line, name);
    }
    return __real__ZN14uBaseCoroutine7setNameEPKc(self, name);
}

/* ---- waits for a time, other clusters ---- */

static void task_mark(event_type type, const char *site)
{
    section s;
    if (s.self)
        mark(s.self, place_of(s.stack()), type, site);
}

WRAP(void, _ZN9uBaseTask5sleepE5uTime, uTime time)
{
    task_mark(SLEEP, SITE);
    __real__ZN9uBaseTask5sleepE5uTime(time);
    task_mark(AWAKE, SITE);
}

WRAP(void, _ZN9uBaseTask5sleepE9uDuration, uDuration duration)
{
    task_mark(SLEEP, SITE);
    __real__ZN9uBaseTask5sleepE9uDuration(duration);
    task_mark(AWAKE, SITE);
}

WRAP(uCluster *, _ZN9uBaseTask7migrateER8uCluster, uCluster *cluster)
{
    {
        const char *site = SITE;
        section s;
        if (s.self && s.task->currCluster_ != cluster) {
            mark(s.self, place_of(s.stack()), MOVE, site);
            poet_annotate(s.self->last, "to cluster %s", cluster->getName());
        }
    }
    return __real__ZN9uBaseTask7migrateER8uCluster(cluster);
}

/* ---- waits for I/O ---- */

/* A wait for files, sockets or pipes, unless it only looks. One of the waiting tasks looks for
 * all of them; for that the library has a monitor, and a semaphore of each. */
class io_wait
{
    object *self;
    const char *site;

  public:
    io_wait(bool waits, const char *called) : self(nullptr), site(code_call_of_library(called))
    {
        section s;
        if (!waits || !s.self)
            return;
        self = s.self;
        mark(self, place_of(s.stack()), IO_WAIT, site);
        self->waits_for_io = true;
    }

    ~io_wait()
    {
        if (!self)
            return;
        self->waits_for_io = false;
        task_mark(IO_READY, site);
    }
};

static bool io_waits(const struct timeval *limit)
{
    return !limit || limit->tv_sec || limit->tv_usec;
}

static bool io_waits(const struct timespec *limit)
{
    return !limit || limit->tv_sec || limit->tv_nsec;
}

WRAP(int, _ZN3UPP5uNBIO6selectER10uIOClosureRiP7timeval, UPP::uNBIO *self, uIOClosure *closure,
     int *kinds, struct timeval *limit)
{
    io_wait wait(io_waits(limit), SITE);
    return __real__ZN3UPP5uNBIO6selectER10uIOClosureRiP7timeval(self, closure, kinds, limit);
}

WRAP(int, _ZN3UPP5uNBIO6selectEiP6fd_setS2_S2_P7timeval, UPP::uNBIO *self, int count, fd_set *read,
     fd_set *write, fd_set *except, struct timeval *limit)
{
    io_wait wait(io_waits(limit), SITE);
    return __real__ZN3UPP5uNBIO6selectEiP6fd_setS2_S2_P7timeval(self, count, read, write, except,
                                                                limit);
}

WRAP(int, select, int count, fd_set *read, fd_set *write, fd_set *except, struct timeval *limit)
{
    io_wait wait(io_waits(limit), SITE);
    return __real_select(count, read, write, except, limit);
}

WRAP(int, pselect, int count, fd_set *read, fd_set *write, fd_set *except,
     const struct timespec *limit, const sigset_t *mask)
{
    io_wait wait(io_waits(limit), SITE);
    return __real_pselect(count, read, write, except, limit, mask);
}

WRAP(int, poll, struct pollfd *files, nfds_t count, int limit_ms)
{
    io_wait wait(limit_ms != 0, SITE);
    return __real_poll(files, count, limit_ms);
}

WRAP(int, ppoll, struct pollfd *files, nfds_t count, const struct timespec *limit,
     const sigset_t *mask)
{
    io_wait wait(io_waits(limit), SITE);
    return __real_ppoll(files, count, limit, mask);
}

/* ---- coroutines ---- */

static void coroutine_create(uBaseCoroutine *coroutine, UPP::uSerial *mutex, const char *name,
                             const char *site)
{
    section s(mutex);
    object *o = mutex ? object_find(mutex) : nullptr;
    if (!o)
        o = object_new(COROUTINE, coroutine, site);
    if (!o)
        return;
    o->kind = mutex ? COROUTINE_MONITOR : COROUTINE;
    o->address = coroutine;
    o->made_at = o->site = site;
    o->of_class = o->name = name;
    object_add(coroutine, o);
    o->stack =
        poet_stack(coroutine->limit_, size_t((char *)coroutine->base_ - (char *)coroutine->limit_));
    if (s.self)
        object_open(o, s.self);
    else if (!mutex)
        object_add_early(o);
}

WRAP(void, _ZN14uBaseCoroutine21uCoroutineConstructorC1EN3UPP7uActionERNS1_7uSerialERS_PKc,
     uBaseCoroutine::uCoroutineConstructor *self, UPP::uAction f, UPP::uSerial *mutex,
     uBaseCoroutine *coroutine, const char *name)
{
    __real__ZN14uBaseCoroutine21uCoroutineConstructorC1EN3UPP7uActionERNS1_7uSerialERS_PKc(
        self, f, mutex, coroutine, name);
    if (f == UPP::uYes && !task_is_of_kernel(name))
        coroutine_create(coroutine, mutex, name, code_call_of_member(SITE, FRAME, name));
}

/* (A coroutine-monitor is deleted with its mutex.) */
static void coroutine_delete(uBaseCoroutine *coroutine, const char *site)
{
    section s;
    object *o = object_find(coroutine);
    if (!o || o->kind != COROUTINE)
        return;
    if (s.self && o->line)
        mark(s.self, o->line, DELETE, site, nullptr, POET_CLOSES);
    poet_stack_gone(o->stack);
    object_free(o, nullptr);
}

static void coroutine_run_stack(uBaseCoroutine *to, unsigned flags)
{
    section s;
    const object *o = object_find(to);
    if (s.self && o)
        poet_stack_run(o->stack, flags);
}

/* The stack of a coroutine that has not ended is unwound here. */
WRAP(void, _ZN14uBaseCoroutine20uCoroutineDestructorC1ERS_,
     uBaseCoroutine::uCoroutineDestructor *self, uBaseCoroutine *coroutine)
{
    const char *site = code_call_of_member(SITE, FRAME, object_class(coroutine));
    bool unwinds = coroutine->getState() != uBaseCoroutine::Halt && coroutine->last_;
    if (unwinds)
        coroutine_run_stack(coroutine, POET_STACK_UNWOUND);
    __real__ZN14uBaseCoroutine20uCoroutineDestructorC1ERS_(self, coroutine);
    if (unwinds)
        coroutine_run_stack(&uThisCoroutine(), 0);
    coroutine_delete(coroutine, site);
}

/* The thread goes from one stack to another one, and back to the one that resumed it last. */
static void coroutine_switch(uBaseCoroutine *from, uBaseCoroutine *to, bool back, const char *site)
{
    section s;
    object *f = object_find(from), *t = object_find(to);
    if (!s.self || !f || !t || from == to)
        return;
    object_open(f, s.self);
    object_open(t, s.self);
    poet_line_t a = place_of(f), b = place_of(t);
    if (a == b)
        mark(s.self, a, back ? SUSPEND : RESUME, site);
    else if (back)
        pair(s.self, b, SUSPENDED, a, SUSPEND, site);
    else
        pair(s.self, a, RESUME, b, RESUMED, site);
    poet_set_current_line(b);
}

/* (A resume has stored who resumes, before it comes here.) */
WRAP(void, _ZN14uBaseCoroutine8corCxtSwEv, uBaseCoroutine *to)
{
    uBaseCoroutine *from = &uThisCoroutine();
    bool back = from->last_ == to && to->last_ != from,
         unwinds = to->cancelled() || from->cancelled();
    if (from != to && !unwinds) {
        coroutine_switch(from, to, back, code_call_of_inline(SITE, FRAME));
        coroutine_run_stack(to, back ? 0 : POET_STACK_CALLED);
    }
    __real__ZN14uBaseCoroutine8corCxtSwEv(to);
}

WRAP(void, _ZN14uBaseCoroutine9corFinishEv, uBaseCoroutine *coroutine)
{
    if (!coroutine->cancelled()) {
        coroutine_switch(coroutine, coroutine->starter_, true, SITE);
        coroutine_run_stack(coroutine->starter_, 0);
    }
    __real__ZN14uBaseCoroutine9corFinishEv(coroutine);
}

/* ---- exceptions ---- */

/* Returns the object at which it is raised, which counts it as `raising` until it has the
 * exception; nullptr: none. What the kernel raises at tasks that wait for a deleted object is
 * raised where that was deleted. */
static object *exception_raise(const uBaseException &exception, uBaseCoroutine &target, bool again,
                               const char *site, bool by_kernel)
{
    section s;
    object *o = object_find(&target);
    raised_exception *raised = s.self && o ? raised_exception_new() : nullptr;
    if (!raised)
        return nullptr;
    __atomic_fetch_add(&o->raising, 1, __ATOMIC_ACQ_REL);
    const void *at = by_kernel && s.self->deletes_at ? s.self->deletes_at : site;
    mark(s.self, place_of(s.stack()), RAISE, at, o);
    raised->source = again ? exception.src : &s.task->getCoroutine();
    raised->type = exception.getExceptionType();
    raised->raise = s.self->last;
    if (!o->raised_lock.acquire())
        return o;
    (o->raised ? o->newest_raised->next : o->raised) = raised;
    o->newest_raised = raised;
    o->raised_lock.release();
    return o;
}

WRAP(void, _ZN4uEHM9asyncTossERK14uBaseExceptionR14uBaseCoroutineNS0_9RaiseKindEb,
     const uBaseException *exception, uBaseCoroutine *target, uBaseException::RaiseKind kind,
     bool again)
{
    object *o = nullptr;
    if (target->getState() != uBaseCoroutine::Halt)
        o = exception_raise(*exception, *target, again, code_call_of_library(SITE),
                            !code_is_inline(SITE));
    __real__ZN4uEHM9asyncTossERK14uBaseExceptionR14uBaseCoroutineNS0_9RaiseKindEb(exception, target,
                                                                                  kind, again);
    if (o)
        __atomic_fetch_sub(&o->raising, 1, __ATOMIC_ACQ_REL);
}

/* The first exception from a source to a stack that has that type. */
static raised_exception *exception_take(object *o, const uBaseException &exception)
{
    if (!o->raised_lock.acquire())
        return nullptr;
    raised_exception *before = nullptr, *raised = o->raised;
    while (raised &&
           (raised->source != exception.src || *raised->type != *exception.getExceptionType())) {
        before = raised;
        raised = raised->next;
    }
    if (raised)
        (before ? before->next : o->raised) = raised->next;
    if (raised && raised == o->newest_raised)
        o->newest_raised = before;
    o->raised_lock.release();
    return raised;
}

/* Marks the exceptions that the call of poll() is about to handle. */
static void exception_handle(uBaseCoroutine &stack, const char *site)
{
    uEHM::AsyncEMsgBuffer &messages = stack.asyncEBuf;
    for (uEHM::AsyncEMsg *m = messages.head(); m; m = messages.nextVisible(m)) {
        if (m->hidden || !uEHM::deliverable_exception(m->asyncException->getExceptionType()))
            continue;
        section s;
        object *o = s.self ? s.stack() : nullptr;
        raised_exception *raised = o ? exception_take(o, *m->asyncException) : nullptr;
        if (!raised)
            continue;
        mark(s.self, place_of(o), RAISED, site, nullptr, 0, raised->raise);
        raised_exception_free(raised);
    }
}

/* The first exception, if all have been handled. */
static raised_exception *exception_take_handled(object *o, const uBaseCoroutine &stack)
{
    if (!o->raised_lock.acquire())
        return nullptr;
    bool handled = !__atomic_load_n(&o->raising, __ATOMIC_ACQUIRE) && !stack.asyncEBuf.head();
    raised_exception *raised = handled ? o->raised : nullptr;
    if (raised)
        o->raised = raised->next;
    o->raised_lock.release();
    return raised;
}

/* Marks those that came, from other processors, while poll() handled others. */
static void exception_handle_rest(const uBaseCoroutine &stack, const char *site)
{
    for (;;) {
        section s;
        object *o = s.self ? s.stack() : nullptr;
        raised_exception *raised = o ? exception_take_handled(o, stack) : nullptr;
        if (!raised)
            return;
        mark(s.self, place_of(o), RAISED, site, nullptr, 0, raised->raise);
        raised_exception_free(raised);
    }
}

WRAP(int, _ZN4uEHM4pollEv, void)
{
    uBaseCoroutine &stack = uThisCoroutine();
    bool handles = stack.asyncEBuf.head() && !stack.cancelInProgress();
    const char *site =
        handles ? code_call_of_library(code_call_of_inline(SITE, FRAME)) : nullptr;
    if (handles)
        exception_handle(stack, site);
    int count = __real__ZN4uEHM4pollEv();
    if (handles)
        exception_handle_rest(stack, site);
    return count;
}
