/* How our own programs get memory: where there is none left, they say so and end, in one place.
 * What runs in a stranger's program never comes here.
 *
 * What these return is the caller's, who frees it with free(); it is never NULL unless said so.
 * From any thread. */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>

/* Ends the process, with so many bytes in the message. */
_Noreturn void out_of_memory(size_t bytes);
/* p, which malloc or its like gave for so many bytes. */
void *xcheck(void *p, size_t bytes);

/* So many bytes, not set. */
void *xmalloc(size_t bytes);
/* The same, at an address that `alignment` divides, a power of two. */
void *xaligned_alloc(size_t alignment, size_t bytes);
/* An array of n members (also of none), all bytes 0. */
void *xcalloc(size_t n, size_t each);
/* The array with room for exactly n members; what is new of it is not set. */
void *xreallocarray(void *array, size_t n, size_t each);
/* The array with room for at least `need` members, *room of them: it doubles.  What is new is not
 * set. */
static inline void *array_reserve(void *array, size_t *room, size_t need, size_t each);
/* The same; what is new is zeroed. */
static inline void *array_reserve_zeroed(void *array, size_t *room, size_t need, size_t each);

/* Appends to an array whose count alone is known: it doubles. */
#define ARRAY_PUSH(array, count, value)                                                            \
    do {                                                                                           \
        if (((count) & ((count)-1)) == 0)                                                          \
            (array) = xreallocarray((array), (count) ? 2 * (size_t)(count) : 1, sizeof *(array));  \
        (array)[(count)++] = (value);                                                              \
    } while (0)

/* A copy of a text, or of its first `size` bytes; NULL of NULL. */
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t size);
/* As sprintf, into as much as it takes. */
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Where there is no room: seldom. */
void *xgrow_array(void *array, size_t *room, size_t need, size_t each);
void *xgrow_array_zeroed(void *array, size_t *room, size_t need, size_t each);

static inline void *array_reserve(void *array, size_t *room, size_t need, size_t each)
{
    return need <= *room ? array : xgrow_array(array, room, need, each);
}

static inline void *array_reserve_zeroed(void *array, size_t *room, size_t need, size_t each)
{
    return need <= *room ? array : xgrow_array_zeroed(array, room, need, each);
}

#endif
