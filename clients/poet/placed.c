#include "clients/poet/placed.h"

#include "memory/memory.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

bool placed_is(const struct table_names *names, struct table_place place, const char *name)
{
    char *text = table_say_place(names, place, ""), *open = strstr(text, " (");
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

uint32_t placed_line(const struct book *book, const char *name, bool *several)
{
    uint32_t found = 0;
    *several = false;
    for (uint32_t i = 1; i <= book->line_count; i++) {
        const char *label = book_line(book, i) ? book_label(book, i) : "",
                   *colon = strchr(label, ':');
        if (strcmp(name, label) != 0 && !(colon && strcmp(name, colon + 1) == 0))
            continue;
        *several |= found != 0;
        found = found ? found : i;
    }
    return found;
}
