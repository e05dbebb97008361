/* Output of poet attach, as text and as JSON: diagnoses and blocked threads as in poet blocked,
 * then the stack of each thread. */
#define _GNU_SOURCE
#include "clients/cli/attached_process.h"

#include "base/alloc.h"
#include "clients/cli/blocked.h"
#include "clients/cli/command.h"
#include "clients/cli/output_format.h"
#include "clients/cli/terminal.h"
#include "clients/metadata/event_text.h"
#include "wire/thread_state_names.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMED 4u /* threads with one stack that are named */

/* ---- text: diagnoses ---- */

/* Prints a sentence with its tag, up to the first colon, in color. */
static void attach_print_tag(const char *text)
{
    int tag = (int)strcspn(text, ":") + 1;
    printf("%s%.*s%s%s\n", terminal_color_begin(COLOR_BAD), tag, text, terminal_color_end(),
           text + tag);
}

static void attach_print_cycle(const struct attached_process *a, const struct wait_cycle *cycle)
{
    char title[64];
    snprintf(title, sizeof title,
             cycle->count == 1 ? "DEADLOCK: a thread waits for itself"
                               : "DEADLOCK: %u threads wait for each other",
             cycle->count);
    attach_print_tag(title);
    for (uint32_t i = 0; i < cycle->count; i++) {
        char *text = attached_process_edge(a, cycle, i);
        printf("    %s\n", text);
        free(text);
    }
}

/* Prints locks that no thread of the process owns but that have an owner, each once. */
static void attach_print_abandoned(const struct attached_process *a)
{
    for (uint32_t i = 0; i < a->graph.count; i++) {
        const struct wait_node *node = &a->graph.nodes[i];
        bool first = wait_node_is_abandoned(node);
        for (uint32_t k = 0; first && k < i; k++)
            first = !wait_node_is_abandoned(&a->graph.nodes[k]) ||
                    a->graph.nodes[k].object.address != node->object.address;
        if (!first)
            continue;
        char *text = attached_process_abandoned(a, node);
        attach_print_tag(text);
        free(text);
    }
}

/* ---- text: blocked threads ---- */

static void attach_print_optional(char *text)
{
    if (text)
        printf("    %s\n", text);
    free(text);
}

/* Returns whether two threads wait for the same at the same place. */
static bool attach_is_equal(const struct attached_process *a, uint32_t i, uint32_t k)
{
    const struct wait_node *x = &a->graph.nodes[i], *y = &a->graph.nodes[k];
    uint32_t f = a->frames[i], g = a->frames[k];
    return attached_process_state(a, i) == attached_process_state(a, k) &&
           attached_process_call(a, i) == attached_process_call(a, k) &&
           x->object.kind == y->object.kind && x->object.address == y->object.address &&
           f != UINT32_MAX && g != UINT32_MAX &&
           a->stacks[i].frames[f].address == a->stacks[k].frames[g].address;
}

/* Returns whether an equal thread is listed before. */
static bool attach_is_repeated(const struct attached_process *a, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (attach_is_equal(a, i, k))
            return true;
    return false;
}

/* Prints how many equal threads follow. */
static void attach_print_more(const struct attached_process *a, uint32_t i)
{
    uint32_t more = 0;
    for (uint32_t k = i + 1; k < a->snapshot.thread_count; k++)
        more += attach_is_equal(a, i, k);
    if (more)
        printf("; and %u more thread%s at the same place", more, plural_suffix(more));
    putchar('\n');
}

static void attach_print_wait(const struct attached_process *a, uint32_t i)
{
    const struct wait_node *node = &a->graph.nodes[i];
    char *object = attached_process_object(a, node);
    const char *site = attached_process_site(a, i);
    uint32_t frame = a->frames[i];
    printf("%s%s%s %s %s%s%s%s%s%s%s\n    ", terminal_color_begin(COLOR_THREAD), a->labels[i],
           terminal_color_end(), wait_kind_verb(node->object.kind),
           terminal_color_begin(COLOR_OBJECT), object, terminal_color_end(),
           wait_kind_mode(node->object.kind), *site ? " at " : "", site,
           node->object.timed ? " (with timeout)" : "");
    free(object);
    if (frame != UINT32_MAX) {
        const char *function = symbolize(a->sites, 0, a->stacks[i].frames[frame].address).function;
        printf("%s%s%s", *function ? "in " : "", function, *function ? ", " : "");
    }
    printf("thread %u", a->snapshot.threads[i].tid);
    attach_print_more(a, i);
    attach_print_optional(attached_process_holder(a, node));
    attach_print_optional(attached_process_chain(a, node));
}

