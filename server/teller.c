#define _GNU_SOURCE
#include "server/teller.h"

#include "server/keep.h"

#include "server/order/map.h"
#include "wire/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct shape {
    unsigned count;
    bool two_lines;
    struct step steps[LIMIT_STEPS];
};

/* A thread, by the code of its own line: its last point, and slots that wait for
 * an announcement by another thread. */
struct books {
    struct ref last[2];
    struct slot *held;
    size_t held_count, held_room;
};

struct teller {
    struct run *run;
    uint32_t session, process;
    uint64_t instance;
    uint32_t types[LIMIT_TYPES]; /* code -> type of the run */
    struct shape *shapes[LIMIT_SHAPES];
    struct map lines;   /* code -> line of the run */
    struct map threads; /* code of own line -> struct books */
    uint32_t *own;      /* lines of the run that this program opened */
    size_t own_count, own_room;
    size_t held_total;
    bool releasing; /* held slots are being gone through */
};

struct run *teller_run(const struct teller *teller) { return teller->run; }
uint32_t teller_session(const struct teller *teller) { return teller->session; }

struct run_process *teller_process(const struct teller *teller)
{
    return &teller->run->processes[teller->process];
}

/* ---- HELLO ---- */

bool hello_read(struct in *in, struct hello *hello)
{
    *hello = (struct hello){0};
    if (get_u32(in) != HELLO_MAGIC)
        in_fail(in, "HELLO without its magic number");
    hello->version = get_u32(in);
    if (hello->version != WIRE_VERSION)
        in_fail(in, "speaks another version of the protocol");
    hello->role = get_u8(in);
    if (hello->role == ROLE_VIEWER)
        return in_done(in);
    if (hello->role != ROLE_PROGRAM)
        in_fail(in, "is neither a program nor a viewer");
    hello->run = get_string(in, 256);
    hello->environment = get_string(in, 256);
    hello->path = get_string(in, LIMIT_TEXT_BYTES);
    hello->host = get_string(in, 256);
    hello->pid = get_u32(in);
    hello->instance = get_u64(in);
    hello->clock_ns = get_u64(in);
    hello->wall_ns = get_u64(in);
    uint32_t count = get_u32(in);
    if (!in->error && count > in_left(in) / 4)
        in_fail(in, "more arguments than bytes");
    hello->arguments = in->error ? NULL : calloc(count + 1, sizeof *hello->arguments);
    for (; hello->arguments && hello->argument_count < count; hello->argument_count++)
        hello->arguments[hello->argument_count] = get_string(in, LIMIT_TEXT_BYTES);
    if (!in->error && !*hello->run)
        in_fail(in, "names no run");
    return in_done(in);
}

void hello_free(struct hello *hello)
{
    free(hello->run);
    free(hello->environment);
    free(hello->path);
    free(hello->host);
    for (size_t i = 0; i < hello->argument_count; i++)
        free(hello->arguments[i]);
    free(hello->arguments);
    *hello = (struct hello){0};
}

struct teller *teller_new(struct run *run, uint32_t session, struct hello *hello)
{
    struct teller *teller = calloc(1, sizeof *teller);
    if (!teller)
        return NULL;
    teller->run = run;
    teller->session = session;
    teller->instance = hello->instance;
    teller->process = run_process(run, (struct run_process){.pid = hello->pid,
                                                            .path = hello->path,
                                                            .host = hello->host,
                                                            .arguments = hello->arguments,
                                                            .argument_count = hello->argument_count,
                                                            .clock_ns = hello->clock_ns,
                                                            .wall_ns = hello->wall_ns,
                                                            .connected = true});
    hello->path = hello->host = NULL;
    hello->arguments = NULL;
    hello->argument_count = 0;
    run->connected++;
    return teller;
}

static struct books *books_of(struct teller *teller, uint32_t thread)
{
    struct books *books = map_get(&teller->threads, thread, 0);
    if (!books) {
        books = calloc(1, sizeof *books);
        if (!books)
            abort();
        map_put(&teller->threads, thread, 0, books);
    }
    return books;
}

