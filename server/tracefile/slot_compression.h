/* Slots as the journal has them: of each what differs from one before it, within the same chunk.
 *
 * A thread that does the same thing again and again names the same lines and call sites each time:
 * of its 64 bytes about six are news.  To put few bytes on the disk is worth more to the program,
 * which waits for that, than what it takes to leave the others out.  docs/tracefile.md gives the
 * format byte by byte (kind 73). */
#ifndef SERVER_TRACEFILE_SLOT_COMPRESSION_H
#define SERVER_TRACEFILE_SLOT_COMPRESSION_H

#include "server/tracefile/chunks.h"
#include "wire/slot.h"

#include <stdbool.h>
#include <stddef.h>

#define SLOT_CODEC_SPARE_BYTES 96u

/* Packs whole records; returns the number of bytes, or 0 if packing does not shorten them or they
 * are not whole.  `to` must have space for the slots and SLOT_CODEC_SPARE_BYTES. */
size_t slot_codec_encode(uint8_t *to, const struct ring_slot *slots, size_t count);
/* Returns the number of slots that a chunk claims to have. */
size_t slot_codec_count(const struct chunk *chunk);
/* Returns the slots of a chunk, packed or not, in new memory that the caller frees; NULL: the
 * chunk is malformed. */
struct ring_slot *slot_codec_decode(const struct chunk *chunk, size_t *count);

#endif
