/* Meters of a program's own: their codes and kinds, and what a thread counted by a moment as bytes
 * (a METERS chunk of a trace file).
 *
 * Codes below REGION_CELLS are of meters that threads count in their own cells
 * (wire/profile_region.h): the number of the first cell.  From METRIC_WATCHED_CODES on they are of
 * cells that the program stores to and the server looks at now and then.  Both are a program's
 * own.  From METRIC_SAMPLED_CODES on they are of numbers that somebody told a run (poet watch), and
 * belong to no program. */
#ifndef WIRE_METRIC_MESSAGES_H
#define WIRE_METRIC_MESSAGES_H

#include "wire/message.h"
#include "wire/profile_region.h"

enum metric_kind {
    METRIC_NONE, /* no meter: what its user wants of the server, by its name: "rate", code samples a second; "file", unit
                 * the path of one that says what is measured */
    METRIC_COUNT, /* a sum of what was added */
    METRIC_GAUGE, /* what it stands at */
    METRIC_DISTRIBUTION, /* of values: how many of each size there were */
    METRIC_WATCHED, /* a shared cell */
    METRIC_SAMPLED, /* told from outside, in thousandths */
    METRIC_KINDS
};

#define METRIC_WATCHED_CODES 0x10000u
#define METRIC_SAMPLED_CODES 0x20000u
#define METRIC_SAMPLED_MOST 1024u
#define METRIC_SAMPLED_SCALE 1000

/* Shared cells: so many, one at the begin of each 64 bytes. */
#define WATCH_CELLS 1024u
#define WATCH_CELL_BYTES 64u
#define WATCH_MAP_BYTES ((size_t)WATCH_CELLS * WATCH_CELL_BYTES)
#define WATCH_VERSION 1u

/* Cells of a distribution, and its buckets.  Bucket 0 has values below 1, bucket i those from
 * 2^(i-1) to below 2^i, the last one all that are larger, too. */
#define METRIC_CELLS 5u
#define METRIC_BUCKETS 35u
static_assert(METRIC_BUCKETS * 8 + offsetof(struct profile_region_cell, rest) ==
                  METRIC_CELLS * sizeof(struct profile_region_cell),
              "the buckets fill the cells");

/* Of one meter and thread, since the thread began. */
struct metric_sums {
    uint32_t code;
    uint8_t kind; /* an enum metric_kind: COUNT, GAUGE, DISTRIBUTION */
    uint64_t count;
    int64_t sum, least, most, last;
    uint64_t buckets[METRIC_BUCKETS]; /* of a DISTRIBUTION */
};

#define METRIC_SUMS_BYTES 46u /* at least */

void encode_metric_sums(struct encoder *out, const struct metric_sums *sums);
/* False, with in->error: no such meter can be. */
bool decode_metric_sums(struct decoder *in, struct metric_sums *sums);

/* The value that all of the bucket's are below. */
int64_t metric_bucket_end(unsigned bucket);

/* A value of a meter that is looked at. */
#define METRIC_SAMPLE_BYTES 12u /* u32 code, i64 value */

#endif
