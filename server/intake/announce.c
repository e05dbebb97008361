/* Messages that teach a session what later ones rely on. */
#define _GNU_SOURCE
#include "server/intake/announce.h"
#include "wire/text.h"

#include "server/run/unseen.h"

#include <stdlib.h>
#include <string.h>

struct thread_state *thread_state_of(struct session *session, uint32_t thread)
{
    struct thread_state *books = map_get(&session->threads, thread, 0);
    if (!books) {
        books = calloc(1, sizeof *books);
        if (!books)
            abort();
        books->thread = thread;
        map_put(&session->threads, thread, 0, books);
    }
    return books;
}

uint32_t session_line(const struct session *session, uint32_t code)
{
    if (code < session->line_room && session->lines[code])
        return session->lines[code];
    return code < NEAR_LINES ? 0 : (uint32_t)(uintptr_t)map_get(&session->far_lines, code, 0);
}

void announce(struct session *session, enum announced what, uint32_t code)
{
    for (struct thread_state *books = map_take(&session->waiting, what, code), *next; books; books = next) {
        next = books->next;
        books->next = NULL;
        books->ready = true;
        session->ready_count++;
    }
}

static void set_line(struct session *session, uint32_t code, uint32_t line)
{
    announce(session, ANNOUNCED_LINE, code);
    if (code >= NEAR_LINES + 2 * session->own_line_count) { /* codes are told in any order, but without large gaps */
        map_put(&session->far_lines, code, 0, (void *)(uintptr_t)line);
        return;
    }
    size_t before = session->line_room;
    session->lines = grow(session->lines, &session->line_room, code + 1, sizeof *session->lines);
    memset(session->lines + before, 0, (session->line_room - before) * sizeof *session->lines);
    session->lines[code] = line;
}

static bool read_type(struct session *session, struct in *in)
{
    uint16_t code = get_u16(in);
    char *name = get_name(in, LIMIT_TEXT_BYTES);
    uint16_t count = get_u16(in);
    if (!in->error && (code == 0 || code >= LIMIT_TYPES || !*name))
        in_fail(in, "a type has no code or no name");
    if (!in->error && count > AFTER_MOST)
        in_fail(in, "a type comes after too many others");
    if (!in->error) {
        uint32_t type = session->types[code] = run_type(session->run, name);
        for (unsigned i = 0; i < count && !in->error; i++) {
            uint16_t earlier = get_u16(in);
            if (in->error || earlier >= LIMIT_TYPES || !session->types[earlier])
                in_fail(in, "a type comes after one that was not announced");
            else if (!order_after(session->run->order, type, session->types[earlier]))
                in_fail(in, "a type comes after too many others");
        }
        announce(session, ANNOUNCED_TYPE, code);
    }
    free(name);
    return in_done(in);
}

static bool read_shape(struct session *session, struct in *in)
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
            !(step->type_a | step->type_b) || (step->type_a && !session->types[step->type_a]) ||
            (step->type_b && !session->types[step->type_b]))
            in_fail(in, "a shape names a type that was not announced");
    }
    if (!in_done(in))
        return false;
    struct shape **at = &session->shapes[code - SHAPE_COMPOUND];
    if (!*at)
        *at = malloc(sizeof shape);
    if (!*at)
        abort();
    **at = shape;
    announce(session, ANNOUNCED_SHAPE, code);
    return true;
}

static bool read_line(struct session *session, struct in *in, uint32_t thread)
{
    uint32_t code = get_u32(in);
    uint64_t high = get_u64(in), low = get_u64(in);
    uint8_t flags = get_u8(in);
    struct run_line facts = {.process = session->process};
    facts.object = get_u64(in);
    facts.entry = get_u64(in);
    char *kind = get_name(in, LIMIT_TEXT_BYTES);
    facts.name = get_name(in, LIMIT_TEXT_BYTES);
    if (!in->error && (code == 0 || !*kind))
        in_fail(in, "a line has no code or no kind");
    bool known = !in->error && session_line(session, code);
    if (known && session->run->live)
        in_fail(in, "a line was announced twice"); /* in a file: by its checkpoint, too */
    if (in_done(in) && !known) {
        bool good = run_kind(session->run, kind) != 0;
        uint32_t line = good ? run_line(session->run, high, low, kind, flags & 1, facts) : 0;
        if (!good) {
            in_fail(in, "there are too many kinds of lines");
        } else if (!line) {
            in_fail(in, "there are too many lines");
        } else {
            set_line(session, code, line);
            session->own_lines =
                grow(session->own_lines, &session->own_line_room, session->own_line_count + 1, sizeof *session->own_lines);
            session->own_lines[session->own_line_count++] = line;
            if (session->run->lines[line - 1].programs++ == 0)
                order_back(session->run->order, line);
            struct ref by = thread_state_of(session, thread)->last[0];
            if ((flags & 2) && by.line)
                order_opened_by(session->run->order, line, by);
        }
    }
    free(kind);
    free(facts.name);
    return !in->error;
}

