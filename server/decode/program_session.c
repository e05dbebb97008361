#define _GNU_SOURCE
#include "server/decode/program_session.h"

#include "base/alloc.h"
#include "server/decode/declarations.h"
#include "wire/limits.h"
#include "wire/program_messages.h"
#include "wire/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- HELLO, the first message of every peer ---- */

bool hello_message_decode(struct decoder *in, struct hello_message *hello)
{
    struct program_hello message;
    *hello = (struct hello_message){0};
    bool good = decode_hello(in, &message);
    hello->version = message.version; /* of a bad one, too: it may be why */
    hello->role = message.role;
    if (!good)
        return false;
    if (message.role == ROLE_VIEWER)
        return decoder_finish(in);
    hello->run = text_name(message.run);
    hello->environment = text_name(message.environment);
    hello->path = text_name(message.path);
    hello->host = text_name(message.host);
    hello->pid = message.pid;
    hello->instance = message.instance;
    hello->clock_ns = message.clock_ns;
    hello->wall_ns = message.wall_ns;
    hello->arguments = xcalloc(message.argument_count + 1, sizeof *hello->arguments);
    for (; hello->argument_count < message.argument_count; hello->argument_count++)
        hello->arguments[hello->argument_count] = text_copy(decode_argument(in));
    uint32_t variables = decode_variables(in);
    hello->variables = xcalloc(variables + 1u, sizeof *hello->variables);
    for (; hello->variable_count < variables; hello->variable_count++)
        hello->variables[hello->variable_count] = text_copy(decode_argument(in));
    if (message.clock_ns > INT64_MAX / 2 || message.wall_ns > INT64_MAX / 2)
        decoder_fail(in, "invalid timestamp");
    return decoder_finish(in);
}

void hello_message_free(struct hello_message *hello)
{
    free(hello->run);
    free(hello->environment);
    free(hello->path);
    free(hello->host);
    for (size_t i = 0; i < hello->argument_count; i++)
        free(hello->arguments[i]);
    free(hello->arguments);
    for (size_t i = 0; i < hello->variable_count; i++)
        free(hello->variables[i]);
    free(hello->variables);
    *hello = (struct hello_message){0};
}

/* ---- sessions ---- */

uint32_t program_session_own_line(const struct program_session *session, uint32_t code)
{
    return program_session_line(session, code);
}

struct program_session *program_session_new(struct run *run, uint32_t number,
                                            struct hello_message *hello)
{
    struct program_session *session = xcalloc(1, sizeof *session);
    session->run = run;
    session->number = number;
    session->instance = hello->instance;
    session->process =
        run_process(run, (struct run_process){.pid = hello->pid,
                                              .path = hello->path,
                                              .host = hello->host,
                                              .arguments = hello->arguments,
                                              .argument_count = hello->argument_count,
                                              .variables = hello->variables,
                                              .variable_count = hello->variable_count,
                                              .clock_ns = hello->clock_ns,
                                              .wall_ns = hello->wall_ns,
                                              .connected = true});
    line_identity_expect(&run->identities, hello->instance, number);
    hello->path = hello->host = NULL;
    hello->arguments = hello->variables = NULL;
    hello->argument_count = hello->variable_count = 0;
    run->programs.connected++;
    run->sessions.items = array_reserve(run->sessions.items, &run->sessions.room, number + 1,
                                        sizeof *run->sessions.items);
    while (run->sessions.count <= number)
        run->sessions.items[run->sessions.count++] = NULL;
    run->sessions.items[number] = session;
    run->sessions.free = program_session_free;
    return session;
}

/* Returns the site of the innermost caller in a record's call stack, or an end of site_table;
 * 0: it has no call stack. */
static uint32_t session_caller(struct program_session *session, const struct ring_slot *slot)
{
    static const uint32_t ends[STACK_ENDS] = {
        [STACK_WHOLE] = 0, [STACK_CUT] = SITE_CUT, [STACK_UNKNOWN] = SITE_UNKNOWN};
    const struct slot_stack *stack = slot_stack_of(slot);
    uint32_t caller = stack ? ends[stack->end] : 0;
    for (uint32_t i = stack ? stack->count : 0; i > 0; i--)
        caller =
            site_table_add(&session->run->sites, (struct site){.process = session->process,
                                                               .address = stack->callers[i - 1],
                                                               .caller = caller});
    return caller;
}

/* Returns the site at which a record was made: with the calls that led there, where it bears
 * them. */
