#include "clients/libpoet/core/seccomp_bpf.h"

#include <stdbool.h>
#include <string.h>

#define REFUSED SECCOMP_RET_KILL_PROCESS

struct bpf_machine {
    uint32_t a, x, memory[BPF_MEMWORDS];
};

static bool seccomp_bpf_compute(struct bpf_machine *m, uint16_t code, uint32_t k)
{
    uint32_t by = BPF_SRC(code) == BPF_X ? m->x : k;
    bool divides = BPF_OP(code) == BPF_DIV || BPF_OP(code) == BPF_MOD;
    if (divides && !by)
        return false;
    switch (BPF_OP(code)) {
    case BPF_ADD:
        m->a += by;
        break;
    case BPF_SUB:
        m->a -= by;
        break;
    case BPF_MUL:
        m->a *= by;
        break;
    case BPF_DIV:
        m->a /= by;
        break;
    case BPF_MOD:
        m->a %= by;
        break;
    case BPF_AND:
        m->a &= by;
        break;
    case BPF_OR:
        m->a |= by;
        break;
    case BPF_XOR:
        m->a ^= by;
        break;
    case BPF_LSH:
        m->a = by < 32 ? m->a << by : 0;
        break;
    case BPF_RSH:
        m->a = by < 32 ? m->a >> by : 0;
        break;
    case BPF_NEG:
        m->a = 0 - m->a;
        break;
    default:
        return false;
    }
    return true;
}

/* Returns how many instructions to skip. */
static uint32_t seccomp_bpf_jump(const struct bpf_machine *m, const struct sock_filter *f)
{
    uint32_t with = BPF_SRC(f->code) == BPF_X ? m->x : f->k;
    switch (BPF_OP(f->code)) {
    case BPF_JA:
        return f->k;
    case BPF_JEQ:
        return m->a == with ? f->jt : f->jf;
    case BPF_JGT:
        return m->a > with ? f->jt : f->jf;
    case BPF_JGE:
        return m->a >= with ? f->jt : f->jf;
    case BPF_JSET:
        return m->a & with ? f->jt : f->jf;
    default:
        return UINT32_MAX;
    }
}

static bool seccomp_bpf_load(struct bpf_machine *m, const struct sock_filter *f,
                             const struct seccomp_data *call)
{
    uint32_t *to = BPF_CLASS(f->code) == BPF_LD ? &m->a : &m->x;
    switch (BPF_MODE(f->code)) {
    case BPF_IMM:
        *to = f->k;
        return true;
    case BPF_LEN:
        *to = sizeof *call;
        return true;
    case BPF_MEM:
        if (f->k >= BPF_MEMWORDS)
            return false;
        *to = m->memory[f->k];
        return true;
    case BPF_ABS:
        if (f->k % 4 || f->k > sizeof *call - 4)
            return false;
        memcpy(to, (const char *)call + f->k, 4);
        return true;
    default:
        return false;
    }
}

static bool seccomp_bpf_store(struct bpf_machine *m, const struct sock_filter *f)
{
    if (f->k >= BPF_MEMWORDS)
        return false;
    m->memory[f->k] = BPF_CLASS(f->code) == BPF_ST ? m->a : m->x;
    return true;
}

uint32_t seccomp_bpf_run(const struct sock_filter *filter, unsigned count,
                         const struct seccomp_data *call)
{
    struct bpf_machine m = {0};
    for (uint64_t at = 0; at < count; at++) { /* jumps only go forward: it terminates */
        const struct sock_filter *f = &filter[at];
        bool known = true;
        switch (BPF_CLASS(f->code)) {
        case BPF_LD:
        case BPF_LDX:
            known = seccomp_bpf_load(&m, f, call);
            break;
        case BPF_ST:
        case BPF_STX:
            known = seccomp_bpf_store(&m, f);
            break;
        case BPF_ALU:
            known = seccomp_bpf_compute(&m, f->code, f->k);
            break;
        case BPF_JMP:
            at += seccomp_bpf_jump(&m, f);
            break;
        case BPF_RET:
            return BPF_RVAL(f->code) == BPF_A ? m.a : f->k;
        default:
            if (BPF_MISCOP(f->code) == BPF_TAX)
                m.x = m.a;
            else
                m.a = m.x;
        }
        if (!known)
            return REFUSED;
    }
    return REFUSED;
}
