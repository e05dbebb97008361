/* Killing a process with all its descendants. */
#ifndef CLIENTS_CLI_KILL_TREE_H
#define CLIENTS_CLI_KILL_TREE_H

#include <sys/types.h>

/* Sends SIGKILL to a child of ours that was not waited for yet, its process group, and all
 * descendants, in any group: a launcher such as mpirun gives each rank a group of its own.
 * Processes that lost their parent before are not found, unless they are in the group. */
void kill_tree_run(pid_t child);

#endif
