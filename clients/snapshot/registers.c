#include "clients/snapshot/registers.h"

#include <string.h>
#include <sys/user.h>

#ifdef __x86_64__

/* What the kernel returns within a call that it restarts: -ERESTARTSYS to -ERESTART_RESTARTBLOCK,
 * and what it sets before a call. */
#define RESTARTS(value) ((value) >= -516 && (value) <= -512)
#define NOT_BEGUN (-38)

bool registers_read(const void *set, size_t size, struct registers *registers,
                    struct system_call *call)
{
    struct user_regs_struct r;
    if (size != sizeof r)
        return false;
    memcpy(&r, set, sizeof r);
    *registers =
        (struct registers){.values = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
                                      r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip},
                           .known = (1u << REGISTER_COUNT) - 1,
                           .thread_pointer = r.fs_base};
    int64_t number = (int64_t)r.orig_rax, result = (int64_t)r.rax;
    bool inside = number >= 0 && (RESTARTS(result) || result == NOT_BEGUN);
    *call = (struct system_call){.number = inside ? number : -1,
                                 .arguments = {r.rdi, r.rsi, r.rdx, r.r10, r.r8, r.r9}};
    return true;
}

bool register_is_preserved(unsigned number)
{
    return number == 3 || number == 6 || (number >= 12 && number <= 15);
}

#else

bool registers_read(const void *set, size_t size, struct registers *registers,
                    struct system_call *call)
{
    (void)set;
    (void)size;
    *registers = (struct registers){0};
    *call = (struct system_call){.number = -1};
    return false;
}

bool register_is_preserved(unsigned number)
{
    (void)number;
    return false;
}

#endif

void registers_set_position(struct registers *registers, uint64_t stack, uint64_t program)
{
    *registers = (struct registers){.known = 1u << REGISTER_STACK | 1u << REGISTER_PROGRAM};
    registers->values[REGISTER_STACK] = stack;
    registers->values[REGISTER_PROGRAM] = program;
}
