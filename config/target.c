#define _GNU_SOURCE
#include "config/target.h"

#include "wire/limits.h"

#include <errno.h>
#include <libconfig.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct reader {
    const char *name;
    FILE *complaints;
    unsigned mistakes;
};

static void complain(struct reader *reader, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void complain(struct reader *reader, int line, const char *format, ...)
{
    va_list ap;
    reader->mistakes++;
    if (!reader->complaints)
        return;
    fprintf(reader->complaints, "%s:%d: ", reader->name, line);
    va_start(ap, format);
    vfprintf(reader->complaints, format, ap);
    va_end(ap);
    fputc('\n', reader->complaints);
}

static int line_of(const config_setting_t *s) { return (int)config_setting_source_line(s); }

static void *must(void *p)
{
    if (!p)
        abort();
    return p;
}

static char *copy(const char *s) { return must(strdup(s)); }

/* ---- words ---- */

static size_t distance(const char *a, const char *b)
{
    size_t row[64], n = strlen(b);
    if (n >= 63)
        return 99;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t up = row[j], change = corner + (a[i - 1] != b[j - 1]);
            row[j] = up + 1 < change ? up + 1 : change;
            if (row[j - 1] + 1 < row[j])
                row[j] = row[j - 1] + 1;
            corner = up;
        }
    }
    return row[n];
}

static const char *nearest(const char *word, const char *const *words)
{
    const char *best = NULL;
    size_t least = 4;
    for (; *words; words++) {
        size_t d = distance(word, *words);
        if (d < least) {
            least = d;
            best = *words;
        }
    }
    return best;
}

static void check_keys(struct reader *reader, const config_setting_t *group,
                       const char *const *known)
{
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);
        const char *name = config_setting_name(s);
        bool found = false;
        for (size_t k = 0; known[k]; k++)
            found |= strcmp(name, known[k]) == 0;
        if (found)
            continue;
        const char *near = nearest(name, known);
        if (near)
            complain(reader, line_of(s), "unknown key \"%s\": did you mean \"%s\"?", name, near);
        else
            complain(reader, line_of(s), "unknown key \"%s\"", name);
    }
}

/* ---- values ---- */

static const char *get_text(struct reader *reader, const config_setting_t *group, const char *key,
                            bool needed)
{
    const config_setting_t *s = config_setting_get_member(group, key);
    if (!s) {
        if (needed)
            complain(reader, line_of(group), "\"%s\" is missing", key);
        return NULL;
    }
    if (config_setting_type(s) != CONFIG_TYPE_STRING) {
        complain(reader, line_of(s), "\"%s\" must be a string", key);
        return NULL;
    }
    const char *text = config_setting_get_string(s);
    if (needed && !*text)
        complain(reader, line_of(s), "\"%s\" is empty", key);
    return text;
}

static bool get_bool(struct reader *reader, const config_setting_t *group, const char *key,
                     bool otherwise)
{
    const config_setting_t *s = config_setting_get_member(group, key);
    if (!s)
        return otherwise;
    if (config_setting_type(s) != CONFIG_TYPE_BOOL) {
        complain(reader, line_of(s), "\"%s\" must be true or false", key);
        return otherwise;
    }
    return config_setting_get_bool(s);
}

static int get_word(struct reader *reader, const config_setting_t *group, const char *key,
                    const char *const *words, int otherwise)
{
    const char *text = get_text(reader, group, key, false);
    if (!text)
        return otherwise;
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    const config_setting_t *s = config_setting_get_member(group, key);
    const char *near = nearest(text, words);
    complain(reader, line_of(s), "\"%s\" is no value of \"%s\": did you mean \"%s\"?", text, key,
             near ? near : words[0]);
    return otherwise;
}

