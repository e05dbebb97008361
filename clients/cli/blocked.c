/* poet blocked: blocked threads, lock holders, deadlocks and hangs. */
#include "clients/cli/blocked.h"
#include "clients/cli/command.h"
#include "clients/cli/finding_options.h"
#include "clients/cli/rule_violations.h"
#include "clients/cli/terminal.h"

#include "clients/cli/output_format.h"
#include "base/alloc.h"
#include "clients/connection/stack_frames.h"
#include "clients/metadata/event_text.h"
#include "wire/limits.h"
#include "wire/os_usage.h"
#include "wire/query_results.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

struct blocked_report {
    struct command_source *subject;
    const struct trace_metadata *book;
    const struct wait_list *waits;
};

/* ---- text ---- */

#define STACK_COLUMNS 78

/* The text of a call stack, in lines of STACK_COLUMNS. */
struct blocked_stack {
    char *text;
    size_t line; /* where its last line begins */
    unsigned count;
};

static void blocked_stack_add(struct blocked_stack *s, const char *part)
{
    size_t size = strlen(s->text);
    bool fits = size - s->line + strlen(part) < STACK_COLUMNS;
    char *text = xasprintf("%s%s%s", s->text, fits ? "" : "\n       ", part);
    s->line = fits ? s->line : size + 1;
    free(s->text);
    s->text = text;
}

static void blocked_stack_add_frame(void *stack, uint64_t address,
                                    const struct symbol_location *function)
{
    struct blocked_stack *s = stack;
    if (s->count && strstr(function->path, "/c++/")) /* a template of the C++ library */
        return;
    const char *name = *function->function ? function->function : "??";
    char *part = s->count == 0   ? xasprintf(" in %s,", name)
                 : s->count == 1 ? xasprintf(" called by %s (%s),", name, function->place)
                                 : xasprintf(" %s (%s),", name, function->place);
    (void)address;
    blocked_stack_add(s, part);
    s->count++;
    free(part);
}

/* Prints the callers of the function in which an event was recorded, if they are known. */
static void blocked_print_stack(const struct blocked_report *r, const struct event_info *e)
{
    struct blocked_stack s = {.text = xstrdup("   ")};
    stack_frames_of_event(r->subject->sites, e, blocked_stack_add_frame, &s);
    s.text[strlen(s.text) - 1] = 0; /* the last comma */
    if (s.count > 1)
        printf("%s%s\n", s.text, stack_frames_incomplete(e) ? ", ..." : "");
    free(s.text);
}

static void blocked_print_wait(const struct blocked_report *r, const struct wait_info *w)
{
    const char *site = command_source_site(r->subject, &w->event);
    struct event_text wait = wait_text(r->book, w);
    char at[48], held[LIMIT_TEXT_BYTES], since[100];
    event_id_print(at, sizeof at, w->event.at);
    wait_duration_text(since, sizeof since, &r->waits->now, w->since_ns);
    printf("%s%s%s %s%s%s%s%s%s%s\n    %s, %sevent %s\n", terminal_color_begin(COLOR_THREAD),
           wait.thread, terminal_color_end(), wait.does, *wait.about ? " " : "",
           terminal_color_begin(COLOR_OBJECT), wait.about, terminal_color_end(),
           *site ? " at " : "", site, since, w->end || w->loader ? "after " : "", at);
    blocked_print_stack(r, &w->event);
    for (uint32_t i = 0; i < w->holder_count; i++) {
        const char *taken =
            command_source_place(r->subject, w->holders[i].process, w->holders[i].site);
        holder_text(held, sizeof held, r->book, &w->holders[i], taken);
        printf("    %s\n", held);
    }
    char *outsider = wait_list_outsider(w);
    if (outsider)
        printf("    %s\n", outsider);
    free(outsider);
    char *handler = handler_text(r->book, w);
    if (handler)
        printf("    %s\n", handler);
    free(handler);
    if (destructor_text(w))
        printf("    %s\n", destructor_text(w));
    if (object_state_text(w))
        printf("    %s\n", object_state_text(w));
    const struct wait_info *of = wait_list_awaited(r->waits, w);
    if (of && of != w) {
        char *itself = transitive_wait_text(r->book, of);
        printf("    %s\n", itself);
        free(itself);
    }
}

