/* A run that is to be repeated: its script, and what is run. */
#ifndef CLIENTS_CLI_REPLAY_H
#define CLIENTS_CLI_REPLAY_H

#include "clients/schedule/schedule_builder.h"
#include "clients/cli/command.h"
#include "clients/cli/swap_events.h"
#include "clients/cli/input_files.h"
#include "clients/cli/hold_points.h"
#include "clients/cli/command_source.h"
#include "clients/cli/unsteered.h"

#include <limits.h>

struct replay_run {
    const char *output;
    const char *picture; /* of both runs; NULL: none */
    bool strict, quiet;
    bool libraries; /* calls of them were recorded, too */
    bool told; /* that all was repeated */
    unsigned after; /* looks since then */
    /* Processes whose launcher, as mpirun, is not in the trace; 0: its first program started the
     * others. */
    uint32_t launched;
    struct schedule_builder *plan;
    struct command_source subject;
    struct schedule_head *script; /* as the program has it */
    char file[400]; /* of it */
    struct input_files inputs; /* what was recorded of them */
    char input_file[400]; /* of it; "": there is none */
    struct swap_events flip;
    struct schedule_control *led; /* as the program has it; NULL: nothing is swapped */
    char steer_file[400];
    struct uncontrolled_events unsteered;
    char again[PATH_MAX]; /* the new trace, where none is named */
};

/* Makes the script of the subject, which is open, as a file that is mapped.  False: it is said why
 * there is none. */
bool replay_script(const struct command *command, struct replay_run *r);
/* The program, as words; NULL: the one that the trace says (the caller's list, *recorded).  False:
 * it is said why there is none. */
bool replay_command_words(const struct command *command, const struct replay_run *r,
                          const char *trace, char ***words, char ***recorded);
/* Makes the file of what was recorded of its input, if anything was. */
bool replay_input(const struct command *command, struct replay_run *r);
/* Before the program is started: where its script is, and its input. */
void replay_environment(const struct replay_run *r);
/* Takes back the files, and frees what is in it but the subject. */
void replay_free(struct replay_run *r);

#endif
