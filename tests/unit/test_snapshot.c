/* Snapshots of processes: texts of /proc, memory, notes of core files, objects of glibc, the
 * wait-for graph, and why ptrace is refused (clients/snapshot/). */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "clients/snapshot/kernel_object.h"
#include "clients/snapshot/core_file.h"
#include "clients/snapshot/proc_file.h"
#include "clients/snapshot/seized_process.h"
#include "clients/snapshot/socket_peer.h"
#include "clients/snapshot/thread_stack.h"
#include "clients/snapshot/wait_for_graph.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cmocka.h>

/* ---- texts of /proc ---- */

static void states_are_read(void **state)
{
    char name[8] = "", is = 0;
    (void)state;
    assert_true(proc_text_stat("12 (a) b) S 1", 13, name, sizeof name, &is));
    assert_string_equal(name, "a) b");
    assert_int_equal(is, 'S');
    assert_true(proc_text_stat("12 (a longer name) R", 20, name, sizeof name, &is));
    assert_string_equal(name, "a longe");
    assert_false(proc_text_stat("12 (a) ", 6, name, sizeof name, &is));
    assert_false(proc_text_stat("12 )a( S 1", 10, name, sizeof name, &is));
    assert_false(proc_text_stat("", 0, name, sizeof name, &is));
}

static bool calls(const char *text, struct system_call *call, uint64_t *stack, uint64_t *program)
{
    return proc_text_syscall(text, strlen(text), call, stack, program);
}

static void calls_are_read(void **state)
{
    struct system_call call;
    uint64_t stack, program;
    (void)state;
    assert_true(calls("202 0x1 0x80 0x2 0x0 0x5 0x6 0x7f00 0x400\n", &call, &stack, &program));
    assert_int_equal(call.number, 202);
    assert_int_equal(call.arguments[1], 0x80);
    assert_int_equal(stack, 0x7f00);
    assert_int_equal(program, 0x400);
    assert_true(calls("-1 0x7f00 0x400\n", &call, &stack, &program));
    assert_int_equal(call.number, -1);
    assert_int_equal(stack, 0x7f00);
    assert_int_equal(program, 0x400);
    assert_false(calls("running\n", &call, &stack, &program));
    assert_false(calls("202 0x1 0x80", &call, &stack, &program));
    assert_false(calls("", &call, &stack, &program));
}

static void statuses_are_read(void **state)
{
    static const char text[] = "Name:\tx\nTgid:\t10\nPid:\t11\nPPid:\t9\nTracerPid:\t7\n"
                               "Uid:\t1\t2\t3\t4\nNSpid:\t11\t5\t2\n";
    struct proc_status status;
    (void)state;
    proc_text_status(text, sizeof text - 1, &status);
    assert_int_equal(status.process, 10);
    assert_int_equal(status.parent, 9);
    assert_int_equal(status.tracer, 7);
    assert_int_equal(status.user, 2);
    assert_int_equal(status.inner, 2);
    proc_text_status(text, 9, &status);
    assert_int_equal(status.process, 0);
}

static void mappings_are_read(void **state)
{
    struct proc_mapping m;
    (void)state;
    assert_true(proc_text_mapping("7f00-8000 r-xp 00002000 08:01 123    /a b", &m));
    assert_int_equal(m.start, 0x7f00);
    assert_int_equal(m.offset, 0x2000);
    assert_string_equal(m.path, "/a b");
    assert_true(proc_text_mapping("7f00-8000 rw-p 00000000 00:00 0", &m));
    assert_string_equal(m.path, "");
    assert_false(proc_text_mapping("8000-7f00 rw-p 00000000 00:00 0", &m));
    assert_false(proc_text_mapping("7f00", &m));
    assert_int_equal(proc_text_access("pos:\t0\nflags:\t0100001\n", 23), O_WRONLY);
    assert_int_equal(proc_text_access("pos:\t0\n", 7), -1);
}

/* ---- memory ---- */

