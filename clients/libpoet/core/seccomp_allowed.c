#define _GNU_SOURCE
#include "clients/libpoet/core/seccomp_allowed.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- interpreter of filters ---- */

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

/* ---- what filters allow ---- */

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#define ARCH 0
#endif

/* Each call as libpoet makes it; arguments that are not listed are addresses, descriptors and ids,
 * which are taken as 0. */
#define RECORDING ALLOWED_RECORDING
#define SHARED_PAGES                                                                               \
    {                                                                                              \
        0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED                                                \
    }
#define OWN_PAGES                                                                                  \
    {                                                                                              \
        0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS                               \
    }
static const struct need {
    uint8_t what;
    int number;
    uint64_t arguments[6];
} needs[] = {
    {RECORDING, SYS_futex, {0, FUTEX_WAIT}},
    {RECORDING, SYS_futex, {0, FUTEX_WAKE}},
    {RECORDING, SYS_futex, {0, FUTEX_LOCK_PI_PRIVATE}},
    {RECORDING, SYS_futex, {0, FUTEX_UNLOCK_PI_PRIVATE}},
    {RECORDING, SYS_sendto, {0, 0, 8, MSG_NOSIGNAL | MSG_DONTWAIT}},
    {RECORDING, SYS_sendmsg, {0, 0, MSG_NOSIGNAL | MSG_DONTWAIT}},
    {RECORDING, SYS_fstat, {0}},
#if defined(SYS_poll)
    {RECORDING, SYS_poll, {0, 0, 1}},
#else
    {RECORDING, SYS_ppoll, {0, 0, 1}},
#endif
    {RECORDING, SYS_mmap, OWN_PAGES},
    {RECORDING, SYS_mremap, {0, 4096, 8192, MREMAP_MAYMOVE}},
    {RECORDING, SYS_munmap, {0}},
    {RECORDING, SYS_getpid, {0}},
    {RECORDING, SYS_getppid, {0}},
    {RECORDING, SYS_gettid, {0}},
    {ALLOWED_QUEUES, SYS_memfd_create, {0}},
    {ALLOWED_QUEUES, SYS_ftruncate, {0}},
    {ALLOWED_QUEUES, SYS_fcntl, {0, F_DUPFD_CLOEXEC, 3}},
    {ALLOWED_QUEUES, SYS_fcntl, {0, F_ADD_SEALS}},
    {ALLOWED_QUEUES, SYS_close, {0}},
    {ALLOWED_QUEUES, SYS_mmap, SHARED_PAGES},
    {ALLOWED_QUEUES, SYS_rt_sigprocmask, {0}},
    {ALLOWED_QUEUES, SYS_rt_sigtimedwait, {0}},
    {ALLOWED_QUEUES, SYS_sched_yield, {0}},
    {ALLOWED_QUEUES, SYS_prctl, {0}},
    {ALLOWED_CPU, SYS_clock_gettime, {CLOCK_THREAD_CPUTIME_ID}},
    {ALLOWED_USAGE, SYS_clock_gettime, {CLOCK_THREAD_CPUTIME_ID}},
    {ALLOWED_USAGE, SYS_getrusage, {(uint64_t)RUSAGE_SELF}},
    {ALLOWED_USAGE, SYS_getrusage, {RUSAGE_THREAD}},
    {ALLOWED_USAGE, SYS_openat, {(uint64_t)AT_FDCWD, 0, O_RDONLY | O_CLOEXEC}},
    {ALLOWED_USAGE, SYS_read, {0}},
    {ALLOWED_USAGE, SYS_close, {0}},
    {ALLOWED_FILES, SYS_openat, {(uint64_t)AT_FDCWD, 0, O_RDONLY | O_CLOEXEC}},
    {ALLOWED_FILES, SYS_read, {0}},
    {ALLOWED_FILES, SYS_close, {0}},
#if defined(SYS_readlink)
    {ALLOWED_FILES, SYS_readlink, {0}},
#else
    {ALLOWED_FILES, SYS_readlinkat, {0}},
#endif
    {ALLOWED_FILES, SYS_getcwd, {0}},
    {ALLOWED_PROGRAMS, SYS_openat, {(uint64_t)AT_FDCWD, 0, O_RDONLY | O_CLOEXEC | O_NONBLOCK}},
    {ALLOWED_PROGRAMS, SYS_pread64, {0}},
    {ALLOWED_PROGRAMS, SYS_close, {0}},
#if defined(SYS_access)
    {ALLOWED_PROGRAMS, SYS_access, {0, R_OK}},
    {ALLOWED_PROGRAMS, SYS_access, {0, X_OK}},
#else
    {ALLOWED_PROGRAMS, SYS_faccessat, {(uint64_t)AT_FDCWD, 0, R_OK}},
    {ALLOWED_PROGRAMS, SYS_faccessat, {(uint64_t)AT_FDCWD, 0, X_OK}},
#endif
    {ALLOWED_SIGNALS, SYS_rt_sigqueueinfo, {0}},
    {ALLOWED_SIGNALS, SYS_rt_tgsigqueueinfo, {0}},
    {ALLOWED_SIGNALS, SYS_getuid, {0}},
    {ALLOWED_PEEK, SYS_process_vm_readv, {0}},
    {ALLOWED_STACKS, SYS_sigaltstack, {0}},
    {ALLOWED_SAYING, SYS_write, {STDERR_FILENO}},
    {ALLOWED_CONNECTING, SYS_socket, {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC}},
    {ALLOWED_CONNECTING, SYS_connect, {0}},
    {ALLOWED_CONNECTING, SYS_recvmsg, {0}},
    {ALLOWED_CONNECTING, SYS_getsockopt, {0, SOL_SOCKET, SO_PEERCRED}},
    {ALLOWED_CONNECTING, SYS_setsockopt, {0}},
    {ALLOWED_CONNECTING, SYS_fcntl, {0, F_GETFL}},
    {ALLOWED_CONNECTING, SYS_fcntl, {0, F_SETFL}},
    {ALLOWED_CONNECTING, SYS_uname, {0}},
    {ALLOWED_CONNECTING, SYS_getrandom, {0}},
    {ALLOWED_CONNECTING, SYS_getuid, {0}},
    {ALLOWED_CONNECTING, SYS_geteuid, {0}},
    {ALLOWED_CONNECTING, SYS_clock_gettime, {CLOCK_REALTIME}},
    {ALLOWED_STREAMS, SYS_fcntl, {0, F_GETFL}},
    {ALLOWED_STREAMS, SYS_fcntl, {0, F_GETFD}},
    {ALLOWED_STREAMS, SYS_ioctl, {0, 0x541b}}, /* FIONREAD */
    {ALLOWED_STREAMS, SYS_newfstatat, {0}},
    {ALLOWED_STREAMS, SYS_getsockname, {0}},
    {ALLOWED_STREAMS, SYS_getpeername, {0}},
    {ALLOWED_STREAMS, SYS_getsockopt, {0}},
    {ALLOWED_STREAMS, SYS_recvfrom, {0}},
    {ALLOWED_STREAMS, SYS_openat, {(uint64_t)AT_FDCWD, 0, O_RDONLY}},
    {ALLOWED_STREAMS, SYS_getdents64, {0}},
    {ALLOWED_STREAMS, SYS_close, {0}},
    {ALLOWED_STREAMS, SYS_nanosleep, {0}},
    {ALLOWED_STREAMS, SYS_clock_gettime, {CLOCK_MONOTONIC}},
    {ALLOWED_SAMPLES, SYS_timer_create, {CLOCK_THREAD_CPUTIME_ID}},
    {ALLOWED_SAMPLES, SYS_timer_settime, {0}},
    {ALLOWED_SAMPLES, SYS_timer_delete, {0}},
    {ALLOWED_SAMPLES, SYS_rt_sigaction, {0}},
    {ALLOWED_SAMPLES, SYS_rt_sigreturn, {0}},
    {ALLOWED_TRACING, SYS_prctl, {PR_SET_PTRACER}},
    {ALLOWED_TRACING, SYS_getsockopt, {0, SOL_SOCKET, SO_PEERCRED}},
    {ALLOWED_THREAD_STACKS, SYS_sched_getaffinity, {0}},
    {ALLOWED_LIMITS, SYS_prlimit64, {0, RLIMIT_NOFILE}},
    {ALLOWED_LIMITS, SYS_newfstatat, {(uint64_t)AT_FDCWD}},
    {ALLOWED_LIMITS, SYS_rt_sigprocmask, {0}},
    {ALLOWED_LIMITS, SYS_fcntl, {0, F_DUPFD_CLOEXEC, 3}},
};

