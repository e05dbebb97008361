#define _GNU_SOURCE
#include "clients/symbols/call_argument.h"

#include "clients/symbols/safe_open.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SOURCE_BYTES_MAX (8u << 20)
#define CALL_BYTES_MAX                                                                             \
    1000u /* of the text from the name of a function to the end of its argument */

static const char *const prefixes[] = {"pthread_", "sem_", "mtx_", "cnd_"};

static const char *call_argument_line(const char *source, int line)
{
    for (int i = 1; i < line && source; i++) {
        source = strchr(source, '\n');
        source += source != NULL;
    }
    return source;
}

static bool call_argument_in_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Returns the end of a string, character constant or comment that begins here; NULL: none does. */
static const char *call_argument_skip(const char *c)
{
    if (c[0] == '/' && c[1] == '/')
        return c + strcspn(c, "\n");
    if (c[0] == '/' && c[1] == '*') {
        const char *end = strstr(c + 2, "*/");
        return end ? end + 2 : c + strlen(c);
    }
    if (*c != '"' && *c != '\'')
        return NULL;
    for (char quote = *c++; *c && *c != quote && *c != '\n'; c++)
        c += c[0] == '\\' && c[1];
    return c + (*c != 0 && *c != '\n');
}

/* Returns what follows the parenthesis of a call of such a function with its name beginning here;
 * NULL: none does. */
static const char *call_argument_begin(const char *c)
{
    size_t name = 0;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(c, prefixes[i], strlen(prefixes[i])) == 0)
            while (call_argument_in_name(c[name]))
                name++;
    c += name + strspn(c + name, " \t\n");
    return name && *c == '(' ? c + 1 : NULL;
}

/* Copies an argument without spaces and comments, up to its comma or parenthesis. Returns false if
 * it is too long or does not end. */
static bool call_argument_copy(const char *c, char *to, size_t size)
{
    const char *end = c + strnlen(c, CALL_BYTES_MAX);
    unsigned depth = 0;
    size_t n = 0;
    while (c < end && n + 1 < size) {
        const char *after = call_argument_skip(c);
        if (after && *c != '/')
            return false; /* a text is in no name */
        if (after || isspace((unsigned char)*c)) {
            c = after ? after : c + 1;
            continue;
        }
        if (!depth && (*c == ',' || *c == ')')) {
            to[n] = 0;
            return n > 0;
        }
        depth += *c == '(' || *c == '[';
        depth -= *c == ')' || *c == ']';
        to[n++] = *c++;
    }
    return false;
}

/* Returns the end of the expression in brackets, which is balanced. */
static const char *call_argument_index(const char *c)
{
    unsigned depth = 0;
    do {
        depth += *c == '[';
        depth -= *c == ']';
    } while (*c++ && depth);
    return c;
}

/* Removes '&' and enclosing parentheses. Returns whether a variable, member or element remains. */
static bool call_argument_reduce(char *text)
{
    bool reached = *text == '&';
    text[strcspn(text, "\n")] = 0;
    memmove(text, text + reached, strlen(text + reached) + 1);
    for (size_t n = strlen(text); n > 2 && text[0] == '(' && text[n - 1] == ')'; n -= 2) {
        text[n - 1] = 0;
        memmove(text, text + 1, n - 1);
    }
    const char *c = text;
    for (;;) {
        if (!isalpha((unsigned char)*c) && *c != '_')
            return false;
        while (call_argument_in_name(*c))
            c++;
        while (*c == '[') {
            c = call_argument_index(c);
            reached = true;
        }
        if (!*c)
            return reached;
        if (*c != '.' && !(c[0] == '-' && c[1] == '>'))
            return false;
        c += *c == '.' ? 1 : 2;
        reached = true;
    }
}

bool call_argument_find(const char *source, int line, char *argument, size_t size)
{
    const char *c = call_argument_line(source, line);
    char text[200];
    bool found = false;
    if (!c || line < 1 || !size)
        return false;
    for (char before = ' '; *c && *c != '\n'; before = *c++) {
        const char *after = call_argument_skip(c);
        const char *begin = call_argument_in_name(before) ? NULL : call_argument_begin(c);
        if (after && after > c) {
            c = after - 1;
            continue;
        }
        if (!begin)
            continue;
        if (!call_argument_copy(begin, text, sizeof text) || !call_argument_reduce(text) ||
            strlen(text) >= size || (found && strcmp(text, argument) != 0))
            return false;
        memcpy(argument, text, strlen(text) + 1);
        found = true;
    }
    return found;
}

bool call_argument_read(const char *path, int line, const char *program, char *argument,
                        size_t size)
{
    struct stat source, built;
    if (stat(path, &source) < 0 || stat(program, &built) < 0 ||
        source.st_mtim.tv_sec > built.st_mtim.tv_sec)
        return false;
    char *text = safe_open_read(path, SOURCE_BYTES_MAX, NULL);
    bool found = text && call_argument_find(text, line, argument, size);
    free(text);
    return found;
}