/* Prints a diagnosis with its tag, up to the first colon, in color; indents the lines after the
 * first. */
static void blocked_print_tag(const char *text)
{
    int tag = (int)strcspn(text, ":") + 1;
    printf("%s%.*s%s", terminal_color_begin(COLOR_BAD), tag, text, terminal_color_end());
    for (const char *c = text + tag; *c; c++) {
        putchar(*c);
        if (*c == '\n' && c[1])
            fputs("    ", stdout);
    }
}

static void blocked_print_cycle(const struct blocked_report *r, const struct cycle_info *cycle)
{
    char *text = deadlock_text(cycle);
    blocked_print_tag(text);
    putchar('\n');
    free(text);
    for (uint32_t i = 0; i < cycle->count; i++) {
        char *sentence = deadlock_edge_text(r->book, cycle, i,
                                            wait_list_of_thread(r->waits, cycle->steps[i].thread));
        printf("    %s\n", sentence);
        free(sentence);
    }
    for (unsigned bit = 1; bit; bit <<= 1)
        if (cycle->doubts & bit && *uncertainty_sentence(bit))
            printf("    %s\n", uncertainty_sentence(bit));
}

static void blocked_print_diagnosis(const struct blocked_report *r,
                                    const struct diagnosis_info *verdict)
{
    char *text = diagnosis_text(r->book, verdict);
    if (text)
        blocked_print_tag(text);
    const char *site =
        text ? command_source_place(r->subject, verdict->process, verdict->site) : "";
    if (*site && verdict->waker.line) {
        char at[48];
        event_id_print(at, sizeof at, verdict->waker);
        printf("    event %s: %s at %s\n", at, metadata_type_name(r->book, verdict->waker_type),
               site);
    }
    free(text);
}

static void blocked_print_abandoned_locks(const struct blocked_report *r)
{
    const struct wait_info *w = NULL;
    while ((w = wait_list_abandoned_lock(r->waits, w)) != NULL) {
        char *text = abandoned_lock_text(r->book, w);
        blocked_print_tag(text);
        free(text);
    }
}

/* Prints the waits of threads of programs that exited by themselves: these are not hangs. */
static void blocked_print_at_exit(const struct blocked_report *r)
{
    bool any = false;
    for (size_t i = 0; i < r->waits->count; i++) {
        if (!r->waits->items[i].at_exit)
            continue;
        if (!any)
            puts("waiting at exit (the program exited by itself):");
        any = true;
        blocked_print_wait(r, &r->waits->items[i]);
    }
}

/* Returns the PID of the process of the first sleeper; 0 if the run is over. */
static uint32_t blocked_sleeper_pid(const struct blocked_report *r)
{
    uint32_t process = metadata_line(r->book, r->waits->sleepers[0].thread)
                           ? metadata_line(r->book, r->waits->sleepers[0].thread)->is.process
                           : UINT32_MAX;
    return r->waits->now.live && process < r->book->process_count ? r->book->processes[process].pid
                                                                  : 0;
}

/* Returns where a thread waits at a futex; if that is not known, where it recorded its last
 * event. */
static const char *blocked_sleeper_site(const struct blocked_report *r,
                                        const struct sleeper_info *s)
{
    const struct line_metadata *line = metadata_line(r->book, s->thread);
    return s->site && line ? command_source_place(r->subject, line->is.process, s->site)
                           : command_source_site(r->subject, &s->event);
}

/* Prints which thread runs the task of the future that a thread waits for. */
static void blocked_print_task(const struct blocked_report *r, const struct sleeper_info *s)
{
    char held[LIMIT_TEXT_BYTES];
    const struct holder_info *h = &s->holder;
    if (!h->thread)
        return;
    holder_text(held, sizeof held, r->book, h,
                command_source_place(r->subject, h->process, h->site));
    printf("        %s\n", held);
}

/* Prints threads that sleep in untraced calls: on a futex of a library, in the loader, in file I/O,
 * until a time. */
