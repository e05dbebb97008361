/* Barriers of programs that gcc compiled: where all members of a team wait for each other, whatever the call. */
#include "clients/trace/omp/gomp.h"
#include "clients/trace/omp/share.h"

#include <stddef.h>

/* Right before such a call, and right after it. */
static void reach(struct member *m, const void *site)
{
    if (!m)
        return;
    barrier_reach(m, site);
    held_await_team();
}

static void through(struct member *m, bool cancelled, const void *site)
{
    if (!m)
        return;
    barrier_through(m, cancelled, site);
    held_go_on();
}

/* A call in which all wait for all. */
#define BARRIER(name, ends_loop)                                                                   \
    API void name(void);                                                                           \
    API void name(void)                                                                            \
    {                                                                                              \
        void (*call)(void) = REAL(name, SITE, void, (void));                                       \
        struct member *m = gomp_member(SITE);                                                      \
        reach(m, SITE);                                                                            \
        if (call)                                                                                  \
            call();                                                                                \
        through(m, false, SITE);                                                                   \
        if (m)                                                                                     \
            m->loops += ends_loop;                                                                 \
    }
BARRIER(GOMP_barrier, 0)
BARRIER(GOMP_loop_end, 1)
BARRIER(GOMP_sections_end, 0)

/* One that members leave early where the region, or the construct, is cancelled. */
#define BARRIER_CANCEL(name, ends_loop)                                                            \
    API bool name(void);                                                                           \
    API bool name(void)                                                                            \
    {                                                                                              \
        bool (*call)(void) = REAL(name, SITE, bool, (void));                                       \
        struct member *m = gomp_member(SITE);                                                      \
        reach(m, SITE);                                                                            \
        bool cancelled = call && call();                                                           \
        through(m, cancelled, SITE);                                                               \
        if (m)                                                                                     \
            m->loops += ends_loop;                                                                 \
        return cancelled;                                                                          \
    }
BARRIER_CANCEL(GOMP_barrier_cancel, 0)
BARRIER_CANCEL(GOMP_loop_end_cancel, 1)
BARRIER_CANCEL(GOMP_sections_end_cancel, 0)

/* No barrier: but loops are told apart by how many there were before. */
API void GOMP_loop_end_nowait(void);
API void GOMP_loop_end_nowait(void)
{
    void (*call)(void) = REAL(GOMP_loop_end_nowait, SITE, void, (void));
    struct member *m = gomp_member(SITE);
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
    struct member *m = cancelled ? NULL : gomp_member(SITE);
    reach(m, SITE);
    if (call)
        call(cancelled);
    through(m, false, SITE);
}

/* single with copyprivate: the one that is chosen gets NULL at once, and waits for the others as it gives what is to
 * be copied; the others wait for it here. */
static bool comes_first(struct member *m)
{
    bool first = m->copies++ == m->team->copies;
    m->team->copies += first;
    return first;
}

API void *GOMP_single_copy_start(void);
API void *GOMP_single_copy_start(void)
{
    void *(*call)(void) = REAL(GOMP_single_copy_start, SITE, void *, (void));
    struct member *m = gomp_member(SITE);
    bool waits = m && !m->team->cancellable, asked = share_asks(m, SHARE_SINGLE);
    if (asked && comes_first(m)) { /* (for whom the call does not wait) */
        void *none = call ? call() : NULL;
        share_got(m, true, SHARE_SINGLE, true, SITE);
        return none;
    }
    share_got(m, asked, SHARE_SINGLE, false, SITE);
    if (waits)
        reach(m, SITE);
    void *copied = call ? call() : NULL;
    if (waits && copied)
        through(m, false, SITE);
    else if (waits)
        barrier_not_yet(m, SITE);
    else if (m)
        note(EVENT_through, m->team->line, POET_DOUBT_THREAD, SITE);
    return copied;
}

API void GOMP_single_copy_end(void *data);
API void GOMP_single_copy_end(void *data)
{
    void (*call)(void *) = REAL(GOMP_single_copy_end, SITE, void, (void *));
    struct member *m = gomp_member(SITE);
    bool waits = m && !m->team->cancellable;
    if (waits)
        reach(m, SITE);
    if (call)
        call(data);
    if (waits)
        through(m, false, SITE);
    else if (m)
        note(EVENT_through, m->team->line, POET_DOUBT_THREAD, SITE);
}

/* ---- cancellation ---- */

static bool stopped(bool is, const void *site)
{
    struct member *m = gomp_member(site);
    if (m && is)
        note(EVENT_stopped, m->team->line, POET_DOUBT_THREAD, site);
    return is;
}

API bool GOMP_cancel(int what, bool wanted);
API bool GOMP_cancel(int what, bool wanted)
{
    bool (*call)(int, bool) = REAL(GOMP_cancel, SITE, bool, (int, bool));
    struct member *m = gomp_member(SITE);
    if (m && wanted && m->team->cancellable)
        note(EVENT_stop, m->team->line, 0, SITE);
    return stopped(call && call(what, wanted), SITE);
}

API bool GOMP_cancellation_point(int what);
API bool GOMP_cancellation_point(int what)
{
    bool (*call)(int) = REAL(GOMP_cancellation_point, SITE, bool, (int));
    return stopped(call && call(what), SITE);
}
