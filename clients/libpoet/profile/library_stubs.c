/* Stubs and return places, in assembler, and how exceptions pass the latter. An unwinder walks from
 * the function to its return place, and by the unwind table there to the caller. Both have the same
 * stack pointer, by which unwinders recognize the function that catches the exception: so they take
 * the return place for that, if it is the caller. The personality routine of the return places
 * (Itanium C++ ABI, Exception Handling, 1.6) then ends the call, and lets the exception continue
 * from the caller itself. */
#define _GNU_SOURCE
#include "clients/libpoet/profile/library_stubs.h"

#if defined(LIBRARY_STUB_BYTES)

#include "clients/libpoet/next_symbol.h"

#include <unwind.h>

/* These are used by the assembler text. */
#define USED __attribute__((used))
static USED struct library_slot library_slots[LIBRARY_SLOTS];
static USED uint8_t library_import_wide[LIBRARY_IMPORTS];
static USED uint32_t library_wide_mask;
static USED uint32_t library_wide_unused; /* the processor tells which of them are in use */
static USED struct {
    library_begin *begin;
    library_end *end;
    void (*resume)(void *exception);
} library_hooks;

/* Each stub is 16 bytes, from which its number follows. %r11 may be used between a call and its
 * function (System V ABI, x86-64); rax, r10 and the argument registers may be arguments. */
#define STUBS                                                                                      \
    ".balign 64\n"                                                                                 \
    ".hidden library_stubs\n"                                                                      \
    ".globl library_stubs\n"                                                                       \
    "library_stubs:\n"                                                                             \
    ".cfi_startproc\n"                                                                             \
    ".rept 4096\n"                                                                                 \
    "leaq 0(%rip), %r11\n" /* 7 bytes */                                                           \
    ".byte 0xe9\n" /* jmp */                                                                       \
    ".long library_stub_enter - . - 4\n"                                                           \
    ".byte 0xcc, 0xcc, 0xcc, 0xcc\n"                                                               \
    ".endr\n"                                                                                      \
    ".cfi_endproc\n"

/* Saves and restores vector registers as wide as they are: in 2688 bytes, of which the header is at
 * 512. */
#define WIDE_SAVE                                                                                  \
    "subq $2752, %rsp\n"                                                                           \
    "andq $-64, %rsp\n"                                                                            \
    "xorl %edx, %edx\n"                                                                            \
    "movq %rdx, 512(%rsp)\n"                                                                       \
    "movq %rdx, 520(%rsp)\n"                                                                       \
    "movq %rdx, 528(%rsp)\n"                                                                       \
    "movq %rdx, 536(%rsp)\n"                                                                       \
    "movq %rdx, 544(%rsp)\n"                                                                       \
    "movq %rdx, 552(%rsp)\n"                                                                       \
    "movq %rdx, 560(%rsp)\n"                                                                       \
    "movq %rdx, 568(%rsp)\n"                                                                       \
    "movl library_wide_mask(%rip), %eax\n"                                                         \
    "xsave64 (%rsp)\n"
/* Continues at 4 if they are all narrow now: XGETBV with 1, where the components of SSE always
 * count. */
#define WIDE_PROBE                                                                                 \
    "cmpl $0, library_wide_unused(%rip)\n"                                                         \
    "je 3f\n"                                                                                      \
    "movl $1, %ecx\n"                                                                              \
    "xgetbv\n"                                                                                     \
    "testl $0x44, %eax\n"                                                                          \
    "je 4b\n"                                                                                      \
    "3:\n"
#define WIDE_RESTORE                                                                               \
    "movl library_wide_mask(%rip), %eax\n"                                                         \
    "xorl %edx, %edx\n"                                                                            \
    "xrstor64 (%rsp)\n"