static struct target_colour get_colour(struct reader *reader, const config_setting_t *group)
{
    const char *text = get_text(reader, group, "colour", false);
    unsigned red = 0, green = 0, blue = 0;
    char rest;
    if (text && (strlen(text) != 7 ||
                 sscanf(text, "#%2x%2x%2x%c", &red, &green, &blue, &rest) != 3))
        complain(reader, line_of(config_setting_get_member(group, "colour")),
                 "\"%s\" is no colour: write \"#RRGGBB\"", text);
    return (struct target_colour){red / 255.0, green / 255.0, blue / 255.0};
}

static void names_free(struct target_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
}

/* A list of names; the empty name sets *first instead. */
static bool get_names(struct reader *reader, const config_setting_t *group, const char *key,
                      struct target_names *names, bool *first)
{
    const config_setting_t *s = config_setting_get_member(group, key);
    if (!s)
        return false;
    if (!config_setting_is_array(s) && !config_setting_is_list(s)) {
        complain(reader, line_of(s), "\"%s\" must be a list of names: [\"a\", \"b\"]", key);
        return false;
    }
    size_t n = (size_t)config_setting_length(s);
    names->items = must(calloc(n + 1, sizeof *names->items));
    for (size_t i = 0; i < n; i++) {
        const config_setting_t *item = config_setting_get_elem(s, (unsigned)i);
        if (config_setting_type(item) != CONFIG_TYPE_STRING)
            complain(reader, line_of(item), "\"%s\" holds something that is no name", key);
        else if (!*config_setting_get_string(item) && first)
            *first = true;
        else
            names->items[names->count++] = copy(config_setting_get_string(item));
    }
    return true;
}

static void get_name_or_names(struct reader *reader, const config_setting_t *group, const char *key,
                              struct target_names *names)
{
    const char *one;
    if (!config_setting_lookup_string(group, key, &one)) {
        get_names(reader, group, key, names, NULL);
        return;
    }
    names->items = must(calloc(1, sizeof *names->items));
    names->items[names->count++] = copy(one);
}

static const config_setting_t *get_list(struct reader *reader, const config_setting_t *root,
                                        const char *key, bool needed)
{
    const config_setting_t *s = config_setting_get_member(root, key);
    if (!s) {
        if (needed)
            complain(reader, 1, "\"%s\" is missing", key);
        return NULL;
    }
    if (!config_setting_is_list(s)) {
        complain(reader, line_of(s), "\"%s\" must be a list of groups: ( { ... }, { ... } )", key);
        return NULL;
    }
    for (int i = 0; i < config_setting_length(s); i++) {
        const config_setting_t *item = config_setting_get_elem(s, (unsigned)i);
        if (!config_setting_is_group(item)) {
            complain(reader, line_of(item), "\"%s\" must hold groups only: { ... }", key);
            return NULL;
        }
    }
    return s;
}

/* ---- the three lists ---- */

static void read_kind(struct reader *reader, const config_setting_t *s, struct target_kind *kind)
{
    static const char *const keys[] = {"name",   "letter", "title", "colour",
                                       "shared", "threads", "drawn", NULL};
    check_keys(reader, s, keys);
    const char *name = get_text(reader, s, "name", true);
    const char *letter = get_text(reader, s, "letter", true);
    const char *title = get_text(reader, s, "title", false);
    kind->name = copy(name ? name : "");
    kind->letter = copy(letter ? letter : "");
    kind->title = copy(title ? title : kind->name);
    kind->colour = get_colour(reader, s);
    kind->shared = get_bool(reader, s, "shared", false);
    kind->threads = get_bool(reader, s, "threads", true);
    kind->drawn = get_bool(reader, s, "drawn", true);
}

