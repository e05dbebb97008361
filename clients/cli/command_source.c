#include "clients/cli/command_source.h"

#include "base/alloc.h"
#include "clients/cli/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- the option --labels ---- */

static bool label_option_given;
static enum labels label_option_value;

bool label_option_by_name(const char *word, enum labels *labels)
{
    static const char *const words[] = {
        [LABELS_NAME] = "name", [LABELS_ID] = "id", [LABELS_ADDRESS] = "address"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) {
            *labels = (enum labels)i;
            return true;
        }
    return false;
}

enum labels label_option_selected(enum labels otherwise)
{
    return label_option_given ? label_option_value : otherwise;
}

#define OPTION_LABELS (256 + 'l')

static error_t label_option_parse_option(int key, char *value, struct argp_state *state)
{
    if (key != OPTION_LABELS)
        return ARGP_ERR_UNKNOWN;
    label_option_given = label_option_by_name(value, &label_option_value);
    if (!label_option_given)
        fprintf(stderr, "%s: --labels %s: name, id or address\n", state->name, value);
    return label_option_given ? 0 : EINVAL;
}

static const struct argp_option label_option_rows[] = {
    {"labels", OPTION_LABELS, "WHAT", 0,
     "label lines by name (default; duplicates are numbered: w, w#2), id (name and line number) "
     "or address (default in JSON)",
     8},
    {0}};
const struct argp labels_options = {.options = label_option_rows,
                                    .parser = label_option_parse_option};

/* ---- the source ---- */

const char *command_source_name(int argc, char **argv, int *first)
{
    struct event_id ignored;
    if (*first >= argc || strcmp(argv[*first], "-") == 0 || event_id_parse(argv[*first], &ignored))
        return NULL;
    return argv[(*first)++];
}

bool command_source_begin(const struct command *command, int argc, char **argv,
                          enum session_lines lines, enum labels words,
                          struct command_source *subject, bool *json, int *status)
{
    int first;
    *json = false;
    *status = command_read(command, argc, argv, json, &first);
    if (*status != OPTIONS_READ)
        return false;
    const char *what = command_source_name(argc, argv, &first);
    if (argc != first) {
        *status = command_usage(command, "extra operand: %s", argv[first]);
        return false;
    }
    *status = EXIT_FAILED;
    return command_source_open(command, subject, what, lines,
                               label_option_selected(*json ? LABELS_ADDRESS : words));
}

void command_source_label_lines(struct command_source *subject)
{
    struct trace_metadata *book = &subject->source.book;
    if (book->generation != subject->labelled)
        line_labels_assign(book, subject->sites, &subject->known, subject->labels);
    subject->labelled = book->generation;
}

/* Formats ", 3 min ago". */
static void command_source_format_age(char *s, size_t size, int64_t seconds)
{
    static const struct {
        int64_t seconds;
        const char *word;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    size_t i = 0;
    while (i < 3 && seconds < units[i].seconds)
        i++;
    snprintf(s, size, ", %lld %s ago", (long long)(seconds / units[i].seconds), units[i].word);
}

char *command_source_begin_named(const struct session *source, bool age)
{
    char when[32], ago[40] = "";
    time_t begin = (time_t)(source->book.run.wall_ns / 1000000000u), now = time(NULL);
    struct tm tm;
    if (!source->book.run.wall_ns)
        return xstrdup("an unknown time");
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime_r(&begin, &tm));
    if (age && now >= begin)
        command_source_format_age(ago, sizeof ago, (int64_t)(now - begin));
    return xasprintf("%s%s", when, ago);
}

/* Prints which run `latest` is, if standard output is a terminal. */
static void command_source_print_latest(const struct command *command, const struct session *source)
{
    if (!isatty(STDOUT_FILENO))
        return;
    char *when = command_source_begin_named(source, true);
    fprintf(stderr, "poet %s: latest: %s of %s, %s\n", command->name, source->book.run.name, when,
            source->name);
    free(when);
}

bool command_source_open(const struct command *command, struct command_source *subject,
                         const char *what, enum session_lines lines, enum labels labels)
{
    struct error error;
    *subject = (struct command_source){.sites = symbolizer_new(), .labels = labels};
    if (!subject->sites || !session_open(&subject->source, what ? what : "latest", lines, &error)) {
        command_fail(command, "%s", subject->sites ? error.text : "out of memory");
        symbolizer_free(subject->sites);
        return false;
    }
    /* One round trip brings the tables. */
    if (!command_source_request(command, subject, REQUEST_RUNS, NULL, NULL, NULL)) {
        command_source_close(subject);
        return false;
    }
    if (!what)
        command_source_print_latest(command, &subject->source);
    if (session_warning(&subject->source))
        fprintf(stderr, "poet %s: %s: %s\n", command->name, subject->source.name,
                session_warning(&subject->source));
    if (session_cut(&subject->source) && !command->opens_cuts)
        fprintf(stderr, "poet %s: %s: %s\n", command->name, subject->source.name,
                session_cut(&subject->source));
    command_source_label_lines(subject);
    subject->command = command;
    return true;
}

void command_source_warn_updated(const struct command *command,
                                 const struct command_source *subject)
{
    if (subject->source.book.renewed)
        fprintf(stderr, "poet %s: %s: %s\n", command->name, subject->source.name,
                subject->source.book.renewed);
}

static bool damaged;

bool command_source_damaged(void) { return damaged; }

