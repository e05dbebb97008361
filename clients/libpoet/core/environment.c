#define _GNU_SOURCE
#include "clients/libpoet/core/environment.h"

#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/tracer_arena.h"
#include "wire/program_messages.h"
#include "wire/variable.h"

#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* The C library's own name for it: a program may define another `environ`. */
extern char **__environ;

bool environment_is_unsafe(void) { return getauxval(AT_SECURE) != 0; }

static char **environment_entry(const char *name)
{
    size_t size = strlen(name);
    for (char **at = __environ; at && *at; at++)
        if (strncmp(*at, name, size) == 0 && (*at)[size] == '=')
            return at;
    return NULL;
}

const char *environment_get(const char *name)
{
    char **entry = environment_is_unsafe() ? NULL : environment_entry(name);
    return entry ? *entry + strlen(name) + 1 : NULL;
}

static char *environment_new_entry(const char *name, const char *value)
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
    char *entry = environment_new_entry(name, value), **known = environment_entry(name);
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
    for (char **at; (at = environment_entry(name)) != NULL;)
        for (; *at; at++)
            at[0] = at[1];
}

/* ---- variables for HELLO: values only of those that control what a runtime does ---- */

/* Returns whether the name is in a comma-separated list. */
static bool environment_lists(const char *list, const char *name, size_t size)
{
    for (const char *at = list; at && *at; at += strspn(at, ",")) {
        size_t n = strcspn(at, ",");
        if (n == size && strncmp(at, name, n) == 0)
            return true;
        at += n;
    }
    return false;
}

static size_t environment_checked(char *entry, const char *variable, size_t name)
{
    static const char digits[] = "0123456789abcdef";
    uint16_t check = variable_check(variable + name + 1);
    memcpy(entry, variable, name);
    entry[name] = '#';
    for (unsigned i = 0; i < 4; i++)
        entry[name + 1 + i] = digits[check >> (12 - 4 * i) & 15];
    return name + VARIABLE_CHECK_BYTES;
}

static bool environment_is_reported(const char *variable)
{
    size_t name = variable_name_bytes(variable);
    return variable[name] && name && name + VARIABLE_CHECK_BYTES < VARIABLE_BYTES &&
           !variable_is_own(variable, name);
}

/* Returns how many fit into a HELLO, from the first one on. */
static uint32_t environment_count(void)
{
    uint32_t count = 0, bytes = 0;
    for (char **at = __environ; at && *at; at++) {
        if (!environment_is_reported(*at))
            continue;
        size_t size = strlen(*at);
        size = size < VARIABLE_BYTES ? size + VARIABLE_CHECK_BYTES : VARIABLE_BYTES;
        bytes += (uint32_t)size + 4;
        if (count == VARIABLES_MOST || bytes > VARIABLES_BYTES)
            break;
        count++;
    }
    return count;
}

void environment_encode(struct encoder *out, const char *description)
{
    static char entry[VARIABLE_BYTES];
    const char *listed = environment_get("POET_VARIABLES");
    bool any = !environment_is_unsafe() && !(listed && strcmp(listed, "none") == 0);
    uint32_t count = any ? environment_count() : 0;
    encode_variables(out, count);
    for (char **at = __environ; count && *at; at++) {
        size_t name = variable_name_bytes(*at), size = strlen(*at);
        if (!environment_is_reported(*at))
            continue;
        count--;
        bool kept = size < VARIABLE_BYTES &&
                    (variable_is_known(*at, name) || variable_is_of(*at, name, description) ||
                     environment_lists(listed, *at, name));
        if (!kept)
            size = environment_checked(entry, *at, name);
        encode_argument(out, (struct text_view){kept ? *at : entry, (uint32_t)size});
    }
}