static uint32_t session_site(struct program_session *session, uint32_t thread,
                             const struct ring_slot *slot)
{
    bool within = slot_has_context(slot);
    struct site site = {.process = session->process,
                        .thread = within ? thread : 0,
                        .address = slot->site,
                        .context = within ? slot->count : 0,
                        .caller = session_caller(session, slot)};
    struct recent_site *recent =
        &session
             ->sites[((site.address >> 1) + site.context + site.thread + site.caller) % SITE_CACHE];
    if (recent->address != site.address || recent->thread != site.thread ||
        recent->context != site.context || recent->caller != site.caller)
        *recent = (struct recent_site){.address = site.address,
                                       .thread = site.thread,
                                       .context = site.context,
                                       .caller = site.caller,
                                       .site = site_table_add(&session->run->sites, site)};
    return recent->site;
}

/* ---- events ---- */

static bool session_is_implied(const struct program_session *session, struct event_id last,
                               struct event_id at)
{
    return last.line && last.line == at.line && last.number < at.number &&
           !order_line_shared(session->run->order, at.line);
}

static void accept_point(struct program_session *session, struct thread_state *state,
                         struct arrival *a, struct arrival *b)
{
    bool known = session_is_implied(session, state->last[0], a->at) ||
                 session_is_implied(session, state->last[1], a->at) ||
                 (b && (session_is_implied(session, state->last[0], b->at) ||
                        session_is_implied(session, state->last[1], b->at)));
    if (!known)
        a->after[0] = state->last[0];
    if (!a->doubt)
        a->doubt = state->doubt;
    state->doubt = UNTRACED_NONE;
    state->last[0] = a->at;
    state->last[1] = b ? b->at : (struct event_id){0, 0};
    if (a->time_ns > session->run->clock.last_ns)
        session->run->clock.last_ns = a->time_ns;
    if (b)
        order_insert_pair(session->run->order, a, b);
    else
        order_insert(session->run->order, a);
}

static uint64_t shape_last_on_a(const struct event_shape *shape, uint64_t first)
{
    uint64_t next = first;
    for (unsigned i = 0; i < shape->count; i++)
        next += shape->steps[i].type_a != 0;
    return next - 1;
}

/* Sets all members but thread, site and about, one by one: to clear the whole first takes longer
 * than all else that is done here. */
static inline void session_begin_arrival(const struct program_session *session, struct arrival *to,
                                         const struct ring_slot *slot, uint32_t line,
                                         uint64_t number)
{
    to->at.line = line;
    to->at.number = number;
    to->type = 0;
    to->time_ns = (int64_t)(slot->time_ns - session->run->clock.start_ns);
    to->partners = NULL;
    to->partner_count = 0;
    to->batch = session->batch;
    to->group_size = 0;
    to->relation = RELATION_NONE;
    to->closes = to->keyed = to->stream = to->sends = false;
    to->doubt = (uint8_t)SLOT_DOUBT_OF(slot->flags);
    to->waits = 0;
    to->after[0] = (struct event_id){0, 0};
    to->after[1] = (struct event_id){0, 0};
    to->key[0] = to->key[1] = 0;
}

/* Takes over the arrival, with what is the same in all steps; own: the thread's line.  Each step
 * sets what differs; an arrival that was just written is not copied, which would wait for that. */
static void accept_compound(struct program_session *session, struct thread_state *state,
                            const struct ring_slot *slot, uint32_t own, struct arrival *on_a)
{
    const struct event_shape *shape = session->shapes[slot->shape - SHAPE_COMPOUND];
    uint32_t about = on_a->about;
    struct arrival on_b;
    session_begin_arrival(session, &on_b, slot, program_session_line(session, slot->line_b),
                          slot->number_b);
    on_b.thread = own;
    on_b.site = on_a->site;
    uint64_t last = slot->flags & SLOT_CLOSES ? shape_last_on_a(shape, slot->number_a) : 0;
    on_a->partners = &on_b.at;
    on_b.partners = &on_a->at;
    for (unsigned i = 0; i < shape->count; i++) {
        const struct shape_step *step = &shape->steps[i];
        bool paired = step->type_a && step->type_b;
        on_a->type = step->type_a ? session->types[step->type_a] : 0;
        on_b.type = step->type_b ? session->types[step->type_b] : 0;
        on_a->closes = last && on_a->at.number == last;
        on_a->relation = on_b.relation = paired ? RELATION_SYNC : RELATION_NONE;
        on_a->partner_count = on_b.partner_count = paired;
        on_a->about = paired ? 0 : step->flags & STEP_ABOUT_B ? on_b.at.line : about;
        on_b.about = paired ? 0 : step->flags & STEP_ABOUT_A ? on_a->at.line : about;
        on_a->after[0] = (struct event_id){0, 0};
        on_b.after[0] = (struct event_id){0, 0};
        accept_point(session, state, step->type_a ? on_a : &on_b, paired ? &on_b : NULL);
        on_a->doubt = on_b.doubt = UNTRACED_NONE; /* what follows is after it */
        on_a->at.number += step->type_a != 0;
        on_b.at.number += step->type_b != 0;
    }
}