static void add(struct snapshot *s, uint64_t start, size_t size, unsigned char byte)
{
    unsigned char *bytes = xmalloc(size);
    memset(bytes, byte, size);
    snapshot_add_memory(s, (struct snapshot_memory){start, size, bytes, 0});
}

static void memory_is_never_kept_twice(void **state)
{
    struct snapshot s = {.core = -1};
    unsigned char is[64];
    (void)state;
    add(&s, 100, 10, 1);
    add(&s, 120, 10, 2);
    add(&s, 105, 30, 3); /* up to the next piece */
    add(&s, 125, 10, 4);
    add(&s, 100, 5, 5);
    add(&s, UINT64_MAX - 2, 10, 6);
    assert_int_equal(snapshot_read(&s, 100, is, sizeof is), 35);
    for (unsigned i = 0; i < 35; i++)
        assert_int_equal(is[i], i < 10 ? 1 : i < 20 ? 3 : i < 30 ? 2 : 4);
    assert_int_equal(snapshot_read(&s, 99, is, 1), 0);
    assert_int_equal(snapshot_read(&s, 134, is, 8), 1);
    assert_int_equal(snapshot_read(&s, UINT64_MAX - 2, is, 8), 0);
    snapshot_free(&s);
}

/* ---- notes of core files ---- */

static void notes_are_read(void **state)
{
    struct snapshot s = {.core = -1};
    struct elf_prstatus status = {.pr_pid = 12};
    struct elf_prpsinfo info = {.pr_pid = 11, .pr_fname = "a program with"};
    uint64_t files[8] = {2, 4096, 0x1000, 0x2000, 0, 0x2000, 0x3000, 1};
    char note[sizeof files + 8];
    (void)state;
    core_file_add_thread(&s, &status, sizeof status - 1);
    assert_int_equal(s.thread_count, 0);
    core_file_add_thread(&s, &status, sizeof status);
    assert_int_equal(s.threads[0].inner_tid, 12);
    core_file_add_program(&s, &info, sizeof info);
    assert_string_equal(s.name, "a program with");
    memcpy(note, files, sizeof files);
    memcpy(note + sizeof files, "/a\0/bc\0", 8);
    core_file_add_mappings(&s, note, sizeof files + 7);
    assert_int_equal(s.mapping_count, 2);
    assert_string_equal(s.mappings[1].path, "/bc");
    assert_int_equal(s.mappings[1].offset, 4096);
    core_file_add_mappings(&s, note, sizeof files + 6); /* the last path has no end */
    assert_int_equal(s.mapping_count, 3);
    files[0] = UINT64_MAX / 8;
    core_file_add_mappings(&s, files, sizeof files);
    core_file_add_mappings(&s, files, 15);
    assert_int_equal(s.mapping_count, 3);
    snapshot_free(&s);
}

/* ---- objects ---- */

