/* Memory allocation for Poet's own programs: on failure the process ends with a message. Code that
 * runs inside a traced program does not use it.
 *
 * The caller owns what these functions return and frees it with free(); they return NULL only where
 * stated. Thread-safe. */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>

/* Ends the process with a message that names the number of bytes. */
_Noreturn void out_of_memory(size_t bytes);
/* Returns p, the result of a malloc-like call for `bytes` bytes; ends the process if it is NULL. */
void *xcheck(void *p, size_t bytes);

/* Returns `bytes` bytes, uninitialized. */
void *xmalloc(size_t bytes);
/* Returns uninitialized memory at a multiple of `alignment`, a power of two. */
void *xaligned_alloc(size_t alignment, size_t bytes);
/* Returns an array of n members (n may be 0), zeroed. */
void *xcalloc(size_t n, size_t each);
/* Resizes the array to exactly n members; new members are uninitialized. */
void *xreallocarray(void *array, size_t n, size_t each);
/* Resizes the array to hold at least `need` members, doubling its capacity *room. New members are
 * uninitialized. */
static inline void *array_reserve(void *array, size_t *room, size_t need, size_t each);
/* Like array_reserve(); new members are zeroed. */
static inline void *array_reserve_zeroed(void *array, size_t *room, size_t need, size_t each);

/* Appends to an array of which only the count is kept: the capacity doubles at powers of two. */
#define ARRAY_PUSH(array, count, value)                                                            \
    do {                                                                                           \
        if (((count) & ((count)-1)) == 0)                                                          \
            (array) = xreallocarray((array), (count) ? 2 * (size_t)(count) : 1, sizeof *(array));  \
        (array)[(count)++] = (value);                                                              \
    } while (0)

/* Returns a copy of a text, or of its first `size` bytes; NULL for NULL. */
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t size);
/* Formats like sprintf(), into memory of sufficient size. */
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The slow paths of array_reserve() and array_reserve_zeroed(). */
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