/* What follows a record, behind what was measured and the call stack. */
static struct decoder payload_of(const struct ring_slot *slot)
{
    size_t before = slot_prefix_bytes(slot);
    return decoder_init((const char *)(slot + 1) + before, slot->payload_bytes - before);
}

static bool read_partners(const struct program_session *session, const struct ring_slot *slot,
                          struct event_id *refs, size_t *count)
{
    struct decoder in = payload_of(slot);
    while (decoder_remaining(&in) >= 16 && *count < LIMIT_PARTNERS) {
        uint32_t line = program_session_line(session, decode_u32(&in));
        decode_u32(&in);
        refs[(*count)++] = (struct event_id){line, decode_u64(&in)};
        if (!line)
            return false;
    }
    return decoder_finish(&in);
}

/* The second halves of all its keys, on line 0. */
static struct event_id *keys_of(const struct ring_slot *slot, size_t *count)
{
    struct decoder in = payload_of(slot);
    struct event_id *keys = xmalloc((1 + slot->payload_bytes / 16) * sizeof *keys);
    keys[(*count)++] = (struct event_id){0, slot->number_b};
    while (decoder_remaining(&in) >= 16 && *count < LIMIT_PARTNERS) {
        decode_u64(&in);
        keys[(*count)++] = (struct event_id){0, decode_u64(&in)};
    }
    if (decoder_finish(&in))
        return keys;
    free(keys);
    return NULL;
}

/* Takes over the arrival, with what is the same in all records. */
static bool accept_single(struct program_session *session, struct thread_state *state,
                          const struct ring_slot *slot, struct arrival *base, const char **why)
{
    struct event_id *partners = NULL;
    size_t count = 0;
    bool ok = true;
    base->type = session->types[slot->shape];
    base->relation = slot->flags & SLOT_RELATION;
    base->closes = slot->flags & SLOT_CLOSES;
    base->sends = slot->flags & SLOT_SENDS && base->relation == RELATION_RECEIVE;
    if (base->relation >= RELATION_COUNT) {
        *why = "a slot has a relation that does not exist";
        return false;
    }
    if (base->relation == RELATION_GROUP && (slot->count == 0 || slot->count > LIMIT_GROUP)) {
        *why = "a group has no members or too many";
        return false;
    }
    if ((slot->flags & SLOT_KEYED) || base->relation == RELATION_GROUP) {
        base->keyed = true;
        base->key[0] = slot->key;
        base->key[1] = slot->number_b;
        base->group_size = slot->count;
        base->stream = slot->flags & SLOT_STREAM &&
                       (base->relation == RELATION_SEND || base->relation == RELATION_RECEIVE);
        if (base->relation == RELATION_RECEIVE && !base->stream && slot->flags & SLOT_PARTNERS) {
            partners = keys_of(slot, &count);
            ok = partners != NULL;
            if (!ok)
                *why = "a slot has keys of a broken size";
        }
    } else if (base->relation == RELATION_SYNC || base->relation == RELATION_RECEIVE ||
               base->relation == RELATION_ORDER) {
        partners = xmalloc((1 + slot->payload_bytes / 16) * sizeof *partners);
        partners[count++] =
            (struct event_id){program_session_line(session, slot->line_b), slot->number_b};
        ok = partners[0].line != 0;
        if (ok && slot->flags & SLOT_PARTNERS)
            ok = read_partners(session, slot, partners, &count);
        if (!ok)
            *why = "a slot has a partner on no line";
        if (ok && base->relation == RELATION_ORDER)
            base->after[1] = partners[0];
    }
    base->partners = partners;
    base->partner_count = (uint32_t)count;
    if (ok)
        accept_point(session, state, base, NULL);
    free(partners);
    return ok;
}

static void add_payload_text(struct program_session *session, const struct ring_slot *slot,
                             struct event_id at)
{
    struct decoder in = payload_of(slot);
    char *text = text_readable((const char *)in.data, in.size, true);
    if (text)
        run_add_text(session->run, at, text);
    free(text);
}

