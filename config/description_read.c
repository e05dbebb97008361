#define _GNU_SOURCE
#include "config/description_read.h"

#include "base/alloc.h"
#include "config/assertion_file.h"
#include "config/description_path.h"
#include "config/event_pattern.h"
#include "config/metric_rules.h"

#include <stdlib.h>
#include <string.h>

/* Reading the parts of a description, each of which extends the result of the parts before it. */

/* Appends an empty element to an array; its value is the address of the element. */
#define APPEND(array, count)                                                                       \
    ((array) = xreallocarray((array), (count) + 1, sizeof *(array)),                               \
     memset(&(array)[count], 0, sizeof *(array)), &(array)[(count)++])

/* ---- line types ---- */

static struct target_line_type *find_kind(struct target *target, const char *name)
{
    for (size_t i = 0; i < target->kind_count; i++)
        if (strcmp(target->kinds[i].name, name) == 0)
            return &target->kinds[i];
    return NULL;
}

static struct target_line_type *add_kind(struct description_reader *reader,
                                         const config_setting_t *s, struct target *target,
                                         const char *name)
{
    struct target_line_type *kind = APPEND(target->kinds, target->kind_count);
    const char *letter = description_get_text(reader, s, "letter", true);
    *kind = (struct target_line_type){.name = description_copy_text(reader, name),
                                      .letter = description_copy_text(reader, letter ? letter : ""),
                                      .title = description_copy_text(reader, name),
                                      .threads = true,
                                      .drawn = true};
    return kind;
}

static void read_kind(struct description_reader *reader, const config_setting_t *s,
                      struct target *target)
{
    description_check_keys(
        reader, s,
        "name letter title color shared holds_threads visible sort_by_name "
        "show_location number_duplicates named_by_constructor category "
        "trace_in_libraries inherited opened_by_name kernel_wakes launcher_started "
        "remote members");
    const char *name = description_get_text(reader, s, "name", true);
    struct target_line_type *kind = find_kind(target, name ? name : "");
    if (kind && kind->part == reader->part)
        WRONG(s, "duplicate line type \"%s\"", name);
    if (!kind && reader->looks_only)
        return;
    if (kind)
        description_get_copy(reader, s, "letter", &kind->letter);
    else
        kind = add_kind(reader, s, target, name ? name : "");
    kind->part = reader->part;
    description_get_copy(reader, s, "title", &kind->title);
    description_get_color(reader, s, &kind->color);
    description_get_bool(reader, s, "visible", &kind->drawn);
    description_get_bool(reader, s, "sort_by_name", &kind->sorted);
    description_get_bool(reader, s, "show_location", &kind->away);
    description_get_bool(reader, s, "number_duplicates", &kind->numbered);
    description_get_bool(reader, s, "named_by_constructor", &kind->by_constructor);
    description_get_bool(reader, s, "trace_in_libraries", &kind->everywhere);
    description_get_bool(reader, s, "inherited", &kind->inherited);
    description_get_bool(reader, s, "opened_by_name", &kind->by_name);
    description_get_bool(reader, s, "members", &kind->members);
    description_get_bool(reader, s, "kernel_wakes", &kind->by_kernel);
    description_get_bool(reader, s, "launcher_started", &kind->launched);
    description_get_bool(reader, s, "remote", &kind->remote);
    if (!reader->looks_only || reader->newer)
        kind->category =
            (uint8_t)description_get_word(reader, s, "category", target_categories, kind->category);
    if (reader->looks_only)
        return;
    description_get_bool(reader, s, "shared", &kind->shared);
    description_get_bool(reader, s, "holds_threads", &kind->threads);
}

/* ---- events ---- */

static const char *const relations[] = {"none",  "sync",  "send", "receive",
                                        "order", "group", "any",  NULL};

