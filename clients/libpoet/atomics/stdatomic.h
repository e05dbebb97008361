/* Found before the compiler's <stdatomic.h> in units that poetcc -trace compiles: such a unit says
 * that it may use atomics, which are not traced
 * (unless by -trace=atomics). */
#include_next <stdatomic.h>
#if defined(__ELF__) && !defined(__ASSEMBLER__) && !defined(POET_UNIT_HAS_STDATOMIC) &&            \
    !defined(POET_TRACES_ATOMICS)
#define POET_UNIT_HAS_STDATOMIC 1
__asm__(".weak poet_unit_has_stdatomic\n.set poet_unit_has_stdatomic, 1\n");
#endif
