#include "clients/cli/name_lookup.h"

#include "base/alloc.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

bool name_lookup_matches(const struct table_names *names, struct table_place place,
                         const char *name)
{
    char *text = result_table_place_text(names, place, ""), *open = strstr(text, " (");
    bool is = *text && fnmatch(name, text, 0) == 0;
    if (!is && open) {
        size_t n = strlen(text);
        text[n - 1] = 0;
        *open = 0;
        is = fnmatch(name, text, 0) == 0 || fnmatch(name, open + 2, 0) == 0;
    }
    free(text);
    return is;
}

/* Returns whether a name equals a label with or without its letter. size: of the label, without
 * what distinguishes equal labels. */
static bool name_lookup_is_label(const char *name, const char *label, size_t size)
{
    const char *colon = memchr(label, ':', size);
    size_t letter = colon ? (size_t)(colon + 1 - label) : 0, n = strlen(name);
    return (n == size && memcmp(name, label, n) == 0) ||
           (n == size - letter && memcmp(name, label + letter, n) == 0);
}

uint32_t name_lookup_line(const struct trace_metadata *book, const char *name, bool *several)
{
    uint32_t found = 0;
    *several = false;
    for (unsigned own = 0; own < 2 && !found; own++)
        for (uint32_t i = 1; i <= book->line_count; i++) {
            const struct line_metadata *line = metadata_line(book, i);
            const char *label = line ? metadata_label(book, i) : "";
            size_t size = own && line ? line->own : strlen(label);
            if (!name_lookup_is_label(name, label, size))
                continue;
            *several |= found != 0;
            found = found ? found : i;
        }
    return found;
}