static void description_read_read_style(struct description_reader *reader,
                                        const config_setting_t *s, struct target_event *event)
{
    static const char *const shapes[] = {"none", "circle", "square", NULL};
    static const char *const arrows[] = {"none", "to-partner", "from-partner", "dotted", NULL};
    description_get_copy(reader, s, "label", &event->label);
    description_get_copy(reader, s, "verb", &event->text);
    description_get_copy(reader, s, "group", &event->group);
    description_get_copy(reader, s, "undelivered_label", &event->undelivered);
    description_get_copy(reader, s, "broadcast_text", &event->all);
    description_get_color(reader, s, &event->color);
    description_get_bool(reader, s, "filled", &event->filled);
    event->shape =
        (enum target_shape)description_get_word(reader, s, "shape", shapes, event->shape);
    event->arrow =
        (enum target_arrow)description_get_word(reader, s, "arrow", arrows, event->arrow);
    description_get_bool(reader, s, "show_thread_name", &event->shows_thread);
    description_get_bool(reader, s, "ends", &event->ends);
}

/* Reads whether a type waits, and its class. */
static void read_waits(struct description_reader *reader, const config_setting_t *s,
                       struct target_event *event)
{
    static const char *const classes[] = {"none", "rendezvous", "contention", "timeout", NULL};
    event->waits_as =
        (uint8_t)description_get_word(reader, s, "wait_class", classes, event->waits_as);
    event->waits = event->waits_as != WAITS_NOT;
    description_get_names(reader, s, "ended_by", &event->causes, NULL);
    event->category =
        (uint8_t)description_get_word(reader, s, "category", target_categories, event->category);
}

/* Reads what events of a type do, and the rules that they must obey. */
static void read_rules(struct description_reader *reader, const config_setting_t *s,
                       struct target_event *event)
{
    static const char *const presences[] = {"left", "running", "blocked", "elsewhere", NULL};
    static const char *const owners[] = {"acting_thread", "own_thread", NULL};
    static const char *const roles[] = {"none",          "request",     "destroy",     "reuse",
                                        "handler_begin", "handler_end", "signal_mask", "violation",
                                        "begin_process", "leave",       NULL};
    description_get_bool(reader, s, "opens", &event->opens);
    description_get_bool(reader, s, "closes", &event->closes);
    read_waits(reader, s, event);
    event->waits_checked = event->waits;
    description_get_bool(reader, s, "releases_lock", &event->releases);
    description_get_bool(reader, s, "keeps_lock", &event->keeps);
    description_get_bool(reader, s, "has_timeout", &event->timed);
    description_get_bool(reader, s, "awaits_child", &event->awaits_child);
    description_get_bool(reader, s, "rests", &event->rests);
    event->role = (uint8_t)description_get_word(reader, s, "role", roles, event->role);
    description_get_bool(reader, s, "signal_handlers_between", &event->handlers);
    event->has_presence |= config_setting_get_member(s, "thread_state") != NULL;
    event->presence =
        (enum occupancy)description_get_word(reader, s, "thread_state", presences, event->presence);
    event->own = description_get_word(reader, s, "state_of", owners, event->own) == 1;
    event->has_about |= config_setting_get_member(s, "object_state") != NULL;
    event->about =
        (enum occupancy)description_get_word(reader, s, "object_state", presences, event->about);
    description_get_name_or_names(reader, s, "partner", &event->partners);
    description_get_names(reader, s, "ordered_after", &event->after, NULL);
    description_get_names(reader, s, "woken_by", &event->woken_by, NULL);
    description_get_names(reader, s, "expects", &event->expects, NULL);
    if (description_get_names(reader, s, "allowed_after_on_line", &event->on_line.types,
                              &event->on_line.first))
        event->on_line.any = false;
    if (description_get_names(reader, s, "allowed_after_in_thread", &event->in_thread.types,
                              &event->in_thread.first))
        event->in_thread.any = false;
}

static bool same_names(const struct target_names *a, const struct target_names *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = target_has_line_type(b, a->items[i]);
    return same;
}