/* A call that fails with an error is acceptable where libpoet checks for errors, and for a clock
 * that need not be read. */
static bool seccomp_action_allows(uint32_t value, uint8_t what)
{
    uint32_t action = value & SECCOMP_RET_ACTION_FULL;
    return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG ||
           (action == SECCOMP_RET_ERRNO && what != ALLOWED_CPU && what != ALLOWED_STREAMS &&
            what != ALLOWED_SAMPLES);
}

uint32_t seccomp_denied_by(const struct sock_filter *filter, unsigned count)
{
    uint32_t bits = filter ? 0 : ((1u << ALLOWED_COUNT) - 1) & ~(1u << ALLOWED_RECORDING);
    for (size_t i = 0; filter && i < sizeof needs / sizeof *needs; i++) {
        struct seccomp_data call = {.nr = needs[i].number, .arch = ARCH};
        for (unsigned k = 0; k < 6; k++)
            call.args[k] = needs[i].arguments[k];
        if (!seccomp_action_allows(seccomp_bpf_run(filter, count, &call), needs[i].what))
            bits |= 1u << needs[i].what;
    }
    return bits;
}

/* Makes bare system calls, as those of the C library may be interposed. */
static bool seccomp_status_check(void)
{
    static const char no_filter[] = "\nSeccomp:\t0";
    char text[3072]; /* for proc(5), smaller unless there are very many groups */
    long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC);
    long got = fd >= 0 ? syscall(SYS_read, fd, text, sizeof text) : -1;
    if (fd >= 0)
        syscall(SYS_close, fd);
    return got > 0 && memmem(text, (size_t)got, no_filter, sizeof no_filter - 1);
}

bool seccomp_filter_is_none(void)
{
    static _Atomic int known; /* 1: filtered, or not known; 2: not */
    int saved = errno, is = atomic_load_explicit(&known, memory_order_relaxed);
    if (!is) {
        is = seccomp_status_check() ? 2 : 1;
        atomic_store_explicit(&known, is, memory_order_relaxed);
    }
    errno = saved;
    return is == 2;
}
