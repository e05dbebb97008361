#define _GNU_SOURCE
#include "base/alloc.h"
#include "clients/cli/order_formats.h"
#include "clients/cli/output_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *line_name(const struct order_format *format, uint32_t line)
{
    return line_label_text(&format->subject->source.book, format->subject->sites, line);
}

static const char *type_name(const struct order_format *format, const struct event_info *e)
{
    return metadata_type_name(&format->subject->source.book, e->type);
}

/* Prints the annotations of an event, or else its type. */
static void print_text(const struct order_format *format, const struct event_info *e, FILE *f)
{
    fputs(e->text_count ? e->texts[0] : type_name(format, e), f);
    for (uint32_t i = 1; i < e->text_count; i++)
        fprintf(f, "; %s", e->texts[i]);
}

/* Prints " Sem:full" or "producer": a name without the #2 of lines with equal names. */
static void print_name(const struct order_format *format, uint32_t line, bool letter, FILE *f)
{
    if (letter)
        fprintf(f, " %s:", metadata_line_letter(&format->subject->source.book, line));
    fputs(line_name(format, line), f);
}

/* Prints "acquired Sem:full by producer, prodcons.c:22: a text"; only the text for events of an
 * imported log. */
static void print_sentence(const struct order_format *format, const struct event_info *e, FILE *f)
{
    char *sentence = NULL;
    size_t size = 0;
    FILE *to = xcheck(open_memstream(&sentence, &size), sizeof *to);
    const char *site = command_source_site(format->subject, e);
    uint32_t object = e->about ? e->about : e->at.line != e->thread ? e->at.line : 0;
    if (e->text_count && !e->site && !e->thread) {
        print_text(format, e, to);
    } else {
        fputs(type_name(format, e), to);
        if (object && !(object & HIDDEN_LINE))
            print_name(format, object, true, to);
        if (e->thread && e->thread != object) {
            fputs(" by ", to);
            print_name(format, e->thread, false, to);
        }
        fprintf(to, "%s%s", *site ? ", " : "", site);
        for (uint32_t i = 0; i < e->text_count; i++)
            fprintf(to, "%s%s", i ? "; " : ": ", e->texts[i]);
    }
    fclose(to);
    for (char *c = sentence; *c; c++)
        *c = *c == '\n' || *c == '\r' ? ' ' : *c;
    fputs(sentence, f);
    free(sentence);
}

/* ---- dot: events as nodes, lines as rows ---- */

/* The events of a line are one group, which dot keeps straight; the names have one rank, the first
 * column. */
static void dot_begin(struct order_format *format, struct command_source *subject, FILE *f)
{
    const struct trace_metadata *book = &subject->source.book;
    uint64_t **state = xcalloc(1, sizeof *state);
    *state = xcalloc(book->line_count, sizeof **state);
    format->state = state;
    char *names = NULL;
    size_t size = 0;
    FILE *below = xcheck(open_memstream(&names, &size), sizeof *below);
    uint32_t before = 0, first = 0;
    fputs("digraph order {\n  rankdir=LR; node [shape=circle, width=0.2, label=\"\"];\n", f);
    for (uint32_t line = 1; line <= book->line_count; line++) {
        if (!metadata_line_is_visible(book, line) || !metadata_line(book, line)->is.events)
            continue;
        fprintf(f, "  \"line %u\" [shape=plaintext, group=\"%u\", label=", line, line);
        json_write_text(f, metadata_label(book, line));
        fputs("];\n", f);
        if (before)
            fprintf(below, "%s\"line %u\" -> \"line %u\"", before == first ? "" : "; ", before,
                    line);
        first = first ? first : line;
        before = line;
    }
    fclose(below);
    if (*names)
        fprintf(f, "  { rank=same; edge [style=invis]; %s; }\n", names);
    free(names);
}

