/* Killing a process kills all of its descendants, in whichever groups and sessions, and no other
 * process. */
#define _GNU_SOURCE
#include "clients/cli/kill_tree.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Forks a child in a session of its own, recursively; each process writes a letter when it has
 * started, and stays. */
static void stay(int pipe_end, int deeper)
{
    signal(SIGTERM, SIG_IGN);
    alarm(100); /* ends it if the test fails */
    if (deeper && fork() == 0) {
        setsid();
        stay(pipe_end, deeper - 1);
    }
    if (write(pipe_end, "x", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

static pid_t begin_family(int *from, int deep)
{
    int ends[2];
    char letter;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        stay(ends[1], deep);
    }
    close(ends[1]);
    for (int i = 0; i <= deep; i++)
        assert_int_equal(read(ends[0], &letter, 1), 1);
    *from = ends[0];
    return child;
}

/* Waits until all have ended: then no process has the other end open. */
static void all_end(int from)
{
    char letter;
    alarm(60);
    assert_int_equal(read(from, &letter, 1), 0);
    alarm(0);
    close(from);
}

static void children_of_children_end_too(void **unused)
{
    (void)unused;
    int from, status;
    pid_t child = begin_family(&from, 5);
    kill_tree_run(child);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    all_end(from);
}

static void others_go_on(void **unused)
{
    (void)unused;
    int mine, others, status;
    pid_t child = begin_family(&mine, 1), other = begin_family(&others, 1);
    kill_tree_run(child);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(waitpid(other, &status, WNOHANG | WUNTRACED), 0);
    kill_tree_run(other);
    assert_int_equal(waitpid(other, &status, 0), other);
    all_end(mine);
    all_end(others);
}

/* A child that has ended but was not waited for needs no action. */
static void who_has_ended_is_no_trouble(void **unused)
{
    (void)unused;
    siginfo_t info;
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(3);
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    kill_tree_run(child);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_of_children_end_too),
        cmocka_unit_test(others_go_on),
        cmocka_unit_test(who_has_ended_is_no_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
