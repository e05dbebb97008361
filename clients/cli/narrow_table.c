/* Shortening of names that make a text table too wide: the arguments of C++ templates first, then
 * parameters, then the middle of the name. The location, (FILE:LINE), stays. */
#include "clients/cli/narrow_table.h"

#include "base/alloc.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NAME_WIDTH 64u /* maximum width of a name, without its location */

struct narrow_table_name {
    char *text;
    size_t at; /* bytes written */
};

static void name_add(struct narrow_table_name *n, const char *bytes, size_t count)
{
    memcpy(n->text + n->at, bytes, count);
    n->at += count;
}

/* Returns a pointer behind the bracket that closes the one at `open`; NULL: none does. */
static const char *name_closed(const char *open, char opens, char closes)
{
    unsigned depth = 0;
    for (const char *p = open; *p; p++) {
        depth += *p == opens;
        if (*p == closes && !(closes == '>' && p > open && p[-1] == '-') && --depth == 0)
            return p + 1;
    }
    return NULL;
}

static bool name_has_letter(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Returns whether the bracket belongs to the name of an operator: operator<, operator<<,
 * operator(). */
static bool name_is_operator(const char *name, const char *at)
{
    static const char word[] = "operator";
    const size_t n = sizeof word - 1;
    if (*at == '<' && at > name && at[-1] == '<')
        at--;
    return at - name >= (ptrdiff_t)n && memcmp(at - n, word, n) == 0 &&
           (at - n == name || !name_has_letter(at[-(ptrdiff_t)n - 1]));
}

/* Returns the name with "..." within its outermost brackets; the caller frees it. */
static char *name_without(const char *name, char opens, char closes)
{
    struct narrow_table_name n = {xmalloc(2 * strlen(name) + 8), 0};
    const char *end;
    for (const char *p = name; *p; p = end) {
        end = *p == opens && !name_is_operator(name, p) ? name_closed(p, opens, closes) : NULL;
        if (end && end > p + 2) {
            name_add(&n, (const char[]){opens, '.', '.', '.', closes}, 5);
            continue;
        }
        end = end ? end : p + 1;
        name_add(&n, p, (size_t)(end - p));
    }
    n.text[n.at] = 0;
    return n.text;
}

static bool is_inside_letter(char byte) { return ((unsigned char)byte & 0xc0) == 0x80; }

static char *name_cut(const char *name)
{
    size_t size = strlen(name), head = NAME_WIDTH / 2, tail = size - NAME_WIDTH / 2 + 3;
    while (head && is_inside_letter(name[head]))
        head--;
    while (tail < size && is_inside_letter(name[tail]))
        tail++;
    return xasprintf("%.*s...%s", (int)head, name, name + tail);
}

/* Returns the shortened name of a C++ function; NULL: it is short enough, or not C++. */
static char *name_shortened(const char *text)
{
    const char *place = strrchr(text, ' ');
    size_t size = place && place[1] == '(' ? (size_t)(place - text) : strlen(text);
    if (size <= NAME_WIDTH || !(strstr(text, "::") || strchr(text, '<')))
        return NULL;
    char *name = xstrndup(text, size), *next;
    for (unsigned i = 0; i < 3 && strlen(name) > NAME_WIDTH; i++) {
        next = i == 2 ? name_cut(name) : name_without(name, i ? '(' : '<', i ? ')' : '>');
        free(name);
        name = next;
    }
    next = xasprintf("%s%s", name, text + size);
    free(name);
    return next;
}

void narrow_table_shorten(struct text_table *sheet)
{
    bool any = false;
    for (uint32_t i = 0; i < sheet->row_count; i++)
        for (uint32_t k = 0; k < sheet->column_count; k++) {
            char **cell = &sheet->rows[i].cells[k],
                 *shorter = sheet->columns[k].right ? NULL : name_shortened(*cell);
            if (!shorter)
                continue;
            free(*cell);
            *cell = shorter;
            any = true;
        }
    if (any)
        text_table_add_note(sheet,
                            xstrdup("long names are shortened: --json and --csv have all of them"));
}
