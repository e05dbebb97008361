#include "clients/poet/awaiting.h"

#include "clients/source/table.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS 1000000000

static char part_file[4200];
static volatile sig_atomic_t shown; /* something stands in the last line */

static const char erase[] = "\r\033[K";

static void on_interrupt(int number)
{
    if (shown && write(STDERR_FILENO, erase, sizeof erase - 1) < 0)
        shown = 0; /* the terminal is gone */
    if (*part_file)
        unlink(part_file);
    _exit(128 + number);
}

/* Who has asked not to be interrupted is not (nohup, a shell's background). */
static void mind_interrupts(void)
{
    static bool done;
    struct sigaction old, now = {.sa_handler = on_interrupt};
    if (!done && sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(SIGINT, &now, NULL);
    done = true;
}

void awaiting_file(const char *part)
{
    mind_interrupts();
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

bool awaiting_table(const struct command *command, struct subject *subject, struct out *body,
                    struct shown_table *table)
{
    struct awaiting a = {table, now_ns(), isatty(STDERR_FILENO) != 0};
    mind_interrupts();
    bool good = subject_ask(command, subject, ASK_TABLE, body, take, &a);
    if (shown)
        fputs(erase, stderr);
    shown = 0;
    return good;
}