static void blocked_print_sleepers(const struct blocked_report *r)
{
    size_t n = r->waits->sleeper_count;
    char since[100], at[48], *all = wait_list_sleepers(r->waits);
    if (!all)
        return;
    fputs(all, stdout);
    free(all);
    if (blocked_sleeper_pid(r))
        printf("; stacks: poet attach %u", blocked_sleeper_pid(r));
    puts(":");
    for (size_t i = 0; i < n; i++) {
        const struct sleeper_info *s = &r->waits->sleepers[i];
        const char *object = wait_list_library_object(r->book, r->subject->sites, s);
        wait_duration_text(since, sizeof since, &r->waits->now, s->since_ns);
        event_id_print(at, sizeof at, s->event.at);
        const char *call = object ? object : sleep_call_name(s->call);
        char *futex = wait_list_futex(r->book, r->subject->sites, s);
        const char *site = blocked_sleeper_site(r, s);
        printf("    %s%s%s%s%s%s%s", terminal_color_begin(COLOR_THREAD),
               metadata_label(r->book, s->thread), terminal_color_end(),
               object  ? strchr("aeiou", *object) ? " waits for an " : " waits for a "
               : *call ? " in "
                       : "",
               call, futex ? " " : "", futex ? futex : "");
        free(futex);
        if (s->site)
            printf("%s%s %s, after event %s\n", *site ? " at " : "", site, since, at);
        else
            printf(" %s, after event %s%s%s\n", since, at, *site ? " at " : "", site);
        blocked_print_task(r, s);
    }
}

/* Order of the blocked threads: those that hang, those that a holder keeps waiting, and those that
 * may be idle. */
enum blocked_rank { BLOCKED_HANGS, BLOCKED_KEPT, BLOCKED_IDLE, BLOCKED_RANKS };

static enum blocked_rank blocked_rank(const struct blocked_report *r, const struct wait_info *w)
{
    if (wait_list_is_in_cycle(r->waits, w->thread) || w->fate != OUTCOME_OPEN)
        return BLOCKED_HANGS;
    const struct line_metadata *about = metadata_line(r->book, w->about);
    const struct target_line_type *kind = about ? metadata_line_type(r->book, w->about) : NULL;
    return w->holder_count || (kind && kind->away) ? BLOCKED_KEPT : BLOCKED_IDLE;
}

static void blocked_print_waits(const struct blocked_report *r)
{
    for (unsigned rank = 0; rank < BLOCKED_RANKS; rank++)
        for (size_t i = 0; i < r->waits->count; i++) {
            const struct wait_info *w = &r->waits->items[i];
            if (!w->at_exit && blocked_rank(r, w) == rank)
                blocked_print_wait(r, w);
        }
}

void blocked_print(struct command_source *subject, const struct wait_list *waits)
{
    const struct blocked_report report = {subject, &subject->source.book, waits}, *r = &report;
    if (r->waits->count == 0 && r->waits->sleeper_count == 0)
        puts("no thread is blocked");
    for (size_t i = 0; i < r->waits->cycle_count; i++)
        blocked_print_cycle(r, &r->waits->cycles[i]);
    blocked_print_abandoned_locks(r);
    for (size_t i = 0; i < r->waits->verdict_count; i++)
        if (!wait_list_is_explained(r->waits, &r->waits->verdicts[i]))
            blocked_print_diagnosis(r, &r->waits->verdicts[i]);
    blocked_print_waits(r);
    blocked_print_sleepers(r);
    blocked_print_at_exit(r);
}

/* ---- JSON ---- */

static struct json_object *blocked_line_json(const struct blocked_report *r, uint32_t line)
{
    struct json_object *o = json_object_new_object();
    json_object_object_add(o, "line", json_object_new_int64(line));
    json_object_object_add(o, "label", json_object_new_string(metadata_label(r->book, line)));
    return o;
}

static void blocked_add_frame_json(void *list, uint64_t address,
                                   const struct symbol_location *function)
{
    struct json_object *o = json_object_new_object();
    json_add_text(o, "function", *function->function ? function->function : NULL);
    json_add_text(o, "place", function->place);
    json_object_object_add(o, "address", json_object_new_uint64(address));
    json_object_array_add(list, o);
}

