/* poet import: converts logs of other tools to trace files. It sends their events to a private
 * server, as a program would. */
#define _GNU_SOURCE
#include "clients/cli/chrome_log.h"
#include "clients/cli/command.h"
#include "clients/connection/install_paths.h"
#include "clients/connection/session.h"
#include "base/alloc.h"
#include "clients/cli/logtime.h"
#include "clients/cli/shiviz_log.h"
#include "wire/limits.h"
#include "wire/program_messages.h"
#include "wire/text.h"
#include "wire/slot.h"
#include "config/options.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TYPE_EVENT = 1, TYPE_SEND, TYPE_RECEIVE, TYPE_RELAY };

/* A format: the environment, the kind of lines and the types of events of its traces; those of the
 * enum above come first. */
struct import_format {
    const char *name, *environment, *kind, *kinds_name;
    const char *const *types;
    uint16_t type_count;
    const char *untraced; /* what part of the order the logs have; NULL: all of it */
};

static const char *const shiviz_types[] = {"event", "send", "receive", "relay"};
static const struct import_format import_formats[] = {
    {"shiviz", "shiviz", "host", "host", shiviz_types, 4, NULL},
    {"chrome", "slices", "track", "track", chrome_log_types, CHROME_LOG_TYPES,
     "flows, and the order of each track"}};

struct import_output {
    int fd;
    const struct import_format *format;
    const uint8_t *types; /* by event: index of the format's types; NULL: by their relation */
    struct encoder out;
    bool failed;
};

/* ---- the wire ---- */

