/* The functions at an address of the code: the one that the compiler inlined there, the one that
 * it inlined that into, and so on, from DWARF. */
#ifndef CLIENTS_SITE_INLINED_H
#define CLIENTS_SITE_INLINED_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#define INLINED_MOST 64u

struct inlined_list {
    uint32_t count;
    /* From the innermost outwards.  function: as its symbol is called, NULL unknown; line: where
     * it is in that function, for all but the first where it calls the one before. */
    struct inlined_function {
        const char *function, *path;
        int line;
    } items[INLINED_MOST];
};

/* Of more than there is room for the innermost, and the outermost as the last.  None where the
 * source line is unknown. */
void inlined_list(Dwarf_Die *unit, Dwarf_Addr address, struct inlined_list *list);

/* The innermost that is not in a header of the system; the innermost where all of them are. */
uint32_t inlined_own(const struct inlined_list *list);
/* The outermost that is not in a header of the system; likewise. */
uint32_t inlined_outermost(const struct inlined_list *list);

#endif
