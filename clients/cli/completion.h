/* Shell completions, generated from the tables of commands and options: they match --help.
 *
 * `poet --completion SHELL` prints the file that a shell reads. For words that are known only at
 * completion time (runs, types, descriptions) that file calls `poet --complete WHAT`, which prints
 * one word per line. */
#ifndef CLIENTS_CLI_COMPLETION_H
#define CLIENTS_CLI_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The kinds of completion of a value: WORDS: those in `words`, separated by spaces; FILE: these and
 * file names. */
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
    char *letter, *name; /* "-o", "--output"; "": none */
    char *value; /* name of its argument; "": none; with a '=' in front: optional */
    char *doc; /* short description */
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

/* One function per shell. */
void completion_bash_write(const struct complete *all, FILE *f);
void completion_zsh_write(const struct complete *all, FILE *f);
void completion_fish_write(const struct complete *all, FILE *f);

/* The two hidden options of `poet`. Return the exit status. */
int completion_print(const char *shell);
int completion_words_write(const char *what);

#endif