static struct json_object *blocked_holder_json(const struct blocked_report *r,
                                               const struct holder_info *holder)
{
    struct json_object *o = blocked_line_json(r, holder->thread);
    const char *taken = command_source_place(r->subject, holder->process, holder->site);
    json_object_object_add(o, "how", json_object_new_string(hold_name(holder->how)));
    json_object_object_add(o, "acquired_event",
                           holder->since.number ? json_event_id(holder->since) : NULL);
    json_object_object_add(o, "acquired_site", *taken ? json_object_new_string(taken) : NULL);
    return o;
}

static struct json_object *blocked_wait_json(const struct blocked_report *r,
                                             const struct wait_info *w)
{
    struct json_object *o = json_object_new_object(), *holders = json_object_new_array();
    const char *site = command_source_site(r->subject, &w->event);
    json_object_object_add(o, "thread", blocked_line_json(r, w->thread));
    json_object_object_add(o, "waits_for", w->about ? blocked_line_json(r, w->about) : NULL);
    const char *type = w->loader ? "loader lock"
                       : w->end  ? "awaits end"
                                 : metadata_type_name(r->book, w->event.type);
    json_object_object_add(o, "type", json_object_new_string(type));
    json_object_object_add(o, "event", json_event_id(w->event.at));
    json_object_object_add(o, "since_ns", json_object_new_int64(w->since_ns));
    json_object_object_add(o, "site", *site ? json_object_new_string(site) : NULL);
    for (uint32_t i = 0; i < w->holder_count; i++)
        json_object_array_add(holders, blocked_holder_json(r, &w->holders[i]));
    json_object_object_add(o, "held_by", holders);
    struct json_object *stack = json_object_new_array();
    stack_frames_of_event(r->subject->sites, &w->event, blocked_add_frame_json, stack);
    json_object_object_add(o, "stack", stack);
    json_add_text(o, "incomplete", stack_frames_incomplete(&w->event));
    char *handler = handler_text(r->book, w);
    json_object_object_add(o, "handler", handler ? json_take_text(handler) : NULL);
    json_object_object_add(o, "destructor",
                           destructor_text(w) ? json_object_new_string(destructor_text(w)) : NULL);
    json_object_object_add(o, "outcome", json_object_new_string(outcome_name(w->fate)));
    char *outsider = wait_list_outsider(w);
    json_object_object_add(o, "untraced_holder", outsider ? json_take_text(outsider) : NULL);
    json_object_object_add(o, "at_exit", json_object_new_boolean(w->at_exit));
    return o;
}

static struct json_object *blocked_sleeper_json(const struct blocked_report *r,
                                                const struct sleeper_info *s)
{
    struct json_object *o = json_object_new_object();
    const char *kind = wait_list_library_object(r->book, r->subject->sites, s),
               *site = blocked_sleeper_site(r, s);
    json_object_object_add(o, "thread", blocked_line_json(r, s->thread));
    json_object_object_add(o, "waits_for", kind ? json_object_new_string(kind) : NULL);
    json_object_object_add(o, "since_ns", json_object_new_int64(s->since_ns));
    json_object_object_add(o, "call",
                           s->call ? json_object_new_string(sleep_call_name(s->call)) : NULL);
    json_object_object_add(o, "futex", s->word ? json_object_new_uint64(s->word) : NULL);
    json_object_object_add(o, "object",
                           json_take_text(wait_list_futex(r->book, r->subject->sites, s)));
    json_object_object_add(o, "last", json_event_id(s->event.at));
    json_object_object_add(o, "site", *site ? json_object_new_string(site) : NULL);
    json_object_object_add(o, "held_by",
                           s->holder.thread ? blocked_holder_json(r, &s->holder) : NULL);
    json_object_object_add(o, "outcome", json_object_new_string(outcome_name(s->fate)));
    return o;
}

static struct json_object *blocked_waker_json(const struct blocked_report *r,
                                              const struct waker_info *able)
{
    struct json_object *o = blocked_line_json(r, able->thread);
    json_object_object_add(o, "state", json_object_new_string(waker_state_name(able->state)));
    json_object_object_add(o, "last", json_event_id(able->last));
    return o;
}

