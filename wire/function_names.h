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
#include <string.h>

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

static inline const char *function_names_skip_blanks(struct function_names *n)
{
    const char *at = n->at;
    for (;; at++)
        if (*at == '#')
            at += strcspn(at, "\n") - 1;
        else if (*at == '\n')
            n->line++;
        else if (!*at || !strchr(" \t\r,", *at))
            return at;
}

static inline const char *function_names_error(const struct function_names *n, bool in_file)
{
    if (*n->word == '@')
        return in_file ? "a list in a list" : n->size == 1 ? "no file is named" : NULL;
    if (memchr(n->word, '/', n->size) || memchr(n->word, '.', n->size))
        return "a file, and those are chosen when compiling (poetcc -only, -ignore)";
    return NULL;
}

/* Gets the next name; returns false at the end. in_file: @ is not special.  Names are separated by
 * commas and newlines, not by blanks, which names of C++ operators contain. */
static inline bool function_names_next(struct function_names *n, bool in_file)
{
    n->word = function_names_skip_blanks(n);
    n->size = strcspn(n->word, ",\n#");
    n->at = n->word + n->size;
    while (n->size && strchr(" \t\r", n->word[n->size - 1]))
        n->size--;
    n->wrong = n->size ? function_names_error(n, in_file) : NULL;
    return n->size != 0;
}

#endif
