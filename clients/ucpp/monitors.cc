/* Mutex objects: monitors, and the mutex members of tasks and coroutine-monitors. */
#include "objects.h"

/* ---- construction and destruction ---- */

static void monitor_construct(UPP::uSerial *mutex, const char *site, const char *made_at,
                              const char *of_class)
{
    section s;
    object *o = object_new(MONITOR, mutex, site);
    if (!o)
        return;
    o->made_at = made_at;
    o->of_class = of_class;
    if (s.self)
        s.self->pending = o;
    else
        object_add_early(o);
}

WRAP(void, _ZN3UPP18uSerialConstructorC1ENS_7uActionERNS_7uSerialE, UPP::uSerialConstructor *self,
     UPP::uAction f, UPP::uSerial *mutex)
{
    __real__ZN3UPP18uSerialConstructorC1ENS_7uActionERNS_7uSerialE(self, f, mutex);
    if (f != UPP::uYes)
        return;
    const char *of_class = code_class(SITE);
    monitor_construct(mutex, SITE, code_call_of_member(SITE, FRAME, of_class), of_class);
}

/* The end of the constructor: what is pending is a monitor. */
WRAP(void, _ZN3UPP18uSerialConstructorD1Ev, UPP::uSerialConstructor *self)
{
    if (self->f == UPP::uYes)
        section opened;
    __real__ZN3UPP18uSerialConstructorD1Ev(self);
}

WRAP(void, _ZN3UPP17uSerialDestructorC1ENS_7uActionERNS_7uSerialER16uBasePrioritySeqi,
     UPP::uSerialDestructor *self, UPP::uAction f, UPP::uSerial *mutex, uBasePrioritySeq *queue,
     int position)
{
    if (f == UPP::uYes) {
        const char *site = code_call_of_member(SITE, FRAME, object_class(mutex));
        section s;
        object *o = s.self ? object_find(mutex) : nullptr;
        if (o)
            o->deleter = s.self->last;
        if (o && o->kind == TASK && !o->ended)
            poet_wait_end_at(o->line, site);
    }
    __real__ZN3UPP17uSerialDestructorC1ENS_7uActionERNS_7uSerialER16uBasePrioritySeqi(
        self, f, mutex, queue, position);
}

/* (A task is deleted later: see tasks.cc.) */
static void monitor_delete(const char *site)
{
    section s;
    const void *mutex = &s.task->getSerial();
    object *o = object_find(mutex);
    if (!o || o->kind == TASK)
        return;
    if (s.self && o->line)
        mark(s.self, o->line, DELETE, site, nullptr, POET_CLOSES);
    poet_stack_gone(o->stack);
    object_free(o, mutex);
}

WRAP(void, _ZN3UPP17uSerialDestructorD1Ev, UPP::uSerialDestructor *self)
{
    if (self->f == UPP::uYes)
        monitor_delete(code_call_of_member(SITE, FRAME, object_class(&uThisTask().getSerial())));
    __real__ZN3UPP17uSerialDestructorD1Ev(self);
}

/* ---- calls of members ---- */

static void member_enter(section &s, object *o, const void *member, const char *site)
{
    object *stack = s.stack();
    poet_line_t from = place_of(stack);
    if (!visit_begin(stack, o, member))
        return;
    if (from == o->line) {
        mark(s.self, from, ENTER, site);
        return;
    }
    pair(s.self, from, ENTER, o->line, ENTERED, site);
    poet_set_current_line(o->line);
}

