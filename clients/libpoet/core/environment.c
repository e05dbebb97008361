#define _GNU_SOURCE
#include "clients/libpoet/core/environment.h"

#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/core/interposer.h"

#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* The C library's own name for it: a program may define another `environ`. */
extern char **__environ;

bool environment_is_unsafe(void) { return getauxval(AT_SECURE) != 0; }

static char **entry_of(const char *name)
{
    size_t size = strlen(name);
    for (char **at = __environ; at && *at; at++)
        if (strncmp(*at, name, size) == 0 && (*at)[size] == '=')
            return at;
    return NULL;
}

const char *environment_get(const char *name)
{
    char **entry = environment_is_unsafe() ? NULL : entry_of(name);
    return entry ? *entry + strlen(name) + 1 : NULL;
}

static char *new_entry(const char *name, const char *value)
{
    size_t name_size = strlen(name), value_size = strlen(value);
    char *entry = tracer_arena_alloc(name_size + 1 + value_size + 1);
    if (!entry)
        return NULL;
    memcpy(entry, name, name_size);
    entry[name_size] = '=';
    memcpy(entry + name_size + 1, value, value_size + 1);
    return entry;
}

void environment_set(const char *name, const char *value)
{
    char *entry = new_entry(name, value), **known = entry_of(name);
    size_t count = 0;
    if (!entry)
        return;
    if (known) {
        *known = entry;
        return;
    }
    while (__environ && __environ[count])
        count++;
    char **more = tracer_arena_alloc((count + 2) * sizeof *more);
    if (!more)
        return;
    if (count)
        memcpy(more, __environ, count * sizeof *more);
    more[count] = entry;
    more[count + 1] = NULL;
    __environ = more;
}

void environment_unset(const char *name)
{
    for (char **at; (at = entry_of(name)) != NULL;)
        for (; *at; at++)
            at[0] = at[1];
}