#define ENTER                                                                                      \
    "library_stub_enter:\n"                                                                        \
    ".cfi_startproc\n"                                                                             \
    "pushq %rbp\n"                                                                                 \
    ".cfi_def_cfa_offset 16\n"                                                                     \
    ".cfi_offset %rbp, -16\n"                                                                      \
    "movq %rsp, %rbp\n"                                                                            \
    ".cfi_def_cfa_register %rbp\n"                                                                 \
    "andq $-16, %rsp\n"                                                                            \
    "subq $192, %rsp\n"                                                                            \
    "movq %rax, (%rsp)\n"                                                                          \
    "movq %rcx, 8(%rsp)\n"                                                                         \
    "movq %rdx, 16(%rsp)\n"                                                                        \
    "movq %rsi, 24(%rsp)\n"                                                                        \
    "movq %rdi, 32(%rsp)\n"                                                                        \
    "movq %r8, 40(%rsp)\n"                                                                         \
    "movq %r9, 48(%rsp)\n"                                                                         \
    "movq %r10, 56(%rsp)\n"                                                                        \
    "movaps %xmm0, 64(%rsp)\n"                                                                     \
    "movaps %xmm1, 80(%rsp)\n"                                                                     \
    "movaps %xmm2, 96(%rsp)\n"                                                                     \
    "movaps %xmm3, 112(%rsp)\n"                                                                    \
    "movaps %xmm4, 128(%rsp)\n"                                                                    \
    "movaps %xmm5, 144(%rsp)\n"                                                                    \
    "movaps %xmm6, 160(%rsp)\n"                                                                    \
    "movaps %xmm7, 176(%rsp)\n"                                                                    \
    "leaq library_stubs(%rip), %rax\n"                                                             \
    "movq %r11, %rdi\n"                                                                            \
    "subq %rax, %rdi\n"                                                                            \
    "shrq $4, %rdi\n"                                                                              \
    "leaq 8(%rbp), %rsi\n"                                                                         \
    "leaq library_import_wide(%rip), %rax\n"                                                       \
    "cmpb $0, (%rax,%rdi)\n"                                                                       \
    "jne 1f\n"                                                                                     \
    "4:\n"                                                                                         \
    "call *library_hooks(%rip)\n"                                                                  \
    "movq %rax, %r11\n"                                                                            \
    "jmp 2f\n"                                                                                     \
    "1:\n" WIDE_PROBE WIDE_SAVE "call *library_hooks(%rip)\n"                                      \
    "movq %rax, %r11\n" WIDE_RESTORE "movq %rbp, %rsp\n"                                           \
    "andq $-16, %rsp\n"                                                                            \
    "subq $192, %rsp\n"                                                                            \
    "2:\n"                                                                                         \
    "movq (%rsp), %rax\n"                                                                          \
    "movq 8(%rsp), %rcx\n"                                                                         \
    "movq 16(%rsp), %rdx\n"                                                                        \
    "movq 24(%rsp), %rsi\n"                                                                        \
    "movq 32(%rsp), %rdi\n"                                                                        \
    "movq 40(%rsp), %r8\n"                                                                         \
    "movq 48(%rsp), %r9\n"                                                                         \
    "movq 56(%rsp), %r10\n"                                                                        \
    "movaps 64(%rsp), %xmm0\n"                                                                     \
    "movaps 80(%rsp), %xmm1\n"                                                                     \
    "movaps 96(%rsp), %xmm2\n"                                                                     \
    "movaps 112(%rsp), %xmm3\n"                                                                    \
    "movaps 128(%rsp), %xmm4\n"                                                                    \
    "movaps 144(%rsp), %xmm5\n"                                                                    \
    "movaps 160(%rsp), %xmm6\n"                                                                    \
    "movaps 176(%rsp), %xmm7\n"                                                                    \
    "movq %rbp, %rsp\n"                                                                            \
    "popq %rbp\n"                                                                                  \
    ".cfi_def_cfa %rsp, 8\n"                                                                       \
    ".cfi_restore %rbp\n"                                                                          \
    "jmp *%r11\n"                                                                                  \
    ".cfi_endproc\n"

