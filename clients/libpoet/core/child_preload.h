/* LD_PRELOAD of programs that this process becomes (exec) or starts. */
#ifndef CLIENTS_LIBPOET_CORE_CHILD_PRELOAD_H
#define CLIENTS_LIBPOET_CORE_CHILD_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

struct child_preload_change {
    char sanitizer[64]; /* library of a sanitizer that must come first; "": none */
    bool without_ours; /* the program cannot run with libpoet */
    char *const *environment;
    size_t at, bytes; /* place of LD_PRELOAD there; size of the changed environment */
};

/* Returns whether the program needs an LD_PRELOAD other than that of the environment. May be called
 * in a child that shares its parent's memory: it writes to the caller's stack only. */
bool child_preload_check(const char *path, char *const *environment,
                         struct child_preload_change *change);
/* Does the same for a name that is searched in PATH. */
bool child_preload_check_in_path(const char *name, char *const *environment,
                                 struct child_preload_change *change);
/* Writes the changed environment to `room`, which must have change->bytes, and returns it. */
char **child_preload_write(const struct child_preload_change *change, void *room);
/* Must be called at the start: libraries that had to be preloaded here need not be in other
 * programs. */
void child_preload_begin(void);

#pragma GCC visibility pop
#endif
