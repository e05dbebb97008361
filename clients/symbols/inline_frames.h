/* The functions at an address of the code: the one that the compiler inlined there, the one that
 * it inlined that into, and so on, from DWARF. */
#ifndef CLIENTS_SYMBOLS_INLINE_FRAMES_H
#define CLIENTS_SYMBOLS_INLINE_FRAMES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#define INLINE_FRAMES_MAX 64u

struct inline_frames {
    uint32_t count;
    /* From the innermost outwards.  function: as its symbol is called, NULL unknown; line: where
     * it is in that function, for all but the first where it calls the one before. */
    struct inline_function {
        const char *function, *path;
        int line;
    } items[INLINE_FRAMES_MAX];
};

/* Of more than there is room for the innermost, and the outermost as the last.  None where the
 * source line is unknown. */
void inline_frames_collect(Dwarf_Die *unit, Dwarf_Addr address, struct inline_frames *list);

/* The innermost that is not in a header of the system; the innermost where all of them are. */
uint32_t inline_frames_own(const struct inline_frames *list);
/* The outermost that is not in a header of the system; likewise. */
uint32_t inline_frames_outermost(const struct inline_frames *list);

#endif