/* The true return address of the frame above is saved in the slot of the place P to which the
 * function returned, which is still in the word below the stack pointer at that time (the CFA): at
 * P + 8 + the number there. That word is CFA - 8, and also at an offset from a register: debuggers
 * know few operations, and none that duplicates. DW_CFA_expression %rip: lit8, minus, deref,
 * plus_uconst 8; breg OFFSET, deref, plus_uconst 8, deref; plus. */
#define BACK_IN_SLOT(word)                                                                         \
    ".cfi_escape 0x10, 16, 12, 0x38, 0x1c, 0x06, 0x23, 8, " word ", 0x06, 0x23, 8, 0x06, 0x22\n"
#define BACK_BELOW_RSP BACK_IN_SLOT("0x77, 0x78")
#define BACK_AT_RSP BACK_IN_SLOT("0x77, 0")
#define BACK_ABOVE_RSP BACK_IN_SLOT("0x77, 8")
#define BACK_ABOVE_RBP BACK_IN_SLOT("0x76, 8")

#define RETURNS                                                                                    \
    ".balign 64\n"                                                                                 \
    ".cfi_startproc\n"                                                                             \
    ".cfi_personality 0x1b, library_personality\n"                                                 \
    ".cfi_def_cfa %rsp, 0\n" BACK_BELOW_RSP ".skip 16, 0xcc\n" /* (unwinders look before it) */    \
    ".hidden library_returns\n"                                                                    \
    ".globl library_returns\n"                                                                     \
    "library_returns:\n"                                                                           \
    ".rept 8192\n"                                                                                 \
    ".byte 0xe9\n" /* jmp */                                                                       \
    ".long library_stub_leave - . - 4\n"                                                           \
    ".byte 0xcc, 0xcc, 0xcc\n"                                                                     \
    ".long library_slots - library_returns - 8\n"                                                  \
    ".long 0\n"                                                                                    \
    ".endr\n"                                                                                      \
    ".cfi_endproc\n"

#define LEAVE                                                                                      \
    "library_stub_leave:\n"                                                                        \
    ".cfi_startproc\n"                                                                             \
    ".cfi_def_cfa %rsp, 0\n" BACK_BELOW_RSP "leaq -8(%rsp), %rsp\n" /* the word stays */           \
    ".cfi_def_cfa_offset 8\n" BACK_AT_RSP "pushq %rbp\n"                                           \
    ".cfi_def_cfa_offset 16\n" BACK_ABOVE_RSP ".cfi_offset %rbp, -16\n"                            \
    "movq %rsp, %rbp\n"                                                                            \
    ".cfi_def_cfa_register %rbp\n" BACK_ABOVE_RBP "andq $-16, %rsp\n"                              \
    "subq $48, %rsp\n"                                                                             \
    "movq %rax, (%rsp)\n"                                                                          \
    "movq %rdx, 8(%rsp)\n"                                                                         \
    "movaps %xmm0, 16(%rsp)\n"                                                                     \
    "movaps %xmm1, 32(%rsp)\n"                                                                     \
    "movq 8(%rbp), %rdi\n"                                                                         \
    "leaq library_returns(%rip), %rax\n"                                                           \
    "movq %rdi, %rcx\n"                                                                            \
    "subq %rax, %rcx\n"                                                                            \
    "leaq library_slots(%rip), %rax\n"                                                             \
    "testb $2, 8(%rax,%rcx)\n" /* SLOT_WIDE */                                                     \
    "jne 1f\n"                                                                                     \
    "4:\n"                                                                                         \
    "call *library_hooks+8(%rip)\n"                                                                \
    "movq %rax, %r11\n"                                                                            \
    "movaps 16(%rsp), %xmm0\n"                                                                     \
    "movaps 32(%rsp), %xmm1\n"                                                                     \
    "jmp 2f\n"                                                                                     \
    "1:\n" WIDE_PROBE WIDE_SAVE "call *library_hooks+8(%rip)\n"                                    \
    "movq %rax, %r11\n" WIDE_RESTORE "movq %rbp, %rsp\n"                                           \
    "andq $-16, %rsp\n"                                                                            \
    "subq $48, %rsp\n"                                                                             \
    "2:\n"                                                                                         \
    "movq (%rsp), %rax\n"                                                                          \
    "movq 8(%rsp), %rdx\n"                                                                         \
    "movq %rbp, %rsp\n"                                                                            \
    "popq %rbp\n"                                                                                  \
    ".cfi_def_cfa %rsp, 8\n" BACK_AT_RSP ".cfi_restore %rbp\n"                                     \
    "leaq 8(%rsp), %rsp\n"                                                                         \
    ".cfi_def_cfa_offset 0\n" BACK_BELOW_RSP "jmp *%r11\n"                                         \
    ".cfi_endproc\n"

