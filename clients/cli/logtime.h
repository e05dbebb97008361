/* Timestamps in logs: numbers since 1970, and dates. */
#ifndef CLIENTS_CLI_LOGTIME_H
#define CLIENTS_CLI_LOGTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum logtime_kind {
    LOGTIME_NONE, /* missing or invalid */
    LOGTIME_NUMBER, /* in a unit that the log does not state */
    LOGTIME_DATE /* seconds since 1970 */
};

struct logtime {
    uint8_t kind; /* an enum logtime_kind */
    uint32_t fraction; /* of one unit, in 1e-9 */
    uint64_t whole;
};

/* Parses a number; or a date, a time of day, or both, as in ISO 8601, Go and web server logs: UTC
 * unless there is a time zone. */
struct logtime logtime_read(const char *text, size_t size);
/* Returns the unit, in ns, of numbers up to this one: the unit in which it is a plausible date. */
uint64_t logtime_unit(uint64_t largest);
/* Returns the unit of that name, in ns; 0: unknown. */
uint64_t logtime_unit_named(const char *name);
/* Returns ns since 1970; 0: out of range. */
uint64_t logtime_ns(struct logtime time, uint64_t unit);

#endif
