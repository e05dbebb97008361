/* Table requests, made from the options of a command, and waiting for the table: progress display
 * on a terminal, cancellation by Ctrl-C, and errors. */
#define _GNU_SOURCE
#include "base/clock.h"
#include "clients/cli/table_options.h"

#include "base/alloc.h"
#include "clients/connection/call_groups.h"
#include "clients/connection/inlined_calls.h"
#include "clients/connection/result_table.h"
#include "clients/connection/table_diff.h"
#include "config/description_values.h"
#include "wire/limits.h"
#include "wire/request.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- progress and Ctrl-C ---- */

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

static void table_progress_on_interrupt(int number)
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
    struct sigaction old, now = {.sa_handler = table_progress_on_interrupt};
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

static int64_t table_progress_now_ns(void) { return (int64_t)clock_read_ns(CLOCK_MONOTONIC); }

struct table_progress {
    struct result_table *table;
    int64_t begin_ns;
    bool terminal;
};

static void table_progress_receive_chunk(void *user, const struct response_chunk *answer)
{
    struct table_progress *a = user;
    result_table_receive(a->table, answer);
    if (!a->terminal || answer->part != RESPONSE_TABLE_END ||
        table_progress_now_ns() - a->begin_ns < TIMEOUT_NS)
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
    struct table_progress a = {table, table_progress_now_ns(), isatty(STDERR_FILENO) != 0};
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

/* ---- the request ---- */

enum session_lines table_request_session_lines(const struct table_settings *o)
{
    return o->threads ? SESSION_ALL_LINES : SESSION_NAMED_LINES;
}

/* Adds the lines that one word of --threads selects: a number, or a pattern of labels. */
static bool table_request_add_lines(struct table_request *r, struct command_source *subject,
                                    const char *word)
{
    const struct trace_metadata *book = &subject->source.book;
    char *end;
    unsigned long number = strtoul(word, &end, 10);
    bool exact = *word && !*end, any = false;
    for (uint32_t i = 1; i <= book->line_count; i++) {
        bool is = exact ? i == number
                        : metadata_line_is_visible(book, i) &&
                              line_label_matches(book, subject->sites, i, word);
        if (is)
            ARRAY_PUSH(r->lines, r->line_count, i);
        any |= is;
    }
    return any;
}

bool table_request_label_lines(const struct table_settings *o, struct table_request *r,
                               struct command_source *subject)
{
    char *copy = xstrdup(o->threads), *rest = copy;
    bool good = true;
    for (char *word; good && (word = strsep(&rest, ",")) != NULL;) {
        good = table_request_add_lines(r, subject, word);
        if (!good)
            command_usage(o->command, "--threads: no line \"%s\"; see poet dump", word);
    }
    free(copy);
    return good;
}

static void table_request_add_option(struct table_request *r, const char *key, const char *value)
{
    struct table_option option = {xstrdup(key), xstrdup(value)};
    ARRAY_PUSH(r->options, r->option_count, option);
}

/* Returns false after reporting an error. */
static bool table_request_make(const struct table_settings *o, const struct table_section *section,
                               struct command_source *subject, struct table_request *r)
{
    const char *sort = o->sort ? o->sort : section->sort ? section->sort : "";
    *r = (struct table_request){.what = xstrdup(section->what),
                                .by = xstrdup(o->by ? o->by : ""),
                                .from = o->from,
                                .to = o->to,
                                .past_of = o->past_of,
                                .sort = xstrdup(sort),
                                .top = section->top ? section->top : o->top,
                                .flags = (o->backwards ? TABLE_BACKWARDS : 0u) |
                                         (o->tree ? TABLE_TREE : 0u) | (o->raw ? TABLE_RAW : 0u)};
    for (const struct table_option *option = section->options; option && option->key; option++)
        table_request_add_option(r, option->key, option->value);
    return !o->threads || table_request_label_lines(o, r, subject);
}

/* ---- the response ---- */

/* Returns the column name closest to a word; _ns may be omitted. The caller frees it. */
static char *table_request_nearest_column(const struct result_table *t, const char *word)
{
    const char *names[2 * LIMIT_TABLE_COLUMNS + 1] = {NULL};
    char *shorter[LIMIT_TABLE_COLUMNS];
    for (uint32_t i = 0; i < t->column_count; i++) {
        const char *name = t->columns[i].name;
        size_t n = strlen(name);
        bool ns = n > 3 && strcmp(name + n - 3, "_ns") == 0;
        names[2 * i] = name;
        names[2 * i + 1] = shorter[i] = xstrndup(name, ns ? n - 3 : n);
    }
    const char *near = nearest_word(word, names);
    char *copy = near ? xstrdup(near) : NULL;
    for (uint32_t i = 0; i < t->column_count; i++)
        free(shorter[i]);
    return copy;
}

int table_request_missing_column(const struct table_settings *o, const struct result_table *t,
                                 const char *option, const char *word)
{
    char *near = table_request_nearest_column(t, word);
    char *all = xstrdup("");
    for (uint32_t i = 0; !near && i < t->column_count; i++) {
        char *more = xasprintf("%s%s%s", all, i ? ", " : "", t->columns[i].name);
        free(all);
        all = more;
    }
    command_usage(o->command,
                  near ? "%s: unknown column \"%s\"; did you mean \"%s\"?"
                       : "%s: unknown column \"%s\"; valid: %s",
                  option, word, near ? near : all);
    free(all);
    free(near);
    return EXIT_USAGE;
}

static int table_request_check(const struct table_settings *o, const struct result_table *t)
{
    if (t->problem)
        return o->quiet ? EXIT_USAGE : command_usage(o->command, "%s", t->problem);
    if (o->sort && result_table_find_column(t, o->sort) == t->column_count)
        return table_request_missing_column(o, t, o->sort == o->width_of ? "--width-of" : "--sort",
                                            o->sort);
    return EXIT_DONE;
}

/* Returns whether the events named by options exist, after reporting the first that does not. */
static bool table_request_events_exist(const struct table_settings *o,
                                       struct command_source *subject)
{
    const struct event_id named[] = {
        o->from.is == TABLE_AT_EVENT ? o->from.event : (struct event_id){0},
        o->to.is == TABLE_AT_EVENT ? o->to.event : (struct event_id){0}, o->past_of};
    struct error error;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (named[i].line && !command_source_has_event(subject, named[i], &error)) {
            command_fail(o->command, "%s", error.text);
            return false;
        }
    return true;
}

char *table_request_object(const struct table_settings *o, struct command_source *subject,
                           const char *option, const char *name, int *status)
{
    bool several = false;
    char *end;
    unsigned long number = strtoul(name, &end, 10);
    uint32_t line = !*end && number && number <= UINT32_MAX
                        ? (uint32_t)number
                        : metadata_find_line(&subject->source.book, name, &several);
    if (line && !several)
        return xasprintf("%u", line);
    *status = command_usage(o->command,
                            several ? "%s %s: ambiguous line name; use the line number"
                                    : "%s %s: no such line; see poet dump",
                            option, name);
    return NULL;
}

/* ---- categories ---- */

/* Returns whether the request needs categories by function names, which only the client knows. */
static bool table_request_wants_categories(const struct table_settings *o,
                                           const struct table_section *section,
                                           const struct command_source *subject)
{
    bool by = o->by && strcmp(o->by, "category") == 0,
         any = strcmp(section->what, "waits") == 0 || strcmp(section->what, "path") == 0;
    return any && (by || strcmp(section->what, "waits") == 0) &&
           call_groups_have_categories(&subject->source.book);
}

/* Requests the functions of the run, and returns their categories; NULL: none has one. */
static char *table_request_name_categories(const struct table_settings *o,
                                           struct command_source *subject)
{
    struct table_names names = {&subject->source.book, subject->sites};
    struct table_settings plain = {.command = o->command};
    struct result_table t = {0};
    int status = table_request_run(&plain, &(struct table_section){.what = "calls"}, subject, &t);
    char *text = status == EXIT_DONE ? call_groups_category_option(&names, &t) : NULL;
    result_table_free(&t);
    return text;
}

/* Returns whether functions that were inlined get their share of sampled calls. */
static bool table_request_wants_points(const struct table_section *section)
{
    for (const struct table_option *option = section->options; option && option->key; option++)
        if (strcmp(option->key, "points") == 0)
            return true;
    return false;
}

static void table_request_expand(const struct table_settings *o,
                                 const struct command_source *subject, struct result_table *t)
{
    struct table_names names = {&subject->source.book, subject->sites};
    bool by_thread = o->by && strcmp(o->by, "thread") == 0,
         tree = o->tree || (o->by && strcmp(o->by, "path") == 0);
    inlined_calls_expand(
        t, &(struct inlined_calls_options){tree, by_thread, o->sort, o->backwards, o->top}, &names);
}

int table_request_run(const struct table_settings *o, const struct table_section *section,
                      struct command_source *subject, struct result_table *t)
{
    struct table_request request;
    struct encoder body = {0};
    if (section->make)
        return section->make(o, subject, t);
    if (!table_request_events_exist(o, subject))
        return EXIT_FAILED;
    char *categories = table_request_wants_categories(o, section, subject)
                           ? table_request_name_categories(o, subject)
                           : NULL;
    bool good = table_request_make(o, section, subject, &request);
    if (good && categories)
        table_request_add_option(&request, "category", categories);
    free(categories);
    encode_table_request(&body, &request);
    table_request_free(&request);
    if (!good) {
        encoder_free(&body);
        return EXIT_USAGE;
    }
    if (!table_progress_request(o->command, subject, &body, t))
        return EXIT_FAILED;
    int status = table_request_check(o, t);
    if (status == EXIT_DONE && table_request_wants_points(section))
        table_request_expand(o, subject, t);
    return status;
}

int table_request_difference(const struct table_settings *o, const struct table_section *section,
                             struct command_source *subject, struct result_table *t)
{
    struct command_source other;
    struct result_table theirs = {0}, both;
    if (!command_source_open(o->command, &other, o->baseline, table_request_session_lines(o),
                             subject->labels))
        return EXIT_FAILED;
    int status = table_request_run(o, section, &other, &theirs);
    if (status == EXIT_DONE) {
        struct table_names names = {&subject->source.book, subject->sites},
                           theirs_names = {&other.source.book, other.sites};
        table_diff_make(&both, t, &names, &theirs, &theirs_names);
        result_table_free(t);
        *t = both;
    }
    result_table_free(&theirs);
    command_source_close(&other);
    return status;
}