static struct json_object *blocked_diagnosis_json(const struct blocked_report *r,
                                                  const struct diagnosis_info *v)
{
    static const char *const relations[] = {NULL,         "before", "after",
                                            "concurrent", "same",   "unknown"};
    struct json_object *o = json_object_new_object(), *doubts = json_object_new_array(),
                       *able = json_object_new_array(), *runs = json_object_new_array();
    json_object_object_add(o, "object", blocked_line_json(r, v->about));
    json_object_object_add(o, "pool", json_object_new_boolean(v->pool));
    json_object_object_add(o, "outcome", json_object_new_string(outcome_name(v->fate)));
    for (unsigned bit = 1; bit; bit <<= 1)
        if (v->doubts & bit && uncertainty_text(bit))
            json_object_array_add(doubts, json_object_new_string(uncertainty_text(bit)));
    json_object_object_add(o, "uncertainties", doubts);
    json_object_object_add(o, "wait", json_event_id(v->wait));
    json_object_object_add(o, "last", v->waker.line ? json_event_id(v->waker) : NULL);
    json_object_object_add(
        o, "type",
        v->waker_type ? json_object_new_string(metadata_type_name(r->book, v->waker_type)) : NULL);
    json_object_object_add(o, "relation",
                           v->waker_relation ? json_object_new_string(relations[v->waker_relation])
                                             : NULL);
    json_object_object_add(o, "woke_waiter",
                           v->went_on == WAKE_UNKNOWN
                               ? NULL
                               : json_object_new_boolean(v->went_on == WAKE_SOME_THREAD));
    json_object_object_add(o, "woken", v->woken ? blocked_line_json(r, v->woken) : NULL);
    json_object_object_add(o, "arrived",
                           v->participants ? json_object_new_int64(v->arrived) : NULL);
    json_object_object_add(o, "participants",
                           v->participants ? json_object_new_int64(v->participants) : NULL);
    for (uint32_t i = 0; i < v->able_count; i++)
        json_object_array_add(able, blocked_waker_json(r, &v->able[i]));
    json_object_object_add(o, "candidates", able);
    for (uint32_t i = 0; i < v->run_count; i++)
        json_object_array_add(runs, blocked_line_json(r, v->runs[i]));
    json_object_object_add(o, "running", runs);
    json_object_object_add(o, "text", json_take_text(diagnosis_text(r->book, v)));
    return o;
}

static struct json_object *blocked_step_json(const struct blocked_report *r,
                                             const struct cycle_info *cycle, uint32_t i)
{
    const struct cycle_step_info *step = &cycle->steps[i];
    struct json_object *o = blocked_line_json(r, step->thread);
    json_object_object_add(o, "waits_for", blocked_line_json(r, step->about));
    json_object_object_add(o, "event", json_event_id(step->at));
    json_object_object_add(o, "how", json_object_new_string(hold_name(step->how)));
    json_object_object_add(o, "acquired_event",
                           step->since.number ? json_event_id(step->since) : NULL);
    json_object_object_add(o, "text",
                           json_take_text(deadlock_edge_text(
                               r->book, cycle, i, wait_list_of_thread(r->waits, step->thread))));
    return o;
}

struct json_object *blocked_json(struct command_source *subject, const struct wait_list *waits)
{
    struct blocked_report report = {subject, &subject->source.book, waits}, *r = &report;
    struct json_object *o = json_object_new_object(), *list = json_object_new_array(),
                       *cycles = json_object_new_array(), *verdicts = json_object_new_array();
    for (size_t i = 0; i < r->waits->count; i++)
        json_object_array_add(list, blocked_wait_json(r, &r->waits->items[i]));
    for (size_t i = 0; i < r->waits->cycle_count; i++) {
        struct json_object *cycle = json_object_new_array();
        for (uint32_t k = 0; k < r->waits->cycles[i].count; k++)
            json_object_array_add(cycle, blocked_step_json(r, &r->waits->cycles[i], k));
        json_object_array_add(cycles, cycle);
    }
    struct json_object *asleep = json_object_new_array();
    for (size_t i = 0; i < r->waits->sleeper_count; i++)
        json_object_array_add(asleep, blocked_sleeper_json(r, &r->waits->sleepers[i]));
    json_object_object_add(o, "blocked", list);
    json_object_object_add(o, "asleep", asleep);
    json_object_object_add(o, "cycles", cycles);
    for (size_t i = 0; i < r->waits->verdict_count; i++)
        json_object_array_add(verdicts, blocked_diagnosis_json(r, &r->waits->verdicts[i]));
    json_object_object_add(o, "diagnoses", verdicts);
    const struct trace_time_info *now = &r->waits->now;
    json_object_object_add(o, "live", json_object_new_boolean(now->live));
    json_object_object_add(o, "now_ns",
                           now->now_ns >= 0 ? json_object_new_int64(now->now_ns) : NULL);
    return o;
}

