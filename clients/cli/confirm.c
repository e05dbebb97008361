/* poet confirm: runs a program under schedule control until a predicted bug (poet predict) occurs,
 * and leaves the trace of that run. */
#define _GNU_SOURCE
#include "clients/cli/compare.h"
#include "clients/cli/confirm.h"
#include "clients/schedule/fisher_test.h"
#include "clients/cli/hold_points.h"
#include "clients/cli/table_options.h"
#include "clients/connection/finding_text.h"
#include "config/options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPTION_TRIES = 3000, OPTION_TIMEOUT };

#define TRIES 20u
#define TIMEOUT_S 30u
#define ENOUGH 3u /* occurrences without a visible effect, after which attempts end */
/* A different outcome is checked in further runs: LED_AGAIN controlled ones in which the
 * interleaving occurs, and FREE_RUNS uncontrolled ones. It confirms nothing if the probability of
 * such a difference by chance is above CHANCE. */
#define LED_AGAIN 5u
#define FREE_RUNS 10u
#define CHANCE 0.01

struct confirm_run {
    const struct command *command;
    const char *output;
    const char *picture; /* file for a diagram of both runs; NULL: none */
    char came[400]; /* the result, once the interleaving occurred */
    unsigned tries, timeout_s;
    bool quiet;
    struct command_source subject;
    struct result_table table;
    uint32_t row; /* of the finding, in the table */
    struct hold_points steering;
    struct schedule_control *led; /* memory shared with the program */
    char file[400]; /* that is mapped there */
    char named[PATH_MAX]; /* default of output */
    unsigned other; /* the attempt that hung for a different reason; 0: none */
    char other_file[PATH_MAX];
    struct preload_check loadable;
    char **words;
    bool compares; /* outcomes are compared with `usual` */
    struct target_hang aim;
    struct attempt_result usual; /* the outcome of an uncontrolled run */
    bool same_output; /* uncontrolled runs have the same output */
    bool free_differs; /* the two uncontrolled runs have different outcomes */
    /* The attempt in which a signal was lost and a later one woke its waiter; 0: none. */
    unsigned healed;
    char *healed_how; /* in words */
    char healed_file[PATH_MAX];
};

/* ---- finding ---- */

/* all: includes the findings that poet predict only counts. */
static bool confirm_request_table(struct confirm_run *p, bool all)
{
    static char kinds[] = "kinds", every[] = "all";
    static struct table_option options[] = {{kinds, every}, {0}};
    struct table_settings tables = {.command = p->command};
    struct table_section section = {.what = "predict", .options = all ? options : options + 1};
    return table_request_run(&tables, &section, &p->subject, &p->table) == EXIT_DONE;
}

static void confirm_print_finding(const struct confirm_run *p)
{
    struct table_names names = {&p->subject.source.book, p->subject.sites};
    enum finding_kind kind = finding_text_kind(&p->table, p->row);
    fprintf(stderr, "poet confirm: %s\n", finding_kinds[kind].name ? finding_kinds[kind].name : "");
    for (uint32_t i = p->row + 1; i < p->table.row_count && p->table.rows[i].depth; i++) {
        char *text = finding_text_participant(&names, &p->table, i, kind);
        fprintf(stderr, "    %s\n", text);
        free(text);
    }
}

/* ---- attempts ---- */

/* Returns how many arrivals at a hold point pass before threads are held: 0 in the first three
 * attempts, then 1, doubled after every two attempts. */
static uint32_t confirm_skip_count(unsigned try)
{
    return try < 4 ? 0 : 1u << (try / 2 - 2 < 16 ? try / 2 - 2 : 16);
}

static void confirm_set_hold_points(struct confirm_run *p, unsigned try)
{
    memcpy(p->led, &p->steering.head, sizeof *p->led);
    for (uint32_t i = 0; i < p->led->point_count; i++)
        p->led->points[i].skip =
            p->led->points[i].until == HOLD_UNTIL_NOT_HELD ? 0 : confirm_skip_count(try);
    for (uint32_t i = 0; i < p->led->point_count && try % 2 == 0; i++)
        if (p->led->points[i].at_times)
            p->led->points[i].until = HOLD_UNTIL_NOT_HELD;
}

