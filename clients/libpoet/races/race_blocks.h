/* Blocks of the heap by their first byte: where they were allocated, for reports about them. A hash
 * table without locks; it is limited, and a block that others displace is not known. */
#ifndef CLIENTS_LIBPOET_RACES_RACE_BLOCKS_H
#define CLIENTS_LIBPOET_RACES_RACE_BLOCKS_H

#include "clients/libpoet/poet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct race_block {
    uintptr_t address;
    size_t bytes;
    const void *site;
    poet_line_t thread;
    uint32_t lifetime; /* in which `thread` is valid */
};

void race_blocks_add(const struct race_block *block);
/* Sets, and returns, whether calls of the allocator are not seen: one that is loaded before this
 * library does not pass them on. */
void race_blocks_set_unseen(bool unseen);
bool race_blocks_are_unseen(void);
/* It stays known until another block is at its address, or in its place. */
void race_blocks_free(uintptr_t address);
/* Finds the block that has a byte, among those that were not freed if there is one. Returns false
 * if none is known. Takes as many steps as the block has lines of 16 bytes. */
bool race_blocks_find(uintptr_t address, struct race_block *block);

#pragma GCC visibility pop
#endif