static void import_flush_output(struct import_output *s)
{
    for (size_t done = 0; done < s->out.size && !s->failed;) {
        ssize_t n = send(s->fd, s->out.data + done, s->out.size - done, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        s->failed = n <= 0;
        done += n > 0 ? (size_t)n : 0;
    }
    s->out.size = 0;
}

static void flush_if_large(struct import_output *s)
{
    if (s->out.size > (256u << 10))
        import_flush_output(s);
}

static void send_hello(struct import_output *s, const char *run, const char *file)
{
    encoder_begin_message(&s->out, MESSAGE_HELLO);
    encode_hello(&s->out,
                 &(struct program_hello){.role = ROLE_PROGRAM,
                                         .run = text_view_of(run),
                                         .environment = text_view_of(s->format->environment),
                                         .path = text_view_of(file)});
    encoder_end_message(&s->out);
}

static void send_types(struct import_output *s)
{
    for (uint16_t i = 0; i < s->format->type_count; i++) {
        encoder_begin_message(&s->out, MESSAGE_TYPE);
        encode_type(&s->out, &(struct type_message){.code = (uint16_t)(i + 1),
                                                    .name = text_view_of(s->format->types[i])});
        encoder_end_message(&s->out);
    }
}

/* Reports that events may be ordered by more than the log has. */
static void send_untraced(struct import_output *s)
{
    if (!s->format->untraced)
        return;
    encoder_begin_message(&s->out, MESSAGE_UNTRACED);
    encode_untraced(
        &s->out, &(struct untraced_message){UNTRACED_IMPORTED, text_view_of(s->format->untraced)});
    encoder_end_message(&s->out);
}

static void send_lines(struct import_output *s, const struct shiviz_log *log)
{
    for (uint32_t h = 0; h < log->host_count; h++) {
        if (!log->numbers[h])
            continue; /* appears in clocks only, has no events */
        encoder_begin_message(&s->out, MESSAGE_LINE);
        encode_line(&s->out, &(struct line_message){.code = h + 1,
                                                    .low = h + 1,
                                                    .kind = text_view_of(s->format->kind),
                                                    .name = text_view_of(log->hosts[h])});
        encoder_end_message(&s->out);
        flush_if_large(s);
    }
}

static void send_event(struct import_output *s, const struct shiviz_log *log, size_t index,
                       uint64_t time_ns)
{
    const struct shiviz_event *e = &log->events[index];
    unsigned relation = e->cause_count ? RELATION_RECEIVE | (e->is_cause ? SLOT_SENDS : 0)
                        : e->is_cause  ? RELATION_SEND
                                       : RELATION_NONE;
    struct ring_slot slot[2] = {
        {.shape = (uint16_t)(s->types         ? s->types[index] + 1
                             : e->cause_count ? (e->is_cause ? TYPE_RELAY : TYPE_RECEIVE)
                             : e->is_cause    ? TYPE_SEND
                                              : TYPE_EVENT),
         .flags = (uint16_t)(relation | (e->doubtful ? SLOT_DOUBT(UNTRACED_THREAD) : 0)),
         .time_ns = time_ns,
         .line_a = e->host + 1,
         .number_a = e->number}};
    encoder_begin_message(&s->out, MESSAGE_SLOTS);
    encode_u32(&s->out, e->host + 1);
    if (e->cause_count) {
        slot[0].line_b = e->causes[0].host + 1;
        slot[0].number_b = e->causes[0].number;
    }
    if (e->cause_count > 1) {
        slot[0].flags |= SLOT_PARTNERS;
        slot[0].payload_bytes = (e->cause_count - 1) * 16;
    }
    encode_bytes(&s->out, slot, SLOT_BYTES);
    for (uint32_t i = 1; i < e->cause_count; i++) {
        encode_u32(&s->out, e->causes[i].host + 1);
        encode_u32(&s->out, 0);
        encode_u64(&s->out, e->causes[i].number);
    }
    static const uint8_t nothing[SLOT_BYTES];
    encode_bytes(&s->out, nothing,
                 slot_follow(slot[0].payload_bytes) * SLOT_BYTES - slot[0].payload_bytes);
    encoder_end_message(&s->out);
}

static void send_text(struct import_output *s, const struct shiviz_event *e, const char *text)
{
    char shortened[LIMIT_TEXT_BYTES];
    if (!*text)
        return;
    snprintf(shortened, sizeof shortened, "%s", text);
    encoder_begin_message(&s->out, MESSAGE_ANNOTATION);
    encode_annotation(
        &s->out, &(struct annotation_message){e->host + 1, e->number, text_view_of(shortened)});
    encoder_end_message(&s->out);
}

/* Returns the times of all events, by index, in ns since the first one, in new memory. If the log
 * has no times, the order of its lines replaces them, 1 us each. */
static uint64_t *import_times(const struct shiviz_log *log, uint64_t unit)
{
    uint64_t *times = shiviz_times(log, unit), first = UINT64_MAX;
    bool has = times != NULL;
    times = has ? times : xcalloc(log->event_count, sizeof *times);
    for (size_t i = 0; i < log->event_count; i++) {
        times[i] = has ? times[i] : 1000 * (uint64_t)i;
        first = times[i] < first ? times[i] : first;
    }
    for (size_t i = 0; i < log->event_count; i++)
        times[i] -= first;
    return times;
}

static void send_log(struct import_output *s, const struct shiviz_log *log, const char *run,
                     const char *file, uint64_t unit)
{
    uint64_t *times = import_times(log, unit);
    send_hello(s, run, file);
    send_types(s);
    send_untraced(s);
    send_lines(s, log);
    uint64_t *sent = xcalloc(log->host_count, sizeof *sent);
    for (size_t i = 0; i < log->event_count && !s->failed; i++) {
        /* Send a host's events in the order of its own clock, whatever their order in the log. */
        uint32_t host = log->events[i].host;
        size_t index = log->by_host[host][sent[host]++];
        const struct shiviz_event *e = &log->events[index];
        send_event(s, log, index, times[index]);
        send_text(s, e, e->text);
        for (uint32_t f = 0; f < e->field_count; f++)
            send_text(s, e, e->fields[f]);
        flush_if_large(s);
    }
    free(times);
    free(sent);
    import_flush_output(s);
}

/* ---- the server ---- */

/* Returns its process id; -1 after reporting an error. */
static pid_t import_start_server(const struct command *command, const char *output, int *fd)
{
    char program[PATH_MAX], descriptor[16];
    int pair[2];
    if (!install_path_program("poet-server", program, sizeof program)) {
        command_fail(command, "poet-server: not found beside poet");
        return -1;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
        command_fail(command, "%s", strerror(errno));
        return -1;
    }
    snprintf(descriptor, sizeof descriptor, "%d", pair[1]);
    pid_t child = fork();
    if (child == 0) {
        fcntl(pair[1], F_SETFD, 0);
        unsetenv("POET_KEEP");
        execlp(program, program, "--once", "--quiet", "-o", output, "--client", descriptor,
               (char *)NULL);
        fprintf(stderr, "poet import: %s: %s\n", program, strerror(errno));
        _exit(127);
    }
    close(pair[1]);
    *fd = pair[0];
    if (child < 0)
        command_fail(command, "%s", strerror(errno));
    return child;
}

/* Reports the errors that the server sends, and waits until it exits. */
static int import_finish_server(const struct command *command, struct import_output *s, int child)
{
    uint8_t bytes[4096];
    struct encoder answer = {0};
    int status = 0, result = EXIT_DONE;
    shutdown(s->fd, SHUT_WR);
    for (ssize_t n; (n = read(s->fd, bytes, sizeof bytes)) != 0;) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        encode_bytes(&answer, bytes, (size_t)n);
    }
    close(s->fd);
    for (size_t at = 0; at < answer.size;) {
        unsigned type;
        size_t length;
        const char *error;
        if (frame_read(answer.data + at, answer.size - at, LIMIT_ANSWER_BYTES, &type, &length,
                       &error) <= 0)
            break;
        struct decoder in = decoder_init(answer.data + at + MESSAGE_FRAME_BYTES, length);
        if (type == MESSAGE_ERROR) {
            char *why = decode_name(&in, LIMIT_TEXT_BYTES);
            result = command_fail(command, "%s", why);
            free(why);
        }
        at += MESSAGE_FRAME_BYTES + length;
    }
    encoder_free(&answer);
    encoder_free(&s->out);
    if (waitpid(child, &status, 0) == child && status != 0 && result == EXIT_DONE)
        result = EXIT_FAILED; /* the server printed why */
    return result;
}

