/* Environment variables of a program, as its HELLO has them: "NAME=VALUE" of those that decide
 * what a runtime does, and "NAME#CHECK" of all others, whose values are not recorded: a check
 * of 16 bits tells that two values differ, and leaves too many that could be meant. */
#ifndef WIRE_VARIABLE_H
#define WIRE_VARIABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VARIABLE_BYTES 1024u /* of one; of a longer one there is the check */
#define VARIABLES_MOST 1000u
#define VARIABLES_BYTES 65536u /* of all */
#define VARIABLE_CHECK_BYTES 5u /* "#1f3c" */

/* FNV-1a (Fowler, Noll, Vo), folded. */
static inline uint16_t variable_check(const char *value)
{
    uint32_t h = 2166136261u;
    for (; *value; value++)
        h = (h ^ (uint8_t)*value) * 16777619u;
    return (uint16_t)(h ^ h >> 16);
}

static inline size_t variable_name_bytes(const char *entry) { return strcspn(entry, "="); }

/* Whether it is libpoet's own, or that of how it was loaded. */
static inline bool variable_is_own(const char *name, size_t size)
{
    return (size > 5 && strncmp(name, "POET_", 5) == 0) ||
           (size == 10 && strncmp(name, "LD_PRELOAD", 10) == 0);
}

/* UCPP_SCHEDULE is of ucpp. */
static inline bool variable_is_of(const char *name, size_t size, const char *environment)
{
    size_t n = strlen(environment);
    if (size <= n + 1 || name[n] != '_')
        return false;
    for (size_t i = 0; i < n; i++) {
        bool small = environment[i] >= 'a' && environment[i] <= 'z';
        if (name[i] != environment[i] - (small ? 'a' - 'A' : 0))
            return false;
    }
    return true;
}

/* Of runtimes that no description is named after. */
static inline bool variable_is_known(const char *name, size_t size)
{
    return variable_is_of(name, size, "omp") || variable_is_of(name, size, "gomp") ||
           variable_is_of(name, size, "kmp") ||
           (size == 14 && strncmp(name, "PYTHONHASHSEED", 14) == 0);
}

#endif
