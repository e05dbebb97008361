/* Whether a program can be recorded as it is: dynamically linked against the C library that
 * libpoet uses, and started without new privileges. */
#ifndef POET_LOADABLE_H
#define POET_LOADABLE_H

#include <stdbool.h>
#include <stddef.h>

struct loadable {
    char path[4096];      /* the file that is executed */
    char sanitizers[512]; /* libraries that must be loaded before all others, by spaces */
    const char *mpi;      /* the implementation of MPI that it uses, or starts programs of; NULL none */
};

/* Finds a program as execvp does and looks at it, and at the interpreter of a script.  Writes a
 * sentence to `why` where it cannot be recorded; found: false if there is no such program. */
bool loadable_look(const char *program, struct loadable *loadable, bool *found, char *why, size_t size);

/* The implementation of MPI that a command line is about: that of the first program named in it which
 * uses one, else that of mpirun.  NULL: none.  *library: what must be loaded as well, where the program
 * loads it later by itself, as interpreters do; else "". */
const char *loadable_mpi(char *const *arguments, const char **library);

#endif
