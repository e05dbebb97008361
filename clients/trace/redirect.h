/* Put before every unit that poetcc -trace compiles: the calls that Poet follows
 * go to libpoet under another name, so that it knows which units are to be recorded.
 * It declares nothing, so it cannot disturb the program's own headers. */
#define POET_TRACE 1
#if defined(__ELF__) && !defined(__ASSEMBLER__)
#define POET_REDIRECT(name) \
    __asm__(".set " #name ", poet_link_with_poetcc_trace__" #name "\n");
#include "calls.h"
#undef POET_REDIRECT
#endif
