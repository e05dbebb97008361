/* A run that is to be repeated: its script, and what is run. */
#ifndef CLIENTS_POET_REPLAY_H
#define CLIENTS_POET_REPLAY_H

#include "clients/plan/plan.h"
#include "clients/poet/command.h"
#include "clients/poet/loadable.h"
#include "clients/poet/subject.h"

#include <limits.h>

struct replaying {
    const char *output;
    bool strict, quiet;
    bool libraries; /* calls of them were recorded, too */
    bool told; /* that all was repeated */
    unsigned after; /* looks since then */
    struct plan *plan;
    struct subject subject;
    struct script_head *script; /* as the program has it */
    char file[400]; /* of it */
    char again[PATH_MAX]; /* the new trace, where none is named */
};

/* Makes the script of the subject, which is open, as a file that is mapped.  False: it is said why there is none. */
bool replay_script(const struct command *command, struct replaying *r);
/* What the trace says was run (caller frees it alone); NULL: that is not known. */
char **replay_arguments(const struct replaying *r);
/* TRACE.again.poet */
void replay_name(struct replaying *r, const char *trace);
/* Compiled with poetcc -trace, so that it needs no `poet record`. */
bool replay_is_compiled(const struct loadable *loadable);
/* The words with which it runs under `poet record` (caller frees them alone). */
char **replay_recorded(const struct replaying *r, char **argv);

#endif