static bool session_refers_to_others(const struct program_session *session,
                                     const struct ring_slot *slot)
{
    return program_session_is_foreign(session, slot->line_a) ||
           (slot->shape >= SHAPE_COMPOUND && program_session_is_foreign(session, slot->line_b));
}

static bool accept_record(struct program_session *session, struct thread_state *state,
                          uint32_t thread, const struct ring_slot *slot, const char **why)
{
    if (slot_prefix_bytes(slot) == SIZE_MAX) {
        *why = "a slot has an impossible measurement or call stack";
        return false;
    }
    uint32_t own = program_session_line(session, thread);
    struct arrival base;
    session_begin_arrival(session, &base, slot, program_session_line(session, slot->line_a),
                          slot->number_a);
    base.about = program_session_line(session, slot->about);
    base.thread = own;
    base.site = session_site(session, own, slot);
    session->run->generation++;
    if (session->high_count && session_refers_to_others(session, slot)) {
        *why = "records events on a line of another program";
        return false;
    }
    if (slot->number_a == 0 || slot->number_a > INT64_MAX || slot->number_b > INT64_MAX) {
        if (!(slot->flags & SLOT_KEYED) && (slot->flags & SLOT_RELATION) != RELATION_GROUP) {
            *why = "a slot has an invalid number";
            return false;
        }
    }
    if (base.doubt >= UNTRACED_COUNT) {
        *why = "a slot has an unknown reason";
        return false;
    }
    if (slot->flags & SLOT_MEASURED && !session->stale)
        program_session_decode_measured(session, thread, slot, base.at);
    if (slot->flags & SLOT_TEXT && !session->stale)
        add_payload_text(session, slot, base.at);
    if (slot->shape >= SHAPE_COMPOUND) {
        accept_compound(session, state, slot, own, &base);
        return true;
    }
    return accept_single(session, state, slot, &base, why);
}

static void session_step(struct program_session *session, size_t slots);

bool program_session_decode_message(struct program_session *session, unsigned type, uint32_t thread,
                                    const uint8_t *body, size_t size, const char **why)
{
    struct decoder in = decoder_init(body, size);
    bool ok = handle_declaration(session, type, &in, thread);
    if (!ok)
        *why = in.error;
    else
        session_step(session, 1);
    return ok;
}

/* ---- slots ---- */

/* Takes slots, about `most`, until one must wait, for *missing; how many were taken, or SIZE_MAX
 * with error. */
static size_t session_apply_slots(struct program_session *session, struct thread_state *state,
                                  const struct ring_slot *slots, size_t count,
                                  struct missing_declaration *missing, const char **why)
{
    size_t i = 0;
    while (i < count) {
        const struct ring_slot *slot = &slots[i];
        size_t size = slot_next_record(slot, count - i);
        if (!size) {
            *why = "a slot announces more data than follows";
            return SIZE_MAX;
        }
        if (!declarations_complete(session, slot, missing))
            break;
        if (slot->shape == SHAPE_CONTROL) {
            struct decoder in = decoder_init(slot + 1, slot->payload_bytes);
            if (!handle_declaration(session, slot->flags, &in, state->thread)) {
                *why = in.error;
                return SIZE_MAX;
            }
        } else if (!accept_record(session, state, state->thread, slot, why)) {
            return SIZE_MAX;
        }
        i += size;
    }
    return i;
}

/* ---- slots that wait for an announcement by another thread ---- */

static void hold_slots(struct program_session *session, struct thread_state *state,
                       const struct ring_slot *slots, size_t count)
{
    if (!state->held_count)
        state->held_epoch = session->batch;
    if (state->held_begin) { /* what was taken makes room */
        memmove(state->held, state->held + state->held_begin, state->held_count * sizeof *slots);
        state->held_begin = 0;
    }
    state->held = array_reserve(state->held, &state->held_room, state->held_count + count,
                                sizeof *state->held);
    memcpy(state->held + state->held_count, slots, count * sizeof *slots);
    state->held_count += count;
    session->held_total += count;
}

static void wait_for(struct program_session *session, struct thread_state *state,
                     struct missing_declaration missing)
{
    state->next = map_get(&session->waiting, missing.what, missing.code);
    map_put(&session->waiting, missing.what, missing.code, state);
}

