/* All that a process started, ended at once. */
#ifndef CLIENTS_CLI_KILL_TREE_H
#define CLIENTS_CLI_KILL_TREE_H

#include <sys/types.h>

/* SIGKILL for a child of ours that is not waited for yet, its group, and all that descend from it,
 * in whichever groups: a launcher as mpirun gives each rank one of its own.  Who has lost its
 * parent before is none of them, unless it is in the group. */
void kill_tree_run(pid_t child);

#endif
