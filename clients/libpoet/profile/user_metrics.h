/* Meters of the program's own: what they are called, for servers that come and children that are
 * born. */
#ifndef CLIENTS_LIBPOET_PROFILE_USER_METRICS_H
#define CLIENTS_LIBPOET_PROFILE_USER_METRICS_H

#pragma GCC visibility push(hidden)

void user_metrics_announce(void); /* to a server that has just been found: all that there are */
void user_metrics_forked(void); /* in a child: shared cells are its own from now on */

#pragma GCC visibility pop
#endif
