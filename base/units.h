/* Units of time and of memory. */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TIME_UNITS 4u

static const struct time_unit {
    const char *name;
    int64_t ns;
} time_units[TIME_UNITS] = {{"s", 1000000000}, {"ms", 1000000}, {"µs", 1000}, {"ns", 1}};

/* Returns the largest unit that a time, or its absolute value, is not less than; else ns. */
static inline struct time_unit time_unit_for(int64_t ns)
{
    size_t u = 0;
    while (u < TIME_UNITS - 1 && ns < time_units[u].ns && -ns < time_units[u].ns)
        u++;
    return time_units[u];
}

/* Returns the length of a unit by its name, or "us"; 0: there is none of this name. */
static inline int64_t time_unit_named_ns(const char *name)
{
    for (size_t u = 0; u < TIME_UNITS; u++)
        if (strcmp(name, time_units[u].name) == 0)
            return time_units[u].ns;
    return strcmp(name, "us") == 0 ? 1000 : 0;
}

struct byte_unit {
    const char *name;
    double bytes;
};

/* Returns the smallest unit of which an amount is less than `limit`, such as 1024; else EiB. */
static inline struct byte_unit byte_unit_for(double bytes, double limit)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    struct byte_unit unit = {names[0], 1};
    for (size_t u = 1; u < sizeof names / sizeof *names && bytes / unit.bytes >= limit; u++)
        unit = (struct byte_unit){names[u], unit.bytes * 1024};
    return unit;
}

#endif
