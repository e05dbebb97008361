/* Times as logs write them: numbers since 1970, and dates. */
#ifndef CLIENTS_CLI_LOGTIME_H
#define CLIENTS_CLI_LOGTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum logtime_kind {
    LOGTIME_NONE, /* there is none, or none that can be read */
    LOGTIME_NUMBER, /* of a unit that the log does not say */
    LOGTIME_DATE /* seconds since 1970 */
};

struct logtime {
    uint8_t kind; /* an enum logtime_kind */
    uint32_t fraction; /* of a whole one, in 1e-9 */
    uint64_t whole;
};

/* A number; or a date, a time of day, or both, as ISO 8601, Go and web servers write them: without
 * a time zone they are UTC. */
struct logtime logtime_read(const char *text, size_t size);
/* The unit of numbers up to this one, in ns: that in which it is a date. */
uint64_t logtime_unit(uint64_t largest);
/* The unit of that name, in ns; 0: it is none. */
uint64_t logtime_unit_named(const char *name);
/* Since 1970; 0: it is too large. */
uint64_t logtime_ns(struct logtime time, uint64_t unit);

#endif
