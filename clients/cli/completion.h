/* Completions for shells, made from the tables of the commands and of their options: what shells
 * complete is what --help says.
 *
 * `poet --completion SHELL` prints the file that a shell reads; what is only known when somebody
 * completes (runs, types, descriptions) that file asks `poet --complete WHAT` for, one word a
 * line. */
#ifndef CLIENTS_CLI_COMPLETION_H
#define CLIENTS_CLI_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What completes a value: of the kind WORDS those of `words`, by spaces; of the kind FILE those,
 * too. */
enum complete_kind {
    TAKES_NOTHING_KNOWN,
    TAKES_FILE,
    TAKES_RUN,
    TAKES_PROGRAM,
    TAKES_TYPE,
    TAKES_DESCRIPTION,
    TAKES_ENDPOINT,
    TAKES_LIBRARY,
    TAKES_WORDS
};

struct complete_option {
    char *letter, *name; /* "-o", "--output", "" none */
    char *value; /* what it is called, "" it takes none; with a '=' before it, it may be left out */
    char *doc; /* in a few words */
    enum complete_kind kind;
    const char *words;
};

struct complete_command {
    const char *name, *summary;
    struct complete_option *options;
    size_t count;
    enum complete_kind kind; /* of its arguments */
    const char *words;
};

struct complete {
    struct complete_command *commands;
    size_t count;
};

/* Each is a shell. */
void completion_bash_write(const struct complete *all, FILE *f);
void completion_zsh_write(const struct complete *all, FILE *f);
void completion_fish_write(const struct complete *all, FILE *f);

/* The two hidden options of `poet`: how to exit. */
int completion_print(const char *shell);
int completion_words_write(const char *what);

#endif