static void dot_event(struct order_format *format, struct event_info *e)
{
    uint64_t *last = *(uint64_t **)format->state;
    const struct trace_metadata *book = &format->subject->source.book;
    char at[48], other[48];
    event_id_print(at, sizeof at, e->at);
    fprintf(format->f, "  \"%s\" [group=\"%u\", xlabel=", at, e->at.line);
    json_write_text(format->f, e->text_count ? e->texts[0] : type_name(format, e));
    fputs("];\n", format->f);
    if (!(e->at.line & HIDDEN_LINE) && e->at.line && e->at.line <= book->line_count) {
        bool shared = metadata_line(book, e->at.line)->is.shared;
        if (last[e->at.line - 1])
            fprintf(format->f, "  \"%u:%llu\" -> \"%s\" [weight=10, arrowhead=none%s];\n",
                    e->at.line, (unsigned long long)last[e->at.line - 1], at,
                    shared ? ", style=invis" : "");
        else
            fprintf(format->f, "  \"line %u\" -> \"%s\" [style=dotted, arrowhead=none];\n",
                    e->at.line, at);
        last[e->at.line - 1] = e->at.number;
    }
    for (uint32_t i = 0; i < e->partner_count && e->relation == RELATION_RECEIVE; i++) {
        event_id_print(other, sizeof other, e->partners[i]);
        fprintf(format->f, "  \"%s\" -> \"%s\";\n", other, at);
    }
    if (e->relation == RELATION_SYNC && e->partner_count && e->partners[0].line < e->at.line) {
        event_id_print(other, sizeof other, e->partners[0]);
        fprintf(format->f, "  { rank=same; \"%s\" -> \"%s\" [dir=both]; }\n", other, at);
    }
    for (uint32_t i = 0; i < e->after_count; i++) {
        event_id_print(other, sizeof other, e->after[i]);
        fprintf(format->f, "  \"%s\" -> \"%s\" [style=dashed];\n", other, at);
    }
}

static void dot_end(struct order_format *format)
{
    free(*(uint64_t **)format->state);
    free(format->state);
    fputs("}\n", format->f);
}

/* ---- shiviz: vector clocks ---- */

struct shiviz_host {
    char *name;
    uint64_t *clock; /* by host: the clock of its last event */
};

struct shiviz_kept { /* clock of an event that later events may name */
    uint64_t *clock;
};

struct shiviz {
    struct shiviz_host *hosts; /* by line - 1 */
    uint32_t count;
    struct shiviz_kept **kept; /* by line - 1, then number - 1 */
    size_t *kept_room;
    struct event_info *members; /* members of the current synchronization point */
    size_t member_count, member_room;
    uint64_t **hidden; /* by hidden line: the clock of its last event */
    uint32_t hidden_count;
};

static void shiviz_begin(struct order_format *format, struct command_source *subject, FILE *f)
{
    struct shiviz *z = format->state = xcalloc(1, sizeof *z);
    (void)f;
    z->count = subject->source.book.line_count;
    z->hosts = xcalloc(z->count, sizeof *z->hosts);
    z->kept = xcalloc(z->count, sizeof *z->kept);
    z->kept_room = xcalloc(z->count, sizeof *z->kept_room);
    for (uint32_t i = 0; i < z->count; i++) {
        z->hosts[i].name = xstrdup(line_name(format, i + 1));
        for (char *c = z->hosts[i].name; *c; c++)
            *c = *c == ' ' || *c == '\n' ? '_' : *c;
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(z->hosts[k].name, z->hosts[i].name) == 0) {
                char *longer = xasprintf("%s#%u", z->hosts[i].name, i + 1);
                free(z->hosts[i].name);
                z->hosts[i].name = longer;
                break;
            }
    }
}

static void shiviz_join(const struct shiviz *z, uint64_t *clock, const uint64_t *other)
{
    for (uint32_t i = 0; other && i < z->count; i++)
        clock[i] = other[i] > clock[i] ? other[i] : clock[i];
}

static const uint64_t *shiviz_of(const struct shiviz *z, struct event_id ref)
{
    uint32_t line = ref.line & ~HIDDEN_LINE;
    if (ref.line & HIDDEN_LINE)
        return line && line <= z->hidden_count ? z->hidden[line - 1] : NULL;
    return line && line <= z->count && ref.number && ref.number <= z->kept_room[line - 1]
               ? z->kept[line - 1][ref.number - 1].clock
               : NULL;
}

