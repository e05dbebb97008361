/* One attempt to run a program: until it exits, certainly hangs, or times out. */
#define _GNU_SOURCE
#include "clients/cli/confirm.h"

#include "base/alloc.h"
#include "clients/cli/command_source.h"
#include "clients/cli/kill_tree.h"
#include "clients/cli/recorded_program.h"
#include "clients/connection/finding_text.h"
#include "clients/connection/wait_list.h"
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

/* ---- the hang to be confirmed ---- */

/* Returns the length without the #2 of lines with equal names, as their order can differ between
 * runs. */
static size_t target_hang_name_bytes(const char *label) { return strcspn(label, "#"); }

static void target_hang_add_cell_label(struct target_hang *w, const struct trace_metadata *book,
                                       const struct result_table *t, uint32_t row,
                                       const char *column)
{
    uint32_t at = result_table_find_column(t, column);
    const struct table_cell *c = at < t->column_count ? &result_table_cells(t, row)[at] : NULL;
    if (!c || c->is != CELL_LINE)
        return;
    w->names = array_reserve(w->names, &w->room, w->count + 1, sizeof *w->names);
    w->names[w->count++] = xstrdup(metadata_label(book, c->line));
}

void target_hang_make(struct target_hang *w, const struct trace_metadata *book,
                      const struct result_table *t, uint32_t row)
{
    enum finding_kind kind = finding_text_kind(t, row);
    *w = (struct target_hang){
        .cycle = kind == FINDING_LOCK_ORDER_INVERSION || kind == FINDING_READ_RECURSION ||
                 kind == FINDING_HANDLER_LOCK || kind == FINDING_WAIT_WITH_LOCK,
        .abandoned = kind == FINDING_FORK_WITH_LOCK,
        .waking = kind == FINDING_WAIT_WITH_LOCK || kind == FINDING_LOST_WAKEUP ||
                  kind == FINDING_UNCHECKED_WAIT || kind == FINDING_NESTED_TASK ||
                  kind == FINDING_SIGNAL_NOT_BROADCAST || kind == FINDING_EARLY_SIGNAL};
    for (uint32_t i = row + 1; i < t->row_count && t->rows[i].depth; i++) {
        target_hang_add_cell_label(w, book, t, i, "object");
        target_hang_add_cell_label(w, book, t, i, "second_object");
    }
}

static bool target_hang_is_about(const struct target_hang *w, const struct trace_metadata *book,
                                 uint32_t line)
{
    const char *label = metadata_label(book, line);
    for (size_t i = 0; i < w->count; i++)
        if (target_hang_name_bytes(label) == target_hang_name_bytes(w->names[i]) &&
            memcmp(label, w->names[i], target_hang_name_bytes(label)) == 0)
            return true;
    return false;
}

static bool target_hang_is_cycle(const struct target_hang *w, const struct wait_list *waits,
                                 const struct trace_metadata *book)
{
    for (size_t i = 0; i < waits->cycle_count; i++)
        for (uint32_t k = 0; !waits->cycles[i].doubts && k < waits->cycles[i].count; k++)
            if (target_hang_is_about(w, book, waits->cycles[i].steps[k].about))
                return true;
    return false;
}

static bool target_hang_is_waking(const struct target_hang *w, const struct wait_list *waits,
                                  const struct trace_metadata *book)
{
    for (size_t i = 0; i < waits->verdict_count; i++)
        if (waits->verdicts[i].fate != OUTCOME_OPEN &&
            target_hang_is_about(w, book, waits->verdicts[i].about))
            return true;
    return false;
}

static bool target_hang_is_abandoned(const struct target_hang *w, const struct wait_list *waits,
                                     const struct trace_metadata *book)
{
    const struct wait_info *lock = NULL;
    while ((lock = wait_list_abandoned_lock(waits, lock)) != NULL)
        if (target_hang_is_about(w, book, lock->about))
            return true;
    return false;
}

