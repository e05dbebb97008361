/* Critical sections and locks: one thread at a time is in each.  Those of both runtimes have the same calls for
 * locks; critical sections are each compiler's own. */
#include "clients/trace/omp/real.h"
#include "clients/trace/omp/events.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Right before a call that may block, but blocks only who is not alone: he asks for it. */
static poet_line_t come(const void *section, const char *name, const void *site)
{
    poet_line_t line = line_of(LINE_CRITICAL, section, name, site);
    if (line_comes(LINE_CRITICAL, section) && line)
        note(EVENT_petition, line, 0, site);
    return line;
}

static void go_in(poet_line_t line, const void *site)
{
    if (line)
        poet_enter_at(line, event_type(EVENT_enter), event_type(EVENT_entered), site);
}

/* Right before it is given back. */
static void go_out(enum line_kind kind, const void *object, const void *site)
{
    poet_line_t line = line_of(kind, object, "", site);
    if (line)
        poet_leave_at(line, event_type(EVENT_leave), event_type(EVENT_left), site);
}

/* ---- critical sections ---- */

static const char unnamed, atomics; /* what those that have no name are found by */

#define SECTION(start, end, object, name)                                                          \
    API void start(void);                                                                          \
    API void start(void)                                                                           \
    {                                                                                              \
        void (*call)(void) = REAL(start, SITE, void, (void));                                      \
        poet_line_t line = come(object, name, SITE);                                 \
        if (call)                                                                                  \
            call();                                                                                \
        go_in(line, SITE);                                                                         \
    }                                                                                              \
    API void end(void);                                                                            \
    API void end(void)                                                                             \
    {                                                                                              \
        void (*call)(void) = REAL(end, SITE, void, (void));                                        \
        go_out(LINE_CRITICAL, object, SITE);                                                       \
        if (call)                                                                                  \
            call();                                                                                \
        line_goes(LINE_CRITICAL, object);                                                          \
    }
SECTION(GOMP_critical_start, GOMP_critical_end, &unnamed, "unnamed")
SECTION(GOMP_atomic_start, GOMP_atomic_end, &atomics, "atomic")

API void GOMP_critical_name_start(void **name);
API void GOMP_critical_name_start(void **name)
{
    void (*call)(void **) = REAL(GOMP_critical_name_start, SITE, void, (void **));
    poet_line_t line = come(name, "", SITE);
    if (call)
        call(name);
    go_in(line, SITE);
}

API void GOMP_critical_name_end(void **name);
API void GOMP_critical_name_end(void **name)
{
    void (*call)(void **) = REAL(GOMP_critical_name_end, SITE, void, (void **));
    go_out(LINE_CRITICAL, name, SITE);
    if (call)
        call(name);
    line_goes(LINE_CRITICAL, name);
}

typedef struct source source; /* where a call stands, as clang says it */
API void __kmpc_critical(source *at, int32_t thread, void *name);
API void __kmpc_critical(source *at, int32_t thread, void *name)
{
    void (*call)(source *, int32_t, void *) =
        REAL(__kmpc_critical, SITE, void, (source *, int32_t, void *));
    poet_line_t line = come(name, "", SITE);
    if (call)
        call(at, thread, name);
    go_in(line, SITE);
}

API void __kmpc_critical_with_hint(source *at, int32_t thread, void *name, uint32_t hint);
API void __kmpc_critical_with_hint(source *at, int32_t thread, void *name, uint32_t hint)
{
    void (*call)(source *, int32_t, void *, uint32_t) =
        REAL(__kmpc_critical_with_hint, SITE, void, (source *, int32_t, void *, uint32_t));
    poet_line_t line = come(name, "", SITE);
    if (call)
        call(at, thread, name, hint);
    go_in(line, SITE);
}

API void __kmpc_end_critical(source *at, int32_t thread, void *name);
API void __kmpc_end_critical(source *at, int32_t thread, void *name)
{
    void (*call)(source *, int32_t, void *) =
        REAL(__kmpc_end_critical, SITE, void, (source *, int32_t, void *));
    go_out(LINE_CRITICAL, name, SITE);
    if (call)
        call(at, thread, name);
    line_goes(LINE_CRITICAL, name);
}

/* ---- locks ---- */