/* Prints a thread of another process that hangs. */
static void attach_print_far_wait(const struct attached_process *a, uint32_t i)
{
    const struct wait_node *node = &a->graph.nodes[i];
    char *object = attached_process_object(a, node);
    const char *site = attached_process_far_site(a, i);
    printf("%s%s%s %s %s%s%s%s%s\n    thread %u of process %u\n",
           terminal_color_begin(COLOR_THREAD), a->labels[i], terminal_color_end(),
           wait_kind_verb(node->object.kind), terminal_color_begin(COLOR_OBJECT), object,
           terminal_color_end(), *site ? " at " : "", site, node->tid, node->pid);
    free(object);
    attach_print_optional(attached_process_holder(a, node));
    attach_print_optional(attached_process_chain(a, node));
}

/* Order as in poet blocked: threads that hang, those that a thread keeps waiting, the others. */
static unsigned attach_rank(const struct wait_node *node)
{
    return node->stuck ? 0 : node->blocker_count || node->object.owner ? 1 : 2;
}

/* A thread that the run lists is not listed again. */
static bool attach_is_listed(const struct attach_output *o, uint32_t i)
{
    return o->run && o->lines[i] && wait_list_of_thread(&o->waits, o->lines[i]);
}

static void attach_print_waits(const struct attach_output *o)
{
    const struct attached_process *a = o->attached;
    for (unsigned rank = 0; rank < 3; rank++)
        for (uint32_t i = 0; i < a->snapshot.thread_count; i++) {
            if (attached_process_state(a, i) == ATTACHED_WAITS && !attach_is_listed(o, i) &&
                attach_rank(&a->graph.nodes[i]) == rank && !attach_is_repeated(a, i))
                attach_print_wait(a, i);
        }
    for (size_t i = a->snapshot.thread_count; i < a->graph.count && !o->run; i++)
        if (a->graph.nodes[i].stuck)
            attach_print_far_wait(a, (uint32_t)i);
}

/* ---- text: threads that sleep in calls ---- */

/* Prints " (futex 3, poll 1)". */
static void attach_print_calls(const struct attach_output *o, uint32_t total)
{
    const char *between = " (";
    for (unsigned call = SLEEP_IN_NOT + 1; call < SLEEP_IN_CALLS; call++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < o->attached->snapshot.thread_count; i++)
            count += attached_process_state(o->attached, i) == ATTACHED_SLEEPS &&
                     !attach_is_listed(o, i) && attached_process_call(o->attached, i) == call;
        if (count && total == 1)
            printf("%s%s", between, sleep_call_name(call));
        else if (count)
            printf("%s%s %u", between, sleep_call_name(call), count);
        between = count ? ", " : between;
    }
    fputs(*between == ',' ? "):\n" : ":\n", stdout);
}

static void attach_print_sleeper(const struct attached_process *a, uint32_t i)
{
    const struct wait_node *node = &a->graph.nodes[i];
    const char *call = sleep_call_name(attached_process_call(a, i)),
               *site = attached_process_site(a, i);
    const char *object = attached_process_library_object(a, i);
    printf("    %s%s%s%s%s", terminal_color_begin(COLOR_THREAD), a->labels[i], terminal_color_end(),
           object  ? strchr("aeiou", *object) ? " waits for an " : " waits for a "
           : *call ? " in "
                   : "",
           object ? object : call);
    if (node->object.kind == WAIT_FUTEX) {
        const char *name = attached_process_futex(a, node);
        uint32_t waiters = wait_for_graph_waiters(&a->graph, node);
        printf(object && name ? " %s (0x%" PRIx64 ")" : " %s0x%" PRIx64, object && name ? name : "",
               node->object.address);
        if (!object && name)
            printf(" (%s)", name);
        if (waiters > 1)
            printf(", at which %u threads wait", waiters);
    }
    printf("%s%s", *site ? " at " : "", site);
    attach_print_more(a, i);
    if (node->object.changed)
        puts("        its value has changed since, and no thread has woken the waiter");
}

