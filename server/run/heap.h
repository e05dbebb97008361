/* What the processes of a run took from their heaps (wire/heap.h), as it was told last. */
#ifndef SERVER_RUN_HEAP_H
#define SERVER_RUN_HEAP_H

#include "server/run/run.h"
#include "wire/heap.h"

/* Of one thread at one place of its process. */
struct heap_taken {
    uint32_t process, thread; /* the thread's line; 0: one that is not recorded */
    uint64_t site;
    uint64_t blocks, bytes, usable, freed, freed_bytes, freed_usable; /* as in struct heap_sum */
    uint64_t elsewhere, elsewhere_bytes, nulls, most_bytes;
};

/* A free that should not have been. */
struct heap_wrong {
    uint32_t process, thread; /* likewise */
    uint64_t address, site, before, event;
    uint8_t fault; /* an enum heap_fault */
};

struct heap_process {
    uint32_t process;
    uint64_t unseen, unknown; /* as in struct heap_head */
    int64_t at_ns; /* when this was so, in the run's time */
};

/* Each replaces what was told of the same process, and of the same number in it; false: there are too many. */
void heap_told(struct run *run, const struct heap_process *told);
bool heap_add(struct run *run, uint32_t number, const struct heap_taken *taken);
bool heap_add_wrong(struct run *run, uint32_t number, const struct heap_wrong *wrong);

size_t heap_process_count(const struct run *run);
const struct heap_process *heap_process_at(const struct run *run, size_t i);
size_t heap_count(const struct run *run);
const struct heap_taken *heap_at(const struct run *run, size_t i);
size_t heap_wrong_count(const struct run *run);
const struct heap_wrong *heap_wrong_at(const struct run *run, size_t i);

struct heap;
void heap_free(struct heap *heap); /* of NULL nothing */

#endif