/* (One of the library whose beginning was not seen is left in between: a filebuf's.) */
static void member_leave(const void *member, const char *site)
{
    section s;
    object *stack = s.self ? s.stack() : nullptr;
    if (!stack || !stack->innermost)
        return;
    const object *in = stack->innermost->in;
    if (stack->innermost->member != member)
        return;
    bool deleted = object_is_deleted(in);
    poet_line_t from = place_of(stack);
    if (!deleted && in != object_find(&s.task->getSerial()))
        mark_violation(s.self, from, site,
                       "this is not the mutex object that the task entered last", in);
    visit_end(stack);
    poet_line_t to = place_of(stack);
    if (deleted || to == from)
        mark(s.self, from, deleted ? FAILED : LEAVE, site);
    else
        pair(s.self, to, LEFT, from, LEAVE, site);
    poet_set_current_line(to);
}

/* A call, until the task is in the object, or the call fails by an exception. */
class member_call
{
    UPP::uSerial *mutex;
    const void *member;
    const char *site;

    /* Returns the line to which the task is about to go; 0: it is there. */
    poet_line_t petition() const
    {
        section s;
        const object *o = s.self ? object_of_mutex(mutex, s.self) : nullptr;
        if (!o)
            return 0;
        poet_line_t from = place_of(s.stack());
        mark(s.self, from, PETITION, site, o);
        return from == o->line ? 0 : o->line;
    }

  public:
    bool entered;

    member_call(UPP::uSerial *mutex, const void *member, const char *site)
        : mutex(mutex), member(member), site(site), entered(false)
    {
        turn_await(petition(), ENTERED);
    }

    ~member_call()
    {
        section s;
        object *o = s.self ? object_of_mutex(mutex, s.self) : nullptr;
        if (o && entered)
            member_enter(s, o, member, site);
        else if (o)
            mark(s.self, place_of(s.stack()), FAILED, site, o);
    }
};

WRAP(void, _ZN3UPP13uSerialMemberC1ERNS_7uSerialER16uBasePrioritySeqi, UPP::uSerialMember *self,
     UPP::uSerial *mutex, uBasePrioritySeq *queue, int position)
{
    member_call call(mutex, self, code_call_of_member(SITE, FRAME, object_class(mutex)));
    __real__ZN3UPP13uSerialMemberC1ERNS_7uSerialER16uBasePrioritySeqi(self, mutex, queue, position);
    call.entered = true;
}

WRAP(void, _ZN3UPP13uSerialMemberD1Ev, UPP::uSerialMember *self)
{
    member_leave(self, SITE);
    __real__ZN3UPP13uSerialMemberD1Ev(self);
}

/* ---- accept statements ---- */

/* Positions in the mask of accepted members. */
enum { TIMEOUT_POSITION = 0, DESTRUCTOR_POSITION = 1 };

/* A wait for a call of an accepted member, until it is over, also by an exception. */
class accept_wait
{
    UPP::uSerial *mutex;
    const unsigned *accepted; /* which member was */
    event_type type;
    const char *site;

  public:
    accept_wait(UPP::uSerial *mutex, event_type type, const char *site)
        : mutex(mutex), accepted(mutex->mutexMaskLocn), type(type), site(site)
    {
        section s;
        const object *o = s.self ? object_of_mutex(mutex, s.self) : nullptr;
        if (o)
            mark(s.self, o->line, type, site);
    }

    ~accept_wait()
    {
        section s;
        const object *o = s.self ? object_of_mutex(mutex, s.self) : nullptr;
        if (!o)
            return;
        bool timeout = type == TIMED_ACCEPT && accepted && *accepted == TIMEOUT_POSITION;
        bool destructor = accepted && *accepted == DESTRUCTOR_POSITION;
        mark(s.self, o->line, timeout ? TIMEOUT : ACCEPTED, site, nullptr, 0,
             destructor ? o->deleter : poet_event_t{0, 0});
    }
};

/* Where the accept statement begins that the kernel thread executes, at the first of its clauses that
 * is tried: the call by which it waits then is behind its end. (Until that it holds the lock, so
 * that no time slice ends.) */
static __thread const char *accept_begin;

static OUT_OF_LINE void accept_begins(const char *site) { accept_begin = site; }