static void read_event(struct reader *reader, const config_setting_t *s,
                       struct target_event *event)
{
    static const char *const keys[] = {
        "name",  "on",     "label",   "text",  "shape",      "filled",       "colour", "relation",
        "after", "arrow",  "partner", "opens", "line_after", "thread_after", "closes", "thread",
        "whose", "waits",  "releases", NULL};
    static const char *const shapes[] = {"none", "circle", "square", NULL};
    static const char *const relations[] = {"none",    "sync",  "send",  "receive",
                                            "order",   "group", "any",   NULL};
    static const char *const arrows[] = {"none", "to-partner", "from-partner", NULL};
    static const char *const presences[] = {"out", "active", "blocked", "away", NULL};
    static const char *const whose[] = {"acting", "own", NULL};
    check_keys(reader, s, keys);
    event->source_line = line_of(s);
    const char *name = get_text(reader, s, "name", true);
    const char *label = get_text(reader, s, "label", false);
    const char *text = get_text(reader, s, "text", false);
    event->name = copy(name ? name : "");
    event->label = copy(label ? label : event->name);
    event->text = copy(text ? text : event->label);
    event->shape = (enum target_shape)get_word(reader, s, "shape", shapes, SHAPE_CIRCLE);
    event->filled = get_bool(reader, s, "filled", false);
    event->colour = get_colour(reader, s);
    event->relation = (enum relation)get_word(reader, s, "relation", relations, RELATION_COUNT);
    event->arrow = (enum target_arrow)get_word(reader, s, "arrow", arrows, ARROW_NONE);
    event->opens = get_bool(reader, s, "opens", false);
    event->closes = get_bool(reader, s, "closes", false);
    event->waits = get_bool(reader, s, "waits", false);
    event->releases = get_bool(reader, s, "releases", false);
    event->has_presence = config_setting_get_member(s, "thread") != NULL;
    event->presence = (enum presence)get_word(reader, s, "thread", presences, PRESENCE_OUT);
    event->own = get_word(reader, s, "whose", whose, 0) == 1;
    get_name_or_names(reader, s, "partner", &event->partners);
    get_names(reader, s, "on", &event->on, NULL);
    get_names(reader, s, "after", &event->after, NULL);
    event->line_any = !get_names(reader, s, "line_after", &event->line_after, &event->line_first);
    event->thread_any =
        !get_names(reader, s, "thread_after", &event->thread_after, &event->thread_first);
}

static void read_cluster(struct reader *reader, const config_setting_t *s,
                         struct target_cluster *cluster)
{
    static const char *const keys[] = {"name", "kind", "match", NULL};
    check_keys(reader, s, keys);
    const char *name = get_text(reader, s, "name", true);
    const char *kind = get_text(reader, s, "kind", false);
    const char *match = get_text(reader, s, "match", false);
    if (!kind == !match)
        complain(reader, line_of(s), "a cluster needs either \"kind\" or \"match\"");
    cluster->name = copy(name ? name : "");
    cluster->kind = kind ? copy(kind) : NULL;
    cluster->match = match ? copy(match) : NULL;
}

/* ---- what must fit together ---- */

static bool knows_type(const struct target *target, const char *name)
{
    for (size_t i = 0; i < target->event_count; i++)
        if (strcmp(target->events[i].name, name) == 0)
            return true;
    return false;
}

static void check_types(struct reader *reader, const struct target *target,
                        const struct target_names *names, const char *key, int line)
{
    for (size_t i = 0; i < names->count; i++)
        if (!knows_type(target, names->items[i]))
            complain(reader, line, "\"%s\" names the type \"%s\", which does not exist", key,
                     names->items[i]);
}

static bool names_back(const struct target *target, const struct target_event *event,
                       const char *partner)
{
    for (size_t i = 0; i < target->event_count; i++) {
        const struct target_event *other = &target->events[i];
        if (strcmp(other->name, partner) == 0 &&
            (!other->partners.count || target_has(&other->partners, event->name)))
            return true;
    }
    return false;
}

static void check_partners(struct reader *reader, const struct target *target,
                           const struct target_event *event)
{
    int line = event->source_line;
    for (size_t i = 0; i < event->partners.count; i++) {
        const char *partner = event->partners.items[i];
        if (!knows_type(target, partner))
            complain(reader, line, "\"partner\" names the type \"%s\", which does not exist", partner);
        else if (!names_back(target, event, partner))
            complain(reader, line, "\"partner\" names the type \"%s\", which does not name \"%s\" back",
                     partner, event->name);
    }
    if (event->partners.count &&
        (event->relation == RELATION_NONE || event->relation == RELATION_COUNT))
        complain(reader, line, "\"partner\" without a \"relation\" that has one");
}