static void attach_print_sleepers(const struct attach_output *o)
{
    const struct attached_process *a = o->attached;
    uint32_t count = 0;
    for (uint32_t i = 0; i < a->snapshot.thread_count; i++)
        count += attached_process_state(a, i) == ATTACHED_SLEEPS && !attach_is_listed(o, i);
    if (!count)
        return;
    printf("%u thread%s asleep in %s", count, count == 1 ? " is" : "s are",
           count == 1 ? "another call" : "other calls");
    attach_print_calls(o, count);
    for (uint32_t i = 0; i < a->snapshot.thread_count; i++)
        if (attached_process_state(a, i) == ATTACHED_SLEEPS && !attach_is_listed(o, i) &&
            !attach_is_repeated(a, i))
            attach_print_sleeper(a, i);
}

static void attach_print_stopped(const struct attached_process *a)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < a->snapshot.thread_count; i++)
        count += attached_process_state(a, i) == ATTACHED_STOPPED;
    if (count)
        printf("%u thread%s stopped by a signal or a debugger\n", count,
               count == 1 ? " is" : "s are");
}

static const char *attach_output_state_name(enum attached_state state)
{
    return state == ATTACHED_RUNS     ? thread_state_name(THREAD_STATE_RUNNING)
           : state == ATTACHED_WAITS  ? thread_state_name(THREAD_STATE_BLOCKED)
           : state == ATTACHED_SLEEPS ? "asleep"
                                      : "stopped";
}

/* ---- text: stacks ---- */

static bool attach_has_same_stack(const struct attached_process *a, uint32_t x, uint32_t y)
{
    const struct thread_stack *s = &a->stacks[x], *t = &a->stacks[y];
    const struct glibc_object *o = &a->graph.nodes[x].object, *p = &a->graph.nodes[y].object;
    bool same = s->count == t->count && s->complete == t->complete && o->kind == p->kind &&
                o->address == p->address &&
                attached_process_state(a, x) == attached_process_state(a, y);
    for (uint32_t i = 0; same && i < s->count; i++)
        same = s->frames[i].address == t->frames[i].address;
    return same;
}

/* Prints what a thread does: by the run, or from outside. */
static void attach_print_activity(const struct attach_output *o, uint32_t i)
{
    const struct attached_process *a = o->attached;
    enum attached_state state = attached_process_state(a, i);
    const char *call = sleep_call_name(attached_process_call(a, i));
    if (state == ATTACHED_WAITS) {
        char *object = attached_process_object(a, &a->graph.nodes[i]);
        enum wait_kind kind = a->graph.nodes[i].object.kind;
        printf("%s %s%s", wait_kind_verb(kind), object, wait_kind_mode(kind));
        free(object);
    } else {
        printf("%s%s%s", attach_output_state_name(state),
               state == ATTACHED_SLEEPS && *call ? " in " : "",
               state == ATTACHED_SLEEPS ? call : "");
    }
}

static void attach_print_event(const struct attach_output *o, uint32_t i)
{
    char at[48];
    const struct wait_info *w;
    if (!o->run)
        return;
    if (!o->lines[i]) {
        fputs(", not in the trace", stdout);
        return;
    }
    w = wait_list_of_thread(&o->waits, o->lines[i]);
    struct event_id last = {o->lines[i], metadata_line(&o->run->source.book, o->lines[i])->is.last};
    event_id_print(at, sizeof at, w ? w->event.at : last);
    printf(", %sevent %s", w && !w->end ? "" : "after ", at);
}

