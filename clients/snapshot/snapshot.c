#define _GNU_SOURCE
#include "clients/snapshot/snapshot.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the index of the first piece that ends after an address. */
static size_t snapshot_find(const struct snapshot *s, uint64_t address)
{
    size_t low = 0, high = s->memory_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->memory[middle].start + s->memory[middle].size <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Reads what one piece has. */
static size_t snapshot_read_piece(const struct snapshot *s, const struct snapshot_memory *m,
                                  uint64_t address, void *to, size_t size)
{
    size_t at = (size_t)(address - m->start);
    size = size < m->size - at ? size : m->size - at;
    if (m->bytes) {
        memcpy(to, m->bytes + at, size);
        return size;
    }
    ssize_t got = pread(s->core, to, size, (off_t)(m->offset + at));
    return got > 0 ? (size_t)got : 0;
}

size_t snapshot_read(const struct snapshot *s, uint64_t address, void *to, size_t size)
{
    size_t done = 0, got = 1, i = snapshot_find(s, address);
    for (; got && done < size && i < s->memory_count; i++) {
        if (s->memory[i].start > address + done)
            break;
        got = snapshot_read_piece(s, &s->memory[i], address + done, (char *)to + done, size - done);
        done += got;
    }
    return done;
}

bool snapshot_read_u32(const struct snapshot *s, uint64_t address, uint32_t *value)
{
    return snapshot_read(s, address, value, sizeof *value) == sizeof *value;
}

bool snapshot_read_u64(const struct snapshot *s, uint64_t address, uint64_t *value)
{
    return snapshot_read(s, address, value, sizeof *value) == sizeof *value;
}

/* Removes what the snapshot has from the beginning and the end of a piece that goes before piece
 * `at`. */
static void snapshot_trim(const struct snapshot *s, size_t at, struct snapshot_memory *m)
{
    uint64_t start = m->start, end = start + m->size;
    for (; at < s->memory_count && s->memory[at].start <= start && start < end; at++)
        start = s->memory[at].start + s->memory[at].size;
    start = start < end ? start : end;
    if (at < s->memory_count && s->memory[at].start < end)
        end = s->memory[at].start > start ? s->memory[at].start : start;
    size_t skipped = (size_t)(start - m->start);
    if (m->bytes && skipped)
        memmove(m->bytes, m->bytes + skipped, (size_t)(end - start));
    m->offset += skipped;
    m->start = start;
    m->size = (size_t)(end - start);
}

void snapshot_add_memory(struct snapshot *s, struct snapshot_memory memory)
{
    if (memory.start + memory.size >= memory.start)
        snapshot_trim(s, snapshot_find(s, memory.start), &memory);
    if (!memory.size || memory.start + memory.size < memory.start) {
        free(memory.bytes);
        return;
    }
    size_t at = snapshot_find(s, memory.start);
    ARRAY_PUSH(s->memory, s->memory_count, memory);
    memmove(s->memory + at + 1, s->memory + at, (s->memory_count - 1 - at) * sizeof *s->memory);
    s->memory[at] = memory;
    s->memory_bytes += memory.bytes ? memory.size : 0;
}

const struct snapshot_mapping *snapshot_mapping_at(const struct snapshot *s, uint64_t address)
{
    for (size_t i = 0; i < s->mapping_count; i++)
        if (address >= s->mappings[i].start && address < s->mappings[i].end)
            return &s->mappings[i];
    return NULL;
}

const struct snapshot_thread *snapshot_thread_of(const struct snapshot *s, uint32_t inner_tid)
{
    for (size_t i = 0; i < s->thread_count; i++)
        if (s->threads[i].inner_tid == inner_tid)
            return &s->threads[i];
    return NULL;
}

const struct snapshot_thread *snapshot_thread_at(const struct snapshot *s, uint64_t thread_pointer)
{
    for (size_t i = 0; thread_pointer && i < s->thread_count; i++)
        if (s->threads[i].registers.thread_pointer == thread_pointer)
            return &s->threads[i];
    return NULL;
}

void snapshot_free(struct snapshot *s)
{
    for (size_t i = 0; i < s->memory_count; i++)
        free(s->memory[i].bytes);
    for (size_t i = 0; i < s->mapping_count; i++)
        free(s->mappings[i].path);
    if (s->core >= 0)
        close(s->core);
    free(s->memory);
    free(s->mappings);
    free(s->threads);
    free(s->name);
    *s = (struct snapshot){.core = -1};
}
