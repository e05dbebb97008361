#define _GNU_SOURCE
#include "clients/cli/recorded_program.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "clients/cli/blocked.h"
#include "clients/cli/assertion_check.h"
#include "clients/cli/finding_options.h"
#include "clients/cli/kill_tree.h"
#include "wire/endpoint.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AGAIN_NS 30000000
#define LOOK_MS_MOST 1000 /* between looks at the progress of a program */

static volatile pid_t followed; /* the program */

static void recorded_program_forward_signal(int number)
{
    int kept = errno;
    if (followed > 0)
        kill(followed, number);
    errno = kept;
}

static const int passed_on[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

static void set_signals(void (*others)(int), void (*terminal)(int))
{
    struct sigaction action = {.sa_handler = others, .sa_flags = SA_RESTART};
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        sigaction(passed_on[i], &action, NULL);
    action.sa_handler = terminal;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGQUIT, &action, NULL);
}

/* Signals are blocked until `followed` is set, so that none is forwarded to no process. */
pid_t recorded_program_begin(void)
{
    sigset_t some, before;
    sigfillset(&some);
    sigprocmask(SIG_SETMASK, &some, &before);
    pid_t child = fork();
    if (child > 0) {
        followed = child;
        set_signals(recorded_program_forward_signal, SIG_IGN);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return child;
}

/* ---- completeness of the file ---- */

/* Returns the endpoint of the program's own server; false if it has none. */
static bool recorded_program_endpoint(pid_t program, char *endpoint, size_t size)
{
    char directory[256];
    struct error error;
    if (!endpoint_directory(directory, sizeof directory, &error))
        return false;
    snprintf(endpoint, size, "unix:%s/poet-%d.sock", directory, (int)program);
    return true;
}

static void recorded_program_receive_stat(void *user, const struct response_chunk *answer)
{
    bool *whole = user;
    struct stat_info stat;
    if (answer->part != RESPONSE_STAT)
        return;
    decode_stat_info(answer->in, &stat);
    *whole = !answer->in->error && !stat.connected && !stat.unfinished;
    stat_info_free(&stat);
}

/* Waits until the program's own server reports that the file is complete, or has exited. */
void recorded_program_is_complete(pid_t program)
{
    char endpoint[400];
    struct error error;
    struct session source;
    bool whole = false;
    if (!recorded_program_endpoint(program, endpoint, sizeof endpoint))
        return;
    while (!whole && session_open(&source, endpoint, SESSION_NAMED_LINES, &error)) {
        bool answered = session_wait(
            &source,
            session_send(&source, REQUEST_STAT, NULL, recorded_program_receive_stat, &whole),
            &error);
        session_close(&source);
        if (answered && !whole)
            nanosleep(&(struct timespec){0, AGAIN_NS}, NULL);
    }
}

/* ---- progress ---- */

static int64_t recorded_program_now_ns(void) { return (int64_t)clock_read_ns(CLOCK_MONOTONIC); }

static void recorded_program_count_events(void *user, const struct response_chunk *answer)
{
    uint64_t *events = user;
    struct stat_info stat;
    if (answer->part != RESPONSE_STAT)
        return;
    decode_stat_info(answer->in, &stat);
    if (!answer->in->error)
        *events = stat.events + stat.pending;
    stat_info_free(&stat);
}

/* Gets the number of events that the program's own server has received, through a session that
 * stays open in `source`. Returns false if it does not answer. */
static bool recorded_program_events(pid_t program, struct session *source, bool *open,
                                    uint64_t *events)
{
    char endpoint[400];
    struct error error;
    if (!*open)
        *open = recorded_program_endpoint(program, endpoint, sizeof endpoint) &&
                session_open(source, endpoint, SESSION_NAMED_LINES, &error);
    bool answers = *open && session_wait(source,
                                         session_send(source, REQUEST_STAT, NULL,
                                                      recorded_program_count_events, events),
                                         &error);
    if (*open && !answers) {
        session_close(source);
        *open = false;
    }
    return answers;
}

/* Waits until the program ends, at most for some time; returns whether it has ended. */
static bool recorded_program_wait(pid_t program, int pidfd, int64_t ns, int *status)
{
    int ms = ns < 0 ? -1 : ns / 1000000 < LOOK_MS_MOST ? (int)(ns / 1000000) + 1 : LOOK_MS_MOST;
    struct pollfd end = {.fd = pidfd, .events = POLLIN};
    if (pidfd >= 0)
        poll(&end, 1, ms);
    else if (ms > 0)
        nanosleep(&(struct timespec){0, AGAIN_NS}, NULL);
    pid_t ended = waitpid(program, status, ns < 0 ? 0 : WNOHANG);
    return ended == program || (ended < 0 && errno != EINTR);
}

/* Why a program was killed. */
enum recorded_program_fate { PROGRAM_ENDED, PROGRAM_STOOD_STILL, PROGRAM_UNKNOWN };

/* Waits for the program's end, or kills it: since it recorded no event for the timeout, or since
 * its server said nothing of it for that long. */
static enum recorded_program_fate recorded_program_await(const struct recorded_program *r,
                                                         pid_t program, int *status)
{
    int pidfd = r->hang_timeout_ns ? pidfd_open(program, 0) : -1;
    int64_t since_ns = recorded_program_now_ns(), left_ns = r->hang_timeout_ns;
    struct session source;
    uint64_t events = 0;
    bool open = false;
    enum recorded_program_fate fate = PROGRAM_ENDED;
    while (!recorded_program_wait(
        program, pidfd, r->hang_timeout_ns && fate == PROGRAM_ENDED ? left_ns : -1, status)) {
        uint64_t now = events;
        if (!r->hang_timeout_ns || fate != PROGRAM_ENDED)
            continue;
        bool known = recorded_program_events(program, &source, &open, &now);
        if (now != events)
            since_ns = recorded_program_now_ns();
        events = now;
        left_ns = since_ns + r->hang_timeout_ns - recorded_program_now_ns();
        if (left_ns > 0)
            continue;
        fate = known ? PROGRAM_STOOD_STILL : PROGRAM_UNKNOWN;
        kill_tree_run(program);
    }
    if (open)
        session_close(&source);
    if (pidfd >= 0)
        close(pidfd);
    return fate;
}

/* ---- exit ---- */

static int write_report(const struct command *command, const char *file, const char *report)
{
    char *arguments[] = {(char[]){"report"}, (char *)(uintptr_t)file,
                         *report ? (char[]){"-o"} : NULL, (char *)(uintptr_t)report, NULL};
    if (access(file, R_OK) < 0)
        return command_fail(command, "%s: no report: the program was not recorded", file);
    fflush(stdout);
    if (!*report && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return EXIT_FAILED;
    return command_report.run(&command_report, *report ? 4 : 2, arguments);
}

/* Prints the blocked threads of a program that was killed for its hang. */
static void recorded_program_print_blocked(const struct command *command,
                                           struct command_source *subject)
{
    struct wait_list waits;
    if (command_source_waits(command, subject, &waits))
        blocked_print(subject, &waits);
    wait_list_free(&waits);
    fflush(stdout);
}

static bool recorded_program_has_hang(const struct run_findings *findings)
{
    for (uint32_t i = 0; i < findings->count; i++)
        if (findings->items[i].kind->group & FINDINGS_OF_HANGS)
            return true;
    return false;
}

/* Returns the groups of findings to look for. */
static unsigned recorded_program_groups(const struct recorded_program *r, bool hangs)
{
    unsigned groups = hangs || finding_options_given() ? RECORDED_FINDINGS : 0;
    return finding_options_groups(groups) | (r->assertions ? FINDINGS_OF_ASSERTIONS : 0);
}

/* Returns the status of the findings: as finding_options_judge(). The program's output and its own
 * are on different streams, so everything is printed on standard error. */
static int recorded_program_judge(const struct recorded_program *r, enum recorded_program_fate fate)
{
    bool hangs = fate != PROGRAM_ENDED;
    const unsigned groups = recorded_program_groups(r, hangs);
    struct command_source subject;
    struct run_findings findings = {0};
    char text[100];
    snprintf(text, sizeof text,
             fate == PROGRAM_UNKNOWN ? "the program's server did not answer for %.6g s: killed"
                                     : "no event was recorded for %.6g s: killed",
             (double)r->hang_timeout_ns / 1e9);
    if (hangs)
        command_fail(r->command, "%s", text);
    if (access(r->file, R_OK) < 0)
        return finding_options_status(
            command_fail(r->command, "%s: no findings: the program was not recorded", r->file));
    fflush(stdout);
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ||
        !command_source_open(r->command, &subject, r->file,
                             r->assertions ? SESSION_ALL_LINES : SESSION_NAMED_LINES, LABELS_NAME))
        return finding_options_status(EXIT_FAILED);
    if (hangs)
        recorded_program_print_blocked(r->command, &subject);
    int status = run_findings_collect(r->command, &subject, groups, NULL, &findings);
    if (status == EXIT_DONE && hangs && !recorded_program_has_hang(&findings))
        run_findings_add(&findings, FINDING_NO_PROGRESS,
                         fate == PROGRAM_UNKNOWN ? FINDING_POSSIBLE : FINDING_CERTAIN, text, "", 0);
    int asserted = r->assertions ? assertion_check_run(r->command, &subject, r->assertions, r->file,
                                                       ASSERTION_VIOLATIONS, stdout, &findings)
                                 : EXIT_DONE;
    status = finding_options_judge_all(r->command, &findings, groups, r->file, status);
    command_source_close(&subject);
    return status != EXIT_DONE ? status : hangs ? EXIT_FAILED : asserted;
}

/* Ends by the same signal as the program, so that a shell sees it; without a second core dump. */
static int recorded_program_exit_like(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    fflush(NULL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    set_signals(SIG_DFL, SIG_DFL);
    signal(WTERMSIG(status), SIG_DFL);
    kill(getpid(), WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

int recorded_program_end(const struct recorded_program *r, pid_t program)
{
    int status = 0, judged = EXIT_DONE;
    enum recorded_program_fate fate = recorded_program_await(r, program, &status);
    bool hangs = fate != PROGRAM_ENDED;
    followed = 0;
    set_signals(SIG_DFL, SIG_DFL);
    recorded_program_is_complete(program);
    if (r->report)
        write_report(r->command, r->file, r->report);
    if (hangs || finding_options_given() || r->assertions)
        judged = recorded_program_judge(r, fate);
    if (judged == EXIT_DONE || (!hangs && !finding_options_fail() && !r->assertions))
        return recorded_program_exit_like(status);
    return judged == EXIT_FAILED ? r->finding_status : judged;
}
