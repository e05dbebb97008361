#define _GNU_SOURCE
#include "base/alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void out_of_memory(size_t bytes)
{
    fprintf(stderr, "%s: out of memory: %zu bytes\n", program_invocation_short_name, bytes);
    abort();
}

void *xcheck(void *p, size_t bytes)
{
    if (!p)
        out_of_memory(bytes);
    return p;
}

static size_t bytes_of(size_t n, size_t each)
{
    size_t bytes;
    return __builtin_mul_overflow(n, each, &bytes) ? SIZE_MAX : bytes;
}

void *xmalloc(size_t bytes) { return xcheck(malloc(bytes ? bytes : 1), bytes); }

void *xaligned_alloc(size_t alignment, size_t bytes)
{
    return xcheck(aligned_alloc(alignment, bytes ? bytes : 1), bytes);
}

void *xcalloc(size_t n, size_t each) { return xcheck(calloc(n ? n : 1, each), bytes_of(n, each)); }

void *xreallocarray(void *array, size_t n, size_t each)
{
    return xcheck(reallocarray(array, n ? n : 1, each), bytes_of(n, each));
}

void *xgrow_array(void *array, size_t *room, size_t need, size_t each)
{
    size_t more = *room ? *room * 2 : 8;
    while (more < need)
        more *= 2;
    *room = more;
    return xreallocarray(array, more, each);
}

void *xgrow_array_zeroed(void *array, size_t *room, size_t need, size_t each)
{
    size_t before = *room;
    char *grown = xgrow_array(array, room, need, each);
    memset(grown + before * each, 0, (*room - before) * each);
    return grown;
}

char *xstrdup(const char *text) { return text ? xcheck(strdup(text), strlen(text) + 1) : NULL; }

char *xstrndup(const char *text, size_t size)
{
    return text ? xcheck(strndup(text, size), size + 1) : NULL;
}

char *xasprintf(const char *format, ...)
{
    char *text = NULL;
    va_list ap;
    va_start(ap, format);
    if (vasprintf(&text, format, ap) < 0)
        out_of_memory(strlen(format));
    va_end(ap);
    return text;
}
