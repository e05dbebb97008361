/* Tables of what the options of a command set: one row an option, for parsers of argp.
 *
 *     static const struct option_row rows[] = {
 *         OPTION_STORES('o', struct copy_options, output),
 *         OPTION_SETS('q', struct copy_options, quiet),
 *         {0}};
 *
 * A parser handles the options that need more, such as numbers, and passes the others on to
 * option_rows_parse(). */
#ifndef CONFIG_OPTION_ROWS_H
#define CONFIG_OPTION_ROWS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

enum option_action {
    OPTION_ACTION_TRUE,
    OPTION_ACTION_TEXT,
    OPTION_ACTION_CONSTANT,
    OPTION_ACTION_CHILD
};

struct option_row {
    int key; /* of the struct argp_option */
    enum option_action action;
    size_t offset; /* of the member in the parser's input */
    const char *constant;
};

#define OPTION_ROW_FLAG(type, member)                                                              \
    (offsetof(type, member) + 0 * sizeof(char[_Generic(((type *)0)->member, bool: 1, default: -1)]))
#define OPTION_ROW_TEXT(type, member)                                                              \
    (offsetof(type, member) +                                                                      \
     0 * sizeof(char[_Generic(((type *)0)->member, char *: 1, const char *: 1, default: -1)]))

/* The option sets a bool to true. */
#define OPTION_SETS(key, type, member)                                                             \
    {                                                                                              \
        key, OPTION_ACTION_TRUE, OPTION_ROW_FLAG(type, member), NULL                               \
    }
/* The option stores its value, or a constant text, in a char pointer. */
#define OPTION_STORES(key, type, member)                                                           \
    {                                                                                              \
        key, OPTION_ACTION_TEXT, OPTION_ROW_TEXT(type, member), NULL                               \
    }
#define OPTION_STORES_CONSTANT(key, type, member, text)                                            \
    {                                                                                              \
        key, OPTION_ACTION_CONSTANT, OPTION_ROW_TEXT(type, member), text                           \
    }
/* A member is the input of the first child table. */
#define OPTION_CHILD_INPUT(type, member)                                                           \
    {                                                                                              \
        ARGP_KEY_INIT, OPTION_ACTION_CHILD, offsetof(type, member), NULL                           \
    }

/* Does what the rows of the key say with state->input, in their order; the rows end with key 0.
 * Returns 0, or ARGP_ERR_UNKNOWN if there are none. */
error_t option_rows_parse(const struct option_row *rows, int key, char *value,
                          struct argp_state *state);

#endif
