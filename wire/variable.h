/* Environment variables of a program in its HELLO: "NAME=VALUE" for those that affect a runtime,
 * and "NAME#CHECK" for all others, without their values: a 16-bit checksum shows that two
 * values differ, without revealing them. */
#ifndef WIRE_VARIABLE_H
#define WIRE_VARIABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VARIABLE_BYTES 1024u /* of one; a longer one is sent as a checksum */
#define VARIABLES_MOST 1000u
#define VARIABLES_BYTES 65536u /* of all */
#define VARIABLE_CHECK_BYTES 5u /* "#1f3c" */

/* FNV-1a (Fowler, Noll, Vo), folded to 16 bits. */
static inline uint16_t variable_check(const char *value)
{
    uint32_t h = 2166136261u;
    for (; *value; value++)
        h = (h ^ (uint8_t)*value) * 16777619u;
    return (uint16_t)(h ^ h >> 16);
}

static inline size_t variable_name_bytes(const char *entry) { return strcspn(entry, "="); }

/* Returns whether it is a variable of libpoet, or of its preloading. */
static inline bool variable_is_own(const char *name, size_t size)
{
    return (size > 5 && strncmp(name, "POET_", 5) == 0) ||
           (size == 10 && strncmp(name, "LD_PRELOAD", 10) == 0);
}

/* Returns whether it belongs to an environment: UCPP_SCHEDULE to ucpp. */
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

/* Returns whether it belongs to a runtime without a description of its own name. */
static inline bool variable_is_known(const char *name, size_t size)
{
    return variable_is_of(name, size, "omp") || variable_is_of(name, size, "gomp") ||
           variable_is_of(name, size, "kmp") ||
           (size == 14 && strncmp(name, "PYTHONHASHSEED", 14) == 0);
}

#endif
