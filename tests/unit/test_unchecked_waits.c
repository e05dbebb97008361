/* Waits without a test: machine code of gcc and clang between two calls. */
#include "clients/libpoet/interpose/unchecked_waits.h"

#include "unit.h"

#include <stddef.h>

#ifdef __x86_64__
#define CODE(...)                                                                                  \
    (const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]) { __VA_ARGS__ }
#define CALL 0xe8, 0x70, 0x75, 0x7f, 0xeb

static const struct {
    const uint8_t *code;
    size_t bytes;
    bool straight;
} cases[] = {
    /* lea m(%rip),%rax; mov %rax,%rsi; lea c(%rip),%rax; mov %rax,%rdi; call */
    {CODE(0x48, 0x8d, 0x05, 0x62, 0x2e, 0, 0, 0x48, 0x89, 0xc6, 0x48, 0x8d, 0x05, 0xd8, 0x2e, 0, 0,
          0x48, 0x89, 0xc7, CALL),
     true},
    /* mov %rbx,%rsi; lea 0x28(%rbx),%rdi; call */
    {CODE(0x48, 0x89, 0xde, 0x48, 0x8d, 0x7b, 0x28, CALL), true},
    /* mov $m,%esi; mov $c,%edi; call */
    {CODE(0xbe, 0x74, 0x40, 0x40, 0, 0xbf, 0xeb, 0x40, 0x40, 0, CALL), true},
    /* addl $1,n(%rip); movb $1,8(%rsp,%rax,4); movabs $c,%rdi; call; test %eax,%eax; call *(%rax)
     */
    {CODE(0x83, 0x05, 1, 2, 3, 0, 1, 0xc6, 0x44, 0x84, 8, 1, 0x48, 0xbf, 1, 2, 3, 4, 5, 6, 7, 8,
          CALL, 0x85, 0xc0, 0xff, 0x10),
     true},
    /* movw $1,(%rax); testb $1,(%rax); testl $1,4(%rax); notl %eax; call */
    {CODE(0x66, 0xc7, 0, 1, 0, 0xf6, 0, 1, 0xf7, 0x40, 4, 1, 0, 0, 0, 0xf7, 0xd0, CALL), true},
    /* mov $1,%eax; xchg %al,waiting(%rip); mfence; lock incl (%rax); call */
    {CODE(0xb8, 1, 0, 0, 0, 0x86, 0x05, 1, 2, 3, 0, 0x0f, 0xae, 0xf0, 0xf0, 0xff, 0, CALL), true},
    /* mov ready(%rip),%eax; test %eax,%eax; jne; call */
    {CODE(0x8b, 0x05, 1, 2, 3, 0, 0x85, 0xc0, 0x75, 5, CALL), false},
    /* test %eax,%eax; je far; call */
    {CODE(0x85, 0xc0, 0x0f, 0x84, 1, 0, 0, 0, CALL), false},
    {CODE(0xeb, 0, CALL), false}, /* jmp */
    {CODE(0xff, 0xe0, CALL), false}, /* jmp *%rax */
    {CODE(0xc3, CALL), false}, /* ret */
    {CODE(0xc5, 0xf8, 0x77, CALL), false}, /* vzeroupper: not known */
};

static void code_with_a_branch_is_not_straight(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (unchecked_wait_is_straight(cases[i].code, cases[i].code + cases[i].bytes) !=
            cases[i].straight)
            fail_msg("case %zu", i);
}

static void a_call_site_is_reported_once(void **state)
{
    uintptr_t from = (uintptr_t)cases[0].code - 1, to = from + cases[0].bytes;
    (void)state;
    assert_true(unchecked_wait_is_new(from, to));
    assert_false(unchecked_wait_is_new(from, to));
    assert_false(unchecked_wait_is_new(0, to));
    assert_false(unchecked_wait_is_new(to, from));
}
#else
static void code_with_a_branch_is_not_straight(void **state) { (void)state; }
static void a_call_site_is_reported_once(void **state) { (void)state; }
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(code_with_a_branch_is_not_straight),
                                       cmocka_unit_test(a_call_site_is_reported_once)};
    return cmocka_run_group_tests_name("unchecked waits", tests, NULL, NULL);
}
