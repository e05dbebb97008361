#define _GNU_SOURCE
#include "tests/fuzz/changing_memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* One of this number of inputs uses another thread: with few CPUs, waiting for it takes longer
 * than everything else. */
#define EACH_BESIDE 32u

static void make(struct changing *c)
{
    c->fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (c->fd < 0 || ftruncate(c->fd, (off_t)c->bytes) < 0 ||
        (c->sealed && fcntl(c->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0))
        abort();
    c->memory = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
    if (c->memory == MAP_FAILED)
        abort();
}

void changing_begin(struct changing *c, const uint8_t *data, size_t size)
{
    if (!c->memory)
        make(c);
    fallocate(c->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)c->bytes);
    c->data = data;
    c->size = size;
}

static void patch_at(struct changing *c, size_t i)
{
    uint16_t place;
    uint64_t value;
    memcpy(&place, c->data + i, sizeof place);
    memcpy(&value, c->data + i + 2, sizeof value);
    c->patch(c->memory, place, value);
}

void changing_once(struct changing *c)
{
    for (size_t i = 0; i + PATCH_BYTES <= c->size; i += PATCH_BYTES)
        patch_at(c, i);
}

/* If two patches change one place, the other one takes effect now. */
static void backwards(struct changing *c)
{
    for (size_t i = c->size / PATCH_BYTES; i > 0; i--)
        patch_at(c, (i - 1) * PATCH_BYTES);
}

static void *change(void *context)
{
    struct changing *c = context;
    while (!atomic_load(&c->stop))
        changing_once(c);
    return NULL;
}

void changing_go_on(struct changing *c)
{
    c->beside = c->size % EACH_BESIDE == 0;
    if (!c->beside) {
        backwards(c);
        return;
    }
    atomic_store(&c->stop, false);
    if (pthread_create(&c->other, NULL, change, c) != 0)
        abort();
}

void changing_end(struct changing *c)
{
    if (!c->beside)
        return;
    atomic_store(&c->stop, true);
    pthread_join(c->other, NULL);
}