static void attach_print_frames(const struct attached_process *a, const struct thread_stack *stack)
{
    unsigned number = 0;
    for (uint32_t i = 0; i < stack->count; i++) {
        uint64_t address = stack->frames[i].address;
        uint32_t count = symbolizer_frames(a->sites, 0, address);
        for (uint32_t k = 0; k < count; k++, number++) {
            struct symbol_location at = symbolizer_frame(a->sites, 0, address, k);
            printf("#%-3u%s (%s)\n", number, *at.function ? at.function : "??", at.place);
        }
    }
    if (!stack->complete)
        printf("(the stack is incomplete: %s)\n", stack->incomplete);
}

static void attach_print_stack(const struct attach_output *o, uint32_t i, bool *done)
{
    const struct attached_process *a = o->attached;
    uint32_t count = 0;
    for (uint32_t k = i; k < a->snapshot.thread_count; k++) {
        if (k != i && (o->run || done[k] || !attach_has_same_stack(a, i, k)))
            continue;
        done[k] = true;
        if (count++ < NAMED)
            printf("%s%s%s%s (LWP %u)", count == 1 ? "\n" : ", ",
                   terminal_color_begin(COLOR_THREAD), a->labels[k], terminal_color_end(),
                   a->snapshot.threads[k].tid);
    }
    if (count > NAMED)
        printf(" and %u more", count - NAMED);
    fputs(": ", stdout);
    attach_print_activity(o, i);
    attach_print_event(o, i);
    putchar('\n');
    attach_print_frames(a, &a->stacks[i]);
}

/* ---- text: all of it ---- */

static bool attach_runs_only(const struct attached_process *a)
{
    for (uint32_t i = 0; i < a->snapshot.thread_count; i++)
        if (attached_process_state(a, i) != ATTACHED_RUNS)
            return false;
    return true;
}

/* Returns whether it is not explained otherwise that all threads wait. */
static bool attach_is_all_waiting(const struct attached_process *a)
{
    bool explained = !a->graph.all_wait || a->graph.cycle_count;
    for (uint32_t i = 0; i < a->graph.count && !explained; i++)
        explained = wait_node_is_abandoned(&a->graph.nodes[i]);
    return !explained;
}

static void attach_print_diagnoses(const struct attach_output *o)
{
    const struct attached_process *a = o->attached;
    if (!o->run && attach_runs_only(a))
        puts("no thread is blocked");
    for (uint32_t i = 0; i < a->graph.cycle_count && !(o->run && o->waits.cycle_count); i++)
        attach_print_cycle(a, &a->graph.cycles[i]);
    attach_print_optional(attached_process_uncertainty(a));
    attach_print_abandoned(a);
    if (attach_is_all_waiting(a)) {
        char *text = attached_process_all_wait(a);
        attach_print_tag(text);
        free(text);
    }
}

void attach_text_print(const struct attach_output *o)
{
    const struct attached_process *a = o->attached;
    bool *done = calloc(a->snapshot.thread_count, 1);
    if (o->run)
        blocked_print(o->run, &o->waits);
    attach_print_diagnoses(o);
    attach_print_waits(o);
    attach_print_sleepers(o);
    attach_print_stopped(a);
    if (a->snapshot.cut)
        puts("the core file is truncated: some threads and stacks may be missing");
    for (uint32_t i = 0; done && i < a->snapshot.thread_count; i++)
        if (!done[i])
            attach_print_stack(o, i, done);
    free(done);
}

/* ---- JSON ---- */

static struct json_object *attach_thread_json(const struct attached_process *a, uint32_t node)
{
    struct json_object *o = json_object_new_object();
    json_object_object_add(o, "line", NULL);
    json_add_text(o, "label", a->labels[node]);
    json_object_object_add(o, "pid", json_object_new_int64(a->graph.nodes[node].pid));
    json_object_object_add(o, "tid", json_object_new_int64(a->graph.nodes[node].tid));
    return o;
}

