/* Conflicting accesses of memory that programs recorded (the message CONFLICT): of the same
 * bytes by two threads, at least one of them a write, whatever their order.  Not thread-safe. */
#ifndef SERVER_RUN_CONFLICTS_H
#define SERVER_RUN_CONFLICTS_H

#include "server/run/run.h"
#include "wire/program_messages.h"

#define CONFLICTS_MOST (1u << 22) /* that are kept of a run; more are counted as unexamined */
#define CONFLICT_LOCKS 2u
#define CONFLICT_CALLERS 4u

struct conflict_access {
    uint32_t thread; /* its line */
    struct event_id after; /* the last event of the thread before it */
    uint64_t address; /* of the code; 0: unknown */
    uint8_t flags; /* ACCESS_ */
    uint32_t locks[CONFLICT_LOCKS]; /* lines of the locks held, the innermost first; 0: none */
};

struct conflict {
    uint32_t process;
    struct conflict_access accesses[2]; /* the earlier one first */
    uint64_t address;
    uint32_t bytes;
    uint8_t memory; /* an enum conflict_memory */
    uint32_t owner; /* line of the thread of the stack, or that allocated the block; 0 */
    uint64_t block, block_bytes, block_site; /* of the heap */
    uint64_t callers[CONFLICT_CALLERS]; /* of the function of the later access; 0: none */
};

void conflicts_add(struct run *run, const struct conflict *conflict);
size_t conflicts_count(const struct run *run);
/* In the order in which they were received. */
const struct conflict *conflicts_at(const struct run *run, size_t i);

/* Returns whether a program of the run examines accesses. */
bool conflicts_examined(const struct run *run);
/* Sets how many accesses or conflicts a program has not examined in all; with 0 it only says that
 * it examines them. */
void conflicts_note_unexamined(struct run *run, uint32_t process, enum unexamined why,
                               uint64_t count);
/* Returns how many all programs have not examined. */
uint64_t conflicts_unexamined(const struct run *run, enum unexamined why);

#endif
