#include "clients/libpoet/core/tracer_arena.h"

#include "clients/libpoet/core/tracer_lock.h"

#include <string.h>
#include <sys/mman.h>

#define ARENA_BYTES (256u << 10)

static latch tracer_arena_lock;
static char *tracer_arena_next;
static size_t tracer_arena_left;

void *tracer_arena_alloc(size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    latch_lock(&tracer_arena_lock);
    void *p = NULL;
    if (bytes > tracer_arena_left && bytes <= ARENA_BYTES) {
        char *more =
            mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (more != MAP_FAILED) {
            tracer_arena_next = more;
            tracer_arena_left = ARENA_BYTES;
        }
    }
    if (bytes <= tracer_arena_left) {
        p = tracer_arena_next;
        tracer_arena_next += bytes;
        tracer_arena_left -= bytes;
    }
    latch_unlock(&tracer_arena_lock);
    return p;
}

char *tracer_arena_copy(const char *text, size_t bytes)
{
    char *copy = tracer_arena_alloc(bytes + 1);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

void tracer_arena_forked(void)
{
    latch_reset(&tracer_arena_lock);
    tracer_arena_left = 0;
}