/* Formats the name of the file of execution i: FILE.poet, FILE-2.poet, FILE-3.poet, ... */
static void import_name_output(const char *output, size_t i, char *name, size_t size)
{
    const char *dot = strrchr(output, '.'), *slash = strrchr(output, '/');
    if (!dot || (slash && dot < slash))
        dot = output + strlen(output);
    if (i == 0)
        snprintf(name, size, "%s", output);
    else
        snprintf(name, size, "%.*s-%zu%s", (int)(dot - output), output, i + 1, dot);
}

struct import_options {
    const char *output, *parser, *split, *unit_name;
    uint64_t unit; /* of times that are numbers, in ns; 0: not given */
};

/* Warns if an event has no time: then the times of no event are used, since times and log order
 * cannot be compared. */
static void import_warn_untimed(const struct command *command, const struct shiviz_log *log)
{
    if (!log->has_times || log->untimed >= log->event_count)
        return;
    const struct shiviz_event *e = &log->events[log->untimed];
    fprintf(stderr,
            "poet %s: %s:%llu: event without a readable time; using log order as time for all "
            "events\n",
            command->name, e->file, (unsigned long long)e->line);
}

static void import_warn_restarted(const struct command *command, const struct shiviz_log *log)
{
    if (log->restarted >= log->event_count)
        return;
    const struct shiviz_event *e = &log->events[log->restarted];
    fprintf(
        stderr,
        "poet %s: %s:%llu: host \"%s\" restarted: it is a new line from here on; events that may "
        "come after it are uncertain\n",
        command->name, e->file, (unsigned long long)e->line, log->hosts[log->again[e->host].of]);
}

static int write_logs(const struct command *command, const struct shiviz_log *logs, size_t count,
                      const char *file, const struct import_options *o,
                      const struct import_format *format, const uint8_t *types)
{
    const char *output = o->output;
    const char *base = strrchr(file, '/');
    base = base ? base + 1 : file;
    int status = EXIT_DONE;
    size_t written = 0;
    for (size_t i = 0; i < count && status == EXIT_DONE; i++) {
        char name[4096], run[200];
        struct import_output s = {.format = format, .types = types};
        if (!logs[i].event_count)
            continue;
        import_name_output(output, written++, name, sizeof name);
        snprintf(run, sizeof run, "%s", logs[i].name && *logs[i].name ? logs[i].name : base);
        pid_t child = import_start_server(command, name, &s.fd);
        if (child < 0)
            return EXIT_FAILED;
        import_warn_untimed(command, &logs[i]);
        import_warn_restarted(command, &logs[i]);
        send_log(&s, &logs[i], run, file, o->unit);
        status = import_finish_server(command, &s, child);
        if (status == EXIT_DONE && access(name, R_OK) != 0)
            status = command_fail(command, "%s: %s", name, strerror(errno));
        if (status == EXIT_DONE)
            fprintf(stderr, "%s: %zu event%s of %u %s%s%s%s\n", name, logs[i].event_count,
                    plural_suffix(logs[i].event_count), logs[i].host_count, format->kinds_name,
                    plural_suffix(logs[i].host_count), logs[i].name ? ", " : "",
                    logs[i].name ? logs[i].name : "");
    }
    return status;
}