/* Of a thread that lost records the next one comes after those, and after whatever those came after. */
static bool read_named(struct session *session, struct in *in, unsigned type, uint32_t thread)
{
    uint32_t line = session_line(session, get_u32(in));
    uint64_t number = type == MESSAGE_NAME ? 0 : get_u64(in);
    if (type == MESSAGE_LOST) {
        uint64_t count = get_u64(in);
        if (in_done(in) && thread)
            thread_state_of(session, thread)->doubt = UNSEEN_LOST;
        if (!in->error && !line)
            return true; /* a disk that is full took neither the line nor its events: they are counted */
        if (!in->error && line)
            order_lost(session->run->order, line, number, count);
    } else {
        char *text = type == MESSAGE_NAME ? get_name(in, LIMIT_TEXT_BYTES) : get_note(in, LIMIT_TEXT_BYTES);
        uint64_t since = type == MESSAGE_NAME && in_left(in) ? get_u64(in) : 0;
        if (in_done(in) && line && type == MESSAGE_NAME)
            run_rename(session->run, line, text, session->stale ? 0 : since);
        else if (!in->error && line)
            run_add_text(session->run, (struct ref){line, number}, text);
        free(text);
    }
    if (!in->error && !line)
        in_fail(in, "speaks of a line that was not announced");
    return !in->error;
}

static bool read_object(struct session *session, struct in *in)
{
    uint32_t line = session_line(session, get_u32(in));
    uint64_t object = get_u64(in);
    if (in_done(in) && !line)
        in_fail(in, "speaks of a line that was not announced");
    if (!in->error) {
        session->run->lines[line - 1].object = object;
        run_line_changed(session->run, line);
    }
    return !in->error;
}

static bool read_close(struct session *session, struct in *in)
{
    uint32_t line = session_line(session, get_u32(in));
    uint64_t last = get_u64(in);
    if (in_done(in) && !line)
        in_fail(in, "speaks of a line that was not announced");
    if (!in->error)
        order_close(session->run->order, line, last);
    return !in->error;
}

static bool read_kind(struct session *session, struct in *in)
{
    uint32_t line = session_line(session, get_u32(in));
    char *kind = get_name(in, LIMIT_TEXT_BYTES), *name = get_name(in, LIMIT_TEXT_BYTES);
    if (in_done(in) && (!line || !*kind))
        in_fail(in, "speaks of a line that was not announced, or of no kind");
    if (!in->error)
        run_line_kind(session->run, line, kind, name);
    free(kind);
    free(name);
    return !in->error;
}

static bool read_module(struct session *session, struct in *in)
{
    struct run_process *process = session_process(session);
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

static bool read_gap(struct session *session, struct in *in)
{
    struct run_process *process = session_process(session);
    process->waited_ns = get_u64(in);
    process->dropped = get_u64(in);
    process->unfollowed = get_u64(in);
    process->left = in_left(in) ? get_u64(in) : 0;
    process->left_told = in_left(in) ? get_u64(in) : 0;
    return in_done(in);
}

static bool read_unseen(struct session *session, struct in *in)
{
    uint8_t reason = get_u8(in);
    char *about = get_name(in, LIMIT_TEXT_BYTES);
    if (in_done(in) && (reason == UNSEEN_NONE || reason >= UNSEEN_COUNT))
        in_fail(in, "gives no reason that is known");
    if (!in->error)
        unseen_add(session->run, session->number, reason, about);
    free(about);
    return !in->error;
}

/* What describes it is in the journal, before. */
static bool read_describe(struct in *in)
{
    char *name = get_name(in, 256);
    if (in_done(in) && (!*name || strchr(name, '/')))
        in_fail(in, "names no environment");
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
static void keep(struct session *session, unsigned type, const struct in *in, uint32_t thread)
{
    if (type == MESSAGE_MODULE || type == MESSAGE_TYPE || type == MESSAGE_SHAPE ||
        type == MESSAGE_LINE || type == MESSAGE_NAME || type == MESSAGE_OBJECT || type == MESSAGE_KIND ||
        type == MESSAGE_UNSEEN)
        run_fact(session->run, (struct chunk){.kind = (uint16_t)type, .session = session->number,
                                              .thread = thread, .data = in->data,
                                              .size = (uint32_t)kept_size(type, *in)});
}

bool announce_take(struct session *session, unsigned type, struct in *in, uint32_t thread)
{
    if (session->stale && type != MESSAGE_LOST)
        return true;
    keep(session, type, in, thread);
    switch (type) {
    case MESSAGE_MODULE:
        return read_module(session, in);
    case MESSAGE_TYPE:
        return read_type(session, in);
    case MESSAGE_SHAPE:
        return read_shape(session, in);
    case MESSAGE_LINE:
        return read_line(session, in, thread);
    case MESSAGE_NAME:
    case MESSAGE_TEXT:
    case MESSAGE_LOST:
        return read_named(session, in, type, thread);
    case MESSAGE_OBJECT:
        return read_object(session, in);
    case MESSAGE_KIND:
        return read_kind(session, in);
    case MESSAGE_CLOSE:
        return read_close(session, in);
    case MESSAGE_LOSSES:
        return read_gap(session, in);
    case MESSAGE_DESCRIBE:
        return read_describe(in);
    case MESSAGE_UNSEEN:
        return read_unseen(session, in);
    default:
        in_fail(in, "is no message of a program");
        return false;
    }
}
