#include "clients/libpoet/interpose/unchecked_waits.h"

#include <stdatomic.h>
#include <stddef.h>

#define UNCHECKED_WAIT_BYTES 400 /* maximum distance of two calls */
#define UNCHECKED_WAIT_SITES 64u

#ifdef __x86_64__

/* What follows the opcode of an instruction; the others are not known. */
enum instruction_form {
    FORM_UNKNOWN,
    FORM_ALONE,
    FORM_IMM8, /* a constant */
    FORM_IMM32, /* of 16 bits with an operand size prefix */
    FORM_IMM64, /* of 64 bits with REX.W */
    FORM_CALL, /* a distance of 32 bits */
    FORM_MODRM, /* an operand */
    FORM_MODRM_IMM8,
    FORM_MODRM_IMM32,
    FORM_GROUP3, /* an operand, and a constant if it is `test` */
    FORM_GROUP5 /* an operand; a jump if its register field is 4 or 5 */
};

static enum instruction_form instruction_form_of(uint8_t opcode)
{
    if (opcode < 0x40) /* arithmetic */
        return (opcode & 7) < 4    ? FORM_MODRM
               : (opcode & 7) == 4 ? FORM_IMM8
               : (opcode & 7) == 5 ? FORM_IMM32
                                   : FORM_UNKNOWN;
    if (opcode >= 0x50 && opcode < 0x60) /* push, pop */
        return FORM_ALONE;
    if (opcode >= 0xb0 && opcode < 0xb8)
        return FORM_IMM8;
    if (opcode >= 0xb8 && opcode < 0xc0)
        return FORM_IMM64;
    switch (opcode) {
    case 0x63: /* movsxd */
    case 0x84: /* test */
    case 0x85:
    case 0x86: /* xchg */
    case 0x87:
    case 0x88: /* mov */
    case 0x89:
    case 0x8a:
    case 0x8b:
    case 0x8d: /* lea */
    case 0xd1: /* shifts */
    case 0xd3:
        return FORM_MODRM;
    case 0x6b: /* imul */
    case 0x80: /* arithmetic */
    case 0x83:
    case 0xc0: /* shifts */
    case 0xc1:
    case 0xc6: /* mov */
        return FORM_MODRM_IMM8;
    case 0x69:
    case 0x81:
    case 0xc7:
        return FORM_MODRM_IMM32;
    case 0x90: /* nop */
    case 0x98: /* cltq */
    case 0x99:
        return FORM_ALONE;
    case 0x6a: /* push */
    case 0xa8: /* test */
        return FORM_IMM8;
    case 0x68:
    case 0xa9:
        return FORM_IMM32;
    case 0xe8:
        return FORM_CALL;
    case 0xf6:
    case 0xf7:
        return FORM_GROUP3;
    case 0xff:
        return FORM_GROUP5;
    default:
        return FORM_UNKNOWN;
    }
}

/* Returns the form of an instruction with the opcodes 0f and this one. */
static enum instruction_form instruction_form_of_two(uint8_t opcode)
{
    static const uint8_t moves[] = {0x10, 0x11, 0x16, 0x17, 0x1f, 0x28, 0x29, 0x57,
                                    0x6e, 0x6f, 0x7e, 0x7f, 0xae, 0xaf, 0xb6, 0xb7,
                                    0xbe, 0xbf, 0xc1, 0xd6, 0xef, 0x6c, 0x14};
    for (size_t i = 0; i < sizeof moves; i++)
        if (moves[i] == opcode)
            return FORM_MODRM;
    return FORM_UNKNOWN;
}

/* Returns the size of an operand: its ModRM byte and what follows. */
static int instruction_operand_bytes(const uint8_t *at)
{
    uint8_t mode = at[0] >> 6, base = at[0] & 7;
    int bytes = 1;
    if (mode == 3)
        return bytes;
    if (base == 4) {
        bytes++;
        if (mode == 0 && (at[1] & 7) == 5)
            bytes += 4;
    } else if (mode == 0 && base == 5) {
        bytes += 4;
    }
    return bytes + (mode == 1 ? 1 : mode == 2 ? 4 : 0);
}

/* Returns the size of an instruction that no other one than the next follows; 0: it may branch, or
 * is not known. */
static int instruction_bytes(const uint8_t *at)
{
    const uint8_t *c = at;
    bool short_operand = false, wide = false;
    for (; *c == 0x66 || *c == 0x64 || *c == 0xf0 || *c == 0xf2 || *c == 0xf3; c++)
        short_operand |= *c == 0x66;
    if (*c >= 0x40 && *c < 0x50)
        wide = *c++ & 8;
    enum instruction_form form =
        *c == 0x0f ? instruction_form_of_two(*++c) : instruction_form_of(*c);
    const uint8_t *operand = ++c;
    int imm32 = short_operand ? 2 : 4, field = *operand >> 3 & 7;
    switch (form) {
    case FORM_UNKNOWN:
        return 0;
    case FORM_ALONE:
        break;
    case FORM_IMM8:
        c++;
        break;
    case FORM_IMM32:
        c += imm32;
        break;
    case FORM_IMM64:
        c += wide ? 8 : imm32;
        break;
    case FORM_CALL:
        c += 4;
        break;
    case FORM_MODRM:
    case FORM_MODRM_IMM8:
    case FORM_MODRM_IMM32:
        c += instruction_operand_bytes(operand) + (form == FORM_MODRM_IMM8    ? 1
                                                   : form == FORM_MODRM_IMM32 ? imm32
                                                                              : 0);
        break;
    case FORM_GROUP3:
        c += instruction_operand_bytes(operand) + (field >= 2            ? 0
                                                   : operand[-1] == 0xf6 ? 1
                                                                         : imm32);
        break;
    case FORM_GROUP5:
        if (field == 4 || field == 5)
            return 0;
        c += instruction_operand_bytes(operand);
        break;
    }
    return (int)(c - at);
}

bool unchecked_wait_is_straight(const uint8_t *from, const uint8_t *to)
{
    int bytes = 1;
    while (from < to && bytes) {
        bytes = instruction_bytes(from);
        from += bytes;
    }
    return from == to;
}

#else

bool unchecked_wait_is_straight(const uint8_t *from, const uint8_t *to) { return from == to; }

#endif

bool unchecked_wait_is_new(uintptr_t lock_site, uintptr_t wait_site)
{
    static _Atomic uintptr_t seen[UNCHECKED_WAIT_SITES];
    _Atomic uintptr_t *known = &seen[(wait_site >> 2) % UNCHECKED_WAIT_SITES];
    if (!lock_site || lock_site >= wait_site || wait_site - lock_site > UNCHECKED_WAIT_BYTES ||
        atomic_load_explicit(known, memory_order_relaxed) == wait_site)
        return false;
    atomic_store_explicit(known, wait_site, memory_order_relaxed);
    return unchecked_wait_is_straight((const uint8_t *)lock_site + 1,
                                      (const uint8_t *)wait_site + 1);
}
