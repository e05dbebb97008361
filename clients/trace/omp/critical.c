/* Critical sections, and atomic blocks that a lock stands for: one thread at a time is in each.  The calls are
 * each compiler's own. */
#include "clients/trace/omp/events.h"
#include "clients/trace/omp/lines.h"
#include "clients/trace/omp/real.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Right before a call that may block, but blocks only who is not alone: he asks for it. */
static poet_line_t come(const void *section, const char *name, const void *site)
{
    poet_line_t line = line_of(LINE_CRITICAL, section, name, site);
    bool blocks = line_comes(LINE_CRITICAL, section);
    if (line && poet_again(event_type(EVENT_petition), blocks))
        note(EVENT_petition, line, 0, site);
    if (line)
        poet_turn(line, event_type(EVENT_entered));
    return line;
}

static const char unnamed, atomics; /* what those that have no name are found by */

#define SECTION(start, end, object, name)                                                          \
    API void start(void);                                                                          \
    API void start(void)                                                                           \
    {                                                                                              \
        void (*call)(void) = REAL(start, SITE, void, (void));                                      \
        poet_line_t line = come(object, name, SITE);                                               \
        if (call)                                                                                  \
            call();                                                                                \
        line_enter(line, SITE);                                                                    \
    }                                                                                              \
    API void end(void);                                                                            \
    API void end(void)                                                                             \
    {                                                                                              \
        void (*call)(void) = REAL(end, SITE, void, (void));                                        \
        line_leave(LINE_CRITICAL, object, SITE);                                                   \
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
    line_enter(line, SITE);
}

API void GOMP_critical_name_end(void **name);
API void GOMP_critical_name_end(void **name)
{
    void (*call)(void **) = REAL(GOMP_critical_name_end, SITE, void, (void **));
    line_leave(LINE_CRITICAL, name, SITE);
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
    line_enter(line, SITE);
}

API void __kmpc_critical_with_hint(source *at, int32_t thread, void *name, uint32_t hint);
API void __kmpc_critical_with_hint(source *at, int32_t thread, void *name, uint32_t hint)
{
    void (*call)(source *, int32_t, void *, uint32_t) =
        REAL(__kmpc_critical_with_hint, SITE, void, (source *, int32_t, void *, uint32_t));
    poet_line_t line = come(name, "", SITE);
    if (call)
        call(at, thread, name, hint);
    line_enter(line, SITE);
}

API void __kmpc_end_critical(source *at, int32_t thread, void *name);
API void __kmpc_end_critical(source *at, int32_t thread, void *name)
{
    void (*call)(source *, int32_t, void *) =
        REAL(__kmpc_end_critical, SITE, void, (source *, int32_t, void *));
    line_leave(LINE_CRITICAL, name, SITE);
    if (call)
        call(at, thread, name);
    line_goes(LINE_CRITICAL, name);
}