/* Replaces NUL bytes, which would end the text, by U+2400; frees the text if it returns another. */
static char *import_show_zeros(char *text, size_t *size)
{
    static const char shown[] = "\u2400";
    size_t zeros = 0, n = 0;
    for (size_t i = 0; i < *size; i++)
        zeros += !text[i];
    if (!zeros)
        return text;
    char *better = xmalloc(*size + 2 * zeros + 1);
    for (size_t i = 0; i < *size; i++)
        if (text[i])
            better[n++] = text[i];
        else
            n = (size_t)((char *)mempcpy(better + n, shown, 3) - better);
    better[n] = 0;
    *size = n;
    free(text);
    return better;
}

/* Turns CR LF into LF, which expressions expect. */
static void import_unify_lines(char *text, size_t *size)
{
    size_t n = 0;
    for (size_t i = 0; i < *size; i++)
        if (text[i] != '\r' || text[i + 1] != '\n')
            text[n++] = text[i];
    text[n] = 0;
    *size = n;
}

static char *read_file(const char *path, size_t *size)
{
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    char *text = NULL;
    size_t room = 0;
    *size = 0;
    if (!f)
        return NULL;
    for (size_t n = 1; n;) {
        if (room - *size < 65536 + 1)
            text = xreallocarray(text, room = room ? 2 * room : 1 << 17, 1);
        n = fread(text + *size, 1, 65536, f);
        *size += n;
    }
    text[*size] = 0;
    bool bad = ferror(f);
    if (f != stdin)
        fclose(f);
    if (bad) {
        free(text);
        return NULL;
    }
    import_unify_lines(text, size);
    return import_show_zeros(text, size);
}

/* Reads the logs of one execution into `texts`, which the caller frees in any case. Returns false
 * after reporting an error. */
static bool read_logs(const struct command *command, char **files, size_t count,
                      const struct import_options *o, struct shiviz_text *texts)
{
    for (size_t i = 0; i < count; i++) {
        texts[i] =
            (struct shiviz_text){.file = strcmp(files[i], "-") == 0 ? "standard input" : files[i],
                                 .parser = o->parser,
                                 .split = o->split,
                                 .next = i + 1 < count ? &texts[i + 1] : NULL};
        texts[i].text = read_file(files[i], &texts[i].size);
        if (!texts[i].text) {
            command_fail(command, "%s: %s", files[i], strerror(errno));
            return false;
        }
    }
    return true;
}

/* Returns whether the directory of `output` is writable; reports an error if not. */
static bool import_can_write(const struct command *command, const char *output)
{
    const char *slash = strrchr(output, '/');
    char *directory = slash ? xstrndup(output, (size_t)(slash - output)) : xstrdup(".");
    bool can = access(slash == output ? "/" : directory, W_OK | X_OK) == 0;
    if (!can)
        command_fail(command, "%s: %s", directory, strerror(errno));
    free(directory);
    return can;
}

/* Imports a trace of slices and flows. Returns an exit status, after reporting errors. */
static int import_chrome(const struct command *command, const struct shiviz_text *text,
                         const struct import_options *o)
{
    struct import_options in_ns = *o;
    struct chrome_log log;
    char error[600];
    int status;
    in_ns.unit = 1;
    if (!chrome_log_read(text->file, text->text, text->size, &log, error, sizeof error))
        status = command_fail(command, "%s", error);
    else
        status =
            write_logs(command, &log.log, 1, text->file, &in_ns, &import_formats[1], log.types);
    if (status == EXIT_DONE && log.skipped + log.invalid + log.loose)
        fprintf(stderr,
                "poet %s: %s: left out: %llu counters, samples and other objects, %llu invalid "
                "ones; %llu ends of slices or flows have no begin\n",
                command->name, text->file, (unsigned long long)log.skipped,
                (unsigned long long)log.invalid, (unsigned long long)log.loose);
    chrome_log_free(&log);
    return status;
}

static const struct option_row import_rows[] = {
    OPTION_STORES('o', struct import_options, output),
    OPTION_STORES('p', struct import_options, parser),
    OPTION_STORES('s', struct import_options, split),
    OPTION_STORES('u', struct import_options, unit_name),
    {0}};