/* Reports the part of the source that was unreadable, even if the command did not need it. */
static void command_source_report_damage(const struct command *command,
                                         struct command_source *subject)
{
    struct error ignored;
    session_wait(&subject->source, session_send(&subject->source, REQUEST_RUNS, NULL, NULL, NULL),
                 &ignored); /* brings damage that was found since the source was opened */
    const struct trace_metadata *book = &subject->source.book;
    if (!book->damage)
        return;
    fflush(stdout);
    command_fail(command, "%s: %s", subject->source.name, book->damage);
    damaged = true;
}

void command_source_close(struct command_source *subject)
{
    if (subject->command)
        command_source_report_damage(subject->command, subject);
    session_close(&subject->source);
    symbolizer_free(subject->sites);
}

/* Labels the lines that arrived before this part, then passes it on. */
static void command_source_receive_labelled(void *user, const struct response_chunk *answer)
{
    const struct command_request *l = user;
    if (l->subject->source.book.some)
        command_source_label_lines(l->subject);
    if (l->take)
        l->take(l->user, answer);
}

void command_source_send(struct command_source *subject, enum request_type what,
                         struct encoder *body, source_take *take, void *user,
                         struct command_request *pending)
{
    *pending = (struct command_request){.subject = subject, .take = take, .user = user};
    pending->id =
        session_send(&subject->source, what, body, command_source_receive_labelled, pending);
}

bool command_source_request_done(const struct command *command,
                                 const struct command_request *pending)
{
    struct error error;
    if (session_wait(&pending->subject->source, pending->id, &error))
        return true;
    command_fail(command, "%s", error.text);
    return false;
}

bool command_source_request(const struct command *command, struct command_source *subject,
                            enum request_type what, struct encoder *body, source_take *take,
                            void *user)
{
    struct command_request pending;
    command_source_send(subject, what, body, take, user, &pending);
    return command_source_request_done(command, &pending);
}

#define FOLLOW_AGAIN_NS 400000000

static void command_source_receive_connected(void *user, const struct response_chunk *answer)
{
    uint32_t *connected = user;
    struct stat_info stat;
    if (answer->part != RESPONSE_STAT)
        return;
    decode_stat_info(answer->in, &stat);
    *connected = answer->in->error ? 0 : stat.connected;
    stat_info_free(&stat);
}

int command_source_follow(const struct command *command, struct command_source *subject,
                          int (*print)(void *user), void *user)
{
    for (;;) {
        uint32_t connected = 0;
        if (!command_source_request(command, subject, REQUEST_STAT, NULL,
                                    command_source_receive_connected, &connected))
            return EXIT_FAILED;
        terminal_redraw_begin();
        int status = print(user);
        terminal_redraw_end();
        if (!connected || status != EXIT_DONE || ferror(stdout))
            return status;
        nanosleep(&(struct timespec){0, FOLLOW_AGAIN_NS}, NULL);
    }
}

/* Formats what the run has instead of a missing event. */
static void command_source_format_missing(char *s, size_t size, const struct trace_metadata *book,
                                          struct event_id at)
{
    const struct line_metadata *line = metadata_line(book, at.line);
    unsigned long long last = line ? line->is.last : 0, first = line ? line->is.first : 0;
    if (!line && !(at.line & HIDDEN_LINE))
        snprintf(s, size, "it has %u line%s", book->line_count, plural_suffix(book->line_count));
    else if (!line || last == 0)
        snprintf(s, size, "line %u has no events", at.line & ~HIDDEN_LINE);
    else if (at.number < first)
        snprintf(s, size, "line %u: events %llu to %llu are available", at.line, first, last);
    else
        snprintf(s, size, "line %u has %llu event%s", at.line & ~HIDDEN_LINE, last,
                 plural_suffix(last));
}

bool command_source_has_event(struct command_source *subject, struct event_id at, struct error *why)
{
    const struct trace_metadata *book = &subject->source.book;
    if (!metadata_line(book, at.line) && book->some &&
        !session_subscribe_lines(&subject->source, &at.line, 1, why))
        return false;
    const struct line_metadata *line = metadata_line(book, at.line);
    if (line && at.number >= 1 && at.number >= line->is.first && at.number <= line->is.last)
        return true;
    char s[48], instead[100];
    event_id_print(s, sizeof s, at);
    command_source_format_missing(instead, sizeof instead, book, at);
    error_set(why, "no event %s in this run (%s)", s, instead);
    return false;
}

static void command_source_receive_waits(void *user, const struct response_chunk *answer)
{
    wait_list_receive(user, answer);
}

bool command_source_deadlock_events(const struct command *command, struct command_source *subject,
                                    struct event_id **pairs, uint32_t *count)
{
    struct wait_list waits = {0};
    bool ok = command_source_request(command, subject, REQUEST_WAITS, NULL,
                                     command_source_receive_waits, &waits);
    if (ok)
        *pairs = wait_list_pairs(&waits, count);
    wait_list_free(&waits);
    return ok;
}

bool command_source_waits(const struct command *command, struct command_source *subject,
                          struct wait_list *waits)
{
    struct encoder judged = {0};
    *waits = (struct wait_list){0};
    encode_u8(&judged, 1);
    return command_source_request(command, subject, REQUEST_WAITS, &judged,
                                  command_source_receive_waits, waits);
}

const char *command_source_place(struct command_source *subject, uint32_t process, uint64_t site)
{
    return site ? symbolize(subject->sites, process, site).place : "";
}

const char *command_source_site(struct command_source *subject, const struct event_info *event)
{
    return command_source_place(subject, event->process, event->site);
}
