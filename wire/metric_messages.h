/* User-defined metrics: their codes and kinds, and what a thread counted by a certain time, as
 * bytes (a METERS chunk of a trace file).
 *
 * Codes below REGION_CELLS are of metrics that threads count in their own cells
 * (wire/profile_region.h): the number of the first cell. Codes from METRIC_WATCHED_CODES on are of
 * shared cells that the program stores to and the server samples. Both belong to a program. Codes
 * from METRIC_SAMPLED_CODES on are of values that were fed into a run (poet watch), and belong to
 * no program. */
#ifndef WIRE_METRIC_MESSAGES_H
#define WIRE_METRIC_MESSAGES_H

#include "wire/message.h"
#include "wire/profile_region.h"

enum metric_kind {
    /* no metric: a setting for the server, by its name: "rate", code: samples per second; "file",
     * unit: the path of a measurement file; "definitions": that of a file with metrics to store
     * with the run */
    METRIC_NONE,
    METRIC_COUNT, /* a sum of what was added */
    METRIC_GAUGE, /* the current value */
    METRIC_DISTRIBUTION, /* of values: how many there were of each size */
    METRIC_WATCHED, /* a shared cell */
    METRIC_SAMPLED, /* fed in from outside, in thousandths */
    METRIC_KINDS
};

#define METRIC_WATCHED_CODES 0x10000u
#define METRIC_SAMPLED_CODES 0x20000u
#define METRIC_SAMPLED_MOST 1024u
#define METRIC_SAMPLED_SCALE 1000

/* Shared cells: WATCH_CELLS of them, one at the start of each 64 bytes. */
#define WATCH_CELLS 1024u
#define WATCH_CELL_BYTES 64u
#define WATCH_MAP_BYTES ((size_t)WATCH_CELLS * WATCH_CELL_BYTES)
#define WATCH_VERSION 1u

/* Cells of a distribution, and its buckets. Bucket 0 has values below 1, bucket i those from
 * 2^(i-1) to below 2^i; the last one also has all larger values. */
#define METRIC_CELLS 5u
#define METRIC_BUCKETS 35u
static_assert(METRIC_BUCKETS * 8 + offsetof(struct profile_region_cell, rest) ==
                  METRIC_CELLS * sizeof(struct profile_region_cell),
              "the buckets fill the cells");

/* The values of one metric of a thread since the thread began. */
struct metric_sums {
    uint32_t code;
    uint8_t kind; /* an enum metric_kind: COUNT, GAUGE, DISTRIBUTION */
    uint64_t count;
    int64_t sum, least, most, last;
    uint64_t buckets[METRIC_BUCKETS]; /* of a DISTRIBUTION */
};

#define METRIC_SUMS_BYTES 46u /* at least */

void encode_metric_sums(struct encoder *out, const struct metric_sums *sums);
/* Returns false with in->error if the metric is invalid. */
bool decode_metric_sums(struct decoder *in, struct metric_sums *sums);

/* Returns the exclusive upper bound of a bucket. */
int64_t metric_bucket_end(unsigned bucket);

/* A sample of a metric. */
#define METRIC_SAMPLE_BYTES 12u /* u32 code, i64 value */

#endif
