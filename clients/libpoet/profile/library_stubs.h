/* Stubs through which measured code calls functions of libraries, and the places to which these
 * return (x86-64). An import entry of a measured object leads to its stub, which has the begin of
 * the call recorded and continues with the function itself: all registers and the stack are as the
 * caller left them, but for the return address, which is that of a slot's return place. There the
 * end is recorded, and the caller continues.
 *
 * The unwind tables of the return places find the true return address in the slot, so that
 * exceptions, cancellation and debuggers pass through such a call as through any other. A slot is
 * found by the address of its return place, and so on whichever thread the function returns. */
#ifndef CLIENTS_LIBPOET_PROFILE_LIBRARY_STUBS_H
#define CLIENTS_LIBPOET_PROFILE_LIBRARY_STUBS_H

#include "base/likely.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* (both also in the assembler text of library_stubs.c) */
#define LIBRARY_IMPORTS 4096u
#define LIBRARY_SLOTS 8192u

/* A call of a library's function that has not returned. */
struct library_slot {
    uintptr_t back; /* where it returns in its caller */
    uintptr_t place; /* where its return address is on the stack, with SLOT_ bits; 0: free */
};
#define SLOT_BEING_TAKEN 1u /* that is not the return place yet */
#define SLOT_WIDE 2u /* its result may be in a vector register of more than 16 bytes */
#define SLOT_BITS 7u

#if defined(__x86_64__) && !defined(POET_STATIC)
#define LIBRARY_STUB_BYTES 16u
extern const char library_stubs[], library_returns[];

/* Called by the stubs. The begin of a call, *back is its return address; returns the function. The
 * end of a call that returned to that place; returns where its caller continues. */
typedef uintptr_t library_begin(uint32_t import, uintptr_t *back);
typedef uintptr_t library_end(uintptr_t place);
/* wide_mask: state components of the processor that vector registers of more than 16 bytes belong
 * to; 0: there are none. probes: XGETBV tells which are in use. */
void library_stubs_begin(library_begin *begin, library_end *end, uint32_t wide_mask, bool probes);
/* Says whether such registers may be arguments or the result of an import. */
void library_stub_set_wide(uint32_t import, bool wide);
bool library_stub_is_wide(uint32_t import);

static inline uintptr_t library_stub(uint32_t import)
{
    return (uintptr_t)library_stubs + import * LIBRARY_STUB_BYTES;
}

static inline uintptr_t library_return(uint32_t slot)
{
    return (uintptr_t)library_returns + slot * LIBRARY_STUB_BYTES;
}

/* Returns the slot of a return place: how far it is from there is stored behind the jump. */
static inline struct library_slot *library_slot_at(uintptr_t place)
{
    return (struct library_slot *)(place + 8 + *(const uint32_t *)(place + 8));
}

/* Returns the true return address of a call that may have another one. */
static inline uintptr_t library_true_return(uintptr_t back)
{
    uintptr_t at = back - (uintptr_t)library_returns;
    return LIKELY(at >= LIBRARY_SLOTS * LIBRARY_STUB_BYTES) ? back : library_slot_at(back)->back;
}
#else
static inline uintptr_t library_true_return(uintptr_t back) { return back; }
#endif

#pragma GCC visibility pop
#endif