static error_t import_parse_option(int key, char *value, struct argp_state *state)
{
    return option_rows_parse(import_rows, key, value, state);
}

static int import_run(const struct command *command, int argc, char **argv)
{
    struct import_options o = {0};
    int first, status = command_read(command, argc, argv, &o, &first);
    if (status != OPTIONS_READ)
        return status;
    if (argc - first < 2 || !o.output)
        return command_usage(command, "missing operand: FORMAT LOG -o FILE.poet");
    bool chrome = strcmp(argv[first], "chrome") == 0;
    if (!chrome && strcmp(argv[first], "shiviz") != 0)
        return command_usage(command, "unknown format \"%s\"; valid: shiviz, chrome", argv[first]);
    if (chrome && (argc - first > 2 || o.parser || o.split || o.unit_name))
        return command_usage(command, "chrome: only one LOG, and no option but -o");
    if (o.split && argc - first > 2)
        return command_usage(command, "--split requires a single LOG");
    o.unit = o.unit_name ? logtime_unit_named(o.unit_name) : 0;
    if (o.unit_name && !o.unit)
        return command_usage(command, "--unit: invalid value \"%s\"; valid: s, ms, us, ns",
                             o.unit_name);
    char **files = argv + first + 1, error[600];
    size_t files_count = (size_t)(argc - first - 1), count;
    struct shiviz_text *texts = xcalloc(files_count, sizeof *texts);
    struct shiviz_log *logs;
    if (!import_can_write(command, o.output) ||
        !read_logs(command, files, files_count, &o, texts)) {
        status = EXIT_FAILED;
    } else if (chrome) {
        status = import_chrome(command, &texts[0], &o);
    } else if (shiviz_read(texts, &logs, &count, error, sizeof error)) {
        status = write_logs(command, logs, count, texts[0].file, &o, &import_formats[0], NULL);
        shiviz_free(logs, count);
    } else {
        status = command_fail(command, "%s", error);
    }
    for (size_t i = 0; i < files_count; i++)
        free((char *)(uintptr_t)texts[i].text);
    free(texts);
    return status;
}

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "write the trace to FILE; further executions get a number", 0},
    {"parser", 'p', "EXPRESSION", 0,
     "Perl-compatible expression with the named groups host, clock and event; other groups become "
     "annotations; default: the first line of the log, as in ShiViz, or the "
     "first of these that matches that line: " SHIVIZ_PARSER "  " SHIVIZ_PARSER_CLOCK_FIRST
     "  " SHIVIZ_PARSER_TIME_FIRST,
     0},
    {"split", 's', "EXPRESSION", 0,
     "separator between executions; a group `trace` names the next one; default: the second "
     "line of a log that has the expression as its first line",
     0},
    {"unit", 'u', "UNIT", 0,
     "unit of numeric times: s, ms, us or ns; default: the unit in which they are dates, or s", 0},
    {0}};
static const struct argp argp = {
    .options = options,
    .parser = import_parse_option,
    .args_doc = "shiviz LOG... -o FILE.poet\nchrome TRACE.json -o FILE.poet",
    .doc =
        "Convert a log with vector clocks in ShiViz format to a trace file: one line per host, "
        "the number of an event is its host's clock, and the order follows from the clocks.  A "
        "log with invalid vector clocks is rejected.  If the clock of a host returns to 1, the "
        "host has restarted: it becomes a new line, and events that may come after it without a "
        "clock that shows it are uncertain.  Several logs form one execution, as GoVector writes "
        "one per process; - is standard input.\n"
        "The time of an event is the group timestamp of the expression, or else the groups date "
        "and time: a number, or a date and time in ISO 8601 or as written by Go and web servers, "
        "UTC without a zone.  If an event has no time, all events are timed by log order, 1 us "
        "each.\n"
        "chrome: a trace in the trace-event format, as Chrome, Perfetto and many profilers write "
        "it: one line per track; begins and ends of slices, instants and the points of flows are "
        "events, and a flow is a message.  It has no other order between tracks: that of events "
        "without a chain of flows is unknown.  Counters, samples and objects are left out, and "
        "counted.",
    .children = options_children};

const struct command command_import = {
    .name = "import",
    .summary = "convert a log of another tool (ShiViz, Perfetto) to a trace",
    .run = import_run,
    .argp = &argp};