static struct json_object *attach_object_json(const struct attached_process *a,
                                              const struct wait_node *node)
{
    struct json_object *o = json_object_new_object();
    json_object_object_add(o, "line", NULL);
    json_object_object_add(o, "label", json_take_text(attached_process_object(a, node)));
    bool memory = node->object.kind > WAIT_NONE && node->object.kind < WAIT_PIPE_READ &&
                  node->object.kind != WAIT_JOIN;
    json_object_object_add(o, "address",
                           memory ? json_object_new_uint64(node->object.address) : NULL);
    return o;
}

static void attach_add_site(struct json_object *o, const struct attached_process *a, uint32_t i)
{
    const char *site = attached_process_site(a, i);
    json_add_text(o, "site", *site ? site : NULL);
}

static struct json_object *attach_wait_json(const struct attached_process *a, uint32_t i)
{
    const struct wait_node *node = &a->graph.nodes[i];
    struct json_object *o = json_object_new_object(), *holders = json_object_new_array();
    json_object_object_add(o, "thread", attach_thread_json(a, i));
    json_object_object_add(o, "waits_for", attach_object_json(a, node));
    json_add_text(o, "type", wait_kind_type(node->object.kind));
    json_object_object_add(o, "event", NULL);
    json_object_object_add(o, "since_ns", NULL);
    attach_add_site(o, a, i);
    for (uint32_t k = 0; k < node->blocker_count; k++) {
        struct json_object *h = attach_thread_json(a, node->blockers[k]);
        json_object_object_add(h, "acquired_event", NULL);
        json_object_object_add(h, "acquired_site", NULL);
        json_object_array_add(holders, h);
    }
    json_object_object_add(o, "held_by", holders);
    json_object_object_add(o, "basis", json_take_text(attached_process_holder(a, node)));
    json_add_text(o, "outcome", outcome_name(node->stuck ? OUTCOME_NEVER : OUTCOME_OPEN));
    json_object_object_add(o, "at_exit", json_object_new_boolean(false));
    return o;
}

static struct json_object *attach_sleeper_json(const struct attached_process *a, uint32_t i)
{
    const struct wait_node *node = &a->graph.nodes[i];
    enum sleep_call call = attached_process_call(a, i);
    struct json_object *o = json_object_new_object();
    json_object_object_add(o, "thread", attach_thread_json(a, i));
    json_object_object_add(o, "since_ns", NULL);
    json_add_text(o, "call", call ? sleep_call_name(call) : NULL);
    json_object_object_add(
        o, "futex",
        node->object.kind == WAIT_FUTEX ? json_object_new_uint64(node->object.address) : NULL);
    json_object_object_add(o, "last", NULL);
    attach_add_site(o, a, i);
    return o;
}

static struct json_object *attach_cycle_json(const struct attached_process *a,
                                             const struct wait_cycle *cycle)
{
    struct json_object *list = json_object_new_array();
    for (uint32_t i = 0; i < cycle->count; i++) {
        struct json_object *o = attach_thread_json(a, cycle->nodes[i]);
        json_object_object_add(o, "waits_for",
                               attach_object_json(a, &a->graph.nodes[cycle->nodes[i]]));
        json_object_object_add(o, "event", NULL);
        json_object_object_add(o, "acquired_event", NULL);
        json_object_object_add(o, "text", json_take_text(attached_process_edge(a, cycle, i)));
        json_object_array_add(list, o);
    }
    return list;
}

static struct json_object *attach_diagnosis_json(const struct attached_process *a,
                                                 const struct wait_node *node)
{
    struct json_object *o = json_object_new_object();
    json_object_object_add(o, "object", attach_object_json(a, node));
    json_add_text(o, "outcome", outcome_name(OUTCOME_NEVER));
    json_object_object_add(o, "text", json_take_text(attached_process_abandoned(a, node)));
    return o;
}

