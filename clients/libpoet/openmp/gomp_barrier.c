/* Barriers of programs compiled with gcc: calls in which all members of a team wait for each
 * other. */
#include "clients/libpoet/openmp/gomp.h"
#include "clients/libpoet/openmp/worksharing.h"

#include <stddef.h>

/* Called right before such a call, and right after it. */
static void gomp_barrier_arrive(struct team_member *m, const void *site)
{
    if (!m)
        return;
    team_barrier_arrive(m, site);
    task_replay_await_team();
}

static void gomp_barrier_pass(struct team_member *m, bool cancelled, const void *site)
{
    if (!m)
        return;
    team_barrier_pass(m, cancelled, site);
    task_replay_resume();
}

/* Defines a call in which all members wait for all. */
#define BARRIER(name, ends_loop)                                                                   \
    API void name(void);                                                                           \
    API void name(void)                                                                            \
    {                                                                                              \
        void (*call)(void) = REAL(name, SITE, void, (void));                                       \
        struct team_member *m = gomp_current_member(SITE);                                         \
        gomp_barrier_arrive(m, SITE);                                                              \
        if (call)                                                                                  \
            call();                                                                                \
        gomp_barrier_pass(m, false, SITE);                                                         \
        if (m)                                                                                     \
            m->loops += ends_loop;                                                                 \
    }
BARRIER(GOMP_barrier, 0)
BARRIER(GOMP_loop_end, 1)
BARRIER(GOMP_sections_end, 0)

/* Defines one that members leave early if the region, or the construct, is cancelled. */
#define BARRIER_CANCEL(name, ends_loop)                                                            \
    API bool name(void);                                                                           \
    API bool name(void)                                                                            \
    {                                                                                              \
        bool (*call)(void) = REAL(name, SITE, bool, (void));                                       \
        struct team_member *m = gomp_current_member(SITE);                                         \
        gomp_barrier_arrive(m, SITE);                                                              \
        bool cancelled = call && call();                                                           \
        gomp_barrier_pass(m, cancelled, SITE);                                                     \
        if (m)                                                                                     \
            m->loops += ends_loop;                                                                 \
        return cancelled;                                                                          \
    }
BARRIER_CANCEL(GOMP_barrier_cancel, 0)
BARRIER_CANCEL(GOMP_loop_end_cancel, 1)
BARRIER_CANCEL(GOMP_sections_end_cancel, 0)

/* Not a barrier: but loops are identified by how many there were before. */
API void GOMP_loop_end_nowait(void);
API void GOMP_loop_end_nowait(void)
{
    void (*call)(void) = REAL(GOMP_loop_end_nowait, SITE, void, (void));
    struct team_member *m = gomp_current_member(SITE);
    if (call)
        call();
    if (m)
        m->loops++;
}

/* The end of a construct with reductions by tasks. */
API void GOMP_workshare_task_reduction_unregister(bool cancelled);
API void GOMP_workshare_task_reduction_unregister(bool cancelled)
{
    void (*call)(bool) = REAL(GOMP_workshare_task_reduction_unregister, SITE, void, (bool));
    struct team_member *m = cancelled ? NULL : gomp_current_member(SITE);
    gomp_barrier_arrive(m, SITE);
    if (call)
        call(cancelled);
    gomp_barrier_pass(m, false, SITE);
}

/* single with copyprivate: the chosen member gets NULL at once, and waits for the others when it
 * passes the data; the others wait for it here. */
static bool gomp_barrier_is_first(struct team_member *m)
{
    bool first = m->copies++ == m->team->copies;
    m->team->copies += first;
    return first;
}

API void *GOMP_single_copy_start(void);
API void *GOMP_single_copy_start(void)
{
    void *(*call)(void) = REAL(GOMP_single_copy_start, SITE, void *, (void));
    struct team_member *m = gomp_current_member(SITE);
    bool waits = m && !m->team->cancellable, asked = worksharing_begin(m, WORKSHARING_SINGLE);
    if (asked && gomp_barrier_is_first(m)) { /* (the call does not wait for them) */
        void *none = call ? call() : NULL;
        worksharing_end(m, true, WORKSHARING_SINGLE, true, SITE);
        return none;
    }
    worksharing_end(m, asked, WORKSHARING_SINGLE, false, SITE);
    if (waits)
        gomp_barrier_arrive(m, SITE);
    void *copied = call ? call() : NULL;
    if (waits && copied)
        gomp_barrier_pass(m, false, SITE);
    else if (waits)
        team_barrier_retry(m, SITE);
    else if (m)
        event_record(EVENT_through, m->team->line, POET_DOUBT_THREAD, SITE);
    return copied;
}

API void GOMP_single_copy_end(void *data);
API void GOMP_single_copy_end(void *data)
{
    void (*call)(void *) = REAL(GOMP_single_copy_end, SITE, void, (void *));
    struct team_member *m = gomp_current_member(SITE);
    bool waits = m && !m->team->cancellable;
    if (waits)
        gomp_barrier_arrive(m, SITE);
    if (call)
        call(data);
    if (waits)
        gomp_barrier_pass(m, false, SITE);
    else if (m)
        event_record(EVENT_through, m->team->line, POET_DOUBT_THREAD, SITE);
}

/* ---- cancellation ---- */

static bool gomp_barrier_record_stopped(bool is, const void *site)
{
    struct team_member *m = gomp_current_member(site);
    if (m && is)
        event_record(EVENT_stopped, m->team->line, POET_DOUBT_THREAD, site);
    return is;
}

API bool GOMP_cancel(int what, bool wanted);
API bool GOMP_cancel(int what, bool wanted)
{
    bool (*call)(int, bool) = REAL(GOMP_cancel, SITE, bool, (int, bool));
    struct team_member *m = gomp_current_member(SITE);
    if (m && wanted && m->team->cancellable)
        event_record(EVENT_stop, m->team->line, 0, SITE);
    return gomp_barrier_record_stopped(call && call(what, wanted), SITE);
}

API bool GOMP_cancellation_point(int what);
API bool GOMP_cancellation_point(int what)
{
    bool (*call)(int) = REAL(GOMP_cancellation_point, SITE, bool, (int));
    return gomp_barrier_record_stopped(call && call(what), SITE);
}
