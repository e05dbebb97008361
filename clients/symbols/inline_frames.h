/* The functions at a code address, from DWARF: the innermost inlined function, the function into
 * which it was inlined, and so on. */
#ifndef CLIENTS_SYMBOLS_INLINE_FRAMES_H
#define CLIENTS_SYMBOLS_INLINE_FRAMES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#define INLINE_FRAMES_MAX 64u

struct inline_frames {
    uint32_t count;
    /* From the innermost outwards. function: name of its symbol, NULL: unknown; line: the source
     * line in that function; for all but the first one, the line of the call. */
    struct inline_function {
        const char *function, *path;
        int line;
    } items[INLINE_FRAMES_MAX];
};

/* If there are more than fit, the innermost ones, and the outermost as the last. None if the source
 * line is unknown. */
void inline_frames_collect(Dwarf_Die *unit, Dwarf_Addr address, struct inline_frames *list);

/* Returns the innermost one that is not in a system header; the innermost if all of them are. */
uint32_t inline_frames_own(const struct inline_frames *list);
/* Returns the outermost one that is not in a system header; the outermost if all of them are. */
uint32_t inline_frames_outermost(const struct inline_frames *list);

#endif
