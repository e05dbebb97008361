/* Members of a group of processes, such as a communicator of MPI, that keep a thread in a
 * collective call: those that have not arrived there, or never will. */
#ifndef SERVER_QUERIES_GROUP_MEMBERS_H
#define SERVER_QUERIES_GROUP_MEMBERS_H

#include "server/queries/wait_graph.h"

/* Returns whether a line stands for a group: its waiters wait for different members. */
bool group_members_are_of(const struct wait_graph *graph, uint32_t line);
/* Adds the members that a thread waits for, if it waits until all have arrived, and all of them are
 * traced. */
void group_members_add(struct wait_graph *graph, struct wait_graph_object *object,
                       const struct waiter *waiter);
/* Returns whether a waiter may be about to resume: it waits for a thread in a collective call, and
 * something that that one has sent may be on its way to it. */
bool group_members_are_sending(const struct wait_graph *graph, const struct waiter *waiter);

#endif