static uint32_t line_of(const struct teller *teller, uint32_t code)
{
    return code ? (uint32_t)(uintptr_t)map_get(&teller->lines, code, 0) : 0;
}

/* ---- events ---- */

static bool implied(const struct teller *teller, struct ref last, struct ref at)
{
    return last.line && last.line == at.line && last.number < at.number &&
           !order_line_shared(teller->run->order, at.line);
}

static void accept_point(struct teller *teller, struct books *books, struct arrival *a,
                         struct arrival *b)
{
    bool known = implied(teller, books->last[0], a->at) || implied(teller, books->last[1], a->at) ||
                 (b && (implied(teller, books->last[0], b->at) ||
                        implied(teller, books->last[1], b->at)));
    if (!known)
        a->after[0] = books->last[0];
    books->last[0] = a->at;
    books->last[1] = b ? b->at : (struct ref){0, 0};
    if (a->time_ns > teller->run->last_ns)
        teller->run->last_ns = a->time_ns;
    order_accept(teller->run->order, a);
    if (b)
        order_accept(teller->run->order, b);
}

static void accept_compound(struct teller *teller, struct books *books, const struct slot *slot,
                            struct arrival base)
{
    const struct shape *shape = teller->shapes[slot->shape - SHAPE_COMPOUND];
    struct ref a = {base.at.line, slot->number_a}, b = {line_of(teller, slot->line_b), slot->number_b};
    for (unsigned i = 0; i < shape->count; i++) {
        const struct step *step = &shape->steps[i];
        struct arrival on_a = base, on_b = base;
        on_a.type = step->type_a ? teller->types[step->type_a] : 0;
        on_b.type = step->type_b ? teller->types[step->type_b] : 0;
        on_a.at = a;
        on_b.at = b;
        if (step->type_a && step->type_b) {
            on_a.relation = on_b.relation = RELATION_SYNC;
            on_a.partners = &b;
            on_b.partners = &a;
            on_a.partner_count = on_b.partner_count = 1;
            on_a.about = on_b.about = 0;
            accept_point(teller, books, &on_a, &on_b);
        } else if (step->type_a) {
            on_a.about = step->flags & STEP_ABOUT_B ? b.line : base.about;
            accept_point(teller, books, &on_a, NULL);
        } else {
            on_b.about = step->flags & STEP_ABOUT_A ? a.line : base.about;
            accept_point(teller, books, &on_b, NULL);
        }
        a.number += step->type_a != 0;
        b.number += step->type_b != 0;
    }
}

static bool read_partners(const struct teller *teller, const struct slot *slot, struct ref *refs,
                          size_t *count)
{
    struct in in = in_from(slot + 1, slot->payload_bytes);
    while (in_left(&in) && *count < LIMIT_PARTNERS) {
        uint32_t line = line_of(teller, get_u32(&in));
        get_u32(&in);
        refs[(*count)++] = (struct ref){line, get_u64(&in)};
        if (!line)
            return false;
    }
    return !in.error;
}

