#include "wire/function_names.h"

#include <string.h>

static const char *function_names_skip_blanks(struct function_names *n)
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

static const char *wrong_with(const struct function_names *n, bool in_file)
{
    if (*n->word == '@')
        return in_file ? "a list in a list" : n->size == 1 ? "no file is named" : NULL;
    if (memchr(n->word, '/', n->size) || memchr(n->word, '.', n->size))
        return "a file, and those are chosen when compiling (poetcc -only, -ignore)";
    return NULL;
}

/* Names are separated by commas and newlines, not by blanks, which names of C++ operators
 * contain. */
bool function_names_next(struct function_names *n, bool in_file)
{
    n->word = function_names_skip_blanks(n);
    n->size = strcspn(n->word, ",\n#");
    n->at = n->word + n->size;
    while (n->size && strchr(" \t\r", n->word[n->size - 1]))
        n->size--;
    n->wrong = n->size ? wrong_with(n, in_file) : NULL;
    return n->size != 0;
}