/* Where an exception continues that passes a return place: %rax is the exception, %rdx the place.
 * The caller seems to have called _Unwind_Resume in place of the function. */
#define UNWOUND                                                                                    \
    ".hidden library_unwound\n"                                                                    \
    ".globl library_unwound\n"                                                                     \
    "library_unwound:\n"                                                                           \
    "pushq %rax\n"                                                                                 \
    "subq $8, %rsp\n"                                                                              \
    "movq %rdx, %rdi\n"                                                                            \
    "call *library_hooks+8(%rip)\n"                                                                \
    "addq $8, %rsp\n"                                                                              \
    "popq %rdi\n"                                                                                  \
    "pushq %rax\n"                                                                                 \
    "jmp *library_hooks+16(%rip)\n"

__asm__(".pushsection .text.library_stubs,\"ax\",@progbits\n" STUBS ".balign 64\n" ENTER RETURNS
        ".balign 64\n" LEAVE UNWOUND ".popsection\n");

void library_stubs_begin(library_begin *begin, library_end *end, uint32_t wide_mask, bool probes)
{
    library_wide_unused = probes;
    library_hooks.begin = begin;
    library_hooks.end = end;
    library_wide_mask = wide_mask;
}

void library_stub_set_wide(uint32_t import, bool wide)
{
    library_import_wide[import] = wide && library_wide_mask;
}

bool library_stub_is_wide(uint32_t import) { return library_import_wide[import]; }

/* ---- exceptions ---- */

/* Functions of the unwinder; a dependence of libpoet on it would load it into every program. */
static struct {
    __typeof__(_Unwind_GetIP) *get_ip;
    __typeof__(_Unwind_SetIP) *set_ip;
    __typeof__(_Unwind_SetGR) *set_gr;
} library_unwind;

static void *library_unwind_function(const char *name)
{
    void *p = next_in(RTLD_DEFAULT, name), *handle;
    if (!p && (handle = dlopen("libgcc_s.so.1", RTLD_LAZY)) != NULL) {
        p = next_in(handle, name);
        dlclose(handle);
    }
    return p;
}

static bool library_unwind_find(void)
{
    *(void **)&library_unwind.get_ip = library_unwind_function("_Unwind_GetIP");
    *(void **)&library_unwind.set_ip = library_unwind_function("_Unwind_SetIP");
    *(void **)&library_unwind.set_gr = library_unwind_function("_Unwind_SetGR");
    *(void **)&library_hooks.resume = library_unwind_function("_Unwind_Resume");
    return library_unwind.get_ip && library_unwind.set_ip && library_unwind.set_gr &&
           library_hooks.resume;
}

extern const char library_unwound[] __attribute__((visibility("hidden")));

static USED _Unwind_Reason_Code library_personality(int version, _Unwind_Action actions,
                                                    _Unwind_Exception_Class kind,
                                                    struct _Unwind_Exception *exception,
                                                    struct _Unwind_Context *context)
{
    (void)version, (void)kind;
    if (!(actions & _UA_HANDLER_FRAME) || !library_unwind_find())
        return _URC_CONTINUE_UNWIND;
    library_unwind.set_gr(context, 0, (uintptr_t)exception); /* rax */
    library_unwind.set_gr(context, 1, library_unwind.get_ip(context)); /* rdx */
    library_unwind.set_ip(context, (uintptr_t)library_unwound);
    return _URC_INSTALL_CONTEXT;
}
#endif