/* Returns whether an attempt ended differently from uncontrolled runs. */
static bool confirm_outcome_differs(const struct confirm_run *p, const struct attempt_result *end)
{
    return end->hangs || end->slow || end->status != p->usual.status ||
           (p->same_output && !attempt_has_same_output(end, &p->usual));
}

/* Runs the program twice without schedule control, to learn its usual outcome. */
static bool confirm_run_uncontrolled(struct confirm_run *p, const struct attempt *trial)
{
    struct attempt_result first;
    unsetenv("POET_SCHEDULE_CONTROL");
    if (!attempt_run(trial, &first) || !attempt_run(trial, &p->usual))
        return false;
    p->same_output = attempt_has_same_output(&first, &p->usual);
    p->free_differs = confirm_outcome_differs(p, &first);
    p->usual.slow |= first.slow;
    attempt_end_free(&first);
    return true;
}

/* Returns the effect that confirms the finding; "" if the interleaving occurred without a visible
 * effect; NULL if it did not occur. */
static const char *confirm_judge_attempt(const struct confirm_run *p,
                                         const struct attempt_result *end, char *text, size_t size)
{
    char was[60], is[60];
    if (end->otherwise)
        return NULL;
    if (p->steering.proof && hold_points_order_occurred(p->led))
        return p->steering.proof;
    if (end->hangs)
        return "the program hangs";
    if (!p->compares || !hold_points_order_occurred(p->led) || p->usual.slow)
        return NULL;
    if (end->slow)
        return snprintf(text, size, "it does not exit within %u s; uncontrolled runs did",
                        p->timeout_s),
               text;
    attempt_status_text(was, sizeof was, p->usual.status);
    attempt_status_text(is, sizeof is, end->status);
    if (end->status != p->usual.status)
        return snprintf(text, size, "it %s; an uncontrolled run %s", is, was), text;
    if (p->same_output && !attempt_has_same_output(end, &p->usual))
        return "its output differs";
    return "";
}

static void confirm_print_blocked(const struct confirm_run *p)
{
    char *arguments[] = {(char[]){"blocked"}, (char *)(uintptr_t)p->output, NULL};
    fflush(stdout);
    command_blocked.run(&command_blocked, 2, arguments);
}

/* ---- significance of a different outcome ---- */

struct confirm_series {
    unsigned led, led_differ; /* controlled runs in which the interleaving occurred */
    unsigned freely, free_differ; /* uncontrolled runs */
    double chance; /* probability of such a difference by chance */
};

static bool confirm_repeat_controlled(struct confirm_run *p, const struct attempt *trial,
                                      unsigned try, struct confirm_series *s)
{
    setenv("POET_SCHEDULE_CONTROL", p->file, 1);
    for (unsigned i = 0; i < p->tries && s->led < LED_AGAIN; i++) {
        struct attempt_result end;
        confirm_set_hold_points(p, try);
        bool ran = attempt_run(trial, &end);
        bool counts = ran && !end.hangs && hold_points_order_occurred(p->led);
        s->led += counts;
        s->led_differ += counts && confirm_outcome_differs(p, &end);
        attempt_end_free(&end);
        if (!ran)
            return false;
    }
    return true;
}

/* Includes the two runs of confirm_run_uncontrolled(), the second of which is the usual outcome. */
static bool confirm_repeat_uncontrolled(struct confirm_run *p, const struct attempt *trial,
                                        struct confirm_series *s)
{
    unsetenv("POET_SCHEDULE_CONTROL");
    s->freely = 2;
    s->free_differ = p->free_differs;
    while (s->freely < FREE_RUNS) {
        struct attempt_result end;
        bool ran = attempt_run(trial, &end);
        s->freely += ran;
        s->free_differ += ran && confirm_outcome_differs(p, &end);
        attempt_end_free(&end);
        if (!ran)
            return false;
    }
    return true;
}

/* Repeats the run with and without control. The attempt that differed first is not counted, since
 * it was selected for that; its trace is kept. Returns false if interrupted. */