#define OPTION_FOLLOW 256
#define BLOCKED_FINDINGS (FINDINGS_OF_HANGS | FINDINGS_OF_RULES)

static bool blocked_as_json, blocked_follows; /* --json, --follow */

static error_t blocked_parse_option(int key, char *value, struct argp_state *state)
{
    if (key != OPTION_FOLLOW)
        return command_parse_json(key, value, state);
    blocked_follows = true;
    return 0;
}

struct blocked_run {
    const struct command *command;
    struct command_source *subject;
};

static int blocked_print_once(void *user)
{
    const struct blocked_run *run = user;
    struct wait_list waits;
    struct result_table broken = {0};
    struct table_names names = {&run->subject->source.book, run->subject->sites};
    bool ok = command_source_waits(run->command, run->subject, &waits) &&
              rule_violations_request(run->command, run->subject, &broken) == EXIT_DONE;
    if (ok && !blocked_follows)
        pager_begin();
    if (ok && blocked_as_json) {
        struct json_object *all = blocked_json(run->subject, &waits);
        json_object_object_add(all, "violations", rule_violations_json(&names, &broken));
        json_print(all);
    } else if (ok) {
        rule_violations_write(stdout, 0, &names, &broken, UINT32_MAX);
        blocked_print(run->subject, &waits);
    }
    result_table_free(&broken);
    wait_list_free(&waits);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

static int blocked_run(const struct command *command, int argc, char **argv)
{
    struct command_source subject;
    struct blocked_run run = {command, &subject};
    int status;
    if (!command_source_begin(command, argc, argv, SESSION_NAMED_LINES, LABELS_NAME, &subject,
                              &blocked_as_json, &status))
        return finding_options_status(status);
    status = finding_options_check(command, BLOCKED_FINDINGS);
    command_source_warn_updated(command, &subject);
    if (status == EXIT_DONE && !finding_options_replace_text())
        status = blocked_follows
                     ? command_source_follow(command, &subject, blocked_print_once, &run)
                     : blocked_print_once(&run);
    status = finding_options_judge(command, &subject, BLOCKED_FINDINGS, NULL, subject.source.name,
                                   status);
    command_source_close(&subject);
    return status;
}

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "as one JSON object", 0},
    {"follow", OPTION_FOLLOW, NULL, 0, "update as the run continues, until it ends", 0},
    {0}};
static const struct argp_child children[] = {{&finding_options, 0, NULL, 0},
                                             {&labels_options, 0, NULL, 0},
                                             {&color_options, 0, NULL, 0},
                                             {&options_common, 0, NULL, 0},
                                             {0}};
static const struct argp argp = {
    .options = options,
    .parser = blocked_parse_option,
    .args_doc = "[SOURCE]",
    .doc = "Show which threads are blocked at the end of the trace.  Rules that the program broke "
           "(mutual exclusion in µC++) come first, then deadlock cycles, then objects with waiters "
           "that no remaining thread can wake, then each blocked thread with the object, the wait "
           "time, the call site and its callers, the holder and where it acquired the lock: first "
           "threads that hang, then threads that wait for a holder, then others; in each group the "
           "longest wait first.  Conclusions that are not certain are marked as such, with the "
           "reason.  Threads that were still waiting when their program exited normally are listed "
           "as waiting at exit, which is not a hang.",
    .children = children};

const struct command command_blocked = {.name = "blocked",
                                        .summary =
                                            "show blocked threads, lock holders and deadlocks",
                                        .run = blocked_run,
                                        .argp = &argp};
