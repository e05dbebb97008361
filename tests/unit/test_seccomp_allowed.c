/* Seccomp filters of programs, and which of libpoet's own system calls they allow. */
#include "clients/libpoet/core/seccomp_allowed.h"
#include "tests/unit/unit.h"

#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#define NR (uint32_t) offsetof(struct seccomp_data, nr)
#define ARGUMENT (uint32_t) offsetof(struct seccomp_data, args)
#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define EQUAL(k, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, yes, no)
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)
#define SAYS(call, ...)                                                                            \
    seccomp_bpf_run((struct sock_filter[]){__VA_ARGS__},                                           \
                    sizeof(struct sock_filter[]){__VA_ARGS__} / sizeof(struct sock_filter), call)
#define NOT_BY(...)                                                                                \
    seccomp_denied_by((struct sock_filter[]){__VA_ARGS__},                                         \
                      sizeof(struct sock_filter[]){__VA_ARGS__} / sizeof(struct sock_filter))
#define RETURN_A BPF_STMT(BPF_RET | BPF_A, 0)
#define SET_A(k) BPF_STMT(BPF_LD | BPF_IMM, k)
#define ALU(op, k) BPF_STMT(BPF_ALU | (op) | BPF_K, k)

static void test_instructions(void **state)
{
    struct seccomp_data call = {.nr = 7, .arch = 9, .args = {0x100000002u, 5}};
    assert_int_equal(SAYS(&call, LOAD(NR), RETURN_A), 7);
    assert_int_equal(SAYS(&call, LOAD(ARGUMENT), RETURN_A), 2);
    assert_int_equal(SAYS(&call, LOAD(ARGUMENT + 4), RETURN_A), 1);
    assert_int_equal(SAYS(&call, BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0), RETURN_A), sizeof call);
    assert_int_equal(SAYS(&call, SET_A(6), ALU(BPF_ADD, 4), ALU(BPF_MUL, 3), ALU(BPF_SUB, 2),
                          ALU(BPF_DIV, 4), RETURN_A),
                     7);
    assert_int_equal(
        SAYS(&call, SET_A(0xf0), ALU(BPF_OR, 0xf), ALU(BPF_AND, 0x3c), ALU(BPF_XOR, 1), RETURN_A),
        0x3d);
    assert_int_equal(SAYS(&call, SET_A(1), ALU(BPF_LSH, 31), ALU(BPF_RSH, 30), RETURN_A), 2);
    assert_int_equal(SAYS(&call, SET_A(1), BPF_STMT(BPF_ALU | BPF_NEG, 0), RETURN_A), UINT32_MAX);
    assert_int_equal(SAYS(&call, SET_A(3), BPF_STMT(BPF_ST, 15), BPF_STMT(BPF_LDX | BPF_MEM, 15),
                          BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0), RETURN_A),
                     6);
    assert_int_equal(SAYS(&call, SET_A(3), BPF_STMT(BPF_MISC | BPF_TAX, 0), SET_A(9),
                          BPF_STMT(BPF_MISC | BPF_TXA, 0), RETURN_A),
                     3);
}

static void test_jumps(void **state)
{
    struct seccomp_data call = {.nr = 7};
    assert_int_equal(SAYS(&call, LOAD(NR), EQUAL(7, 1, 0), RETURN(1), RETURN(2)), 2);
    assert_int_equal(SAYS(&call, LOAD(NR), EQUAL(8, 1, 0), RETURN(1), RETURN(2)), 1);
    assert_int_equal(
        SAYS(&call, LOAD(NR), BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 7, 1, 0), RETURN(1), RETURN(2)),
        1);
    assert_int_equal(
        SAYS(&call, LOAD(NR), BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 7, 1, 0), RETURN(1), RETURN(2)),
        2);
    assert_int_equal(
        SAYS(&call, LOAD(NR), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 4, 1, 0), RETURN(1), RETURN(2)),
        2);
    assert_int_equal(SAYS(&call, BPF_STMT(BPF_JMP | BPF_JA, 1), RETURN(1), RETURN(2)), 2);
}

