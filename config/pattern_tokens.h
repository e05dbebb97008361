/* Tokens of patterns of events (event_pattern.h), and the reader that event_pattern.c parses them
 * with: one token at a time, and the first error with its column. */
#ifndef CONFIG_PATTERN_TOKENS_H
#define CONFIG_PATTERN_TOKENS_H

#include "config/event_pattern.h"

enum pattern_token {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_STRING, /* in quotes */
    TOKEN_NUMBER, /* with a unit */
    TOKEN_SEMICOLON, /* or the end of a line */
    TOKEN_BEFORE,
    TOKEN_CONCURRENT,
    TOKEN_EQUAL,
    TOKEN_UNEQUAL,
    TOKEN_LIKE,
    TOKEN_UNLIKE,
    TOKEN_LESS,
    TOKEN_AT_MOST,
    TOKEN_GREATER,
    TOKEN_AT_LEAST,
    TOKEN_WITHIN,
    TOKEN_NOT,
    TOKEN_OR,
    TOKEN_DOT,
    TOKEN_COMMA,
    TOKEN_COLON,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_ANY,
    TOKEN_OTHER
};

struct pattern_reader {
    const char *text;
    struct event_pattern *pattern;
    struct pattern_error *error;
    bool failed;
    enum pattern_token token; /* the current one: bytes begin .. end - 1 of the text */
    uint32_t begin, end;
    bool spaced; /* white space is before it */
};

/* Reads the next token. */
void pattern_next(struct pattern_reader *r);
void pattern_skip_space(struct pattern_reader *r); /* and comments */
/* Reads a text in quotes, or a regular expression between slashes. */
void pattern_read_quoted(struct pattern_reader *r);
/* Reads the next token if the current one is this one; returns whether it is. */
bool pattern_accept(struct pattern_reader *r, enum pattern_token token);
/* Does this, or fails with what was expected. */
void pattern_expect(struct pattern_reader *r, enum pattern_token token, const char *expected);
/* Returns whether the current token is this name. */
bool pattern_is_name(const struct pattern_reader *r, const char *name);
/* Records an error, unless there is one, at a byte of the text. */
void pattern_fail_at(struct pattern_reader *r, uint32_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Records that something else was expected instead of the current token. */
void pattern_fail(struct pattern_reader *r, const char *expected);
/* Returns the text of a token in quotes, without them and with \" and \\ replaced. */
char *pattern_unquote(const char *text, size_t size);
/* Returns a time as patterns write it, "5ms" or "1.5s", in *ns; false if it is none. */
bool pattern_time_parse(const char *text, int64_t *ns);
/* Reads the current token as a time, ns. */
int64_t pattern_time(struct pattern_reader *r);

#endif