/* Adds an event type: a copy of the `like`-th one, unless that is SIZE_MAX. */
static struct target_event *add_event(struct description_reader *reader, struct target *target,
                                      const char *name, size_t like)
{
    struct target_event *event = APPEND(target->events, target->event_count);
    if (like == SIZE_MAX) {
        *event = (struct target_event){.name = description_copy_text(reader, name),
                                       .shape = SHAPE_CIRCLE,
                                       .relation = RELATION_COUNT,
                                       .on_line.any = true,
                                       .in_thread.any = true,
                                       .part = -1};
        return event;
    }
    *event = target->events[like];
    event->name = description_copy_text(reader, name);
    return event;
}

/* The events that an entry of "events" is about. */
struct selector {
    const char *name;
    struct target_names on;
    int relation;
    bool any_kind, any_relation; /* the entry names none */
};

static bool description_read_selector_matches(const struct selector *wanted,
                                              const struct target_event *event)
{
    return strcmp(event->name, wanted->name) == 0 &&
           (wanted->any_kind || same_names(&event->on, &wanted->on)) &&
           (wanted->any_relation || (int)event->relation == wanted->relation);
}

/* Returns the entry for all line types as a copy of which one for some line types begins; SIZE_MAX
 * if there is none. */
static size_t more_general(const struct target *target, const struct selector *wanted, int part)
{
    for (size_t i = 0; !wanted->any_kind && i < target->event_count; i++) {
        const struct target_event *event = &target->events[i];
        if (event->part < part && strcmp(event->name, wanted->name) == 0 && !event->on.count &&
            (wanted->any_relation || (int)event->relation == wanted->relation))
            return i;
    }
    return SIZE_MAX;
}

static void read_entry(struct description_reader *reader, const config_setting_t *s,
                       struct target_event *event)
{
    event->source = (struct target_place){reader->file, description_setting_line(s)};
    event->part = reader->part;
    description_read_read_style(reader, s, event);
    if (!reader->looks_only)
        read_rules(reader, s, event);
    else if (reader->newer)
        read_waits(reader, s, event);
}

/* Reads an entry of "events": changes the matching event types of earlier parts, or adds one. */
static void read_event(struct description_reader *reader, const config_setting_t *s,
                       struct target *target)
{
    description_check_keys(reader, s,
                           "name line_types label verb shape filled color relation "
                           "ordered_after arrow partner opens allowed_after_on_line "
                           "allowed_after_in_thread closes thread_state state_of wait_class "
                           "releases_lock signal_handlers_between object_state show_thread_name "
                           "ends group has_timeout woken_by ended_by category undelivered_label "
                           "broadcast_text expects awaits_child rests role keeps_lock");
    const char *name = description_get_text(reader, s, "name", true);
    struct selector wanted = {.name = name ? name : ""};
    wanted.any_kind = !description_get_names(reader, s, "line_types", &wanted.on, NULL);
    wanted.any_relation = !config_setting_get_member(s, "relation");
    wanted.relation = description_get_word(reader, s, "relation", relations, RELATION_COUNT);
    bool changed = false;
    for (size_t i = 0; i < target->event_count; i++) {
        if (target->events[i].part >= reader->part ||
            !description_read_selector_matches(&wanted, &target->events[i]))
            continue;
        read_entry(reader, s, &target->events[i]);
        changed = true;
    }
    size_t like = more_general(target, &wanted, reader->part);
    if (changed || (reader->looks_only && like == SIZE_MAX))
        return;
    struct target_event *event = add_event(reader, target, wanted.name, like);
    event->on = wanted.on;
    if (!wanted.any_relation)
        event->relation = (enum relation)wanted.relation;
    read_entry(reader, s, event);
    event->label = event->label ? event->label : event->name;
    event->text = event->text ? event->text : event->label;
}

/* ---- line groups ---- */

