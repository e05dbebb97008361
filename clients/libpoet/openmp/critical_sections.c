/* Critical sections, and atomic blocks that are implemented by a lock: one thread at a time is in
 * each. Each compiler has its own calls. */
#include "clients/libpoet/openmp/omp_events.h"
#include "clients/libpoet/openmp/omp_objects.h"
#include "clients/libpoet/openmp/omp_runtime.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Called right before a call that may block, but only if the thread is not alone: it records a
 * request. */
static poet_line_t critical_section_arrive(const void *section, const char *name, const void *site)
{
    poet_line_t line = omp_object_line(OMP_OBJECT_CRITICAL, section, name, site);
    bool blocks = omp_object_arrive(OMP_OBJECT_CRITICAL, section);
    if (line && poet_replay_next_is(event_type(EVENT_acquire), blocks))
        event_record(EVENT_acquire, line, 0, site);
    if (line)
        poet_replay_wait_turn(line, event_type(EVENT_acquired));
    return line;
}

static const char unnamed, atomics; /* identify those that have no name */

#define SECTION(start, end, object, name)                                                          \
    API void start(void);                                                                          \
    API void start(void)                                                                           \
    {                                                                                              \
        void (*call)(void) = REAL(start, SITE, void, (void));                                      \
        poet_line_t line = critical_section_arrive(object, name, SITE);                            \
        if (call)                                                                                  \
            call();                                                                                \
        omp_object_enter(line, SITE);                                                              \
    }                                                                                              \
    API void end(void);                                                                            \
    API void end(void)                                                                             \
    {                                                                                              \
        void (*call)(void) = REAL(end, SITE, void, (void));                                        \
        omp_object_leave(OMP_OBJECT_CRITICAL, object, SITE);                                       \
        if (call)                                                                                  \
            call();                                                                                \
        omp_object_depart(OMP_OBJECT_CRITICAL, object);                                            \
    }
SECTION(GOMP_critical_start, GOMP_critical_end, &unnamed, "unnamed")
SECTION(GOMP_atomic_start, GOMP_atomic_end, &atomics, "atomic")

API void GOMP_critical_name_start(void **name);
API void GOMP_critical_name_start(void **name)
{
    void (*call)(void **) = REAL(GOMP_critical_name_start, SITE, void, (void **));
    poet_line_t line = critical_section_arrive(name, "", SITE);
    if (call)
        call(name);
    omp_object_enter(line, SITE);
}

API void GOMP_critical_name_end(void **name);
API void GOMP_critical_name_end(void **name)
{
    void (*call)(void **) = REAL(GOMP_critical_name_end, SITE, void, (void **));
    omp_object_leave(OMP_OBJECT_CRITICAL, name, SITE);
    if (call)
        call(name);
    omp_object_depart(OMP_OBJECT_CRITICAL, name);
}

typedef struct session source; /* a call site, as clang passes it */
API void __kmpc_critical(source *at, int32_t thread, void *name);
API void __kmpc_critical(source *at, int32_t thread, void *name)
{
    void (*call)(source *, int32_t, void *) =
        REAL(__kmpc_critical, SITE, void, (source *, int32_t, void *));
    poet_line_t line = critical_section_arrive(name, "", SITE);
    if (call)
        call(at, thread, name);
    omp_object_enter(line, SITE);
}

API void __kmpc_critical_with_hint(source *at, int32_t thread, void *name, uint32_t hint);
API void __kmpc_critical_with_hint(source *at, int32_t thread, void *name, uint32_t hint)
{
    void (*call)(source *, int32_t, void *, uint32_t) =
        REAL(__kmpc_critical_with_hint, SITE, void, (source *, int32_t, void *, uint32_t));
    poet_line_t line = critical_section_arrive(name, "", SITE);
    if (call)
        call(at, thread, name, hint);
    omp_object_enter(line, SITE);
}

API void __kmpc_end_critical(source *at, int32_t thread, void *name);
API void __kmpc_end_critical(source *at, int32_t thread, void *name)
{
    void (*call)(source *, int32_t, void *) =
        REAL(__kmpc_end_critical, SITE, void, (source *, int32_t, void *));
    omp_object_leave(OMP_OBJECT_CRITICAL, name, SITE);
    if (call)
        call(at, thread, name);
    omp_object_depart(OMP_OBJECT_CRITICAL, name);
}
