#define _GNU_SOURCE
#include "clients/cli/attach_json.h"

#include "base/alloc.h"
#include "clients/cli/blocked.h"
#include "clients/cli/json_output.h"
#include "clients/metadata/hang_text.h"

#include <json-c/json.h>
#include <stdlib.h>

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
    static const char *const states[] = {[ATTACHED_RUNS] = "running",
                                         [ATTACHED_WAITS] = "blocked",
                                         [ATTACHED_SLEEPS] = "asleep",
                                         [ATTACHED_STOPPED] = "stopped"};
    const struct attached_process *a = output->attached;
    struct json_object *list = json_object_new_array();
    for (uint32_t i = 0; i < a->snapshot.thread_count; i++) {
        struct json_object *o = attach_thread_json(a, i);
        enum sleep_call call = attached_process_call(a, i);
        if (output->run && output->lines[i])
            json_object_object_add(o, "line", json_object_new_int64(output->lines[i]));
        json_add_text(o, "state", states[attached_process_state(a, i)]);
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