/* Continues decoding the held slots of one thread. */
static void release_one(struct program_session *session, struct thread_state *state)
{
    const char *why;
    struct missing_declaration missing;
    uint32_t now = session->batch;
    session->batch = state->held_epoch; /* there they lie in the journal */
    size_t n = state->held_count,
           taken = session_apply_slots(session, state, state->held + state->held_begin, n, &missing,
                                       &why);
    session->batch = now;
    if (taken == SIZE_MAX)
        taken = n; /* a bad slot: what follows it cannot be read */
    state->held_begin = taken < n ? state->held_begin + taken : 0;
    state->held_count -= taken;
    session->held_total -= taken;
    if (taken < n)
        wait_for(session, state, missing);
}

/* Decodes other threads' slots as soon as their declaration is there: lines are numbered in the
 * order of declaration, and a later reader of the journal must number them alike. */
static void release_ready(struct program_session *session)
{
    if (session->releasing)
        return;
    session->releasing = true;
    while (session->ready_count)
        for (struct map_walk walk = {.map = &session->threads};
             session->ready_count && map_next(&walk);) {
            struct thread_state *state = walk.value;
            if (!state->ready)
                continue;
            state->ready = false;
            session->ready_count--;
            release_one(session, state);
        }
    session->releasing = false;
}

#define LOOKS                                                                                      \
    1000u /* and some for each slot: what one batch sets going is mostly worked off with it */

static void session_step(struct program_session *session, size_t slots)
{
    release_ready(session);
    order_unpin(session->run->order);
    if (session->run->defers_work)
        order_step(session->run->order, LOOKS + 4 * (uint64_t)slots);
}

static bool session_apply_or_hold(struct program_session *session, uint32_t thread,
                                  const struct ring_slot *slots, size_t count, const char **why)
{
    struct thread_state *state = thread_state_for(session, thread);
    struct missing_declaration missing;
    bool waits = state->held_count > 0;
    size_t taken = waits ? 0 : session_apply_slots(session, state, slots, count, &missing, why);
    if (taken == SIZE_MAX)
        return false;
    if (taken < count) {
        if ((session->held_total + count) * SLOT_BYTES > LIMIT_HELD_BYTES) {
            *why = "refers to lines or types that it never declares";
            return false;
        }
        hold_slots(session, state, slots + taken, count - taken);
        if (!waits)
            wait_for(session, state, missing);
    }
    return true;
}

bool program_session_decode_slots(struct program_session *session, uint32_t thread,
                                  const struct ring_slot *slots, size_t count, const char **why)
{
    order_pin(session->run->order);
    bool ok = session_apply_or_hold(session, thread, slots, count, why);
    session_step(session, count);
    return ok;
}

/* ---- the end ---- */

void program_session_batch(struct program_session *session, uint32_t epoch, bool stale)
{
    session->batch = epoch;
    session->stale = stale;
    order_read_again(session->run->order, stale);
}

void program_session_free(struct program_session *session)
{
    if (!session)
        return;
    session->run->sessions.items[session->number] = NULL;
    program_session_name_sums(session);
    program_session_name_metrics(session);
    for (struct map_walk walk = {.map = &session->threads}; map_next(&walk);) {
        struct thread_state *state = walk.value;
        free(state->held);
        free(state);
    }
    for (size_t i = 0; i < LIMIT_SHAPES; i++)
        free(session->shapes[i]);
    map_free(&session->threads);
    map_free(&session->sparse_lines);
    map_free(&session->foreign);
    free(session->highs);
    map_free(&session->waiting);
    free(session->lines);
    free(session->own_lines);
    free(session->early);
    free(session->switches);
    free(session);
}

void program_session_close(struct program_session *session)
{
    struct run *run = session->run;
    for (struct map_walk walk = {.map = &session->threads}; map_next(&walk);) {
        const struct thread_state *state = walk.value;
        if (state->held_count && !program_session_process(session)->left)
            order_report(run->order,
                         (struct event_id){program_session_line(session, (uint32_t)walk.a), 0},
                         (struct event_id){0, 0}, "names unknown lines or types");
    }
    size_t gone = 0; /* of a line that others have, too, the missing numbers may be theirs */
    for (size_t i = 0; i < session->own_line_count; i++)
        if (!order_line_is_evicted(run->order, session->own_lines[i]) &&
            --run_line_at(run, session->own_lines[i])->programs == 0)
            session->own_lines[gone++] = session->own_lines[i];
    order_end_of_input(run->order, session->own_lines, gone);
    program_session_process(session)->connected = false;
    run->programs.leaving++;
    run->generation++;
    program_session_free(session);
}