static bool accept_single(struct teller *teller, struct books *books, const struct slot *slot,
                          struct arrival base, const char **error)
{
    struct ref *partners = NULL;
    size_t count = 0;
    bool ok = true;
    base.type = teller->types[slot->shape];
    base.relation = slot->flags & SLOT_RELATION;
    base.closes = slot->flags & SLOT_CLOSES;
    if (base.relation >= RELATION_COUNT) {
        *error = "a slot has a relation that does not exist";
        return false;
    }
    if (base.relation == RELATION_GROUP && (slot->count == 0 || slot->count > LIMIT_GROUP)) {
        *error = "a group has no members or too many";
        return false;
    }
    if ((slot->flags & SLOT_KEYED) || base.relation == RELATION_GROUP) {
        base.keyed = true;
        base.key[0] = slot->key;
        base.key[1] = slot->number_b;
        base.group_size = slot->count;
    } else if (base.relation == RELATION_SYNC || base.relation == RELATION_RECEIVE ||
               base.relation == RELATION_ORDER) {
        partners = malloc((1 + slot->payload_bytes / 16) * sizeof *partners);
        if (!partners)
            abort();
        partners[count++] = (struct ref){line_of(teller, slot->line_b), slot->number_b};
        ok = partners[0].line != 0;
        if (ok && slot->flags & SLOT_PARTNERS)
            ok = read_partners(teller, slot, partners, &count);
        if (!ok)
            *error = "a slot has a partner on no line";
        if (ok && base.relation == RELATION_ORDER)
            base.after[1] = partners[0];
    }
    base.partners = partners;
    base.partner_count = (uint32_t)count;
    if (ok)
        accept_point(teller, books, &base, NULL);
    free(partners);
    return ok;
}

static void add_payload_text(struct teller *teller, const struct slot *slot, struct ref at)
{
    char *text = strndup((const char *)(slot + 1), slot->payload_bytes);
    if (text)
        run_add_text(teller->run, at, text);
    free(text);
}

static bool accept_record(struct teller *teller, uint32_t thread, const struct slot *slot,
                          const char **error)
{
    struct books *books = books_of(teller, thread);
    struct arrival base = {
        .at = {line_of(teller, slot->line_a), slot->number_a},
        .about = line_of(teller, slot->about),
        .thread = line_of(teller, thread),
        .site = run_site(teller->run, teller->process, slot->site),
        .time_ns = (int64_t)(slot->time_ns - teller->run->start_ns)};
    teller->run->generation++;
    if (slot->number_a == 0 || slot->number_a > INT64_MAX || slot->number_b > INT64_MAX) {
        if (!(slot->flags & SLOT_KEYED) && (slot->flags & SLOT_RELATION) != RELATION_GROUP) {
            *error = "a slot has an impossible number";
            return false;
        }
    }
    if (slot->flags & SLOT_TEXT)
        add_payload_text(teller, slot, base.at);
    if (slot->shape >= SHAPE_COMPOUND) {
        accept_compound(teller, books, slot, base);
        return true;
    }
    return accept_single(teller, books, slot, base, error);
}

/* ---- controls and messages ---- */

static bool read_type(struct teller *teller, struct in *in)
{
    uint16_t code = get_u16(in);
    char *name = get_string(in, LIMIT_TEXT_BYTES);
    uint16_t count = get_u16(in);
    if (!in->error && (code == 0 || code >= LIMIT_TYPES || !*name))
        in_fail(in, "a type has no code or no name");
    if (!in->error) {
        uint32_t type = teller->types[code] = run_type(teller->run, name);
        for (unsigned i = 0; i < count && !in->error; i++) {
            uint16_t earlier = get_u16(in);
            if (in->error || earlier >= LIMIT_TYPES || !teller->types[earlier])
                in_fail(in, "a type comes after one that was not announced");
            else
                order_after(teller->run->order, type, teller->types[earlier]);
        }
    }
    free(name);
    return in_done(in);
}

static bool read_shape(struct teller *teller, struct in *in)
{
    uint16_t code = get_u16(in), count = get_u16(in);
    struct shape shape = {.count = count};
    if (code < SHAPE_COMPOUND || code - SHAPE_COMPOUND >= LIMIT_SHAPES || count == 0 ||
        count > LIMIT_STEPS)
        in_fail(in, "a shape has a bad code or number of steps");
    for (unsigned i = 0; i < count && !in->error; i++) {
        struct step *step = &shape.steps[i];
        step->type_a = get_u16(in);
        step->type_b = get_u16(in);
        step->flags = get_u32(in);
        shape.two_lines |= step->type_b != 0;
        if (step->type_a >= LIMIT_TYPES || step->type_b >= LIMIT_TYPES ||
            !(step->type_a | step->type_b) || (step->type_a && !teller->types[step->type_a]) ||
            (step->type_b && !teller->types[step->type_b]))
            in_fail(in, "a shape names a type that was not announced");
    }
    if (!in_done(in))
        return false;
    struct shape **at = &teller->shapes[code - SHAPE_COMPOUND];
    if (!*at)
        *at = malloc(sizeof shape);
    if (!*at)
        abort();
    **at = shape;
    return true;
}

