#include "clients/poet/awaiting.h"

#include "clients/source/table.h"
#include "wire/ask.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS 1000000000

static char part_file[4200];
static volatile sig_atomic_t shown; /* something stands in the last line */

static struct { /* what is said when Ctrl-C comes */
    char text[128];
    size_t text_bytes;
    uint8_t cancel[32]; /* the message */
    size_t cancel_bytes;
    volatile sig_atomic_t fd; /* to be told it; -1: nothing is asked */
} last_words = {.fd = -1};

static const char erase[] = "\r\033[K";

static void on_interrupt(int number)
{
    if (last_words.fd >= 0)
        send(last_words.fd, last_words.cancel, last_words.cancel_bytes,
             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (shown && write(STDERR_FILENO, erase, sizeof erase - 1) < 0)
        shown = 0; /* the terminal is gone */
    if (*part_file)
        unlink(part_file);
    if (write(STDERR_FILENO, last_words.text, last_words.text_bytes) < 0)
        shown = 0;
    _exit(128 + number);
}

/* Who has asked not to be interrupted is not (nohup, a shell's background). */
void awaiting_begin(const struct command *command)
{
    static bool done;
    struct sigaction old, now = {.sa_handler = on_interrupt};
    int bytes = snprintf(last_words.text, sizeof last_words.text,
                         "poet %s: interrupted; nothing was changed\n", command->name);
    last_words.text_bytes = (size_t)bytes < sizeof last_words.text ? (size_t)bytes : 0;
    if (!done && sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(SIGINT, &now, NULL);
    done = true;
}

void awaiting_file(const char *part)
{
    *part_file = 0;
    if (part && snprintf(part_file, sizeof part_file, "%s", part) >= (int)sizeof part_file)
        *part_file = 0;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct awaiting {
    struct shown_table *table;
    int64_t begin_ns;
    bool terminal;
};

static void take(void *user, const struct answer *answer)
{
    struct awaiting *a = user;
    table_take(a->table, answer);
    if (!a->terminal || answer->part != PART_TABLE_END || now_ns() - a->begin_ns < PATIENCE_NS)
        return;
    shown = 1;
    fprintf(stderr, "%slooked at %llu of %llu events", erase, (unsigned long long)a->table->known,
            (unsigned long long)a->table->count);
}

/* Ctrl-C takes the question back. */
static void mind(const struct subject_question *question)
{
    struct out out = {0};
    put_cancel(&out, question->id);
    bool good = question->id && !out.failed && out.size <= sizeof last_words.cancel;
    if (good)
        memcpy(last_words.cancel, out.data, last_words.cancel_bytes = out.size);
    out_free(&out);
    last_words.fd = good ? question->subject->source.fd : -1;
}

/* Asks; from then on Ctrl-C takes the question back. */
static void ask(struct subject *subject, struct out *body, struct awaiting *a,
                struct subject_question *question)
{
    sigset_t interrupt, before;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    sigprocmask(SIG_BLOCK, &interrupt, &before);
    subject_send(subject, ASK_TABLE, body, take, a, question);
    mind(question);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

bool awaiting_table(const struct command *command, struct subject *subject, struct out *body,
                    struct shown_table *table)
{
    struct awaiting a = {table, now_ns(), isatty(STDERR_FILENO) != 0};
    struct subject_question question;
    awaiting_begin(command);
    ask(subject, body, &a, &question);
    bool good = subject_answered(command, &question);
    last_words.fd = -1;
    if (shown)
        fputs(erase, stderr);
    shown = 0;
    return good;
}
