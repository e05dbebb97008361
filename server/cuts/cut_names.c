#include "server/cuts/cut_names.h"

#include "base/alloc.h"
#include "server/run/awaits.h"
#include "server/run/input_store.h"
#include "server/tracefile/chunks.h"
#include "wire/program_messages.h"

#include <stdlib.h>
#include <string.h>

#define CUT_INSTANCE UINT64_C(0x706f657463757400) /* and the number of the program: its identity */
#define CUT_INPUT_BYTES (1u << 20) /* recorded input beyond this is left out */

void cut_put_chunk(struct encoder *out, uint16_t kind, uint32_t session, uint32_t thread,
                   const struct encoder *body)
{
    struct chunk chunk = {.kind = kind,
                          .session = session,
                          .thread = thread,
                          .epoch = 1,
                          .data = body ? body->data : NULL,
                          .size = body ? (uint32_t)body->size : 0};
    uint8_t head[CHUNK_HEAD_BYTES];
    static const uint8_t none[1];
    chunk.data = chunk.data ? chunk.data : none;
    chunk_head(head, &chunk);
    encode_bytes(out, head, sizeof head);
    encode_bytes(out, chunk.data, chunk.size);
}

/* Appends a message of a program, and empties its body. */
static void cut_names_put(struct cut_names *names, uint16_t kind, uint32_t program, uint32_t thread,
                          struct encoder *body)
{
    cut_put_chunk(names->out, kind, program, thread, body);
    encoder_free(body);
}

/* ---- programs ---- */

static void cut_names_put_hello(struct cut_names *names, uint32_t number,
                                const struct run_process *p)
{
    const struct run *run = names->run;
    struct encoder body = {0};
    struct program_hello hello = {.role = ROLE_PROGRAM,
                                  .run = text_view_of(run->name),
                                  .path = text_view_of(p->path),
                                  .host = text_view_of(p->host),
                                  .pid = p->pid,
                                  .instance = CUT_INSTANCE + number,
                                  .clock_ns = number ? p->clock_ns : run->clock.start_ns,
                                  .wall_ns = number ? p->wall_ns : run->clock.wall_ns,
                                  .argument_count = (uint32_t)p->argument_count};
    encode_hello(&body, &hello);
    for (size_t i = 0; i < p->argument_count; i++)
        encode_argument(&body, text_view_of(p->arguments[i]));
    if (p->variable_count)
        encode_variables(&body, (uint32_t)p->variable_count);
    for (size_t i = 0; i < p->variable_count; i++)
        encode_argument(&body, text_view_of(p->variables[i]));
    cut_names_put(names, CHUNK_SESSION, number, 0, &body);
}

static void cut_names_put_modules(struct cut_names *names, uint32_t number,
                                  const struct run_process *p)
{
    for (size_t i = 0; i < p->module_count; i++) {
        const struct run_module *m = &p->modules[i];
        struct encoder body = {0};
        encode_module(&body, &(struct module_message){
                                 .start = m->start,
                                 .end = m->end,
                                 .bias = m->bias,
                                 .build_id = {(const char *)m->build_id, m->build_id_bytes},
                                 .path = text_view_of(m->path)});
        cut_names_put(names, MESSAGE_MODULE, number, 0, &body);
    }
}

uint32_t cut_names_program(struct cut_names *names, uint32_t process)
{
    if (process >= names->run->processes.count)
        process = 0;
    if (!names->programs[process]) {
        uint32_t number = names->program_count++;
        names->programs[process] = number + 1;
        cut_names_put_hello(names, number, &names->run->processes.items[process]);
        cut_names_put_modules(names, number, &names->run->processes.items[process]);
    }
    return names->programs[process] - 1;
}

/* ---- lines ---- */