static bool confirm_repeat_runs(struct confirm_run *p, const struct attempt *trial, unsigned try,
                                struct confirm_series *s)
{
    char kept[PATH_MAX];
    *s = (struct confirm_series){0};
    bool keeps = snprintf(kept, sizeof kept, "%s.kept", p->output) < (int)sizeof kept &&
                 rename(p->output, kept) == 0;
    bool ran =
        confirm_repeat_controlled(p, trial, try, s) && confirm_repeat_uncontrolled(p, trial, s);
    if (keeps)
        rename(kept, p->output);
    s->chance = fisher_test_probability(s->led_differ, s->led, s->free_differ, s->freely);
    return ran;
}

static void confirm_format_chance(char *text, size_t size, const struct confirm_series *s)
{
    snprintf(text, size,
             "the outcome differs in %u of %u uncontrolled runs and in %u of %u further runs with "
             "the interleaving (Fisher's exact test: p = %.2g)",
             s->free_differ, s->freely, s->led_differ, s->led, s->chance);
}

/* s: the further runs; NULL for a hang, which needs none. */
static void confirm_report_confirmed(struct confirm_run *p, const struct attempt_result *end,
                                     unsigned try, const char *shows,
                                     const struct confirm_series *s)
{
    char chance[240] = "";
    if (end->error_bytes)
        fwrite(end->errors, 1, end->error_bytes, stderr);
    if (s)
        confirm_format_chance(chance, sizeof chance, s);
    snprintf(p->came, sizeof p->came, "confirmed in attempt %u: %s%s%s", try, shows, s ? "; " : "",
             chance);
    command_fail(p->command, "%s; trace: %s", p->came, p->output);
    if (end->hangs || end->slow)
        confirm_print_blocked(p);
}

static void confirm_report_harmless(struct confirm_run *p, unsigned try)
{
    snprintf(p->came, sizeof p->came,
             "the interleaving occurred in attempt %u, with no visible effect", try);
    command_fail(p->command, "%s; trace: %s", p->came, p->output);
}

static void confirm_report_varies(struct confirm_run *p, unsigned try,
                                  const struct confirm_series *s)
{
    char chance[240];
    confirm_format_chance(chance, sizeof chance, s);
    snprintf(p->came, sizeof p->came, "the interleaving occurred in attempt %u; %s: %s", try,
             s->led < LED_AGAIN ? "it recurred in too few further runs to confirm an effect"
                                : "the outcome varies without it, too",
             chance);
    command_fail(p->command, "%s; trace: %s", p->came, p->output);
}

/* Keeps the trace of the first attempt that hung for a different reason. */
static void confirm_save_other_trace(struct confirm_run *p, unsigned try)
{
    if (p->other)
        return;
    size_t name = strlen(p->output), ending = strlen(".poet");
    if (name > ending && strcmp(p->output + name - ending, ".poet") == 0)
        name -= ending;
    int size =
        snprintf(p->other_file, sizeof p->other_file, "%.*s.other-hang.poet", (int)name, p->output);
    if (size < (int)sizeof p->other_file && rename(p->output, p->other_file) == 0)
        p->other = try;
}

static void confirm_report_other(const struct confirm_run *p)
{
    if (p->other)
        command_fail(p->command, "attempt %u hung for a different reason; see: poet blocked %s",
                     p->other, p->other_file);
}

/* Keeps the trace of the first attempt in which a signal was lost and its waiter did not hang. */
static void confirm_save_healed_trace(struct confirm_run *p, const struct attempt_result *end,
                                      unsigned try)
{
    if (p->healed || end->hangs || end->slow || !p->steering.wait.count ||
        !hold_points_order_occurred(p->led))
        return;
    p->healed_how =
        healed_signal_find(p->command, p->output, &p->steering.signal, &p->steering.wait);
    if (!p->healed_how)
        return;
    int size = snprintf(p->healed_file, sizeof p->healed_file, "%s.kept", p->output);
    if (size < (int)sizeof p->healed_file && rename(p->output, p->healed_file) == 0)
        p->healed = try;
}

static int confirm_report_healed(struct confirm_run *p)
{
    rename(p->healed_file, p->output);
    confirm_report_other(p);
    snprintf(p->came, sizeof p->came, "the interleaving occurred in attempt %u without a hang: %s",
             p->healed, p->healed_how);
    command_fail(p->command, "%s; trace: %s", p->came, p->output);
    return EXIT_DONE;
}

