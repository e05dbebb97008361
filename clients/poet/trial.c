#define _GNU_SOURCE
#include "clients/poet/trial.h"

#include "clients/poet/offspring.h"
#include "clients/poet/recorded.h"
#include "clients/poet/subject.h"
#include "clients/source/waits.h"
#include "memory/memory.h"
#include "wire/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 10000000
#define LOOKS 20 /* between two at who waits */
#define STILL_NEVER 5 /* looks in which nobody goes on, where no cycle says so, */
#define STILL_PERHAPS 15 /* and where it is not certain */
#define READ_MOST (16u << 20)

/* ---- who hangs ---- */

struct hanging {
    struct waits waits;
    uint64_t events, before;
    unsigned still;
};

static void take(void *user, const struct answer *answer)
{
    waits_take(&((struct hanging *)user)->waits, answer);
}

static void take_stat(void *user, const struct answer *answer)
{
    struct shown_stat stat;
    if (answer->part != PART_STAT)
        return;
    get_stat(answer->in, &stat);
    ((struct hanging *)user)->events = stat.events;
    shown_stat_free(&stat);
}

/* The worst that is said of those who wait to be woken.  (What may have woken one has, or not, before long.) */
static enum fate worst(const struct waits *w)
{
    enum fate worst = FATE_OPEN;
    for (size_t i = 0; i < w->verdict_count; i++) {
        const struct shown_verdict *v = &w->verdicts[i];
        bool counts =
            v->fate == FATE_NEVER || (v->fate == FATE_PERHAPS && v->doubts == DOUBT_WAKER);
        worst = counts && v->fate > worst ? v->fate : worst;
    }
    return worst;
}

/* Its own server is asked, or, where that is another one, its file as far as it is written. */
static bool open_run(const struct trial *trial, pid_t program, struct source *source)
{
    char directory[256], endpoint[400];
    struct error error;
    if (endpoint_directory(directory, sizeof directory, &error)) {
        snprintf(endpoint, sizeof endpoint, "unix:%s/poet-%d.sock", directory, (int)program);
        if (source_open(source, endpoint, SOURCE_NAMED_LINES, &error))
            return true;
    }
    return access(trial->again.output, R_OK) == 0 &&
           source_open(source, trial->again.output, SOURCE_NAMED_LINES, &error);
}

/* (by the names that its lines have for people: addresses are others in each run) */
static bool is_aimed_at(const struct trial *trial, const struct hanging *h, struct source *source)
{
    struct subject named = {.source = *source, .sites = sites_new(), .labels = LABELS_NAME};
    subject_label(&named);
    bool is = aim_is(trial->aim, &h->waits, &named.source.book);
    *source = named.source;
    sites_free(named.sites);
    return is;
}

static void look(const struct trial *trial, pid_t program, struct hanging *h, struct trial_end *end)
{
    struct source source;
    struct error error;
    struct out judged = {0};
    if (!open_run(trial, program, &source))
        return;
    h->waits = (struct waits){0};
    put_u8(&judged, 1);
    bool known = source_wait(&source, source_ask(&source, ASK_STAT, NULL, take_stat, h), &error) &&
                 source_wait(&source, source_ask(&source, ASK_WAITS, &judged, take, h), &error);
    enum fate fate = known ? worst(&h->waits) : FATE_OPEN;
    h->still = fate != FATE_OPEN && h->events == h->before ? h->still + 1 : 0;
    h->before = h->events;
    end->hangs = known && (h->waits.cycle_count || h->still >= STILL_PERHAPS ||
                           (fate == FATE_NEVER && h->still >= STILL_NEVER));
    end->otherwise = end->hangs && !is_aimed_at(trial, h, &source);
    waits_free(&h->waits);
    out_free(&judged);
    source_close(&source);
}

/* ---- a run ---- */

static int start(const struct trial *trial, int out, int errors)
{
    int nothing = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    setenv("POET_QUIET", "1", 1);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    return again_start(trial->command, &trial->again, trial->loadable, trial->words);
}

/* Who is asked to end ends the program first: that is in a group of its own, which a terminal does not interrupt. */
static volatile sig_atomic_t asked_to_end;

static void note_end(int number) { asked_to_end = number; }

static void listen(void)
{
    static const int numbers[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = note_end};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
}

static uint64_t now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000u + (uint64_t)ts.tv_nsec / 1000000u;
}

static void follow(const struct trial *trial, pid_t child, struct trial_end *end)
{
    struct hanging hanging = {0};
    uint64_t until_ms = now_ms() + trial->patience_s * 1000ull;
    pid_t ended;
    listen();
    for (unsigned n = 1; (ended = waitpid(child, &end->status, WNOHANG)) <= 0; n++) {
        if (ended < 0 && errno != EINTR)
            break;
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
        if (asked_to_end)
            offspring_kill(child);
        if (n % LOOKS || end->hangs || end->slow)
            continue;
        look(trial, child, &hanging, end);
        end->slow = !end->hangs && now_ms() > until_ms;
        if (end->hangs || end->slow)
            offspring_kill(child);
    }
    kill(-child, SIGKILL); /* who was left of its processes */
}

static char *read_all(int fd, size_t *bytes)
{
    off_t size = lseek(fd, 0, SEEK_END);
    *bytes = size < 0 ? 0 : size > READ_MOST ? READ_MOST : (size_t)size;
    char *text = memory_zeroed(*bytes + 1, 1);
    ssize_t got = pread(fd, text, *bytes, 0);
    *bytes = got < 0 ? 0 : (size_t)got;
    return text;
}

bool trial_run(const struct trial *trial, struct trial_end *end)
{
    *end = (struct trial_end){0};
    int out = memfd_create("output", MFD_CLOEXEC), errors = memfd_create("errors", MFD_CLOEXEC);
    unlink(trial->again.output);
    fflush(NULL);
    pid_t child = out < 0 || errors < 0 ? -1 : recorded_begin();
    if (child == 0)
        _exit(start(trial, out, errors));
    if (child > 0) {
        setpgid(child, child);
        follow(trial, child, end);
        recorded_whole(child);
        end->output = read_all(out, &end->output_bytes);
        end->errors = read_all(errors, &end->error_bytes);
    } else {
        command_fail(trial->command, "%s", strerror(errno));
        end->status = EXIT_FAILED << 8;
    }
    if (out >= 0)
        close(out);
    if (errors >= 0)
        close(errors);
    if (asked_to_end)
        end->status = (128 + asked_to_end) << 8;
    return child > 0 && !asked_to_end;
}

void trial_end_free(struct trial_end *end)
{
    free(end->output);
    free(end->errors);
    end->output = end->errors = NULL;
}
