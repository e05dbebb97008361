#include "server/queries/run_notifications.h"

#include "base/alloc.h"
#include "server/cuts/cut_info.h"
#include "server/queries/referenced_lines.h"
#include "server/eventloop/event_loop.h"
#include "server/run/untraced_reasons.h"
#include "wire/trace_view.h"

#include <stdio.h>
#include <stdlib.h>

void notify_run_selected(struct encoder *out, const struct run *run)
{
    char *cut = cut_info_text(run);
    struct run_info r = {.name = run->name,
                         .file = run->file.path,
                         .number = run->number,
                         .events = run->eviction.evicted ? run->eviction.events
                                                         : order_figures(run->order).events,
                         .lost = run->eviction.evicted ? run->eviction.lost : run_lost(run),
                         .wall_ns = run->clock.wall_ns,
                         .connected = run_connected(run),
                         .unfinished = run->file.unfinished,
                         .written = run->file.still_written,
                         .cut = cut};
    encode_run_info(out, &r);
    free(cut);
}

static void notify_send_process(struct encoder *out, uint32_t index, const struct run_process *p)
{
    struct process_info s = {.pid = p->pid,
                             .path = p->path,
                             .host = p->host,
                             .arguments = p->arguments,
                             .argument_count = (uint32_t)p->argument_count,
                             .variables = p->variables,
                             .variable_count = (uint32_t)p->variable_count};
    s.modules = xcalloc(p->module_count + 1, sizeof *s.modules);
    for (size_t i = 0; i < p->module_count; i++) {
        struct module_info *m = &s.modules[s.module_count++];
        const struct run_module *from = &p->modules[i];
        *m = (struct module_info){
            .path = from->path, .start = from->start, .end = from->end, .bias = from->bias};
        for (unsigned k = 0; k < from->build_id_bytes; k++)
            snprintf(m->build_id + 2 * k, 3, "%02x", from->build_id[k]);
    }
    encoder_begin_message(out, MESSAGE_PROCESS);
    encode_u32(out, index);
    encode_process_info(out, &s);
    encoder_end_message(out);
    free(s.modules);
}

#define NEWS_NS 3000000u

bool notify_updates_step(struct encoder *out, const struct run *run, struct viewer_knowledge *known,
                         size_t enough)
{
    for (; known->targets < run->targets.count; known->targets++) {
        encoder_begin_message(out, MESSAGE_TARGET);
        encode_string(out, run->targets.items[known->targets]->name);
        encode_string(out, run->targets.texts[known->targets]);
        encoder_end_message(out);
    }
    size_t first = known->processes; /* the newest process may have loaded modules since */
    if (first && run->processes.items[first - 1].module_count != known->modules)
        first--;
    for (; first < run->processes.count; first++) {
        notify_send_process(out, (uint32_t)first, &run->processes.items[first]);
        known->modules = run->processes.items[first].module_count;
    }
    known->processes = run->processes.count;
    for (; known->types < run->types.count; known->types++) {
        encoder_begin_message(out, MESSAGE_TYPE_NAME);
        encode_u32(out, (uint32_t)known->types + 1);
        encode_string(out, run->types.items[known->types]);
        encoder_end_message(out);
    }
    if (!known->lines) /* no line was sent yet, and each is sent in its current state */
        known->changes = run->line_changes.count;
    struct loop_share share = loop_share_new(NEWS_NS);
    bool named = referenced_lines_is_enabled(run, known);
    if (named)
        referenced_lines_send_count(out, run, known);
    for (unsigned n = 1; !named && known->lines < order_line_count(run->order); n++) {
        if (out->size >= enough || (n % 64 == 0 && !loop_share_left(share)))
            return false;
        referenced_line_encode(out, run, ++known->lines);
    }
    for (unsigned n = 1; known->changes < run->line_changes.count; n++) {
        if (out->size >= enough || (n % 64 == 0 && !loop_share_left(share)))
            return false;
        uint32_t line = run->line_changes.items[known->changes++];
        if (referenced_lines_is_sent(known, line))
            referenced_line_encode(out, run, line);
    }
    return true;
}

void notify_updates(struct encoder *out, const struct run *run, struct viewer_knowledge *known)
{
    while (!notify_updates_step(out, run, known, SIZE_MAX))
        ;
}

char *damage_text(const struct run *run, uint64_t parts)
{
    uint64_t events = order_unreadable_events(run->order);
    const char *before = run->file.damage ? run->file.damage : "",
               *between = run->file.damage ? "; " : "";
    const char *file = run->file.path ? run->file.path : run->name;
    unsigned long long place = order_first_damage(run->order);
    if (!parts)
        return xstrdup(run->file.damage);
    return events
               ? xasprintf("%s%s%llu events of %llu could not be read (%s: part at byte %llu)",
                           before, between, (unsigned long long)events,
                           (unsigned long long)order_figures(run->order).events, file, place)
               : xasprintf(
                     "%s%ssome of what comes before what could not be read (%s: part at byte %llu)",
                     before, between, file, place);
}

void notify_damage(struct encoder *out, const struct run *run, struct viewer_knowledge *known)
{
    uint64_t parts = order_figures(run->order).damaged;
    if (known->damaged == parts + 1 || (!parts && !run->file.damage))
        return;
    char *text = damage_text(run, parts);
    encoder_begin_message(out, MESSAGE_DAMAGE);
    encode_u64(out, order_unreadable_events(run->order));
    encode_string(out, text);
    encoder_end_message(out);
    free(text);
    known->damaged = parts + 1;
}