static bool read_line(struct teller *teller, struct in *in, uint32_t thread)
{
    uint32_t code = get_u32(in);
    uint64_t high = get_u64(in), low = get_u64(in);
    uint8_t flags = get_u8(in);
    struct run_line facts = {.process = teller->process};
    facts.object = get_u64(in);
    facts.entry = get_u64(in);
    char *kind = get_string(in, LIMIT_TEXT_BYTES);
    facts.name = get_string(in, LIMIT_TEXT_BYTES);
    if (!in->error && (code == 0 || !*kind))
        in_fail(in, "a line has no code or no kind");
    bool known = !in->error && line_of(teller, code);
    if (known && teller->run->journal)
        in_fail(in, "a line was announced twice"); /* in a file: by its checkpoint, too */
    if (in_done(in) && !known) {
        uint32_t line = run_line(teller->run, high, low, kind, flags & 1, facts);
        if (!line) {
            in_fail(in, "there are too many lines");
        } else {
            map_put(&teller->lines, code, 0, (void *)(uintptr_t)line);
            teller->own =
                grow(teller->own, &teller->own_room, teller->own_count + 1, sizeof *teller->own);
            teller->own[teller->own_count++] = line;
            struct ref by = books_of(teller, thread)->last[0];
            if ((flags & 2) && by.line)
                order_opened_by(teller->run->order, line, by);
        }
    }
    free(kind);
    free(facts.name);
    return !in->error;
}

static bool read_named(struct teller *teller, struct in *in, unsigned type)
{
    uint32_t line = line_of(teller, get_u32(in));
    uint64_t number = type == MESSAGE_NAME ? 0 : get_u64(in);
    if (type == MESSAGE_LOST) {
        uint64_t count = get_u64(in);
        if (in_done(in) && line)
            order_lost(teller->run->order, line, number, count);
    } else {
        char *text = get_string(in, LIMIT_TEXT_BYTES);
        if (in_done(in) && line && type == MESSAGE_NAME)
            run_rename(teller->run, line, text);
        else if (!in->error && line)
            run_add_text(teller->run, (struct ref){line, number}, text);
        free(text);
    }
    if (!in->error && !line)
        in_fail(in, "speaks of a line that was not announced");
    return !in->error;
}

static bool read_module(struct teller *teller, struct in *in)
{
    struct run_process *process = teller_process(teller);
    struct run_module m = {0};
    m.start = get_u64(in);
    m.end = get_u64(in);
    m.bias = get_u64(in);
    m.build_id_bytes = get_u32(in);
    if (m.build_id_bytes > sizeof m.build_id)
        in_fail(in, "a build-id is too long");
    const uint8_t *id = get_bytes(in, m.build_id_bytes);
    if (id)
        memcpy(m.build_id, id, m.build_id_bytes);
    m.path = get_string(in, LIMIT_TEXT_BYTES);
    if (in_done(in) && process->module_count >= LIMIT_MODULES)
        in_fail(in, "there are too many modules");
    if (in->error) {
        free(m.path);
        return false;
    }
    process->modules = grow(process->modules, &process->module_room, process->module_count + 1,
                            sizeof *process->modules);
    process->modules[process->module_count++] = m;
    return true;
}