static void read_cluster(struct description_reader *reader, const config_setting_t *s,
                         struct target *target)
{
    description_check_keys(reader, s, "name line_type match");
    const char *name = description_get_text(reader, s, "name", true);
    const char *kind = description_get_text(reader, s, "line_type", false),
               *match = description_get_text(reader, s, "match", false);
    if (!kind == !match)
        WRONG(s, "a line group needs either \"line_type\" or \"match\"");
    struct target_line_group *cluster = NULL;
    for (size_t i = 0; i < target->cluster_count; i++)
        if (strcmp(target->clusters[i].name, name ? name : "") == 0)
            cluster = &target->clusters[i];
    if (cluster && cluster->part == reader->part)
        WRONG(s, "duplicate line group \"%s\"", cluster->name);
    if (!cluster) {
        cluster = APPEND(target->clusters, target->cluster_count);
        cluster->name = description_copy_text(reader, name ? name : "");
    }
    cluster->part = reader->part;
    cluster->kind = kind ? description_copy_text(reader, kind) : NULL;
    cluster->match = match ? description_copy_text(reader, match) : NULL;
}

/* ---- categories of functions ---- */

static struct target_scope *find_scope(const struct target *target, const char *match)
{
    for (size_t i = 0; i < target->scope_count; i++)
        if (strcmp(target->scopes[i].match, match) == 0)
            return &target->scopes[i];
    return NULL;
}

static struct target_scope *add_scope(struct description_reader *reader, struct target *target,
                                      const char *match)
{
    struct target_scope *scope = APPEND(target->scopes, target->scope_count);
    scope->match = description_copy_text(reader, match);
    return scope;
}

/* A later part overrides the same pattern of an earlier one; of several patterns that match a name,
 * the first applies. */
static void read_scope(struct description_reader *reader, const config_setting_t *s,
                       struct target *target)
{
    description_check_keys(reader, s, "match category");
    const char *match = description_get_text(reader, s, "match", true);
    if (!config_setting_get_member(s, "category"))
        WRONG(s, "a scope needs \"category\"");
    struct target_scope *scope = find_scope(target, match ? match : "");
    if (scope && scope->part == reader->part)
        WRONG(s, "duplicate scope \"%s\"", scope->match);
    scope = scope ? scope : add_scope(reader, target, match ? match : "");
    scope->part = reader->part;
    scope->category =
        (uint8_t)description_get_word(reader, s, "category", target_categories, scope->category);
    if (scope->category == CATEGORY_CLOCK || scope->category == CATEGORY_SIGNAL)
        WRONG(s, "the category \"%s\" is for events, not for functions",
              target_categories[scope->category]);
}

/* ---- patterns ---- */

static void check_pattern_text(struct description_reader *reader, const config_setting_t *s,
                               const char *name, const char *text)
{
    struct pattern_error error;
    struct event_pattern *read = text ? event_pattern_read(text, &error) : NULL;
    if (text && !read)
        WRONG(s, "pattern \"%s\": column %u: %s", name ? name : "", error.column, error.text);
    event_pattern_free(read);
}

/* A later part overrides the pattern of the same name of an earlier one. */
static void read_pattern(struct description_reader *reader, const config_setting_t *s,
                         struct target *target)
{
    description_check_keys(reader, s, "name title pattern");
    const char *name = description_get_text(reader, s, "name", true),
               *text = description_get_text(reader, s, "pattern", true),
               *title = description_get_text(reader, s, "title", false);
    struct target_pattern *pattern = NULL;
    check_pattern_text(reader, s, name, text);
    for (size_t i = 0; i < target->pattern_count; i++)
        if (strcmp(target->patterns[i].name, name ? name : "") == 0)
            pattern = &target->patterns[i];
    if (pattern && pattern->part == reader->part)
        WRONG(s, "duplicate pattern \"%s\"", pattern->name);
    if (!pattern) {
        pattern = APPEND(target->patterns, target->pattern_count);
        pattern->name = description_copy_text(reader, name ? name : "");
    }
    pattern->text = description_copy_text(reader, text ? text : "");
    pattern->title = description_copy_text(reader, title ? title : pattern->name);
    pattern->source = (struct target_place){reader->file, description_setting_line(s)};
    pattern->part = reader->part;
}