/* slow: number of attempts that were killed after the timeout. */
static int confirm_report_failure(const struct confirm_run *p, bool freed, unsigned slow)
{
    char ended[100] = "";
    unlink(p->output);
    confirm_report_other(p);
    if (slow)
        snprintf(ended, sizeof ended, "; %u attempt%s exceeded %u s and %s killed", slow,
                 slow == 1 ? "" : "s", p->timeout_s, slow == 1 ? "was" : "were");
    else if (p->steering.unsure)
        snprintf(ended, sizeof ended, ": %s", p->steering.unsure);
    return command_fail(p->command, "not reproduced in %u attempt%s%s%s", p->tries,
                        p->tries == 1 ? "" : "s",
                        freed ? ", although all threads reached their hold points" : "", ended);
}

/* Returns false if interrupted. */
static bool confirm_conclude_attempt(struct confirm_run *p, const struct attempt *trial,
                                     const struct attempt_result *end, unsigned try,
                                     const char *shows)
{
    struct confirm_series s;
    if (!*shows) {
        confirm_report_harmless(p, try);
    } else if (end->hangs || p->steering.proof) {
        confirm_report_confirmed(p, end, try, shows, NULL);
    } else if (!confirm_repeat_runs(p, trial, try, &s)) {
        return false;
    } else if (s.chance <= CHANCE) {
        confirm_report_confirmed(p, end, try, shows, &s);
    } else {
        confirm_report_varies(p, try, &s);
    }
    return true;
}

/* Makes attempts until the finding is confirmed, or the interleaving occurred ENOUGH times without
 * a visible effect. Returns an exit status. */
static int confirm_make_attempts(struct confirm_run *p, const struct attempt *trial)
{
    unsigned happened = 0, slow = 0;
    bool freed = false;
    char text[200];
    for (unsigned i = 1; i <= p->tries; i++) {
        struct attempt_result end;
        confirm_set_hold_points(p, i);
        if (!attempt_run(trial, &end)) {
            attempt_end_free(&end);
            return WEXITSTATUS(end.status);
        }
        freed |= hold_points_order_occurred(p->led);
        slow += end.slow;
        const char *shows = confirm_judge_attempt(p, &end, text, sizeof text);
        if (end.otherwise)
            confirm_save_other_trace(p, i);
        confirm_save_healed_trace(p, &end, i);
        happened += shows != NULL;
        if (shows && (*shows || happened == ENOUGH)) {
            bool whole = confirm_conclude_attempt(p, trial, &end, i, shows);
            confirm_report_other(p);
            attempt_end_free(&end);
            return whole ? EXIT_DONE : EXIT_FAILED;
        }
        attempt_end_free(&end);
    }
    return p->healed ? confirm_report_healed(p) : confirm_report_failure(p, freed, slow);
}

static int confirm_try_finding(struct confirm_run *p)
{
    enum finding_kind kind = finding_text_kind(&p->table, p->row);
    struct attempt trial = {.command = p->command,
                            .loadable = &p->loadable,
                            .words = p->words,
                            .again = {p->output, p->steering.libraries},
                            .timeout_s = p->timeout_s,
                            .aim = &p->aim};
    target_hang_make(&p->aim, &p->subject.source.book, &p->table, p->row);
    p->compares |= kind == FINDING_MESSAGE_RACE || kind == FINDING_ATOMICITY ||
                   kind == FINDING_ORDER_VIOLATION;
    if (p->compares && !confirm_run_uncontrolled(p, &trial))
        return EXIT_FAILED;
    setenv("POET_SCHEDULE_CONTROL", p->file, 1);
    int status = confirm_make_attempts(p, &trial);
    unlink(p->healed_file);
    free(p->healed_how);
    attempt_end_free(&p->usual);
    target_hang_free(&p->aim);
    return status;
}

/* ---- the command ---- */

static error_t confirm_parse_count(const struct confirm_run *p, const char *option,
                                   const char *value, unsigned most, unsigned *number)
{
    if (command_number(value, most, number))
        return 0;
    command_usage(p->command, "--%s %s: must be a number from 1 to %u", option, value, most);
    return EINVAL;
}

