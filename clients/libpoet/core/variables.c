/* The environment variables of the program, for its HELLO; values only of those that control what a
 * runtime does. */
#define _GNU_SOURCE
#include "clients/libpoet/core/variables.h"

#include "clients/libpoet/core/environment.h"
#include "wire/program_messages.h"
#include "wire/variable.h"

#include <stdbool.h>
#include <string.h>

extern char **__environ;

/* Returns whether the name is in a comma-separated list. */
static bool variables_lists(const char *list, const char *name, size_t size)
{
    for (const char *at = list; at && *at; at += strspn(at, ",")) {
        size_t n = strcspn(at, ",");
        if (n == size && strncmp(at, name, n) == 0)
            return true;
        at += n;
    }
    return false;
}

static size_t variables_checked(char *entry, const char *variable, size_t name)
{
    static const char digits[] = "0123456789abcdef";
    uint16_t check = variable_check(variable + name + 1);
    memcpy(entry, variable, name);
    entry[name] = '#';
    for (unsigned i = 0; i < 4; i++)
        entry[name + 1 + i] = digits[check >> (12 - 4 * i) & 15];
    return name + VARIABLE_CHECK_BYTES;
}

static bool variables_is_reported(const char *variable)
{
    size_t name = variable_name_bytes(variable);
    return variable[name] && name && name + VARIABLE_CHECK_BYTES < VARIABLE_BYTES &&
           !variable_is_own(variable, name);
}

/* Returns how many fit into a HELLO, from the first one on. */
static uint32_t variables_count(void)
{
    uint32_t count = 0, bytes = 0;
    for (char **at = __environ; at && *at; at++) {
        if (!variables_is_reported(*at))
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

void variables_encode(struct encoder *out, const char *description)
{
    static char entry[VARIABLE_BYTES];
    const char *listed = environment_get("POET_VARIABLES");
    bool any = !environment_is_unsafe() && !(listed && strcmp(listed, "none") == 0);
    uint32_t count = any ? variables_count() : 0;
    encode_variables(out, count);
    for (char **at = __environ; count && *at; at++) {
        size_t name = variable_name_bytes(*at), size = strlen(*at);
        if (!variables_is_reported(*at))
            continue;
        count--;
        bool kept = size < VARIABLE_BYTES &&
                    (variable_is_known(*at, name) || variable_is_of(*at, name, description) ||
                     variables_lists(listed, *at, name));
        if (!kept)
            size = variables_checked(entry, *at, name);
        encode_argument(out, (struct text_view){kept ? *at : entry, (uint32_t)size});
    }
}
