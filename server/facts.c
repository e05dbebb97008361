/* Messages that teach a teller what later ones rely on. */
#define _GNU_SOURCE
#include "server/facts.h"
#include "wire/text.h"

#include "server/saving.h"
#include "server/unseen.h"

#include <stdlib.h>
#include <string.h>

struct books *books_of(struct teller *teller, uint32_t thread)
{
    struct books *books = map_get(&teller->threads, thread, 0);
    if (!books) {
        books = calloc(1, sizeof *books);
        if (!books)
            abort();
        books->thread = thread;
        map_put(&teller->threads, thread, 0, books);
    }
    return books;
}

uint32_t line_of(const struct teller *teller, uint32_t code)
{
    if (code < teller->line_room && teller->lines[code])
        return teller->lines[code];
    return code < NEAR_LINES ? 0 : (uint32_t)(uintptr_t)map_get(&teller->far_lines, code, 0);
}

void announce(struct teller *teller, enum announced what, uint32_t code)
{
    for (struct books *books = map_take(&teller->waiting, what, code), *next; books; books = next) {
        next = books->next;
        books->next = NULL;
        books->ready = true;
        teller->ready_count++;
    }
}

static void set_line(struct teller *teller, uint32_t code, uint32_t line)
{
    announce(teller, ANNOUNCED_LINE, code);
    if (code >= NEAR_LINES + 2 * teller->own_count) { /* codes are told in any order, but without large gaps */
        map_put(&teller->far_lines, code, 0, (void *)(uintptr_t)line);
        return;
    }
    size_t before = teller->line_room;
    teller->lines = grow(teller->lines, &teller->line_room, code + 1, sizeof *teller->lines);
    memset(teller->lines + before, 0, (teller->line_room - before) * sizeof *teller->lines);
    teller->lines[code] = line;
}