static OUT_OF_LINE const char *accept_site(const UPP::uSerial *mutex, const char *called,
                                           void *const *frame)
{
    const char *begin = mutex->acceptLocked ? accept_begin : nullptr;
    accept_begins(nullptr);
    return begin ? begin : code_call_of_inline(called, frame);
}

/* Waits only if a task has called that member. (The lock is acquired as it is there, on demand.) */
WRAP(bool, _ZN3UPP7uSerial9acceptTryER16uBasePrioritySeqi, UPP::uSerial *mutex,
     uBasePrioritySeq *queue, int position)
{
    if (!mutex->acceptLocked) {
        mutex->spinLock.acquire();
        mutex->mask.clrAll();
        mutex->acceptLocked = true;
        accept_begins(code_call_of_inline(SITE, FRAME));
    }
    if (position == DESTRUCTOR_POSITION ? mutex->destructorStatus != UPP::uSerial::DestrCalled
                                        : queue->empty())
        return __real__ZN3UPP7uSerial9acceptTryER16uBasePrioritySeqi(mutex, queue, position);
    accept_begins(nullptr);
    accept_wait wait(mutex, ACCEPT, code_call_of_inline(SITE, FRAME));
    return __real__ZN3UPP7uSerial9acceptTryER16uBasePrioritySeqi(mutex, queue, position);
}

WRAP(void, _ZN3UPP7uSerial11acceptPauseEv, UPP::uSerial *mutex)
{
    accept_wait wait(mutex, ACCEPT, accept_site(mutex, SITE, FRAME));
    __real__ZN3UPP7uSerial11acceptPauseEv(mutex);
}

WRAP(void, _ZN3UPP7uSerial11acceptPauseE9uDuration, UPP::uSerial *mutex, uDuration duration)
{
    accept_wait wait(mutex, TIMED_ACCEPT, accept_site(mutex, SITE, FRAME));
    __real__ZN3UPP7uSerial11acceptPauseE9uDuration(mutex, duration);
}

WRAP(void, _ZN3UPP7uSerial11acceptPauseE5uTime, UPP::uSerial *mutex, uTime time)
{
    accept_wait wait(mutex, TIMED_ACCEPT, accept_site(mutex, SITE, FRAME));
    __real__ZN3UPP7uSerial11acceptPauseE5uTime(mutex, time);
}

/* ---- condition queues ---- */

static void condition_mark(event_type type, const char *site)
{
    section s;
    const object *o = s.self ? object_of_mutex(&s.task->getSerial(), s.self) : nullptr;
    if (o)
        mark(s.self, o->line, type, site);
}

/* A wait on a condition, until it is over, also by an exception. */
class condition_wait
{
    const char *site;

  public:
    explicit condition_wait(const char *site) : site(site) { condition_mark(WAIT, site); }
    ~condition_wait() { condition_mark(READY, site); }
};

/* (Those of the library's monitors, such as a barrier, are inlined into the program, or called by
 * what is.) */
static const char *condition_site(const char *called, void *const *frame)
{
    return code_call_of_library(code_call_of_inline(called, frame));
}

WRAP(void, _ZN10uCondition4waitEv, uCondition *condition)
{
    condition_wait wait(condition_site(SITE, FRAME));
    __real__ZN10uCondition4waitEv(condition);
}

WRAP(bool, _ZN10uCondition6signalEv, uCondition *condition)
{
    if (!condition->empty())
        condition_mark(SIGNAL, condition_site(SITE, FRAME));
    return __real__ZN10uCondition6signalEv(condition);
}

WRAP(bool, _ZN10uCondition11signalBlockEv, uCondition *condition)
{
    if (condition->empty())
        return __real__ZN10uCondition11signalBlockEv(condition);
    const char *site = condition_site(SITE, FRAME);
    condition_mark(SIGNAL, site);
    condition_wait wait(site);
    return __real__ZN10uCondition11signalBlockEv(condition);
}