static void shiviz_keep(struct shiviz *z, struct event_id ref, uint64_t *clock)
{
    uint32_t line = ref.line & ~HIDDEN_LINE;
    if (ref.line & HIDDEN_LINE) {
        if (line > z->hidden_count) {
            z->hidden = xreallocarray(z->hidden, line, sizeof *z->hidden);
            while (z->hidden_count < line)
                z->hidden[z->hidden_count++] = NULL;
        }
        free(z->hidden[line - 1]);
        z->hidden[line - 1] = clock;
        return;
    }
    size_t room = z->kept_room[line - 1];
    if (ref.number > room) {
        size_t more = room ? room : 64;
        while (more < ref.number)
            more *= 2;
        z->kept[line - 1] = xreallocarray(z->kept[line - 1], more, sizeof **z->kept);
        memset(z->kept[line - 1] + room, 0, (more - room) * sizeof **z->kept);
        z->kept_room[line - 1] = more;
    }
    z->kept[line - 1][ref.number - 1].clock = clock;
}

static void shiviz_print(const struct order_format *format, const struct event_info *e,
                         uint32_t host, const uint64_t *clock)
{
    const struct shiviz *z = format->state;
    print_sentence(format, e, format->f);
    fprintf(format->f, "\n%s {", z->hosts[host - 1].name);
    bool comma = false;
    for (uint32_t i = 0; i < z->count; i++) {
        if (!clock[i])
            continue;
        if (comma)
            fputs(", ", format->f);
        json_write_text(format->f, z->hosts[i].name);
        fprintf(format->f, ": %llu", (unsigned long long)clock[i]);
        comma = true;
    }
    fputs("}\n", format->f);
}

/* Returns the host of an event: its exclusive line, or the acting thread on shared lines. */
static uint32_t shiviz_host_of(const struct order_format *format, const struct event_info *e)
{
    const struct shiviz *z = format->state;
    const struct trace_metadata *book = &format->subject->source.book;
    uint32_t line = e->at.line;
    if (line & HIDDEN_LINE || !line || line > z->count)
        return 0;
    return metadata_line(book, line)->is.shared && e->thread && e->thread <= z->count ? e->thread
                                                                                      : line;
}

/* Joins the clocks of the predecessors of one member of a point. */
static void shiviz_follow(const struct order_format *format, const struct event_info *e,
                          uint64_t *clock)
{
    const struct shiviz *z = format->state;
    uint32_t host = shiviz_host_of(format, e);
    shiviz_join(z, clock, host ? z->hosts[host - 1].clock : shiviz_of(z, e->at));
    for (uint32_t i = 0; i < e->partner_count; i++)
        shiviz_join(z, clock, shiviz_of(z, e->partners[i])); /* NULL for later partners */
    for (uint32_t i = 0; i < e->after_count; i++)
        shiviz_join(z, clock, shiviz_of(z, e->after[i]));
    if (host && e->at.number == 1)
        shiviz_join(
            z, clock,
            shiviz_of(z, metadata_line(&format->subject->source.book, e->at.line)->is.opened_by));
}

/* Writes the members of a point as successive events; whatever follows one of them follows all. */
static void shiviz_flush(struct order_format *format)
{
    struct shiviz *z = format->state;
    uint64_t *clock = xcalloc(z->count, sizeof *clock);
    for (size_t i = 0; i < z->member_count; i++)
        shiviz_follow(format, &z->members[i], clock);
    for (size_t i = 0; i < z->member_count; i++) {
        uint32_t host = shiviz_host_of(format, &z->members[i]);
        if (!host)
            continue;
        clock[host - 1]++;
        shiviz_print(format, &z->members[i], host, clock);
    }
    for (size_t i = 0; i < z->member_count; i++) {
        uint32_t host = shiviz_host_of(format, &z->members[i]);
        if (host) {
            free(z->hosts[host - 1].clock);
            z->hosts[host - 1].clock = xcalloc(z->count, sizeof *clock);
            memcpy(z->hosts[host - 1].clock, clock, z->count * sizeof *clock);
        }
        uint64_t *copy = xcalloc(z->count, sizeof *clock);
        memcpy(copy, clock, z->count * sizeof *clock);
        shiviz_keep(z, z->members[i].at, copy);
        event_info_free(&z->members[i]);
    }
    z->member_count = 0;
    free(clock);
}

