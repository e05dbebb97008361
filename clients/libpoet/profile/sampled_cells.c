/* Shared cells: numbers that the program stores to, in memory that the server samples. */
#define _GNU_SOURCE
#include "clients/libpoet/profile/sampled_cells.h"

#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/stderr_log.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/profile/metric_name.h"
#include "clients/libpoet/profile/region_owner.h"
#include "clients/libpoet/poet.h"
#include "wire/metric_messages.h"
#include "wire/program_messages.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct cell_name {
    const char *name, *unit;
};

static latch lock;
static char *_Atomic memory; /* WATCH_MAP_BYTES; NULL: there is none yet */
static struct cell_name *names; /* of WATCH_CELLS */
static _Atomic uint32_t cells;
static bool full; /* which was reported */
static _Alignas(64) int64_t nobodys;

static void sampled_cells_send(int fd)
{
    uint8_t message[MESSAGE_FRAME_BYTES + 4];
    struct encoder out = {.data = message, .room = sizeof message};
    uint32_t life = atomic_load(&current_lifetime);
    if (!life || fd < 0 || server_needs_socket)
        return;
    encoder_begin_message(&out, MESSAGE_SAMPLED_CELLS);
    encode_u32(&out, WATCH_VERSION);
    encoder_end_message(&out);
    server_send_with(&out, fd, life);
}

static void *sampled_cells_map(int fd, void *at)
{
    void *p = mmap(at, WATCH_MAP_BYTES, PROT_READ | PROT_WRITE,
                   fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0)
                          : MAP_SHARED | (at ? MAP_FIXED : 0),
                   fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Maps memory at the address of the old one, with its content; fd -1: private memory. */
static void sampled_cells_send_name(char *at, int fd)
{
    char *new = sampled_cells_map(fd, NULL);
    if (!new)
        return;
    memcpy(new, at, WATCH_MAP_BYTES);
    if (mremap(new, WATCH_MAP_BYTES, WATCH_MAP_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, at) ==
        MAP_FAILED)
        munmap(new, WATCH_MAP_BYTES);
}

/* Another server gets memory of its own. */
void sampled_cells_announce(void)
{
    char *at = atomic_load(&memory);
    int fd = at ? queue_memory(WATCH_MAP_BYTES) : -1;
    if (fd < 0)
        return;
    sampled_cells_send_name(at, fd);
    sampled_cells_send(fd);
    close(fd);
    for (uint32_t i = 0; i < atomic_load(&cells); i++)
        metric_name_send(METRIC_WATCHED_CODES + i, METRIC_WATCHED, names[i].name, names[i].unit);
}

void sampled_cells_forked(void)
{
    latch_reset(&lock);
    if (atomic_load(&memory))
        sampled_cells_send_name(atomic_load(&memory), -1);
}

static bool sampled_cells_have_memory(void)
{
    if (atomic_load(&memory))
        return true;
    if (!names)
        names = tracer_arena_alloc(WATCH_CELLS * sizeof *names);
    int fd = names ? queue_memory(WATCH_MAP_BYTES) : -1;
    if (fd < 0)
        return false;
    atomic_store(&memory, sampled_cells_map(fd, NULL));
    if (atomic_load(&memory))
        sampled_cells_send(fd);
    close(fd);
    return atomic_load(&memory) != NULL;
}

static char *sampled_cells_copy_label(const char *text)
{
    return tracer_arena_copy(text, strnlen(text, MESSAGE_LABEL_BYTES - 1));
}

static int64_t *sampled_cells_get(uint32_t i)
{
    return (int64_t *)(void *)(atomic_load(&memory) + (size_t)i * WATCH_CELL_BYTES);
}

static int64_t *sampled_cells_create(const char *name, const char *unit)
{
    uint32_t i = atomic_load(&cells);
    struct cell_name kept = {i < WATCH_CELLS ? sampled_cells_copy_label(name) : NULL,
                             sampled_cells_copy_label(unit)};
    if (!kept.name || !kept.unit) {
        if (!full)
            stderr_log_print("poet_watch: %.80s: too many watched variables; not sampled", name);
        full = true;
        return &nobodys;
    }
    names[i] = kept;
    atomic_store(&cells, i + 1);
    metric_name_send(METRIC_WATCHED_CODES + i, METRIC_WATCHED, kept.name, kept.unit);
    return sampled_cells_get(i);
}

static bool sampled_cells_is_sampled(void)
{
    return atomic_load(&current_lifetime) && !server_needs_socket &&
           measurement_wanted_initial() & WANTED_METERS;
}

static int64_t *sampled_cells_find_or_create(const char *name, const char *unit)
{
    for (uint32_t i = 0; i < atomic_load(&cells); i++)
        if (strncmp(names[i].name, name, MESSAGE_LABEL_BYTES - 1) == 0)
            return sampled_cells_get(i);
    return sampled_cells_is_sampled() && sampled_cells_have_memory()
               ? sampled_cells_create(name, unit)
               : &nobodys;
}

int64_t *poet_watch(const char *name, const char *unit)
{
    struct traced_thread *t = thread_self();
    if (!name)
        return &nobodys;
    int saved = errno;
    if (t)
        busy_begin(t);
    latch_lock(&lock);
    int64_t *cell = sampled_cells_find_or_create(name, unit ? unit : "");
    latch_unlock(&lock);
    if (t)
        busy_end(t);
    errno = saved;
    return cell;
}
