#include "clients/trace/core/arena.h"

#include "clients/trace/core/lock.h"

#include <sys/mman.h>

#define ARENA_BYTES (256u << 10)

static latch lock;
static char *next;
static size_t left;

void *arena_take(size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    latch_take(&lock);
    void *p = NULL;
    if (bytes > left && bytes <= ARENA_BYTES) {
        char *more =
            mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (more != MAP_FAILED) {
            next = more;
            left = ARENA_BYTES;
        }
    }
    if (bytes <= left) {
        p = next;
        next += bytes;
        left -= bytes;
    }
    latch_give(&lock);
    return p;
}

void arena_forked(void)
{
    latch_reset(&lock);
    left = 0;
}