static bool shiviz_same_point(const struct shiviz *z, const struct event_info *e)
{
    const struct event_info *first = &z->members[0];
    if (e->group)
        return first->group == e->group;
    return e->relation == RELATION_SYNC && z->member_count == 1 && e->partner_count == 1 &&
           event_id_equal(e->partners[0], first->at);
}

static void shiviz_event(struct order_format *format, struct event_info *e)
{
    struct shiviz *z = format->state;
    if (!(e->at.line & HIDDEN_LINE) && (!e->at.line || e->at.line > z->count))
        return;
    if (z->member_count && !shiviz_same_point(z, e))
        shiviz_flush(format);
    if (z->member_count == z->member_room) {
        z->member_room = z->member_room ? 2 * z->member_room : 8;
        z->members = xreallocarray(z->members, z->member_room, sizeof *z->members);
    }
    z->members[z->member_count++] = *e;
    *e = (struct event_info){0};
}

static void shiviz_end(struct order_format *format)
{
    struct shiviz *z = format->state;
    shiviz_flush(format);
    free(z->members);
    for (uint32_t i = 0; i < z->count; i++) {
        for (size_t k = 0; k < z->kept_room[i]; k++)
            free(z->kept[i][k].clock);
        free(z->kept[i]);
        free(z->hosts[i].name);
        free(z->hosts[i].clock);
    }
    for (uint32_t i = 0; i < z->hidden_count; i++)
        free(z->hidden[i]);
    free(z->hidden);
    free(z->kept);
    free(z->kept_room);
    free(z->hosts);
    free(z);
}

/* ---- the formats ---- */

static const struct order_format formats[] = {
    {.name = "chrome", .begin = chrome_begin, .event = chrome_event, .end = chrome_end},
    {.name = "dot", .begin = dot_begin, .event = dot_event, .end = dot_end},
    {.name = "shiviz", .begin = shiviz_begin, .event = shiviz_event, .end = shiviz_end}};

const struct order_format *order_format_find(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

static void order_formats_begin_output(struct order_format *format)
{
    struct command_source *subject = format->subject;
    line_labels_assign(&subject->source.book, subject->sites, &subject->known, LABELS_ADDRESS);
    format->begin(format, subject, format->f);
    format->begun = true;
}

/* The lines and types are known when the first part arrives: output begins then. */
static void order_formats_receive_event(void *user, const struct response_chunk *answer)
{
    struct order_format *format = user;
    struct event_info event;
    if (!format->begun)
        order_formats_begin_output(format);
    if (answer->part != RESPONSE_EVENT)
        return;
    decode_event_info(answer->in, &event);
    if (decoder_finish(answer->in) && event.state == EVENT_ORDERED)
        format->event(format, &event);
    event_info_free(&event);
}

bool order_format_write(const struct command *command, struct command_source *subject,
                        const struct order_format *chosen, const char *file)
{
    struct order_format format = *chosen;
    bool standard = strcmp(file, "-") == 0;
    format.subject = subject;
    format.command = command;
    format.f = standard ? stdout : fopen(file, "we");
    if (!format.f) {
        command_fail(command, "%s: %s", file, strerror(errno));
        return false;
    }
    bool good = command_source_request(command, subject, REQUEST_DUMP, NULL,
                                       order_formats_receive_event, &format);
    if (format.state)
        format.end(&format);
    good = good && !format.failed;
    bool bad = ferror(format.f) != 0;
    bad |= (standard ? fflush(format.f) : fclose(format.f)) != 0;
    if (bad && good)
        command_fail(command, "%s: %s", file, strerror(errno));
    if ((bad || !good) && !standard)
        unlink(file);
    return good && !bad;
}