/* ---- assertions ---- */

/* Reads one of "never", "always", and "at_most" with "pattern"; returns the text of its pattern. */
static const char *read_assertion_kind(struct description_reader *reader, const config_setting_t *s,
                                       struct target_assertion *assertion)
{
    const char *never = description_get_text(reader, s, "never", false),
               *always = description_get_text(reader, s, "always", false),
               *pattern = description_get_text(reader, s, "pattern", false);
    const config_setting_t *most = config_setting_get_member(s, "at_most");
    bool number = most && config_setting_type(most) == CONFIG_TYPE_INT;
    if (!never + !always + !most != 2 || !pattern != !most)
        WRONG(s, "an assertion needs \"never\", \"always\", or \"at_most\" and \"pattern\"");
    if (most && (!number || config_setting_get_int(most) < 0))
        WRONG(most, "\"at_most\" must be a whole number, not negative");
    assertion->most = number ? config_setting_get_int(most) : 0;
    assertion->kind = never ? ASSERTION_NEVER : always ? ASSERTION_ALWAYS : ASSERTION_AT_MOST;
    return never ? never : always ? always : pattern;
}

/* A later part overrides the assertion of the same name of an earlier one. */
static void read_assertion(struct description_reader *reader, const config_setting_t *s,
                           struct target *target)
{
    struct target_assertion *to = NULL, made = {.part = reader->part};
    description_check_keys(reader, s, "name never always at_most pattern");
    const char *name = description_get_text(reader, s, "name", true),
               *text = read_assertion_kind(reader, s, &made);
    check_pattern_text(reader, s, name, text);
    for (size_t i = 0; i < target->assertion_count; i++)
        if (strcmp(target->assertions[i].name, name ? name : "") == 0)
            to = &target->assertions[i];
    if (to && to->part == reader->part)
        WRONG(s, "duplicate assertion \"%s\"", to->name);
    to = to ? to : APPEND(target->assertions, target->assertion_count);
    made.name = description_copy_text(reader, name ? name : "");
    made.text = description_copy_text(reader, text ? text : "");
    made.source = (struct target_place){reader->file, description_setting_line(s)};
    *to = made;
}

/* ---- parts ---- */

static void read_groups(struct description_reader *reader, const config_setting_t *root,
                        const char *key, struct target *target,
                        void (*read)(struct description_reader *, const config_setting_t *,
                                     struct target *))
{
    const config_setting_t *list = description_get_groups(reader, root, key);
    for (int i = 0; list && i < config_setting_length(list); i++)
        read(reader, config_setting_get_elem(list, (unsigned)i), target);
}

/* Reports the includes that were not found: an included part comes before the one that includes
 * it. */
static void check_includes(struct description_reader *reader, const config_setting_t *root,
                           const struct target_names *read)
{
    struct target_names wanted = {0};
    description_get_name_or_names(reader, root, "include", &wanted);
    for (size_t i = 0; i < wanted.count; i++)
        if (!target_has_line_type(read, wanted.items[i]))
            WRONG(config_setting_get_member(root, "include"), "\"include\": cannot read \"%s\"",
                  wanted.items[i]);
}

