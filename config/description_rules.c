/* Checks of consistency between the entries of a description. */
#include "config/description_read.h"

#include "config/description_values.h"
#include "config/event_pattern.h"
#include "config/metric_rules.h"

#include <string.h>

#define COMPLAIN(event, ...)                                                                       \
    description_complain(reader, (event)->source.file, (event)->source.line, __VA_ARGS__)

static bool knows_type(const struct target *target, const char *name)
{
    for (size_t i = 0; i < target->event_count; i++)
        if (strcmp(target->events[i].name, name) == 0)
            return true;
    return false;
}

static void check_types(struct description_reader *reader, const struct target *target,
                        const struct target_names *names, const char *key,
                        const struct target_event *event)
{
    for (size_t i = 0; i < names->count; i++)
        if (!knows_type(target, names->items[i]))
            COMPLAIN(event, "\"%s\": unknown type \"%s\"", key, names->items[i]);
}

static bool names_back(const struct target *target, const struct target_event *event,
                       const char *partner)
{
    for (size_t i = 0; i < target->event_count; i++) {
        const struct target_event *other = &target->events[i];
        if (strcmp(other->name, partner) == 0 &&
            (!other->partners.count || target_has_line_type(&other->partners, event->name)))
            return true;
    }
    return false;
}

static void check_partners(struct description_reader *reader, const struct target *target,
                           const struct target_event *event)
{
    for (size_t i = 0; i < event->partners.count; i++) {
        const char *partner = event->partners.items[i];
        if (!knows_type(target, partner))
            COMPLAIN(event, "\"partner\": unknown type \"%s\"", partner);
        else if (!names_back(target, event, partner))
            COMPLAIN(event, "\"partner\": the type \"%s\" does not refer back to \"%s\"", partner,
                     event->name);
    }
    if (event->partners.count &&
        (event->relation == RELATION_NONE || event->relation == RELATION_COUNT))
        COMPLAIN(event, "\"partner\" needs a \"relation\" between partners");
}

/* Can any event bring a thread into a line that this one takes it out of? */
static bool comes_in(const struct target *target, const struct target_event *out)
{
    for (size_t i = 0; i < target->event_count; i++) {
        const struct target_event *in = &target->events[i];
        bool shares = !in->on.count || !out->on.count;
        for (size_t k = 0; k < out->on.count; k++)
            shares |= target_has_line_type(&in->on, out->on.items[k]);
        if (shares && in->has_presence && in->presence != OCCUPANCY_OUT && in->own == out->own)
            return true;
    }
    return false;
}

/* Checks that a thread can have entered the lines that the event makes it leave: the number of
 * threads in a line must not drop below zero. */
static void check_presence(struct description_reader *reader, const struct target *target,
                           const struct target_event *event)
{
    if (!event->has_presence || event->presence != OCCUPANCY_OUT)
        return;
    if (!comes_in(target, event))
        COMPLAIN(event,
                 "\"thread_state\": no event makes a thread enter the lines that this one leaves");
    else if (!event->on_line.any && !event->on_line.types.count)
        COMPLAIN(
            event,
            "\"thread_state\": the first event on a line makes a thread leave that never entered");
}

/* Checks that dotted arrows belong to events without a partner, and other arrows to events with a
 * relation. */
static void check_arrow(struct description_reader *reader, const struct target_event *event)
{
    bool has = event->partners.count || event->relation == RELATION_SYNC ||
               event->relation == RELATION_SEND || event->relation == RELATION_RECEIVE;
    if (event->arrow == ARROW_DOTTED && has)
        COMPLAIN(event, "\"arrow\" is \"dotted\", and there is one to its partner");
    else if (event->arrow != ARROW_NONE && event->arrow != ARROW_DOTTED &&
             event->relation == RELATION_NONE)
        COMPLAIN(event, "\"arrow\" without a relation");
}

static bool can_follow(const struct target_event *next, const char *waits)
{
    return !next->opens &&
           (next->in_thread.any || target_has_line_type(&next->in_thread.types, waits));
}