static bool read_describe(struct teller *teller, struct in *in)
{
    char *name = get_string(in, 256), *path = NULL;
    /* a trace file brings its own descriptions */
    bool plain = in_done(in) && *name && !strchr(name, '/');
    if (!in->error && !plain)
        in_fail(in, "names no environment");
    char *text = plain && teller->run->journal ? target_load(name, &path) : NULL;
    if (text && run_describe(teller->run, name, text)) {
        struct out out = {0};
        put_string(&out, name);
        put_string(&out, text);
        struct chunk chunk = {.kind = CHUNK_TARGET, .session = teller->session, .data = out.data,
                              .size = (uint32_t)out.size};
        journal_append(teller->run->journal, chunk);
        keep_fact(teller->run, chunk);
        out_free(&out);
    } else if (plain && !text && teller->run->journal) {
        log_line("there is no description of the environment \"%s\"", name);
    }
    free(text);
    free(path);
    free(name);
    return !in->error;
}

/* What later chunks rely on must outlive forgetting. */
static void keep(struct teller *teller, unsigned type, const struct in *in, uint32_t thread)
{
    if (type == MESSAGE_MODULE || type == MESSAGE_TYPE || type == MESSAGE_SHAPE ||
        type == MESSAGE_LINE || type == MESSAGE_NAME)
        keep_fact(teller->run, (struct chunk){.kind = (uint16_t)type, .session = teller->session,
                                              .thread = thread, .data = in->data,
                                              .size = (uint32_t)in->size});
}

static bool tell(struct teller *teller, unsigned type, struct in *in, uint32_t thread)
{
    keep(teller, type, in, thread);
    switch (type) {
    case MESSAGE_MODULE:
        return read_module(teller, in);
    case MESSAGE_TYPE:
        return read_type(teller, in);
    case MESSAGE_SHAPE:
        return read_shape(teller, in);
    case MESSAGE_LINE:
        return read_line(teller, in, thread);
    case MESSAGE_NAME:
    case MESSAGE_TEXT:
    case MESSAGE_LOST:
        return read_named(teller, in, type);
    case MESSAGE_DESCRIBE:
        return read_describe(teller, in);
    default:
        in_fail(in, "is no message of a program");
        return false;
    }
}

static void release_held(struct teller *teller);

bool teller_message(struct teller *teller, unsigned type, uint32_t thread, const uint8_t *body,
                    size_t size, const char **error)
{
    struct in in = in_from(body, size);
    bool ok = tell(teller, type, &in, thread);
    if (!ok)
        *error = in.error;
    else
        release_held(teller);
    return ok;
}

/* ---- slots ---- */

/* True if all that the slot names was announced. */
static bool announced(const struct teller *teller, const struct slot *slot)
{
    if (slot->shape == SHAPE_CONTROL) {
        struct in in = in_from(slot + 1, slot->payload_bytes);
        bool names_line = slot->flags == MESSAGE_NAME || slot->flags == MESSAGE_TEXT ||
                          slot->flags == MESSAGE_LOST;
        return !names_line || line_of(teller, get_u32(&in));
    }
    bool keyed = (slot->flags & SLOT_KEYED) || (slot->flags & SLOT_RELATION) == RELATION_GROUP;
    if (!line_of(teller, slot->line_a) ||
        (slot->line_b && !keyed && !line_of(teller, slot->line_b)) ||
        (slot->about && !line_of(teller, slot->about)))
        return false;
    if (slot->shape >= SHAPE_COMPOUND) {
        unsigned i = slot->shape - SHAPE_COMPOUND;
        const struct shape *shape = i < LIMIT_SHAPES ? teller->shapes[i] : NULL;
        return shape && (slot->line_b || !shape->two_lines);
    }
    if (slot->flags & SLOT_PARTNERS) {
        struct in in = in_from(slot + 1, slot->payload_bytes);
        while (in_left(&in) >= 16) {
            if (!line_of(teller, get_u32(&in)))
                return false;
            get_bytes(&in, 12);
        }
    }
    return slot->shape < LIMIT_TYPES && teller->types[slot->shape];
}