static void read_root(struct description_reader *reader, const config_setting_t *root,
                      struct target *target, const struct target_names *read)
{
    description_check_keys(reader, root,
                           "name title version include line_types events line_groups "
                           "function_categories patterns assertions metrics");
    if (!reader->looks_only) {
        check_includes(reader, root, read);
        description_get_copy(reader, root, "name", &target->name);
    }
    description_get_copy(reader, root, "title", &target->title);
    const config_setting_t *version = config_setting_get_member(root, "version");
    if (version && config_setting_type(version) != CONFIG_TYPE_INT)
        WRONG(version, "\"version\" must be a whole number");
    else if (version)
        target->version = config_setting_get_int(version);
    reader->kinds |= config_setting_get_member(root, "line_types") != NULL;
    reader->events |= config_setting_get_member(root, "events") != NULL;
    read_groups(reader, root, "line_types", target, read_kind);
    read_groups(reader, root, "events", target, read_event);
    read_groups(reader, root, "line_groups", target, read_cluster);
    read_groups(reader, root, "function_categories", target, read_scope);
    read_groups(reader, root, "patterns", target, read_pattern);
    read_groups(reader, root, "assertions", target, read_assertion);
    metric_rules_parse(reader, root, &target->meters, &target->meter_count);
}

static void read_part(struct description_reader *reader, const char *text, struct target *target,
                      const struct target_names *read)
{
    config_t config;
    config_init(&config);
    if (strcasestr(text, "@include"))
        description_complain(reader, reader->file, 1,
                             "@include is not supported; use include = \"NAME\";");
    else if (!config_read_string(&config, text))
        description_complain(reader, reader->file, config_error_line(&config), "%s",
                             config_error_text(&config));
    else if ((reader->readable = true))
        read_root(reader, config_root_setting(&config), target, read);
    config_destroy(&config);
}

static void add_name(struct description_reader *reader, struct target_names *names,
                     const char *name)
{
    names->items = xreallocarray(names->items, names->count + 1, sizeof *names->items);
    names->items[names->count++] = description_copy_text(reader, name);
}

static void read_parts(struct description_reader *reader, const char *text, const char *file,
                       struct target *target)
{
    struct target_names read = {0};
    char *pieces = xstrdup(text), *rest = pieces;
    struct target_part part;
    while (target_part_next(&rest, file, &part)) {
        add_name(reader, &target->sources, part.file);
        reader->file = target->sources.items[target->sources.count - 1];
        reader->part = ++target->parts;
        read_part(reader, part.text, target, &read);
        add_name(reader, &read, part.include);
    }
    free(read.items);
    free(pieces);
}

static void note_interrupted(struct target *target)
{
    for (size_t i = 0; i < target->event_count; i++)
        for (size_t k = 0; target->events[i].handlers && k < target->event_count; k++)
            target->events[k].interrupted |=
                target->events[k].waits &&
                target_has_line_type(&target->events[i].in_thread.types, target->events[k].name);
}

struct target *target_read(const char *text, const char *name, FILE *complaints)
{
    struct target *target = xcalloc(1, sizeof *target);
    struct description_reader reader = {
        .texts = &target->texts, .file = name, .complaints = complaints};
    read_parts(&reader, text, name, target);
    description_rules_check(&reader, target);
    if (reader.mistakes) {
        target_free(target);
        return NULL;
    }
    if (!target->title)
        target->title = target->name;
    note_interrupted(target);
    return target;
}

bool target_apply_layer(struct target *target, const char *text, const char *name,
                        enum description_layer as, FILE *complaints)
{
    struct description_reader reader = {.texts = &target->texts,
                                        .file = name,
                                        .complaints = complaints,
                                        .looks_only = true,
                                        .newer = as == DRESS_AS_NEWER};
    read_parts(&reader, text, name, target);
    return reader.mistakes == 0;
}

int target_update_installed(struct target *target, const char *text)
{
    char *path, *newer = target_installed(target->name, &path);
    bool differs = newer && strcmp(newer, text) != 0;
    struct target *installed = differs ? target_read(newer, path, NULL) : NULL;
    int version = installed && installed->version > target->version ? installed->version : 0;
    target_free(installed);
    if (version)
        target_apply_layer(target, newer, path, DRESS_AS_NEWER, NULL);
    free(newer);
    free(path);
    return version;
}