/* Returns whether the blocked threads of this run, with their lines in `book`, hang in this way. */
static bool target_hang_matches(const struct target_hang *w, const struct wait_list *waits,
                                const struct trace_metadata *book)
{
    if (w->abandoned)
        return target_hang_is_abandoned(w, waits, book);
    return (!w->cycle && !w->waking) || (w->cycle && target_hang_is_cycle(w, waits, book)) ||
           (w->waking && target_hang_is_waking(w, waits, book));
}

void target_hang_free(struct target_hang *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->names[i]);
    free(w->names);
    *w = (struct target_hang){0};
}

#define LOOK_NS 10000000 /* between two checks whether the program exited */
#define LOOKS 20 /* of these between two checks for a hang */
#define STILL_NEVER 5 /* checks for a hang without a new event until a certain hang counts */
#define STILL_PERHAPS 15 /* and until one counts that is not certain */
#define READ_MOST (16u << 20)

/* ---- hangs ---- */

struct attempt_hang {
    struct wait_list waits;
    uint64_t events, before;
    unsigned still;
};

static void attempt_receive_waits(void *user, const struct response_chunk *answer)
{
    wait_list_receive(&((struct attempt_hang *)user)->waits, answer);
}

static void attempt_receive_stat(void *user, const struct response_chunk *answer)
{
    struct stat_info stat;
    if (answer->part != RESPONSE_STAT)
        return;
    decode_stat_info(answer->in, &stat);
    ((struct attempt_hang *)user)->events = stat.events;
    stat_info_free(&stat);
}

/* Returns the worst diagnosis. A possible hang counts if the only doubt is whether a waiter was
 * already woken: such a waiter resumes before long.  If the awaited thread is to wait for a lock of
 * the waiter, a signal handler could wake the waiter instead; it would do so before long, too. */
static enum wait_outcome attempt_worst_outcome(const struct wait_list *w,
                                               const struct target_hang *aim)
{
    unsigned doubts = UNCERTAIN_WAKER | (aim->cycle && aim->waking ? UNCERTAIN_HANDLER : 0u);
    enum wait_outcome worst = OUTCOME_OPEN;
    for (size_t i = 0; i < w->verdict_count; i++) {
        const struct diagnosis_info *v = &w->verdicts[i];
        bool counts = v->fate == OUTCOME_NEVER ||
                      (v->fate == OUTCOME_POSSIBLE && v->doubts && !(v->doubts & ~doubts));
        worst = counts && v->fate > worst ? v->fate : worst;
    }
    return worst;
}

/* Opens the run at the program's own server; if it uses another one, the part of its file that is
 * written. */
static bool attempt_open_run(const struct attempt *trial, pid_t program, struct session *source)
{
    char directory[256], endpoint[400];
    struct error error;
    if (endpoint_directory(directory, sizeof directory, &error)) {
        snprintf(endpoint, sizeof endpoint, "unix:%s/poet-%d.sock", directory, (int)program);
        if (session_open(source, endpoint, SESSION_NAMED_LINES, &error))
            return true;
    }
    return access(trial->again.output, R_OK) == 0 &&
           session_open(source, trial->again.output, SESSION_NAMED_LINES, &error);
}

/* Compares the names of lines, since addresses differ between runs. */
static bool attempt_is_target_hang(const struct attempt *trial, const struct attempt_hang *h,
                                   struct session *source)
{
    struct command_source named = {
        .source = *source, .sites = symbolizer_new(), .labels = LABELS_NAME};
    command_source_label_lines(&named);
    bool is = target_hang_matches(trial->aim, &h->waits, &named.source.book);
    *source = named.source;
    symbolizer_free(named.sites);
    return is;
}

