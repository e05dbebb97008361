/* What is measured, where others choose it (POET_MEASURE=@FILE, ask), and what the server has to do
 * with it. */
#ifndef CLIENTS_LIBPOET_PROFILE_MEASUREMENT_CHOICE_H
#define CLIENTS_LIBPOET_PROFILE_MEASUREMENT_CHOICE_H

#pragma GCC visibility push(hidden)

void measurement_choice_announce(void); /* to a server that has just been found */
/* Until it is chosen, if others do that, but at most 60 seconds; by the first thread, once. */
void measurement_choice_await(void);

#pragma GCC visibility pop
#endif
