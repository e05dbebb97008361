/* Lists of function names: the syntax of POET_PROFILE_INCLUDE, POET_PROFILE_EXCLUDE,
 * POET_PROFILE_COUNT_ONLY, and of the files that these name.
 *
 * A list is names separated by commas or newlines; * and ? match any characters and one character,
 * and # begins a comment up to the end of its line. @FILE includes the names in a file, which
 * cannot include others. Nothing here reads files or allocates memory. */
#ifndef WIRE_FUNCTION_NAMES_H
#define WIRE_FUNCTION_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

struct function_names {
    const char *at; /* the rest of the list, NUL-terminated */
    unsigned line; /* of `word` */
    const char *word; /* points into the list */
    size_t size;
    const char *wrong; /* what is wrong with it, or NULL */
};

static inline struct function_names function_names_parse(const char *list)
{
    return (struct function_names){list, 1, list, 0, NULL};
}

/* Gets the next name; returns false at the end. in_file: @ is not special. */
bool function_names_next(struct function_names *names, bool in_file);

#pragma GCC visibility pop
#endif
