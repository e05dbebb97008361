/* Figures over time as they are drawn: of each pixel what they stood at, at least, on average, at most.
 *
 * Of what only grows (processor time, bytes written) the rate is told.  Figures are known when they were told alone: a
 * pixel says whether that was in it, or before it, so that what is drawn there is what was known last.  Where nothing is
 * known there is nothing, never 0. */
#ifndef WIRE_CURVE_H
#define WIRE_CURVE_H

#include "wire/message.h"

enum curve_group {
    CURVE_USAGE = 1, /* what the operating system says */
    CURVE_MEMORY = 2,
    CURVE_OWN = 4
};

struct curve_request {
    int64_t from, to; /* ns; to <= from: the whole run */
    uint32_t pixels; /* at least 1 */
    uint8_t groups; /* of enum curve_group, at least one */
    bool threads; /* those of threads, too; else of whole processes alone */
    char *meter; /* its name; "": all */
    uint32_t *lines, line_count; /* of these threads alone; none: all */
};

enum curve_known {
    CURVE_NOTHING, /* nothing was told before it, or it is over */
    CURVE_BETWEEN, /* told before it, and again after it, or that it lasts */
    CURVE_TOLD /* it was told in this pixel */
};

struct curve_pixel {
    uint8_t known; /* an enum curve_known; of NOTHING the rest is 0 */
    int64_t least, mean, most; /* `scale` is one; of what grows: per second */
};

#define CURVE_RATE_SCALE 1000 /* rates are told in thousandths */

struct shown_curve {
    uint32_t thread, meter; /* the thread's line, 0: the whole process; its code */
    char *program, *name, *unit; /* "wc[4711]"; its name, as tables have it; "bytes", "ns" or "" */
    bool grows, exact; /* exact: its end was told by itself */
    int64_t scale; /* at least 1 */
    struct curve_pixel *pixels;
};

struct shown_curves {
    int64_t from, to;
    uint32_t pixels, left_out; /* so many more there are */
    uint32_t count;
    struct shown_curve *items; /* by process, thread and meter */
};

void put_curve_request(struct out *out, const struct curve_request *request);
void get_curve_request(struct in *in, struct curve_request *request);
void curve_request_free(struct curve_request *request);

void put_curves(struct out *out, const struct shown_curves *curves);
void get_curves(struct in *in, struct shown_curves *curves);
void shown_curves_free(struct shown_curves *curves);

#endif
