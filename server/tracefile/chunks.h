/* Chunks: the units of a trace file.  A chunk counts only if it is complete and its checksum
 * matches. docs/tracefile.md gives the format byte by byte. */
#ifndef SERVER_TRACEFILE_CHUNKS_H
#define SERVER_TRACEFILE_CHUNKS_H

#include "wire/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHUNK_MARK 0x4b48434fu /* "OCHK" */
#define CHUNK_HEAD_BYTES 32u
#define CHUNK_BYTES_MAX (LIMIT_QUEUE_BYTES + LIMIT_MESSAGE_BYTES)
#define CHUNK_STATE_MAX UINT32_C(0xf0000000) /* maximum for a checkpoint */

/* Kinds of chunk beside the messages of programs (wire/message.h, below 32). */
enum chunk_kind {
    CHUNK_SESSION = 64, /* a program connected: its HELLO follows as a message */
    CHUNK_HANGUP = 65,
    CHUNK_TARGET = 66, /* name and text of a description */
    CHUNK_END = 67, /* the run is complete; chunks may still follow */
    CHUNK_THREADS = 68, /* position of each thread; only within a checkpoint */
    CHUNK_NEXT = 69, /* where the journal continues */
    CHUNK_NEWS = 70, /* names that were declared between two checkpoints */
    CHUNK_STATE = 71,
    CHUNK_PART = 72, /* a finished part of the order */
    CHUNK_SLOTS = 73, /* SLOTS, packed (slot_compression.h) */
    CHUNK_SUMS = 74, /* a thread's sums of its calls so far (wire/profile_snapshot.h) */
    CHUNK_ENTRIES = 76, /* begins and ends of a thread's calls (wire/call_records.h) */
    CHUNK_SWITCHES = 77, /* context switches of a program's threads (wire/context_switches.h) */
    CHUNK_METERS =
        78, /* a thread's counts of user-defined metrics so far (wire/metric_messages.h) */
    CHUNK_STEPS = 79, /* a thread's activity since its previous record (wire/slot.h) */
    CHUNK_SPANS =
        /* tasks that were on a carrier (server/decode/placement_records.h); thread: its number */
    80,
    CHUNK_CUT = 81, /* the trace is a part of another one (server/cuts/cut_records.h): which */
    CHUNK_EVENTS = 82, /* events of it, with all their edges */
    CHUNK_LEFT_OUT = 83, /* what it does not have */
    CHUNK_PASSED = 88, /* a fact: place of a part of expiring records */
    CHUNK_AGENT = 90, /* first in an agent's journal: its stream and run */
    CHUNK_FORWARDED = 91, /* last in an agent's journal: all before it is forwarded */
    /* a fact: clock exchanges between server and agent (server/run/clock_sync.h) */
    CHUNK_CLOCKS = 95,
    CHUNK_REACHED = 97, /* position of an agent's stream in the journal (agent_positions.h) */
    CHUNK_ALONE =
        98, /* the other end of a stream was not reported in time (server/decode/remote_ends.h) */
    CHUNK_INPUT = 96 /* a fact: input that a call of a thread received (wire/recorded_input.h) */
};

struct chunk {
    uint16_t kind;
    uint32_t session; /* number of the program within the run, from 0 */
    uint32_t thread; /* SLOTS: own line of the thread, a code of the session */
    uint32_t epoch; /* number of the region that it is in, 0 outside the journal */
    const uint8_t *data;
    uint32_t size;
};

void chunk_head(uint8_t head[CHUNK_HEAD_BYTES], const struct chunk *chunk);
/* Decodes a head without checking its checksum; returns false if it is not a head. */
bool chunk_read_head(const uint8_t head[CHUNK_HEAD_BYTES], struct chunk *chunk);
/* Returns whether the data matches the checksum in the head. */
bool chunk_is_whole(const uint8_t head[CHUNK_HEAD_BYTES], const uint8_t *data, size_t size);

/* Little-endian, at any address. */
uint32_t chunk_get_u32(const uint8_t *p);
uint64_t chunk_get_u64(const uint8_t *p);
void chunk_set_u32(uint8_t *p, uint32_t v);
void chunk_set_u64(uint8_t *p, uint64_t v);

#endif
