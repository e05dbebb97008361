/* Functions of the C library that access memory, as examined units call them (redirect.h): their
 * accesses are examined, and the real function is called. */
#define _GNU_SOURCE
#include "clients/libpoet/races/race_conflicts.h"

#include <string.h>

#define CALLED(name) poet_races__##name
#define HOOK __attribute__((visibility("default")))
#define SITE ((const char *)__builtin_return_address(0) - 1)
#define READS(address, bytes) race_conflicts_note_range((uintptr_t)(address), bytes, 0, SITE)
#define WRITES(address, bytes)                                                                     \
    race_conflicts_note_range((uintptr_t)(address), bytes, POET_ACCESS_WRITE, SITE)

#define CALL(type, name, parameters, arguments, accesses)                                          \
    HOOK type CALLED(name) parameters;                                                             \
    HOOK type CALLED(name) parameters                                                              \
    {                                                                                              \
        accesses;                                                                                  \
        return name arguments;                                                                     \
    }

CALL(void *, memcpy, (void *to, const void *from, size_t bytes), (to, from, bytes),
     READS(from, bytes);
     WRITES(to, bytes))
CALL(void *, memmove, (void *to, const void *from, size_t bytes), (to, from, bytes),
     READS(from, bytes);
     WRITES(to, bytes))
CALL(void *, memset, (void *to, int byte, size_t bytes), (to, byte, bytes), WRITES(to, bytes))
CALL(int, memcmp, (const void *a, const void *b, size_t bytes), (a, b, bytes), READS(a, bytes);
     READS(b, bytes))
CALL(size_t, strlen, (const char *s), (s), READS(s, strlen(s) + 1))
CALL(char *, strcpy, (char *to, const char *from), (to, from), size_t n = strlen(from) + 1;
     READS(from, n); WRITES(to, n))
CALL(char *, strncpy, (char *to, const char *from, size_t most), (to, from, most),
     size_t n = strnlen(from, most);
     READS(from, n < most ? n + 1 : n); WRITES(to, most))
CALL(char *, strcat, (char *to, const char *from), (to, from), size_t n = strlen(from) + 1;
     READS(from, n); READS(to, strlen(to) + 1); WRITES(to + strlen(to), n))
CALL(int, strcmp, (const char *a, const char *b), (a, b), READS(a, strlen(a) + 1);
     READS(b, strlen(b) + 1))
CALL(int, strncmp, (const char *a, const char *b, size_t most), (a, b, most),
     READS(a, strnlen(a, most));
     READS(b, strnlen(b, most)))
CALL(char *, strdup, (const char *s), (s), READS(s, strlen(s) + 1))
