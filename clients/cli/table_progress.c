#include "clients/cli/table_progress.h"

#include "clients/connection/result_table.h"
#include "wire/request.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TIMEOUT_NS 1000000000

static char part_file[4200];
static volatile sig_atomic_t shown; /* a progress message is on the terminal */

static struct { /* message and request that the handler of SIGINT sends */
    char text[128];
    size_t text_bytes;
    uint8_t cancel[32]; /* encoded message that cancels the request */
    size_t cancel_bytes;
    volatile sig_atomic_t fd; /* of the server; -1: no request is pending */
} on_interrupt_data = {.fd = -1};

static const char erase[] = "\r\033[K";

static void on_interrupt(int number)
{
    if (on_interrupt_data.fd >= 0)
        send(on_interrupt_data.fd, on_interrupt_data.cancel, on_interrupt_data.cancel_bytes,
             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (shown && write(STDERR_FILENO, erase, sizeof erase - 1) < 0)
        shown = 0; /* the terminal is gone */
    if (*part_file)
        unlink(part_file);
    if (write(STDERR_FILENO, on_interrupt_data.text, on_interrupt_data.text_bytes) < 0)
        shown = 0;
    _exit(128 + number);
}

/* Keeps SIGINT ignored if it was (nohup, background jobs of a shell). */
void table_progress_begin(const struct command *command)
{
    static bool done;
    struct sigaction old, now = {.sa_handler = on_interrupt};
    int bytes = snprintf(on_interrupt_data.text, sizeof on_interrupt_data.text,
                         "poet %s: interrupted; nothing was changed\n", command->name);
    on_interrupt_data.text_bytes =
        (size_t)bytes < sizeof on_interrupt_data.text ? (size_t)bytes : 0;
    if (!done && sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(SIGINT, &now, NULL);
    done = true;
}

void table_progress_set_file(const char *part)
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

struct table_progress {
    struct result_table *table;
    int64_t begin_ns;
    bool terminal;
};

static void table_progress_receive_chunk(void *user, const struct response_chunk *answer)
{
    struct table_progress *a = user;
    result_table_receive(a->table, answer);
    if (!a->terminal || answer->part != RESPONSE_TABLE_END || now_ns() - a->begin_ns < TIMEOUT_NS)
        return;
    shown = 1;
    fprintf(stderr, "%sexamined %llu of %llu events", erase, (unsigned long long)a->table->known,
            (unsigned long long)a->table->count);
}

/* Prepares the message by which Ctrl-C cancels a request. */
static void table_progress_remember_request(const struct command_request *pending)
{
    struct encoder out = {0};
    encode_cancel(&out, pending->id);
    bool good = pending->id && !out.failed && out.size <= sizeof on_interrupt_data.cancel;
    if (good)
        memcpy(on_interrupt_data.cancel, out.data, on_interrupt_data.cancel_bytes = out.size);
    encoder_free(&out);
    on_interrupt_data.fd = good ? pending->subject->source.fd : -1;
}

/* Sends a request, with SIGINT blocked until Ctrl-C can cancel it. */
static void table_progress_send_request(struct command_source *subject, struct encoder *body,
                                        struct table_progress *a, struct command_request *pending)
{
    sigset_t interrupt, before;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    sigprocmask(SIG_BLOCK, &interrupt, &before);
    command_source_send(subject, REQUEST_TABLE, body, table_progress_receive_chunk, a, pending);
    table_progress_remember_request(pending);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

bool table_progress_request(const struct command *command, struct command_source *subject,
                            struct encoder *body, struct result_table *table)
{
    struct table_progress a = {table, now_ns(), isatty(STDERR_FILENO) != 0};
    struct command_request pending;
    table_progress_begin(command);
    table_progress_send_request(subject, body, &a, &pending);
    bool good = command_source_request_done(command, &pending);
    on_interrupt_data.fd = -1;
    if (shown)
        fputs(erase, stderr);
    shown = 0;
    return good;
}
