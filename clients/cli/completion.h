/* Shell completions, generated from the tables of commands and options: they match --help.
 *
 * `poet --completion SHELL` prints the file that a shell reads. For words that are known only at
 * completion time (runs, types, descriptions) that file calls `poet --complete WHAT`, which prints
 * one word per line. */
#ifndef CLIENTS_CLI_COMPLETION_H
#define CLIENTS_CLI_COMPLETION_H

/* Runs `poet --completion SHELL`. Returns the exit status. */
int completion_print(const char *shell);
/* Runs `poet --complete WHAT`. Returns the exit status. */
int completion_words_write(const char *what);

#endif
