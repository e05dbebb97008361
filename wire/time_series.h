/* Figures over time as they are drawn: of each pixel what they stood at, at least, on average, at
 * most.
 *
 * Of what only grows (processor time, bytes written) the rate is told.  Figures are known when they
 * were told alone: a pixel says whether that was in it, or before it, so that what is drawn there
 * is what was known last.  Where nothing is known there is nothing, never 0. */
#ifndef WIRE_TIME_SERIES_H
#define WIRE_TIME_SERIES_H

#include "wire/message.h"

enum series_group {
    SERIES_USAGE = 1, /* what the operating system says */
    SERIES_MEMORY = 2,
    SERIES_OWN = 4
};

struct series_request {
    int64_t from, to; /* ns; to <= from: the whole run */
    uint32_t pixels; /* at least 1 */
    uint8_t groups; /* of enum series_group, at least one */
    bool threads; /* those of threads, too; else of whole processes alone */
    char *meter; /* its name; "": all */
    uint32_t *lines, line_count; /* of these threads alone; none: all */
};

enum series_known {
    SERIES_NOTHING, /* nothing was told before it, or it is over */
    SERIES_BETWEEN, /* told before it, and again after it, or that it lasts */
    SERIES_RECORDED /* it was told in this pixel */
};

struct series_pixel {
    uint8_t known; /* an enum series_known; of NOTHING the rest is 0 */
    int64_t least, mean, most; /* `scale` is one; of what grows: per second */
};

#define SERIES_RATE_SCALE 1000 /* rates are told in thousandths */

struct time_series {
    uint32_t thread, meter; /* the thread's line, 0: the whole process; its code */
    char *program, *name, *unit; /* "wc[4711]"; its name, as tables have it; "bytes", "ns" or "" */
    bool grows, exact; /* exact: its end was told by itself */
    int64_t scale; /* at least 1 */
    struct series_pixel *pixels;
};

struct time_series_set {
    int64_t from, to;
    uint32_t pixels, left_out; /* so many more there are */
    uint32_t count;
    struct time_series *items; /* by process, thread and meter */
};

void encode_series_request(struct encoder *out, const struct series_request *request);
void decode_series_request(struct decoder *in, struct series_request *request);
void series_request_free(struct series_request *request);

void encode_time_series(struct encoder *out, const struct time_series_set *curves);
void decode_time_series(struct decoder *in, struct time_series_set *curves);
void time_series_free(struct time_series_set *curves);

#endif