static struct json_object *attach_stack_json(const struct attached_process *a, uint32_t i)
{
    struct json_object *list = json_object_new_array();
    for (uint32_t f = 0; f < a->stacks[i].count; f++) {
        uint64_t address = a->stacks[i].frames[f].address;
        uint32_t count = symbolizer_frames(a->sites, 0, address);
        for (uint32_t k = 0; k < count; k++) {
            struct symbol_location at = symbolizer_frame(a->sites, 0, address, k);
            struct json_object *o = json_object_new_object();
            json_add_text(o, "function", *at.function ? at.function : NULL);
            json_add_text(o, "place", at.place);
            json_object_object_add(o, "address", json_object_new_uint64(address));
            json_object_array_add(list, o);
        }
    }
    return list;
}

static struct json_object *attach_threads_json(const struct attach_output *output)
{
    const struct attached_process *a = output->attached;
    struct json_object *list = json_object_new_array();
    for (uint32_t i = 0; i < a->snapshot.thread_count; i++) {
        struct json_object *o = attach_thread_json(a, i);
        enum sleep_call call = attached_process_call(a, i);
        if (output->run && output->lines[i])
            json_object_object_add(o, "line", json_object_new_int64(output->lines[i]));
        json_add_text(o, "state", attach_output_state_name(attached_process_state(a, i)));
        json_add_text(o, "call", call ? sleep_call_name(call) : NULL);
        json_object_object_add(o, "stack", attach_stack_json(a, i));
        json_add_text(o, "incomplete", a->stacks[i].complete ? NULL : a->stacks[i].incomplete);
        json_object_array_add(list, o);
    }
    return list;
}

/* Returns what is known from outside, with the members of poet blocked --json. */
static struct json_object *attach_outside_json(const struct attached_process *a)
{
    struct json_object *o = json_object_new_object(), *blocked = json_object_new_array(),
                       *asleep = json_object_new_array(), *cycles = json_object_new_array(),
                       *diagnoses = json_object_new_array();
    for (uint32_t i = 0; i < a->snapshot.thread_count; i++) {
        enum attached_state state = attached_process_state(a, i);
        if (state == ATTACHED_WAITS)
            json_object_array_add(blocked, attach_wait_json(a, i));
        else if (state == ATTACHED_SLEEPS)
            json_object_array_add(asleep, attach_sleeper_json(a, i));
        if (wait_node_is_abandoned(&a->graph.nodes[i]))
            json_object_array_add(diagnoses, attach_diagnosis_json(a, &a->graph.nodes[i]));
    }
    if (attach_is_all_waiting(a)) {
        struct json_object *all = json_object_new_object();
        json_object_object_add(all, "object", NULL);
        json_add_text(all, "outcome",
                      outcome_name(a->graph.handlers ? OUTCOME_POSSIBLE : OUTCOME_NEVER));
        json_object_object_add(all, "text", json_take_text(attached_process_all_wait(a)));
        json_object_array_add(diagnoses, all);
    }
    for (uint32_t i = 0; i < a->graph.cycle_count; i++)
        json_object_array_add(cycles, attach_cycle_json(a, &a->graph.cycles[i]));
    json_object_object_add(o, "blocked", blocked);
    json_object_object_add(o, "asleep", asleep);
    json_object_object_add(o, "cycles", cycles);
    json_object_object_add(o, "diagnoses", diagnoses);
    json_object_object_add(o, "live", json_object_new_boolean(a->snapshot.core < 0));
    json_object_object_add(o, "now_ns", NULL);
    return o;
}

struct json_object *attach_json(const struct attach_output *output)
{
    const struct attached_process *a = output->attached;
    struct json_object *outside = attach_outside_json(a),
                       *o = output->run ? blocked_json(output->run, &output->waits) : outside;
    if (output->run)
        json_object_object_add(o, "outside", outside);
    json_object_object_add(o, "pid", json_object_new_int64(a->snapshot.pid));
    json_add_text(o, "program", a->process.path);
    json_object_object_add(o, "stopped_ns",
                           a->snapshot.core < 0 ? json_object_new_uint64(a->snapshot.stopped_ns)
                                                : NULL);
    json_object_object_add(o, "uncertain", json_object_new_boolean(a->graph.uncertain));
    json_object_object_add(o, "truncated", json_object_new_boolean(a->snapshot.cut));
    json_object_object_add(o, "threads", attach_threads_json(output));
    return o;
}