uint32_t cut_names_line(struct cut_names *names, uint32_t line)
{
    if (!line || line > order_line_count(names->run->order))
        return 0;
    if (names->lines[line - 1])
        return names->lines[line - 1];
    const struct run *run = names->run;
    const struct run_line *facts = run_line_at(run, line);
    uint32_t program = cut_names_program(names, facts->process);
    uint32_t number = names->lines[line - 1] = ++names->count;
    names->kept = array_reserve(names->kept, &names->kept_room, number, sizeof *names->kept);
    names->kept[number - 1] = line;
    struct encoder body = {0};
    encode_line(&body,
                &(struct line_message){
                    .code = number,
                    .high = CUT_INSTANCE + program,
                    .low = number,
                    .flags = (uint8_t)((order_line_shared(run->order, line) ? LINE_SHARED : 0) |
                                       (run_lines_reach(&run->lines, line) & LINE_MEMORY)),
                    .object = facts->object,
                    .entry = facts->entry,
                    .kind = text_view_of(run_kind_name(run, facts->kind)),
                    .name = text_view_of(facts->name)});
    cut_names_put(names, MESSAGE_LINE, program, 0, &body);
    uint32_t participants = run_lines_participants(&run->lines, line);
    if (participants) {
        encode_participants(&body, &(struct participants_message){number, participants});
        cut_names_put(names, MESSAGE_PARTICIPANTS, program, 0, &body);
    }
    return number;
}

void cut_names_begin(struct cut_names *names, const struct run *run, struct encoder *out)
{
    uint32_t lines = order_line_count(run->order);
    *names = (struct cut_names){.run = run, .out = out};
    names->lines = xcalloc(lines + 1u, sizeof *names->lines);
    names->programs = xcalloc(run->processes.count + 1, sizeof *names->programs);
    for (size_t i = 0; i < run->targets.count; i++) {
        struct encoder body = {0};
        encode_string(&body, run->targets.items[i]->name);
        encode_string(&body, run->targets.texts[i]);
        cut_names_put(names, CHUNK_TARGET, 0, 0, &body);
    }
    if (run->processes.count)
        cut_names_program(names, 0);
    for (uint32_t line = 1; line <= lines && lines <= CUT_LINES_ALL && run->processes.count; line++)
        cut_names_line(names, line);
}

void cut_names_free(struct cut_names *names)
{
    free(names->lines);
    free(names->kept);
    free(names->programs);
    *names = (struct cut_names){0};
}

/* ---- what programs reported beside events ---- */

/* Waits for the end of a thread that began after its waiter's last event. */
static void cut_names_put_awaits(struct cut_names *names,
                                 bool (*whole)(const void *context, uint32_t line),
                                 const void *context)
{
    const struct run *run = names->run;
    for (size_t i = 0; i < awaits_count(run); i++) {
        const struct await *await = awaits_at(run, i);
        const struct site *site = site_table_at(&run->sites, await->site);
        uint32_t lines = order_line_count(run->order);
        if (!await->thread || await->thread > lines || !await->about || await->about > lines ||
            await->after.line > lines || !whole(context, await->thread) ||
            !names->lines[await->thread - 1] || !names->lines[await->about - 1] ||
            !await->after.line || !names->lines[await->after.line - 1])
            continue;
        struct encoder body = {0};
        encode_awaits(&body, &(struct awaits_message){.line = names->lines[await->about - 1],
                                                      .last = names->lines[await->after.line - 1],
                                                      .number = await->after.number,
                                                      .time_ns = (uint64_t)await->since_ns +
                                                                 run->clock.start_ns,
                                                      .site = site ? site->address : 0});
        cut_names_put(names, MESSAGE_AWAITS,
                      cut_names_program(names, run_line_at(run, await->thread)->process),
                      names->lines[await->thread - 1], &body);
    }
}

/* Locks that were held at a fork, if both lines are in the cut. */
static void cut_names_put_held(struct cut_names *names)
{
    const struct run *run = names->run;
    for (uint32_t number = 1; number <= names->count; number++) {
        uint32_t line = names->kept[number - 1];
        struct event_id last = inherited_holds_recorded(run, line);
        if (!last.line || last.line > order_line_count(run->order) || !names->lines[last.line - 1])
            continue;
        uint32_t owner = cut_names_program(names, run_line_at(run, last.line)->process);
        struct encoder body = {0};
        encode_held(&body, &(struct held_message){.line = number,
                                                  .instance = CUT_INSTANCE + owner,
                                                  .code = names->lines[last.line - 1],
                                                  .number = last.number});
        cut_names_put(names, MESSAGE_HELD,
                      cut_names_program(names, run_line_at(run, line)->process), 0, &body);
    }
}

