/* Choice of what is measured, if it is made outside of the program (POET_MEASURE=@FILE, ask), and
 * the server's part in it. */
#ifndef CLIENTS_LIBPOET_PROFILE_MEASUREMENT_CHOICE_H
#define CLIENTS_LIBPOET_PROFILE_MEASUREMENT_CHOICE_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

void measurement_choice_announce(void); /* Announces it to a server that has just been connected. */
/* Waits until the choice is made, if it is made outside of the program, but at most 60 seconds;
 * called once, by the first thread. Returns what is wanted, as WANTED_ bits. */
uint32_t measurement_choice_await(void);

#pragma GCC visibility pop
#endif