static const struct option_row confirm_rows[] = {OPTION_STORES('o', struct confirm_run, output),
                                                 OPTION_SETS('q', struct confirm_run, quiet),
                                                 {0}};

static error_t confirm_parse_option(int key, char *value, struct argp_state *state)
{
    struct confirm_run *p = state->input;
    switch (key) {
    case 'p':
        p->picture = value;
        return divergence_format_is_supported(p->command, value) ? 0 : EINVAL;
    case OPTION_TRIES:
        return confirm_parse_count(p, "tries", value, 10000, &p->tries);
    case OPTION_TIMEOUT:
        return confirm_parse_count(p, "timeout", value, 86400, &p->timeout_s);
    default:
        return option_rows_parse(confirm_rows, key, value, state);
    }
}

/* Draws the run in which the interleaving occurred below the recorded one. */
static int confirm_draw_diagram(struct confirm_run *p)
{
    struct divergence apart = {.command = p->command,
                               .recorded = p->subject.source.name,
                               .again = p->output,
                               .caption = p->came};
    return divergence_draw(&apart, p->picture);
}

/* Finds the finding and the program, and makes the hold points. Returns EXIT_DONE, or the exit
 * status after reporting why it cannot be tried. */
static int confirm_prepare(struct confirm_run *p, unsigned number, char *const *recorded)
{
    const struct command *command = p->command;
    const char *trace = p->subject.source.name, *wrong;
    char why[256];
    bool found;
    if (!confirm_request_table(p, true))
        return EXIT_FAILED;
    p->row = hold_points_find(&p->table, number);
    if (p->row == p->table.row_count)
        return command_fail(command, "%s: no finding %u; see poet predict", trace, number);
    if (!p->words)
        return command_usage(
            command, "%s does not record its complete command line; specify the program", trace);
    if (!hold_points_make(&p->steering, &p->subject.source.book, &p->table, p->row, &wrong))
        return command_fail(command, "cannot be confirmed: schedule control is not possible: %s",
                            wrong);
    if (!preload_check_program(p->words[0], &p->loadable, &found, why, sizeof why) &&
        !p->loadable.traced) {
        command_fail(command, "%s: %s", p->words[0], why);
        return found ? EXIT_FAILED : 127;
    }
    bool may = !recorded || rerun_may_run(command, trace, recorded, p->quiet);
    return may && hold_points_file(command, p->file, sizeof p->file, &p->led) ? EXIT_DONE
                                                                              : EXIT_FAILED;
}

static int confirm_run_attempts(struct confirm_run *p, unsigned number, char **words)
{
    char **recorded = words[0] ? NULL : rerun_arguments(&p->subject.source.book);
    p->words = words[0] ? words : recorded;
    int status = confirm_prepare(p, number, recorded);
    if (status == EXIT_DONE) {
        if (!p->quiet)
            confirm_print_finding(p);
        variables_restore(p->command, &p->subject.source.book, p->quiet);
        status = confirm_try_finding(p);
    }
    free(recorded);
    return status;
}

/* Tries to reproduce one finding. several: the trace has the finding's number in its name. */
static int confirm_run_finding(const struct confirm_run *wanted, const char *trace, unsigned number,
                               bool several, char **words)
{
    struct confirm_run p = *wanted;
    char ending[32] = "confirmed";
    if (several)
        snprintf(ending, sizeof ending, "confirmed-%u", number);
    if (!p.output) {
        rerun_output_name(p.named, sizeof p.named, trace, ending);
        p.output = p.named;
    }
    if (!command_source_open(p.command, &p.subject, trace, SESSION_ALL_LINES, LABELS_NAME))
        return EXIT_FAILED;
    int status = confirm_run_attempts(&p, number, words);
    if (p.picture && *p.came)
        status = confirm_draw_diagram(&p);
    unlink(p.file);
    result_table_free(&p.table);
    command_source_close(&p.subject);
    return status;
}