static void functions_are_known(void **state)
{
    static const struct {
        const char *function;
        enum wait_kind kind;
    } rows[] = {{"pthread_mutex_lock", WAIT_MUTEX},
                {"___pthread_mutex_lock", WAIT_MUTEX},
                {"__GI___pthread_mutex_lock", WAIT_MUTEX},
                {"__pthread_rwlock_rdlock_full64", WAIT_RWLOCK_READ},
                {"pthread_rwlock_wrlock", WAIT_RWLOCK_WRITE},
                {"__pthread_cond_wait_common", WAIT_CONDITION},
                {"__new_sem_wait_slow64", WAIT_SEMAPHORE},
                {"__pthread_clockjoin_ex", WAIT_JOIN},
                {"std::__atomic_futex_unsigned_base::_M_futex_wait_until", WAIT_FUTURE},
                {"pthread_sigmask", WAIT_NONE},
                {"my_pthread_mutex_lock", WAIT_NONE},
                {"", WAIT_NONE}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(glibc_object_kind(rows[i].function), rows[i].kind);
    assert_true(runtime_frames_has_file("/lib/x86_64-linux-gnu/libc.so.6"));
    assert_true(runtime_frames_has_file("libstdc++.so.6.0.30"));
    assert_false(runtime_frames_has_file("/home/a/libcurl.so.4"));
    assert_false(runtime_frames_has_file("/usr/bin/ldap"));
}

enum { WORD = 0x1000, TID_OFFSET = 720 };

/* A thread that sleeps at a futex, and the memory around it. */
static struct glibc_object object(uint32_t operation, uint32_t value, const uint32_t words[4])
{
    struct snapshot s = {.core = -1};
    struct snapshot_thread threads[2] = {{.tid = 7, .inner_tid = 7}, {.tid = 8, .inner_tid = 8}};
    struct thread_stack stack = {0};
    struct symbolizer *sites = symbolizer_new();
    threads[0].call = (struct system_call){SYS_futex, {WORD, operation, value}};
    threads[0].registers.thread_pointer = 0x4000;
    threads[1].registers.thread_pointer = 0x5000;
    s.threads = threads;
    s.thread_count = 2;
    unsigned char *memory = xcalloc(64, 1), *number = xcalloc(4, 1);
    memcpy(memory, words, 4 * sizeof *words);
    *number = 7;
    snapshot_add_memory(&s, (struct snapshot_memory){WORD, 64, memory, 0});
    snapshot_add_memory(&s, (struct snapshot_memory){0x4000 + TID_OFFSET, 4, number, 0});
    struct glibc_object o = glibc_object_of(&s, &threads[0], &stack, sites);
    symbolizer_free(sites);
    s.threads = NULL;
    s.thread_count = 0;
    snapshot_free(&s);
    return o;
}

static void objects_are_known_by_content(void **state)
{
    (void)state;
    struct glibc_object o = object(FUTEX_WAIT_PRIVATE, 2, (uint32_t[]){2, 0, 8, 1});
    assert_int_equal(o.kind, WAIT_MUTEX);
    assert_int_equal(o.owner, 8);
    assert_true(o.by_content);
    assert_false(o.awake);
    o = object(FUTEX_WAIT_PRIVATE, 2, (uint32_t[]){0, 0, 0, 0});
    assert_int_equal(o.kind, WAIT_FUTEX);
    assert_true(o.awake);
    o = object(FUTEX_WAIT_PRIVATE, 2, (uint32_t[]){2, 0, 99, 1}); /* of no thread */
    assert_int_equal(o.kind, WAIT_FUTEX);
    o = object(FUTEX_WAIT_PRIVATE, 2, (uint32_t[]){2, 1, 0x5000, 0});
    assert_int_equal(o.kind, WAIT_STREAM_LOCK);
    assert_int_equal(o.owner, 8);
    o = object(FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0, (uint32_t[]){0, 1, 0, 0});
    assert_int_equal(o.kind, WAIT_SEMAPHORE);
    o = object(FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0, (uint32_t[]){0, 3, 0, 0});
    assert_int_equal(o.kind, WAIT_FUTEX);
    o = object(FUTEX_WAKE_PRIVATE, 1, (uint32_t[]){0, 0, 0, 0});
    assert_int_equal(o.kind, WAIT_NONE);
}

/* ---- the wait-for graph ---- */

static void block(struct wait_for_graph *g, uint32_t node, uint32_t by)
{
    g->nodes[node].closed = true;
    ARRAY_PUSH(g->nodes[node].blockers, g->nodes[node].blocker_count, by);
}

static void stuck_threads_are_found(void **state)
{
    struct wait_for_graph g = {0};
    (void)state;
    for (unsigned i = 0; i < 8; i++)
        ARRAY_PUSH(g.nodes, g.count, (struct wait_node){0});
    block(&g, 0, 1); /* a cycle of 1 and 2, for which 0 waits */
    block(&g, 1, 2);
    block(&g, 2, 1);
    block(&g, 3, 4); /* 4 runs */
    block(&g, 5, 2); /* 4 or 2 can end it */
    block(&g, 5, 4);
    block(&g, 6, 6);
    g.nodes[7].closed = true; /* an owner that has exited */
    wait_for_graph_conclude(&g);
    static const bool stuck[] = {true, true, true, false, false, false, true, true};
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(g.nodes[i].stuck, stuck[i]);
    assert_int_equal(g.cycle_count, 2);
    assert_int_equal(g.cycles[0].count, 2);
    assert_int_equal(g.cycles[0].nodes[0], 1);
    assert_int_equal(g.cycles[1].count, 1);
    assert_int_equal(g.cycles[1].nodes[0], 6);
    assert_true(wait_node_is_abandoned(&g.nodes[7]));
    assert_false(wait_node_is_abandoned(&g.nodes[6]));
    wait_for_graph_free(&g);
}

/* A wait that only threads of the process can end lasts if none of them is awake. */
static void threads_that_all_wait_are_stuck(void **state)
{
    struct snapshot snapshot = {.core = -1, .thread_count = 3};
    struct snapshot_thread threads[3] = {{.tid = 1}, {.tid = 2}, {.tid = 3}};
    (void)state;
    for (unsigned awake = 0; awake < 2; awake++) {
        struct wait_for_graph g = {.snapshot = &snapshot};
        for (unsigned i = 0; i < 3; i++)
            ARRAY_PUSH(g.nodes, g.count,
                       ((struct wait_node){.own = &threads[i], .internal = i || !awake}));
        block(&g, 1, 2); /* a join */
        wait_for_graph_conclude(&g);
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(g.nodes[i].stuck, !awake);
        assert_int_equal(g.all_wait, !awake);
        assert_false(g.handlers); /* of no process */
        assert_int_equal(g.cycle_count, 0);
        wait_for_graph_free(&g);
    }
}

static void calls_have_kinds(void **state)
{
    (void)state;
    struct system_call child = {SYS_waitid, {P_PID, 7}}, none = {-1, {0}},
                       unknown = {SYS_read, {UINT32_MAX}};
    assert_int_equal(kernel_object_of(1, &child).kind, WAIT_CHILD);
    assert_int_equal(kernel_object_of(1, &child).number, 7);
    assert_int_equal(kernel_object_of(1, &none).kind, WAIT_NONE);
    assert_int_equal(kernel_object_of(1, &unknown).kind, WAIT_NONE);
}

static void descriptors_refer_to_objects(void **state)
{
    (void)state;
    uint64_t number;
    assert_int_equal(proc_text_link("pipe:[71]", &number), DESCRIPTOR_PIPE);
    assert_int_equal(number, 71);
    assert_int_equal(proc_text_link("socket:[72]", &number), DESCRIPTOR_SOCKET);
    assert_int_equal(number, 72);
    assert_int_equal(proc_text_link("anon_inode:[eventfd]", &number), DESCRIPTOR_EVENTFD);
    assert_int_equal(number, 0);
    assert_int_equal(proc_text_link("/tmp/a", &number), DESCRIPTOR_FILE);
    assert_int_equal(proc_text_link("/dev/null", &number), DESCRIPTOR_NONE);
    assert_int_equal(proc_text_link("", &number), DESCRIPTOR_NONE);
    assert_int_equal(proc_text_object("pos:\t0\nino:\t9\n", 13, false), 9);
    assert_int_equal(proc_text_object("eventfd-id: 0\n", 14, true), 1);
    assert_int_equal(proc_text_object("pos:\t0\n", 7, false), 0);
}

static void a_lock_is_the_same_in_both_files(void **state)
{
    (void)state;
    uint64_t inode, request;
    bool waits;
    int64_t pid;
    uint64_t lock =
        proc_text_lock("3: FLOCK  ADVISORY  WRITE 41 fe:00:88 0 EOF\n", &inode, &waits, &pid);
    assert_int_equal(inode, 88);
    assert_int_equal(pid, 41);
    assert_false(waits);
    assert_true(lock == proc_text_lock("1: FLOCK  ADVISORY  WRITE 41 fe:00:88 0 EOF", &inode,
                                       &waits, &pid));
    request =
        proc_text_lock("3: -> FLOCK  ADVISORY  WRITE -1 fe:00:88 0 EOF\n", &inode, &waits, &pid);
    assert_true(waits && request && pid == -1);
    assert_false(proc_text_lock("3: FLOCK", &inode, &waits, &pid));
    assert_false(proc_text_lock("", &inode, &waits, &pid));
}

static void tcp_ends_are_read(void **state)
{
    (void)state;
    struct tcp_end end;
    assert_true(tcp_end_parse("   1: 0100007F:C5EE 0100007F:B5BB 01 00000010:00000000 04:00000404 "
                              "00000000     0        0 12 3 0000000034106760\n",
                              &end));
    assert_string_equal(end.local, "0100007F:C5EE");
    assert_int_equal(end.unsent, 16);
    assert_int_equal(end.inode, 12);
    assert_true(end.full);
    assert_true(tcp_end_parse("   0: 0000000000000000FFFF00000100007F:C5EE "
                              "0000000000000000FFFF00000100007F:B5BB 01 00000000:00000000 "
                              "00:00000000 00000000 0 0 13 1 0 20 4 30 10 -1",
                              &end));
    assert_string_equal(end.remote, "0100007F:B5BB");
    assert_false(end.full);
    assert_true(tcp_end_parse("   1: 0100007F:C5EE 0100007F:B5BB 01 00000010:00000000 01:00000404 "
                              "00000003     0        0 12 3 0000000034106760\n",
                              &end));
    assert_true(end.full);
    assert_false(tcp_end_parse("  sl  local_address rem_address   st tx_queue\n", &end));
}

/* ---- refusals ---- */

static void refuses(int number, struct trace_permission known, const char *part)
{
    struct error error;
    trace_permission_text(5, number, &known, &error);
    if (!strstr(error.text, part))
        fail_msg("\"%s\" has no \"%s\"", error.text, part);
}

static void refusals_name_the_setting(void **state)
{
    (void)state;
    refuses(ESRCH, (struct trace_permission){0}, "5: the process has exited");
    refuses(EPERM, (struct trace_permission){.of_kernel = true}, "thread of the kernel");
    refuses(EPERM, (struct trace_permission){.yama = 1}, "another user");
    struct trace_permission own = {.same_user = true, .same_container = true, .yama = 1};
    refuses(EPERM, own,
            "kernel.yama.ptrace_scope is 1: run poet attach as root, or as root: sysctl");
    own.yama = 2;
    refuses(EPERM, own, "kernel.yama.ptrace_scope is 2");
    own.yama = 3;
    own.capable = true;
    refuses(EPERM, own, "ptrace_scope is 3, until the next boot");
    own.yama = -1;
    refuses(EPERM, own, "a security module or a seccomp filter");
    own.capable = false;
    refuses(EPERM, own, "--cap-add=SYS_PTRACE");
    refuses(EIO, own, "cannot be traced");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(states_are_read),
                                       cmocka_unit_test(calls_are_read),
                                       cmocka_unit_test(statuses_are_read),
                                       cmocka_unit_test(mappings_are_read),
                                       cmocka_unit_test(memory_is_never_kept_twice),
                                       cmocka_unit_test(notes_are_read),
                                       cmocka_unit_test(functions_are_known),
                                       cmocka_unit_test(objects_are_known_by_content),
                                       cmocka_unit_test(stuck_threads_are_found),
                                       cmocka_unit_test(threads_that_all_wait_are_stuck),
                                       cmocka_unit_test(calls_have_kinds),
                                       cmocka_unit_test(descriptors_refer_to_objects),
                                       cmocka_unit_test(a_lock_is_the_same_in_both_files),
                                       cmocka_unit_test(tcp_ends_are_read),
                                       cmocka_unit_test(refusals_name_the_setting)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
