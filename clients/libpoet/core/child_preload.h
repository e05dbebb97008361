/* Which libraries are loaded before a program that this process becomes or starts. */
#ifndef CLIENTS_LIBPOET_CORE_CHILD_PRELOAD_H
#define CLIENTS_LIBPOET_CORE_CHILD_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

struct child_preload_change {
    char sanitizer[64]; /* is to come first; "": none */
    bool without_ours; /* the program cannot bear libpoet */
    char *const *environment;
    size_t at, bytes; /* LD_PRELOAD's place there; what the changed environment takes */
};

/* Whether the program must find another LD_PRELOAD than the environment has.  May be called in a
 * child that shares its parent's memory: it writes to the caller's stack alone. */
bool child_preload_check(const char *path, char *const *environment,
                         struct child_preload_change *change);
/* The same for a name that is looked for in PATH. */
bool child_preload_check_in_path(const char *name, char *const *environment,
                                 struct child_preload_change *change);
/* The environment that it must find, made in `room`, which has change->bytes. */
char **child_preload_write(const struct child_preload_change *change, void *room);
/* At the start: what had to be loaded before libpoet here need not be so in other programs. */
void child_preload_begin(void);

#pragma GCC visibility pop
#endif
