/* Where the states of a trace file are: two slots in its head, which are written in turn. */
#ifndef SERVER_STORE_STATES_H
#define SERVER_STORE_STATES_H

#include <stdbool.h>
#include <stdint.h>

#define SLOT_AT 48u /* in the head */
#define SLOT_BYTES_HEAD 24u
#define HOLDS_AT 96u /* likewise: enum tracefile_holds and its complement, or two zeros */
#define STATE_HEAD_BYTES 80u
#define STATE_HEAD_3_BYTES 48u /* up to version 3, where a region began with each state */

bool slot_read(const uint8_t *head, unsigned i, uint64_t *place, uint64_t *serial);
uint64_t slot_check(const uint8_t *slot, unsigned i);

#endif
