/* Names of functions, as they are listed: POET_PROFILE_INCLUDE, POET_PROFILE_EXCLUDE,
 * POET_PROFILE_COUNT_ONLY, and the files that these name.
 *
 * A list is names divided by commas or lines; * and ? stand for any letters and for one, and #
 * begins a comment up to the end of its line.  @FILE stands for the names in a file, which names no
 * other.  Nothing here reads files or takes memory. */
#ifndef WIRE_FUNCTION_NAMES_H
#define WIRE_FUNCTION_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

struct function_names {
    const char *at; /* the rest of the list, which ends with a 0 */
    unsigned line; /* of `word` */
    const char *word; /* within the list */
    size_t size;
    const char *wrong; /* what is wrong with it; NULL: nothing */
};

static inline struct function_names function_names_parse(const char *list)
{
    return (struct function_names){list, 1, list, 0, NULL};
}

/* The next one; false: there is none.  in_file: @ is not meant there. */
bool function_names_next(struct function_names *names, bool in_file);

#pragma GCC visibility pop
#endif