static void cut_names_put_untraced(struct cut_names *names)
{
    const struct untraced_reports *all = &names->run->untraced;
    for (size_t i = 0; i < all->count; i++) {
        struct encoder body = {0};
        encode_untraced(&body, &(struct untraced_message){all->items[i].reason,
                                                          text_view_of(all->items[i].about)});
        cut_names_put(names, MESSAGE_UNTRACED, cut_names_program(names, all->items[i].session), 0,
                      &body);
    }
}

/* The input that a replay returns to the program again. */
static void cut_names_put_input(struct cut_names *names)
{
    const struct run *run = names->run;
    size_t bytes = 0;
    for (size_t i = 0; i < input_store_threads(run); i++)
        bytes += input_store_thread(run, i)->size;
    for (size_t i = 0; i < input_store_threads(run) && bytes <= CUT_INPUT_BYTES; i++) {
        const struct input_store_thread *t = input_store_thread(run, i);
        uint32_t line =
            t->line && t->line <= order_line_count(run->order) ? names->lines[t->line - 1] : 0;
        for (size_t at = 0; line && at + 4 <= t->size;) {
            uint32_t size = chunk_get_u32(t->bytes + at);
            struct encoder body = {.data = t->bytes + at + 4, .size = size};
            if (size > t->size - at - 4)
                break;
            cut_put_chunk(names->out, CHUNK_INPUT,
                          cut_names_program(names, run_line_at(run, t->line)->process), line,
                          &body);
            at += 4 + (size_t)size;
        }
    }
}

static void cut_names_put_program_end(struct cut_names *names, uint32_t number,
                                      const struct run_process *p)
{
    struct encoder body = {0};
    if (p->waited_ns || p->dropped || p->unfollowed || p->left || p->gone_ns) {
        encode_losses(&body, &(struct losses_message){.waited_ns = p->waited_ns,
                                                      .dropped = p->dropped,
                                                      .unfollowed = p->unfollowed,
                                                      .left = p->left,
                                                      .left_known = p->left_known,
                                                      .gone_ns = p->gone_ns});
        cut_names_put(names, MESSAGE_LOSSES, number, 0, &body);
    }
    if (p->unsent) {
        encode_sent(&body, &(struct sent_message){0});
        cut_names_put(names, MESSAGE_SENT, number, 0, &body);
    }
    if (p->ended) {
        encode_ends(&body, &(struct ends_message){ENDS_EXIT});
        cut_names_put(names, MESSAGE_ENDS, number, 0, &body);
    }
}

void cut_names_end(struct cut_names *names, bool (*whole)(const void *context, uint32_t line),
                   const void *context)
{
    const struct run *run = names->run;
    cut_names_put_awaits(names, whole, context);
    cut_names_put_held(names);
    cut_names_put_untraced(names);
    cut_names_put_input(names);
    for (uint32_t number = 1; number <= names->count; number++) {
        uint32_t line = names->kept[number - 1];
        struct encoder body = {0};
        if (!order_line_closed(run->order, line) || !whole(context, line))
            continue;
        encode_close(&body, &(struct close_message){number, order_line_highest(run->order, line)});
        cut_names_put(names, MESSAGE_CLOSE,
                      cut_names_program(names, run_line_at(run, line)->process), 0, &body);
    }
    for (size_t i = 0; i < run->processes.count; i++)
        if (names->programs[i])
            cut_names_put_program_end(names, names->programs[i] - 1, &run->processes.items[i]);
    for (uint32_t number = 0; number < names->program_count; number++)
        cut_put_chunk(names->out, CHUNK_HANGUP, number, 0, NULL);
}
