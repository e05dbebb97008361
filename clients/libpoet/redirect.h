/* Included before every unit that poetcc -trace compiles: the traced calls are redirected to
 * libpoet under another name, which shows it which units are to be recorded. It declares nothing,
 * so it cannot conflict with the program's own headers. */
#define POET_TRACE 1
#if defined(__ELF__) && !defined(__ASSEMBLER__)
#define POET_REDIRECT(name) __asm__(".set " #name ", poet_link_with_poetcc_trace__" #name "\n");
__asm__(".weak poet_traced_unit\n.set poet_traced_unit, 1\n"); /* there is such a unit */
/* A standard by which a relaxed store ends every release sequence (clients/libpoet/atomics). */
#if defined(POET_TRACES_ATOMICS) &&                                                                \
    ((defined(__cplusplus) && __cplusplus > 201703L) ||                                            \
     (!defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L))
__asm__(".weak poet_unit_ends_release_sequences\n.set poet_unit_ends_release_sequences, 1\n");
#endif
/* Calls that access memory are examined (clients/libpoet/races/race_calls.c). */
#if defined(POET_TRACES_RACES)
#define POET_EXAMINE(name) __asm__(".set " #name ", poet_races__" #name "\n");
POET_EXAMINE(memcpy)
POET_EXAMINE(memmove)
POET_EXAMINE(memset)
POET_EXAMINE(memcmp)
POET_EXAMINE(strlen)
POET_EXAMINE(strcpy)
POET_EXAMINE(strncpy)
POET_EXAMINE(strcat)
POET_EXAMINE(strcmp)
POET_EXAMINE(strncmp)
POET_EXAMINE(strdup)
#undef POET_EXAMINE
#endif
#if defined(POET_PROFILE) /* and its calls are measured */
__asm__(
    ".pushsection .rodata\n.weak poet_profiled\n.type poet_profiled, %object\n.size poet_profiled, "
    "1\n"
    "poet_profiled: .byte 1\n.popsection\n");
#if defined(                                                                                       \
    POET_COUNT) /* calls of these functions are counted, not timed: a note of the linker's */
__asm__(".pushsection .note.poet,\"a\",%note\n.balign 4\n.long 5, 992f-991f, 1\n.asciz \"Poet\"\n"
        ".balign 4\n991: .asciz \"" POET_COUNT "\"\n992: .balign 4\n.popsection\n");
#endif
#if defined(POET_SKIP) /* these are not measured: likewise */
__asm__(".pushsection .note.poet,\"a\",%note\n.balign 4\n.long 5, 992f-991f, 2\n.asciz \"Poet\"\n"
        ".balign 4\n991: .asciz \"" POET_SKIP "\"\n992: .balign 4\n.popsection\n");
#endif
#endif
#include "traced_calls.h"
#undef POET_REDIRECT
#endif