static void check_event(struct reader *reader, const struct target *target, size_t number)
{
    const struct target_event *event = &target->events[number];
    int line = event->source_line;
    for (size_t i = 0; i < event->on.count; i++)
        if (!target_kind(target, event->on.items[i]))
            complain(reader, line, "\"on\" names the kind \"%s\", which does not exist",
                     event->on.items[i]);
    for (size_t i = 0; i < number; i++) {
        const struct target_event *other = &target->events[i];
        if (strcmp(other->name, event->name) != 0)
            continue;
        bool both = !other->on.count && !event->on.count;
        for (size_t k = 0; k < event->on.count; k++)
            both |= target_has(&other->on, event->on.items[k]);
        if (both && other->relation == event->relation)
            complain(reader, line, "the type \"%s\" stands already in line %d", event->name,
                     other->source_line);
    }
    check_types(reader, target, &event->after, "after", line);
    check_types(reader, target, &event->line_after, "line_after", line);
    check_types(reader, target, &event->thread_after, "thread_after", line);
    check_partners(reader, target, event);
    if (event->arrow != ARROW_NONE && event->relation == RELATION_NONE)
        complain(reader, line, "\"arrow\" without a relation");
}

static void check_kinds(struct reader *reader, const struct target *target,
                        const config_setting_t *list)
{
    for (size_t i = 0; i < target->kind_count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(target->kinds[i].name, target->kinds[k].name) == 0)
                complain(reader, line_of(config_setting_get_elem(list, (unsigned)i)),
                         "the kind \"%s\" stands twice", target->kinds[i].name);
}

static void read_root(struct reader *reader, const config_setting_t *root, struct target *target)
{
    static const char *const keys[] = {"name",   "title",    "version", "kinds",
                                       "events", "clusters", NULL};
    check_keys(reader, root, keys);
    const char *name = get_text(reader, root, "name", true);
    const char *title = get_text(reader, root, "title", false);
    target->name = copy(name ? name : "");
    target->title = copy(title ? title : target->name);
    const config_setting_t *version = config_setting_get_member(root, "version");
    if (version && config_setting_type(version) != CONFIG_TYPE_INT)
        complain(reader, line_of(version), "\"version\" must be a whole number");
    else if (version)
        target->version = config_setting_get_int(version);
    const config_setting_t *kinds = get_list(reader, root, "kinds", true);
    const config_setting_t *events = get_list(reader, root, "events", true);
    const config_setting_t *clusters = get_list(reader, root, "clusters", false);
    size_t n = kinds ? (size_t)config_setting_length(kinds) : 0;
    target->kinds = must(calloc(n + 1, sizeof *target->kinds));
    for (; target->kind_count < n; target->kind_count++)
        read_kind(reader, config_setting_get_elem(kinds, (unsigned)target->kind_count),
                  &target->kinds[target->kind_count]);
    n = events ? (size_t)config_setting_length(events) : 0;
    target->events = must(calloc(n + 1, sizeof *target->events));
    for (; target->event_count < n; target->event_count++)
        read_event(reader, config_setting_get_elem(events, (unsigned)target->event_count),
                   &target->events[target->event_count]);
    n = clusters ? (size_t)config_setting_length(clusters) : 0;
    target->clusters = must(calloc(n + 1, sizeof *target->clusters));
    for (; target->cluster_count < n; target->cluster_count++)
        read_cluster(reader, config_setting_get_elem(clusters, (unsigned)target->cluster_count),
                     &target->clusters[target->cluster_count]);
    if (kinds)
        check_kinds(reader, target, kinds);
    for (size_t i = 0; i < target->event_count; i++)
        check_event(reader, target, i);
}