static void attempt_check_hang(const struct attempt *trial, pid_t program, struct attempt_hang *h,
                               struct attempt_result *end)
{
    struct session source;
    struct error error;
    struct encoder judged = {0};
    if (!attempt_open_run(trial, program, &source))
        return;
    h->waits = (struct wait_list){0};
    encode_u8(&judged, 1);
    bool known =
        session_wait(&source, session_send(&source, REQUEST_STAT, NULL, attempt_receive_stat, h),
                     &error) &&
        session_wait(&source,
                     session_send(&source, REQUEST_WAITS, &judged, attempt_receive_waits, h),
                     &error);
    enum wait_outcome fate = known ? attempt_worst_outcome(&h->waits, trial->aim) : OUTCOME_OPEN;
    if (known && wait_list_abandoned_lock(&h->waits, NULL))
        fate = OUTCOME_NEVER;
    h->still = fate != OUTCOME_OPEN && h->events == h->before ? h->still + 1 : 0;
    h->before = h->events;
    end->hangs = known && (wait_list_has_deadlock(&h->waits) || h->still >= STILL_PERHAPS ||
                           (fate == OUTCOME_NEVER && h->still >= STILL_NEVER));
    end->otherwise = end->hangs && !attempt_is_target_hang(trial, h, &source);
    wait_list_free(&h->waits);
    encoder_free(&judged);
    session_close(&source);
}

/* ---- a run ---- */

static int attempt_exec_program(const struct attempt *trial, int out, int errors)
{
    int nothing = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    setenv("POET_QUIET", "1", 1);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    return rerun_start(trial->command, &trial->again, trial->loadable, trial->words);
}

/* The signal to terminate. The program must be killed first: a terminal does not interrupt it,
 * since it has a process group of its own. */
static volatile sig_atomic_t asked_to_end;

static void attempt_note_signal(int number) { asked_to_end = number; }

static void attempt_install_signal_handlers(void)
{
    static const int numbers[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = attempt_note_signal};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
}

static uint64_t attempt_now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000u + (uint64_t)ts.tv_nsec / 1000000u;
}

static void attempt_wait_program(const struct attempt *trial, pid_t child,
                                 struct attempt_result *end)
{
    struct attempt_hang hanging = {0};
    uint64_t until_ms = attempt_now_ms() + trial->timeout_s * 1000ull;
    pid_t ended;
    attempt_install_signal_handlers();
    for (unsigned n = 1; (ended = waitpid(child, &end->status, WNOHANG)) <= 0; n++) {
        if (ended < 0 && errno != EINTR)
            break;
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
        if (asked_to_end)
            kill_tree_run(child);
        if (n % LOOKS || end->hangs || end->slow)
            continue;
        attempt_check_hang(trial, child, &hanging, end);
        end->slow = !end->hangs && attempt_now_ms() > until_ms;
        if (end->hangs || end->slow)
            kill_tree_run(child);
    }
    kill(-child, SIGKILL); /* processes of its group that remain */
}

static char *attempt_read_output(int fd, size_t *bytes)
{
    off_t size = lseek(fd, 0, SEEK_END);
    *bytes = size < 0 ? 0 : size > READ_MOST ? READ_MOST : (size_t)size;
    char *text = xcalloc(*bytes + 1, 1);
    ssize_t got = pread(fd, text, *bytes, 0);
    *bytes = got < 0 ? 0 : (size_t)got;
    return text;
}

bool attempt_run(const struct attempt *trial, struct attempt_result *end)
{
    *end = (struct attempt_result){0};
    int out = memfd_create("output", MFD_CLOEXEC), errors = memfd_create("errors", MFD_CLOEXEC);
    unlink(trial->again.output);
    fflush(NULL);
    pid_t child = out < 0 || errors < 0 ? -1 : recorded_program_begin();
    if (child == 0)
        _exit(attempt_exec_program(trial, out, errors));
    if (child > 0) {
        setpgid(child, child);
        attempt_wait_program(trial, child, end);
        recorded_program_is_complete(child);
        end->output = attempt_read_output(out, &end->output_bytes);
        end->errors = attempt_read_output(errors, &end->error_bytes);
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

bool attempt_has_same_output(const struct attempt_result *a, const struct attempt_result *b)
{
    return a->output_bytes == b->output_bytes && memcmp(a->output, b->output, a->output_bytes) == 0;
}

void attempt_status_text(char *text, size_t size, int status)
{
    if (WIFSIGNALED(status))
        snprintf(text, size, "is killed by signal %d", WTERMSIG(status));
    else
        snprintf(text, size, "exits with status %d", WEXITSTATUS(status));
}

void attempt_end_free(struct attempt_result *end)
{
    free(end->output);
    free(end->errors);
    end->output = end->errors = NULL;
}
