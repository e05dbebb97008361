/* Slots of calls of libraries' functions (library_stubs.h), as threads take them. */
#ifndef CLIENTS_LIBPOET_PROFILE_LIBRARY_SLOTS_H
#define CLIENTS_LIBPOET_PROFILE_LIBRARY_SLOTS_H

#include "clients/libpoet/profile/library_stubs.h"

#pragma GCC visibility push(hidden)

/* Takes a slot for a call of which the return address is at `back`. It is free again when its place
 * is set to 0. Returns the return place; 0: there is none. Async-signal-safe. */
uintptr_t library_slot_take(uintptr_t back);
/* Called when the calling thread ends to be measured. */
void library_slots_end_thread(void);

#pragma GCC visibility pop
#endif