#define LIFE(name, begins)                                                                          \
    API void name(void *lock);                                                                     \
    API void name(void *lock)                                                                      \
    {                                                                                              \
        void (*call)(void *) = REAL(name, SITE, void, (void *));                                   \
        line_forget(LINE_LOCK, lock);                                                              \
        if (begins)                                                                                \
            line_of(LINE_LOCK, lock, "", SITE);                                                    \
        if (call)                                                                                  \
            call(lock);                                                                            \
    }
#define LIFE_HINT(name)                                                                            \
    API void name(void *lock, int hint);                                                           \
    API void name(void *lock, int hint)                                                            \
    {                                                                                              \
        void (*call)(void *, int) = REAL(name, SITE, void, (void *, int));                         \
        line_forget(LINE_LOCK, lock);                                                              \
        line_of(LINE_LOCK, lock, "", SITE);                                                        \
        if (call)                                                                                  \
            call(lock, hint);                                                                      \
    }
LIFE(omp_init_lock, true)
LIFE(omp_init_nest_lock, true)
LIFE(omp_destroy_lock, false)
LIFE(omp_destroy_nest_lock, false)
LIFE_HINT(omp_init_lock_with_hint)
LIFE_HINT(omp_init_nest_lock_with_hint)

/* One that is free is tried first, so that only who waits has asked. */
API void omp_set_lock(void *lock);
API void omp_set_lock(void *lock)
{
    void (*call)(void *) = REAL(omp_set_lock, SITE, void, (void *));
    int (*test)(void *) = REAL(omp_test_lock, SITE, int, (void *));
    poet_line_t line = line_of(LINE_LOCK, lock, "", SITE);
    if (!line || !test || !test(lock)) {
        if (line)
            note(EVENT_petition, line, 0, SITE);
        if (call)
            call(lock);
    }
    go_in(line, SITE);
}

API void omp_unset_lock(void *lock);
API void omp_unset_lock(void *lock)
{
    void (*call)(void *) = REAL(omp_unset_lock, SITE, void, (void *));
    go_out(LINE_LOCK, lock, SITE);
    if (call)
        call(lock);
}

API int omp_test_lock(void *lock);
API int omp_test_lock(void *lock)
{
    int (*call)(void *) = REAL(omp_test_lock, SITE, int, (void *));
    int got = call ? call(lock) : 0;
    poet_line_t line = line_of(LINE_LOCK, lock, "", SITE);
    if (got)
        go_in(line, SITE);
    else if (line)
        note(EVENT_refused, line, 0, SITE);
    return got;
}

/* ---- locks that nest: the outermost visit is told ---- */

/* It was got: one more visit. */
static void visit(void *lock, poet_line_t line, const void *site)
{
    unsigned *depth = line_depth(LINE_LOCK, lock);
    if (line && depth && (*depth)++ == 0)
        go_in(line, site);
}

API void omp_set_nest_lock(void *lock);
API void omp_set_nest_lock(void *lock)
{
    void (*call)(void *) = REAL(omp_set_nest_lock, SITE, void, (void *));
    int (*test)(void *) = REAL(omp_test_nest_lock, SITE, int, (void *));
    poet_line_t line = line_of(LINE_LOCK, lock, "", SITE);
    if (!line || !test || !test(lock)) {
        if (line)
            note(EVENT_petition, line, 0, SITE);
        if (call)
            call(lock);
    }
    visit(lock, line, SITE);
}

API void omp_unset_nest_lock(void *lock);
API void omp_unset_nest_lock(void *lock)
{
    void (*call)(void *) = REAL(omp_unset_nest_lock, SITE, void, (void *));
    unsigned *depth = line_depth(LINE_LOCK, lock);
    if (depth && *depth && --*depth == 0)
        go_out(LINE_LOCK, lock, SITE);
    if (call)
        call(lock);
}

API int omp_test_nest_lock(void *lock);
API int omp_test_nest_lock(void *lock)
{
    int (*call)(void *) = REAL(omp_test_nest_lock, SITE, int, (void *));
    int got = call ? call(lock) : 0;
    poet_line_t line = line_of(LINE_LOCK, lock, "", SITE);
    if (got)
        visit(lock, line, SITE);
    else if (line)
        note(EVENT_refused, line, 0, SITE);
    return got;
}