/* Takes slots until one must wait; how many were taken, or SIZE_MAX with error. */
static size_t take_slots(struct teller *teller, uint32_t thread, const struct slot *slots,
                         size_t count, const char **error)
{
    size_t i = 0;
    while (i < count) {
        const struct slot *slot = &slots[i];
        size_t follow = slot_follow(slot->payload_bytes);
        if (slot->payload_bytes > LIMIT_PAYLOAD_BYTES || follow > count - i - 1) {
            *error = "a slot says that more follows than there is";
            return SIZE_MAX;
        }
        if (!announced(teller, slot))
            break;
        if (slot->shape == SHAPE_CONTROL) {
            struct in in = in_from(slot + 1, slot->payload_bytes);
            if (!tell(teller, slot->flags, &in, thread)) {
                *error = in.error;
                return SIZE_MAX;
            }
        } else if (!accept_record(teller, thread, slot, error)) {
            return SIZE_MAX;
        }
        i += 1 + follow;
    }
    return i;
}

static void hold(struct teller *teller, struct books *books, const struct slot *slots,
                 size_t count)
{
    books->held = grow(books->held, &books->held_room, books->held_count + count,
                       sizeof *books->held);
    memcpy(books->held + books->held_count, slots, count * sizeof *slots);
    books->held_count += count;
    teller->held_total += count;
}

/* Whatever was announced may let other threads' slots go on. */
static void release_held(struct teller *teller)
{
    if (teller->releasing)
        return;
    teller->releasing = true;
    for (bool again = teller->held_total > 0; again;) {
        again = false;
        for (size_t i = 0; i < teller->threads.room; i++) {
            struct books *books = teller->threads.entries[i].value;
            if (!books || !books->held_count)
                continue;
            const char *error;
            size_t n = books->held_count,
                   taken = take_slots(teller, (uint32_t)teller->threads.entries[i].a, books->held,
                                      n, &error);
            if (taken == SIZE_MAX)
                taken = n; /* a bad slot: what follows it cannot be read */
            if (!taken)
                continue;
            memmove(books->held, books->held + taken, (n - taken) * sizeof *books->held);
            books->held_count -= taken;
            teller->held_total -= taken;
            again = teller->held_total > 0;
        }
    }
    teller->releasing = false;
}

bool teller_slots(struct teller *teller, uint32_t thread, const struct slot *slots, size_t count,
                  const char **error)
{
    struct books *books = books_of(teller, thread);
    size_t taken = books->held_count ? 0 : take_slots(teller, thread, slots, count, error);
    if (taken == SIZE_MAX)
        return false;
    if (taken < count) {
        if ((teller->held_total + count) * SLOT_BYTES > LIMIT_HELD_BYTES) {
            *error = "speaks of lines or types that it never announces";
            return false;
        }
        hold(teller, books, slots + taken, count - taken);
    }
    if (teller->held_total)
        release_held(teller);
    return true;
}

/* ---- the end ---- */

void teller_free(struct teller *teller)
{
    if (!teller)
        return;
    for (size_t i = 0; i < teller->threads.room; i++) {
        struct books *books = teller->threads.entries[i].value;
        if (books)
            free(books->held);
        free(books);
    }
    for (size_t i = 0; i < LIMIT_SHAPES; i++)
        free(teller->shapes[i]);
    map_free(&teller->threads);
    map_free(&teller->lines);
    free(teller->own);
    free(teller);
}

void teller_hangup(struct teller *teller)
{
    struct run *run = teller->run;
    for (size_t i = 0; i < teller->threads.room; i++) {
        const struct books *books = teller->threads.entries[i].value;
        if (books && books->held_count)
            order_report(run->order, (struct ref){line_of(teller, (uint32_t)teller->threads.entries[i].a), 0},
                         (struct ref){0, 0},
                         "names lines or types that were never announced");
    }
    order_gone(run->order, teller->own, teller->own_count);
    teller_process(teller)->connected = false;
    run->connected--;
    run->generation++;
    teller_free(teller);
}