/* A filter that the kernel would reject yields "kill the process", without invalid accesses. */
static void test_wild(void **state)
{
    struct seccomp_data call = {0};
    uint32_t refused = SECCOMP_RET_KILL_PROCESS;
    assert_int_equal(seccomp_bpf_run(NULL, 0, &call), refused);
    assert_int_equal(SAYS(&call, LOAD(sizeof call)), refused);
    assert_int_equal(SAYS(&call, LOAD(2), RETURN(0)), refused);
    assert_int_equal(SAYS(&call, BPF_STMT(BPF_JMP | BPF_JA, UINT32_MAX), RETURN(0)), refused);
    assert_int_equal(SAYS(&call, BPF_STMT(BPF_ST, 16), RETURN(0)), refused);
    assert_int_equal(SAYS(&call, BPF_STMT(BPF_LD | BPF_MEM, 16), RETURN(0)), refused);
    assert_int_equal(SAYS(&call, ALU(BPF_DIV, 0), RETURN(0)), refused);
    assert_int_equal(SAYS(&call, LOAD(NR)), refused);
}

#define KILLS(number) LOAD(NR), EQUAL(number, 0, 1), RETURN(SECCOMP_RET_KILL_THREAD)
#define BIT(what) (1u << (what))

static void test_allowed(void **state)
{
    assert_int_equal(NOT_BY(RETURN(SECCOMP_RET_ALLOW)), 0);
    assert_int_equal(NOT_BY(RETURN(SECCOMP_RET_KILL_PROCESS)), BIT(ALLOWED_COUNT) - 1);
    assert_int_equal(NOT_BY(KILLS(SYS_process_vm_readv), RETURN(SECCOMP_RET_ALLOW)),
                     BIT(ALLOWED_PEEK));
    assert_int_equal(NOT_BY(KILLS(SYS_sigaltstack), RETURN(SECCOMP_RET_LOG)), BIT(ALLOWED_STACKS));
    assert_int_equal(NOT_BY(LOAD(NR), EQUAL(SYS_prctl, 0, 3), LOAD(ARGUMENT),
                            EQUAL(PR_SET_PTRACER, 0, 1), RETURN(SECCOMP_RET_TRAP),
                            RETURN(SECCOMP_RET_ALLOW)),
                     BIT(ALLOWED_TRACING));
    assert_int_equal(NOT_BY(KILLS(SYS_sendto), RETURN(SECCOMP_RET_ALLOW)), BIT(ALLOWED_RECORDING));
    assert_int_equal(seccomp_denied_by(NULL, 0),
                     (BIT(ALLOWED_COUNT) - 1) & ~BIT(ALLOWED_RECORDING));
}

static void test_one_clock(void **state)
{
    assert_int_equal(NOT_BY(LOAD(NR), EQUAL(SYS_clock_gettime, 0, 3), LOAD(ARGUMENT),
                            EQUAL(CLOCK_THREAD_CPUTIME_ID, 0, 1), RETURN(SECCOMP_RET_TRAP),
                            RETURN(SECCOMP_RET_ALLOW)),
                     BIT(ALLOWED_CPU) | BIT(ALLOWED_USAGE));
}

/* A call that fails with an error counts as allowed, except for clocks: their results are not
 * checked. */
static void test_errors(void **state)
{
    assert_int_equal(NOT_BY(LOAD(NR), EQUAL(SYS_memfd_create, 0, 1), RETURN(SECCOMP_RET_ERRNO | 1),
                            RETURN(SECCOMP_RET_ALLOW)),
                     0);
    assert_int_equal(NOT_BY(LOAD(NR), EQUAL(SYS_clock_gettime, 0, 1), RETURN(SECCOMP_RET_ERRNO | 1),
                            RETURN(SECCOMP_RET_ALLOW)) &
                         (BIT(ALLOWED_CPU) | BIT(ALLOWED_USAGE)),
                     BIT(ALLOWED_CPU));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instructions), cmocka_unit_test(test_jumps),
        cmocka_unit_test(test_wild),         cmocka_unit_test(test_allowed),
        cmocka_unit_test(test_one_clock),    cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests_name("allowed", tests, NULL, NULL);
}