struct target *target_read(const char *text, const char *name, FILE *complaints)
{
    struct reader reader = {.name = name, .complaints = complaints};
    struct target *target = must(calloc(1, sizeof *target));
    config_t config;
    config_init(&config);
    if (strcasestr(text, "@include"))
        complain(&reader, 1, "@include is not served");
    else if (!config_read_string(&config, text))
        complain(&reader, config_error_line(&config), "%s", config_error_text(&config));
    else
        read_root(&reader, config_root_setting(&config), target);
    config_destroy(&config);
    if (reader.mistakes) {
        target_free(target);
        return NULL;
    }
    return target;
}

void target_free(struct target *target)
{
    if (!target)
        return;
    for (size_t i = 0; i < target->kind_count; i++) {
        free(target->kinds[i].name);
        free(target->kinds[i].letter);
        free(target->kinds[i].title);
    }
    for (size_t i = 0; i < target->event_count; i++) {
        struct target_event *event = &target->events[i];
        free(event->name);
        free(event->label);
        free(event->text);
        names_free(&event->partners);
        names_free(&event->on);
        names_free(&event->after);
        names_free(&event->line_after);
        names_free(&event->thread_after);
    }
    for (size_t i = 0; i < target->cluster_count; i++) {
        free(target->clusters[i].name);
        free(target->clusters[i].kind);
        free(target->clusters[i].match);
    }
    free(target->kinds);
    free(target->events);
    free(target->clusters);
    free(target->name);
    free(target->title);
    free(target);
}

const struct target_kind *target_kind(const struct target *target, const char *kind)
{
    for (size_t i = 0; target && i < target->kind_count; i++)
        if (strcmp(target->kinds[i].name, kind) == 0)
            return &target->kinds[i];
    return NULL;
}

bool target_has(const struct target_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return true;
    return false;
}

const struct target_event *target_event(const struct target *target, const char *kind,
                                        const char *type, enum relation relation)
{
    const struct target_event *best = NULL;
    int best_fit = -1;
    for (size_t i = 0; target && i < target->event_count; i++) {
        const struct target_event *event = &target->events[i];
        if (strcmp(event->name, type) != 0 ||
            (event->on.count && !target_has(&event->on, kind)))
            continue;
        int fit = (event->relation == relation ? 2 : event->relation == RELATION_COUNT ? 1 : 0) +
                  (event->on.count ? 3 : 0);
        if (fit > best_fit) {
            best = event;
            best_fit = fit;
        }
    }
    return best;
}

/* ---- finding ---- */

static char *read_whole(const char *path)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return NULL;
    char *text = must(malloc(LIMIT_TARGET_BYTES + 1));
    size_t n = fread(text, 1, LIMIT_TARGET_BYTES + 1, f);
    int e = ferror(f) ? errno : 0;
    fclose(f);
    if (e || n > LIMIT_TARGET_BYTES) {
        free(text);
        errno = e ? e : EFBIG;
        return NULL;
    }
    text[n] = 0;
    return text;
}

static char *try_path(char **path, const char *directory, const char *below, const char *name)
{
    if (!directory || asprintf(path, "%s%s/%s.conf", directory, below, name) < 0)
        return NULL;
    char *text = read_whole(*path);
    if (!text) {
        int e = errno;
        free(*path);
        *path = NULL;
        errno = e;
    }
    return text;
}

char *target_load(const char *name, char **path)
{
    *path = NULL;
    if (strchr(name, '/') || strstr(name, ".conf")) {
        char *text = read_whole(name);
        if (text)
            *path = copy(name);
        return text;
    }
    char self[PATH_MAX] = "";
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *text = try_path(path, getenv("POET_CONFIG"), "", name);
    if (!text)
        text = try_path(path, getenv("XDG_CONFIG_HOME"), "/poet", name);
    if (!text)
        text = try_path(path, getenv("HOME"), "/.config/poet", name);
    for (char *slash = self + strlen(self); !text && slash > self; slash--) {
        if (*slash != '/')
            continue;
        *slash = 0;
        text = try_path(path, self, "/share/poet/config", name);
    }
    if (!text)
        errno = ENOENT;
    return text;
}