/* Checks that a waiting thread can resume: at least one type that can follow must not wait. */
static void check_waits(struct description_reader *reader, const struct target *target,
                        const struct target_event *event)
{
    bool followed = false, ended = false;
    for (size_t i = 0; i < target->event_count && !ended; i++) {
        const struct target_event *next = &target->events[i];
        bool follows = can_follow(next, event->name);
        followed |= follows;
        ended = follows && !next->waits;
    }
    if (event->waits && !followed)
        COMPLAIN(event, "\"wait_class\": no type can follow on its thread");
    else if (event->waits && !ended)
        COMPLAIN(event, "\"wait_class\": nothing can end it: all types that can follow wait, too");
    if (event->causes.count && !event->waits)
        COMPLAIN(event, "\"ended_by\" without \"wait_class\"");
}

static void check_event(struct description_reader *reader, const struct target *target,
                        size_t number)
{
    const struct target_event *event = &target->events[number];
    for (size_t i = 0; i < event->on.count; i++)
        if (!target_line_type(target, event->on.items[i]))
            COMPLAIN(event, "\"line_types\": unknown line type \"%s\"", event->on.items[i]);
    for (size_t i = 0; i < number; i++) {
        const struct target_event *other = &target->events[i];
        if (strcmp(other->name, event->name) != 0)
            continue;
        bool both = !other->on.count && !event->on.count;
        for (size_t k = 0; k < event->on.count; k++)
            both |= target_has_line_type(&other->on, event->on.items[k]);
        if (both && other->relation == event->relation)
            COMPLAIN(event, "duplicate type \"%s\" (first in line %d)", event->name,
                     other->source.line);
    }
    check_types(reader, target, &event->after, "ordered_after", event);
    check_types(reader, target, &event->woken_by, "woken_by", event);
    check_types(reader, target, &event->expects, "expects", event);
    check_types(reader, target, &event->causes, "ended_by", event);
    check_types(reader, target, &event->on_line.types, "allowed_after_on_line", event);
    check_types(reader, target, &event->in_thread.types, "allowed_after_in_thread", event);
    check_partners(reader, target, event);
    check_arrow(reader, event);
    check_presence(reader, target, event);
    check_waits(reader, target, event);
}

static void check_meter_types(struct description_reader *reader, const struct target *target,
                              const struct target_metric *meter, const struct target_names *types)
{
    for (size_t i = 0; i < types->count; i++) {
        if (!knows_type(target, types->items[i]))
            description_complain(reader, reader->file, 1, "metric \"%s\": unknown type \"%s\"",
                                 meter->name, types->items[i]);
    }
}

/* The metrics of a description without events are about those of others. */
static void check_meters(struct description_reader *reader, const struct target *target)
{
    for (size_t i = 0; i < target->meter_count && target->event_count; i++) {
        check_meter_types(reader, target, &target->meters[i], &target->meters[i].from);
        check_meter_types(reader, target, &target->meters[i], &target->meters[i].to);
        check_meter_types(reader, target, &target->meters[i], &target->meters[i].count);
    }
}

/* The types of the events of a pattern must be known, in a description that has events. */
static void check_pattern(struct description_reader *reader, const struct target *target,
                          const char *name, const char *text, struct target_place source)
{
    struct pattern_error error;
    struct event_pattern *p = event_pattern_read(text, &error);
    for (uint32_t i = 0; p && i < p->event_count; i++)
        for (uint32_t k = 0; k < p->events[i].type_count; k++)
            if (!knows_type(target, p->events[i].types[k]))
                description_complain(reader, source.file, source.line,
                                     "pattern \"%s\": unknown type \"%s\"", name,
                                     p->events[i].types[k]);
    event_pattern_free(p);
}

static void check_required(struct description_reader *reader, const struct target *target)
{
    if (!target->name || !*target->name)
        description_complain(reader, reader->file, 1, "\"name\" is missing");
    if (!reader->kinds)
        description_complain(reader, reader->file, 1, "\"line_types\" is missing");
    if (!reader->events)
        description_complain(reader, reader->file, 1, "\"events\" is missing");
}

void description_rules_check(struct description_reader *reader, const struct target *target)
{
    if (reader->readable)
        check_required(reader, target);
    check_meters(reader, target);
    for (size_t i = 0; i < target->pattern_count && target->event_count; i++)
        check_pattern(reader, target, target->patterns[i].name, target->patterns[i].text,
                      target->patterns[i].source);
    for (size_t i = 0; i < target->assertion_count && target->event_count; i++)
        check_pattern(reader, target, target->assertions[i].name, target->assertions[i].text,
                      target->assertions[i].source);
    for (size_t i = 0; i < target->event_count; i++)
        check_event(reader, target, i);
}