static bool read_type(struct teller *teller, struct in *in)
{
    uint16_t code = get_u16(in);
    char *name = get_name(in, LIMIT_TEXT_BYTES);
    uint16_t count = get_u16(in);
    if (!in->error && (code == 0 || code >= LIMIT_TYPES || !*name))
        in_fail(in, "a type has no code or no name");
    if (!in->error && count > AFTER_MOST)
        in_fail(in, "a type comes after too many others");
    if (!in->error) {
        uint32_t type = teller->types[code] = run_type(teller->run, name);
        for (unsigned i = 0; i < count && !in->error; i++) {
            uint16_t earlier = get_u16(in);
            if (in->error || earlier >= LIMIT_TYPES || !teller->types[earlier])
                in_fail(in, "a type comes after one that was not announced");
            else if (!order_after(teller->run->order, type, teller->types[earlier]))
                in_fail(in, "a type comes after too many others");
        }
        announce(teller, ANNOUNCED_TYPE, code);
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
    announce(teller, ANNOUNCED_SHAPE, code);
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
    char *kind = get_name(in, LIMIT_TEXT_BYTES);
    facts.name = get_name(in, LIMIT_TEXT_BYTES);
    if (!in->error && (code == 0 || !*kind))
        in_fail(in, "a line has no code or no kind");
    bool known = !in->error && line_of(teller, code);
    if (known && teller->run->live)
        in_fail(in, "a line was announced twice"); /* in a file: by its checkpoint, too */
    if (in_done(in) && !known) {
        bool good = run_kind(teller->run, kind) != 0;
        uint32_t line = good ? run_line(teller->run, high, low, kind, flags & 1, facts) : 0;
        if (!good) {
            in_fail(in, "there are too many kinds of lines");
        } else if (!line) {
            in_fail(in, "there are too many lines");
        } else {
            set_line(teller, code, line);
            teller->own =
                grow(teller->own, &teller->own_room, teller->own_count + 1, sizeof *teller->own);
            teller->own[teller->own_count++] = line;
            if (teller->run->lines[line - 1].programs++ == 0)
                order_back(teller->run->order, line);
            struct ref by = books_of(teller, thread)->last[0];
            if ((flags & 2) && by.line)
                order_opened_by(teller->run->order, line, by);
        }
    }
    free(kind);
    free(facts.name);
    return !in->error;
}

/* Of a thread that lost records the next one comes after those, and after whatever those came after. */
static bool read_named(struct teller *teller, struct in *in, unsigned type, uint32_t thread)
{
    uint32_t line = line_of(teller, get_u32(in));
    uint64_t number = type == MESSAGE_NAME ? 0 : get_u64(in);
    if (type == MESSAGE_LOST) {
        uint64_t count = get_u64(in);
        if (in_done(in) && thread)
            books_of(teller, thread)->doubt = UNSEEN_LOST;
        if (!in->error && !line)
            return true; /* a disk that is full took neither the line nor its events: they are counted */
        if (!in->error && line)
            order_lost(teller->run->order, line, number, count);
    } else {
        char *text = type == MESSAGE_NAME ? get_name(in, LIMIT_TEXT_BYTES) : get_note(in, LIMIT_TEXT_BYTES);
        uint64_t since = type == MESSAGE_NAME && in_left(in) ? get_u64(in) : 0;
        if (in_done(in) && line && type == MESSAGE_NAME)
            run_rename(teller->run, line, text, teller->stale ? 0 : since);
        else if (!in->error && line)
            run_add_text(teller->run, (struct ref){line, number}, text);
        free(text);
    }
    if (!in->error && !line)
        in_fail(in, "speaks of a line that was not announced");
    return !in->error;
}

static bool read_object(struct teller *teller, struct in *in)
{
    uint32_t line = line_of(teller, get_u32(in));
    uint64_t object = get_u64(in);
    if (in_done(in) && !line)
        in_fail(in, "speaks of a line that was not announced");
    if (!in->error) {
        teller->run->lines[line - 1].object = object;
        run_line_changed(teller->run, line);
    }
    return !in->error;
}

static bool read_close(struct teller *teller, struct in *in)
{
    uint32_t line = line_of(teller, get_u32(in));
    uint64_t last = get_u64(in);
    if (in_done(in) && !line)
        in_fail(in, "speaks of a line that was not announced");
    if (!in->error)
        order_close(teller->run->order, line, last);
    return !in->error;
}

static bool read_kind(struct teller *teller, struct in *in)
{
    uint32_t line = line_of(teller, get_u32(in));
    char *kind = get_name(in, LIMIT_TEXT_BYTES), *name = get_name(in, LIMIT_TEXT_BYTES);
    if (in_done(in) && (!line || !*kind))
        in_fail(in, "speaks of a line that was not announced, or of no kind");
    if (!in->error)
        run_line_kind(teller->run, line, kind, name);
    free(kind);
    free(name);
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

static bool read_gap(struct teller *teller, struct in *in)
{
    struct run_process *process = teller_process(teller);
    process->waited_ns = get_u64(in);
    process->dropped = get_u64(in);
    process->unfollowed = get_u64(in);
    process->left = in_left(in) ? get_u64(in) : 0;
    process->left_told = in_left(in) ? get_u64(in) : 0;
    return in_done(in);
}

static bool read_unseen(struct teller *teller, struct in *in)
{
    uint8_t reason = get_u8(in);
    char *about = get_name(in, LIMIT_TEXT_BYTES);
    if (in_done(in) && (reason == UNSEEN_NONE || reason >= UNSEEN_COUNT))
        in_fail(in, "gives no reason that is known");
    if (!in->error)
        unseen_add(teller->run, teller->session, reason, about);
    free(about);
    return !in->error;
}

static bool read_describe(struct teller *teller, struct in *in)
{
    char *name = get_name(in, 256), *path = NULL;
    /* a trace file brings its own descriptions */
    bool plain = in_done(in) && *name && !strchr(name, '/');
    if (!in->error && !plain)
        in_fail(in, "names no environment");
    bool known = plain && run_described(teller->run, name);
    char *text = plain && !known && teller->run->live ? target_load(name, &path) : NULL;
    if (text && run_describe(teller->run, name, text)) {
        struct out out = {0};
        put_string(&out, name);
        put_string(&out, text);
        struct chunk chunk = {.kind = CHUNK_TARGET, .session = teller->session, .data = out.data,
                              .size = (uint32_t)out.size};
        tracefile_append(teller->run->trace, chunk);
        saving_fact(teller->run, chunk);
        out_free(&out);
    } else if (plain && !known && !text && teller->run->live) {
        log_line("there is no description of the environment \"%s\"", name);
    }
    free(text);
    free(path);
    free(name);
    return !in->error;
}

/* Of a new name only the name: the text that says since when is kept as a text. */
static size_t kept_size(unsigned type, struct in in)
{
    get_u32(&in);
    uint32_t name = get_u32(&in);
    return type == MESSAGE_NAME && in_left(&in) == (size_t)name + 8 ? in.size - 8 : in.size;
}

/* What later chunks rely on must outlive forgetting. */
static void keep(struct teller *teller, unsigned type, const struct in *in, uint32_t thread)
{
    if (type == MESSAGE_MODULE || type == MESSAGE_TYPE || type == MESSAGE_SHAPE ||
        type == MESSAGE_LINE || type == MESSAGE_NAME || type == MESSAGE_OBJECT || type == MESSAGE_KIND ||
        type == MESSAGE_UNSEEN)
        saving_fact(teller->run, (struct chunk){.kind = (uint16_t)type, .session = teller->session,
                                              .thread = thread, .data = in->data,
                                              .size = (uint32_t)kept_size(type, *in)});
}

bool facts_tell(struct teller *teller, unsigned type, struct in *in, uint32_t thread)
{
    if (teller->stale && type != MESSAGE_LOST)
        return true;
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
        return read_named(teller, in, type, thread);
    case MESSAGE_OBJECT:
        return read_object(teller, in);
    case MESSAGE_KIND:
        return read_kind(teller, in);
    case MESSAGE_CLOSE:
        return read_close(teller, in);
    case MESSAGE_GAP:
        return read_gap(teller, in);
    case MESSAGE_DESCRIBE:
        return read_describe(teller, in);
    case MESSAGE_UNSEEN:
        return read_unseen(teller, in);
    default:
        in_fail(in, "is no message of a program");
        return false;
    }
}
