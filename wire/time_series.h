/* Time series of metrics for drawing: for each pixel the minimum, average and maximum of the
 * values.
 *
 * For metrics that only grow (CPU time, bytes written) these are rates. Values are known only
 * at the times when they were reported: a pixel says whether that was in it or before it, in which
 * case it has the last known value. Unknown values are absent, never 0. */
#ifndef WIRE_TIME_SERIES_H
#define WIRE_TIME_SERIES_H

#include "wire/message.h"

enum series_group {
    SERIES_USAGE = 1, /* operating-system statistics */
    SERIES_MEMORY = 2,
    SERIES_OWN = 4,
    SERIES_LEVELS = 8, /* the level of concurrency: how many threads were in each state */
    SERIES_GROUPS = 15 /* all of them */
};

#define SERIES_LEVEL_METERS 512u /* code of the first level */

struct series_request {
    int64_t from, to; /* ns; to <= from: the whole run */
    uint32_t pixels; /* at least 1 */
    uint8_t groups; /* of enum series_group, at least one */
    bool threads; /* include metrics of threads; else only those of processes */
    char *meter; /* its name; "": all */
    uint32_t *lines, line_count; /* only these threads; none: all */
};

enum series_known {
    SERIES_NOTHING, /* no value was reported before it, or its subject has ended */
    SERIES_BETWEEN, /* reported before it, and again after it, or known to last */
    SERIES_RECORDED /* reported in this pixel */
};

struct series_pixel {
    uint8_t known; /* an enum series_known; if NOTHING, the rest is 0 */
    int64_t least, mean, most; /* in units of 1 / scale; of growing metrics: per second */
};

#define SERIES_RATE_SCALE 1000 /* rates are in thousandths */

struct time_series {
    uint32_t thread, meter; /* the thread line, 0: the whole process; the metric's code */
    char *program, *name, *unit; /* "wc[4711]"; its name, as in tables; "bytes", "ns" or "" */
    bool grows, exact; /* exact: the program itself reported its final value */
    int64_t scale; /* at least 1 */
    struct series_pixel *pixels;
};

struct time_series_set {
    int64_t from, to;
    uint32_t pixels, left_out; /* number of series omitted */
    uint32_t count;
    struct time_series *items; /* by process, thread and metric */
};

void encode_series_request(struct encoder *out, const struct series_request *request);
void decode_series_request(struct decoder *in, struct series_request *request);
void series_request_free(struct series_request *request);

void encode_time_series(struct encoder *out, const struct time_series_set *curves);
void decode_time_series(struct decoder *in, struct time_series_set *curves);
void time_series_free(struct time_series_set *curves);

#endif