/* Tries the findings that poet predict lists, in its order: the most severe first. */
static int confirm_run_all(const struct confirm_run *wanted, const char *trace, char **words)
{
    struct confirm_run p = *wanted;
    unsigned count = 0, done = 0;
    int status = EXIT_FAILED;
    if (!command_source_open(p.command, &p.subject, trace, SESSION_ALL_LINES, LABELS_NAME))
        return EXIT_FAILED;
    unsigned *numbers =
        confirm_request_table(&p, false) ? hold_points_numbers(&p.table, &count) : NULL;
    result_table_free(&p.table);
    command_source_close(&p.subject);
    if (numbers && !count)
        command_fail(p.command, "%s: no findings; see poet predict", trace);
    for (unsigned i = 0; i < count; i++) {
        if (!p.quiet)
            fprintf(stderr, "poet confirm: finding %u:\n", numbers[i]);
        status = confirm_run_finding(wanted, trace, numbers[i], true, words);
        done += status == EXIT_DONE;
        if (status != EXIT_DONE && status != EXIT_FAILED) /* no start, or interrupted */
            break;
    }
    if (count && (status == EXIT_DONE || status == EXIT_FAILED)) {
        fprintf(stderr, "poet confirm: %u of %u findings occurred\n", done, count);
        status = done ? EXIT_DONE : EXIT_FAILED;
    }
    free(numbers);
    return status;
}

static int confirm_run(const struct command *command, int argc, char **argv)
{
    struct confirm_run p = {.command = command, .tries = TRIES, .timeout_s = TIMEOUT_S};
    int first, status = command_read(command, argc, argv, &p, &first);
    unsigned number = 0;
    if (status != OPTIONS_READ)
        return status;
    if (argc - first < 1)
        return command_usage(command, "expected TRACE");
    const char *trace = argv[first];
    bool one = argc - first > 1 && isdigit((unsigned char)*argv[first + 1]);
    if (one && !command_number(argv[first + 1], UINT_MAX, &number))
        return command_usage(command, "%s: not the number of a finding", argv[first + 1]);
    argc -= first + one, argv += first + one; /* options may follow them, too */
    status = command_read(command, argc, argv, &p, &first);
    if (status != OPTIONS_READ)
        return status;
    if (one)
        return confirm_run_finding(&p, trace, number, false, argv + first);
    if (p.output || p.picture)
        return command_usage(command, "--%s needs the number of a finding",
                             p.output ? "output" : "picture");
    return confirm_run_all(&p, trace, argv + first);
}

static const struct argp_option options[] = {
    {"tries", OPTION_TRIES, "N", 0, "maximum number of attempts (20)", 0},
    {"output", 'o', "FILE", 0,
     "write the confirming trace to FILE (TRACE.confirmed.poet; without N, TRACE.confirmed-N.poet)",
     0},
    {"picture", 'p', "FILE", 0,
     "draw the recorded run above the confirming run: FILE.pdf, .svg, .png or .txt", 0},
    {"timeout", OPTION_TIMEOUT, "SECONDS", 0, "kill an attempt after this many seconds (30)", 0},
    {"quiet", 'q', NULL, 0, "print only the result", 0},
    {0}};
static const struct argp argp = {
    .options = options,
    .parser = confirm_parse_option,
    .args_doc = "TRACE [N] [--] [PROGRAM ARGUMENT...]",
    .doc =
        "Re-run the program repeatedly and try to reproduce finding N of poet predict TRACE; "
        "without N, every finding that it lists, the most severe first.  "
        "Threads are held at the relevant call sites, for at most one second, until the other "
        "threads are in position.  Output is captured and standard input is empty.\vA run that is "
        "certain to hang is killed with SIGKILL.  If the finding is not a hang and the outcome "
        "differs, the program is run again: 5 times with the interleaving and 10 times without "
        "control; the finding is confirmed if chance alone explains the difference with a "
        "probability of at most 1 % (Fisher's exact test).  A lost wake-up that a later signal "
        "compensated counts as reproduced; both signals are reported.  Exit status: 0 if the "
        "interleaving occurred, 1 if not.",
    .children = options_children};

const struct command command_confirm = {
    .name = "confirm",
    .summary = "try to reproduce a predicted bug by controlling the schedule",
    .run = confirm_run,
    .argp = &argp,
    .program_follows = true};
