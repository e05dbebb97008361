#define _GNU_SOURCE
#include "clients/cli/repeated_runs.h"

#include "base/alloc.h"
#include "clients/cli/recorded_program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_TROUBLE 2

struct repeated_state {
    const struct repeated_runs *runs;
    unsigned first; /* number of the first run: traces of earlier ones are kept */
    unsigned done, failed;
    const char *endings[2]; /* directories of passed and of failed runs */
};

static volatile sig_atomic_t repeated_interrupted;
static volatile pid_t repeated_child; /* 0: none */

/* The terminal interrupts the run, too; a request to terminate is passed on. */
static void repeated_note_interrupt(int number)
{
    repeated_interrupted = 1;
    if (number == SIGTERM && repeated_child > 0)
        kill(repeated_child, number);
}

static char *repeated_path(const struct repeated_state *s, const char *below, unsigned number,
                           const char *suffix)
{
    return xasprintf("%s/%s%s%04u.%s", s->runs->directory, below, *below ? "/" : "", number,
                     suffix);
}

static bool repeated_make_directories(const struct repeated_state *s)
{
    const char *const names[] = {"", s->endings[0], s->endings[1]};
    for (unsigned i = 0; i < 3; i++) {
        char *path = xasprintf("%s/%s", s->runs->directory, names[i]);
        bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        if (!made)
            command_fail(s->runs->command, "%s: %s", path, strerror(errno));
        free(path);
        if (!made)
            return false;
    }
    return true;
}

static bool repeated_exists(const struct repeated_state *s, unsigned number)
{
    bool exists = false;
    for (unsigned failed = 0; failed < 2; failed++) {
        char *path = repeated_path(s, s->endings[failed], number, "poet");
        exists |= access(path, F_OK) == 0;
        free(path);
    }
    return exists;
}

/* ---- one run ---- */

/* In the child: what the program prints goes to a file, and its input is empty. */
static bool repeated_redirect(const struct repeated_state *s, unsigned number)
{
    char *path = repeated_path(s, "", number, "out");
    int in = open("/dev/null", O_RDONLY), out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    bool redirected = in >= 0 && out >= 0;
    if (!redirected)
        command_fail(s->runs->command, "%s: %s", path, strerror(errno));
    free(path);
    return redirected && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
           dup2(out, STDERR_FILENO) >= 0 && close(in) == 0 && close(out) == 0;
}

static _Noreturn void repeated_run(const struct repeated_state *s, unsigned number,
                                   const char *trace, int (*record)(void *user, const char *trace),
                                   void *user)
{
    char seed[16];
    snprintf(seed, sizeof seed, "%u", number);
    if (s->runs->perturbs)
        setenv("POET_PERTURB", seed, 1);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (!repeated_redirect(s, number))
        _exit(EXIT_TROUBLE);
    int status = record(user, trace);
    fflush(NULL);
    _exit(status);
}

static void repeated_move(const struct repeated_state *s, unsigned number, bool failed)
{
    static const char *const suffixes[] = {"poet", "out"};
    for (unsigned i = 0; i < 2; i++) {
        char *from = repeated_path(s, "", number, suffixes[i]),
             *to = repeated_path(s, s->endings[failed], number, suffixes[i]);
        if (rename(from, to) < 0)
            command_fail(s->runs->command, "%s: %s", from, strerror(errno));
        free(from);
        free(to);
    }
}

static void repeated_print(const struct repeated_state *s, unsigned number, int status)
{
    char how[60] = "passed";
    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "failed (SIG%s)", sigabbrev_np(WTERMSIG(status)));
    else if (WEXITSTATUS(status))
        snprintf(how, sizeof how, "failed (exit status %d)", WEXITSTATUS(status));
    bool same_line = isatty(STDERR_FILENO) && !status;
    fprintf(stderr, "%srun %04u: %s; %u of %u done, %u failed%s", same_line ? "\r\033[K" : "",
            number, how, s->done, s->runs->count, s->failed, same_line ? "" : "\n");
}

/* Returns false if the run was not recorded. */
static bool repeated_record_one(struct repeated_state *s, unsigned number,
                                int (*record)(void *user, const char *trace), void *user)
{
    char *trace = repeated_path(s, "", number, "poet");
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        repeated_run(s, number, trace, record, user);
    repeated_child = child;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    repeated_child = 0;
    if (child > 0)
        recorded_program_is_complete(child);
    bool recorded = child > 0 && access(trace, F_OK) == 0;
    if (!recorded && child > 0 && !repeated_interrupted) {
        char *out = repeated_path(s, "", number, "out");
        command_fail(s->runs->command, "run %04u was not recorded; see %s", number, out);
        free(out);
    } else if (child < 0) {
        command_fail(s->runs->command, "%s", strerror(errno));
    }
    if (recorded && !(repeated_interrupted && WIFSIGNALED(status))) {
        s->done++;
        s->failed += status != 0;
        repeated_move(s, number, status != 0);
        repeated_print(s, number, status);
    }
    free(trace);
    return recorded;
}

/* ---- all ---- */

static void repeated_print_end(const struct repeated_state *s)
{
    fprintf(stderr, "%s%u run%s recorded in %s: %u failed, %u passed\n",
            isatty(STDERR_FILENO) ? "\r\033[K" : "", s->done, plural_suffix(s->done),
            s->runs->directory, s->failed, s->done - s->failed);
    if (s->failed && s->failed < s->done)
        fprintf(stderr, "next: poet suspect %s\n", s->runs->directory);
}

int repeated_runs_record(const struct repeated_runs *runs,
                         int (*record)(void *user, const char *trace), void *user)
{
    struct repeated_state s = {.runs = runs, .first = 1, .endings = {"passed", "failed"}};
    struct sigaction action = {.sa_handler = repeated_note_interrupt};
    bool good = repeated_make_directories(&s);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    while (good && repeated_exists(&s, s.first))
        s.first++;
    for (unsigned i = 0; i < runs->count && good && !repeated_interrupted; i++) {
        good = repeated_record_one(&s, s.first + i, record, user);
        if (runs->until_failure && s.failed)
            break;
    }
    repeated_print_end(&s);
    return !good && !repeated_interrupted ? EXIT_TROUBLE : s.failed ? EXIT_FAILED : EXIT_DONE;
}
