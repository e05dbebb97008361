/* A run that is to be repeated: its script, and what is run. */
#ifndef CLIENTS_POET_REPLAY_H
#define CLIENTS_POET_REPLAY_H

#include "clients/plan/plan.h"
#include "clients/poet/command.h"
#include "clients/poet/flip.h"
#include "clients/poet/inputs.h"
#include "clients/poet/steering.h"
#include "clients/poet/subject.h"
#include "clients/poet/unsteered.h"

#include <limits.h>

struct replaying {
    const char *output;
    const char *picture; /* of both runs; NULL: none */
    bool strict, quiet;
    bool libraries; /* calls of them were recorded, too */
    bool told; /* that all was repeated */
    unsigned after; /* looks since then */
    /* Processes whose launcher, as mpirun, is not in the trace; 0: its first program started the others. */
    uint32_t launched;
    struct plan *plan;
    struct subject subject;
    struct script_head *script; /* as the program has it */
    char file[400]; /* of it */
    struct inputs inputs; /* what was recorded of them */
    char input_file[400]; /* of it; "": there is none */
    struct flip flip;
    struct steer_head *led; /* as the program has it; NULL: nothing is flipped */
    char steer_file[400];
    struct unsteered unsteered;
    char again[PATH_MAX]; /* the new trace, where none is named */
};

/* Makes the script of the subject, which is open, as a file that is mapped.  False: it is said why there is none. */
bool replay_script(const struct command *command, struct replaying *r);
/* The program, as words; NULL: the one that the trace says (the caller's list, *recorded).  False: it is said why there is none. */
bool replay_words(const struct command *command, const struct replaying *r, const char *trace,
                  char ***words, char ***recorded);
/* Makes the file of what was recorded of its input, if anything was. */
bool replay_input(const struct command *command, struct replaying *r);
/* Before the program is started: where its script is, and its input. */
void replay_environment(const struct replaying *r);
/* Takes back the files, and frees what is in it but the subject. */
void replay_free(struct replaying *r);

#endif
