/* How our own programs get memory: where there is none left, they say so and end, in one place.  What runs in a
 * stranger's program never comes here.
 *
 * What these return is the caller's, who frees it with free(); it is never NULL unless said so.  From any thread. */
#ifndef MEMORY_MEMORY_H
#define MEMORY_MEMORY_H

#include <stddef.h>

/* Ends the process, with so many bytes in the message. */
_Noreturn void memory_is_out(size_t bytes);
/* p, which malloc or its like gave for so many bytes. */
void *memory_given(void *p, size_t bytes);

/* So many bytes, not set. */
void *memory_bytes(size_t bytes);
/* The same, at an address that `alignment` divides, a power of two. */
void *memory_aligned(size_t alignment, size_t bytes);
/* An array of n members (also of none), all bytes 0. */
void *memory_zeroed(size_t n, size_t each);
/* The array with room for exactly n members; what is new of it is not set. */
void *memory_resized(void *array, size_t n, size_t each);
/* The array with room for at least `need` members, *room of them: it doubles.  What is new is not set. */
static inline void *grow(void *array, size_t *room, size_t need, size_t each);
/* The same; what is new is zeroed. */
static inline void *grow_zeroed(void *array, size_t *room, size_t need, size_t each);

/* Appends to an array whose count alone is known: it doubles. */
#define PUSH(array, count, value)                                                                  \
    do {                                                                                           \
        if (((count) & ((count)-1)) == 0)                                                          \
            (array) = memory_resized((array), (count) ? 2 * (size_t)(count) : 1, sizeof *(array)); \
        (array)[(count)++] = (value);                                                              \
    } while (0)

/* A copy of a text, or of its first `size` bytes; NULL of NULL. */
char *memory_copied(const char *text);
char *memory_copied_part(const char *text, size_t size);
/* As sprintf, into as much as it takes. */
char *memory_printed(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Where there is no room: seldom. */
void *memory_doubled(void *array, size_t *room, size_t need, size_t each);
void *memory_doubled_zeroed(void *array, size_t *room, size_t need, size_t each);

static inline void *grow(void *array, size_t *room, size_t need, size_t each)
{
    return need <= *room ? array : memory_doubled(array, room, need, each);
}

static inline void *grow_zeroed(void *array, size_t *room, size_t need, size_t each)
{
    return need <= *room ? array : memory_doubled_zeroed(array, room, need, each);
}

#endif
