#define _GNU_SOURCE
#include "memory/memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void memory_is_out(size_t bytes)
{
    fprintf(stderr, "%s: out of memory: %zu bytes\n", program_invocation_short_name, bytes);
    abort();
}

void *memory_given(void *p, size_t bytes)
{
    if (!p)
        memory_is_out(bytes);
    return p;
}

static size_t bytes_of(size_t n, size_t each)
{
    size_t bytes;
    return __builtin_mul_overflow(n, each, &bytes) ? SIZE_MAX : bytes;
}

void *memory_bytes(size_t bytes) { return memory_given(malloc(bytes ? bytes : 1), bytes); }

void *memory_aligned(size_t alignment, size_t bytes)
{
    return memory_given(aligned_alloc(alignment, bytes ? bytes : 1), bytes);
}

void *memory_zeroed(size_t n, size_t each)
{
    return memory_given(calloc(n ? n : 1, each), bytes_of(n, each));
}

void *memory_resized(void *array, size_t n, size_t each)
{
    return memory_given(reallocarray(array, n ? n : 1, each), bytes_of(n, each));
}

void *memory_doubled(void *array, size_t *room, size_t need, size_t each)
{
    size_t more = *room ? *room * 2 : 8;
    while (more < need)
        more *= 2;
    *room = more;
    return memory_resized(array, more, each);
}

void *memory_doubled_zeroed(void *array, size_t *room, size_t need, size_t each)
{
    size_t before = *room;
    char *grown = memory_doubled(array, room, need, each);
    memset(grown + before * each, 0, (*room - before) * each);
    return grown;
}

char *memory_copied(const char *text)
{
    return text ? memory_given(strdup(text), strlen(text) + 1) : NULL;
}

char *memory_copied_part(const char *text, size_t size)
{
    return text ? memory_given(strndup(text, size), size + 1) : NULL;
}

char *memory_printed(const char *format, ...)
{
    char *text = NULL;
    va_list ap;
    va_start(ap, format);
    if (vasprintf(&text, format, ap) < 0)
        memory_is_out(strlen(format));
    va_end(ap);
    return text;
}
