#define _GNU_SOURCE
#include "config/measurement_spec.h"

#include "config/metric_rules.h"
#include "config/description_values.h"
#include "base/alloc.h"
#include "wire/function_names.h"
#include "wire/profile_region.h"

#include <stdlib.h>
#include <string.h>

#define COUNTS WANTED_COUNTS
#define REAL (COUNTS | WANTED_REAL)
#define CPU (REAL | WANTED_CPU)
#define EVERY (CPU | WANTED_EVERY)

static const struct measurement_level {
    const char *word;
    uint32_t wanted;
} levels[] = {{"counts", COUNTS}, {"real", REAL}, {"cpu", CPU}, {"every", EVERY}, {0}};

static const struct measurement_level others[] = {{"states", WANTED_STATES},
                                                  {"memory", WANTED_MEMORY},
                                                  {"metrics", WANTED_METERS},
                                                  {"usage", WANTED_USAGE},
                                                  {"throttle", WANTED_THROTTLE},
                                                  {"counters", WANTED_COUNTERS},
                                                  {0}};

static const char all_words[] =
    "valid: calls (calls=counts, real, cpu, every, libraries), samples=1 to "
    "samples=10000, states, memory, waits, metrics, usage, counters, "
    "throttle, "
    "rate=1 to rate=1000, none";

static bool measurement_spec_find_word(const struct measurement_level *in, const char *word,
                                       size_t size, uint32_t *wanted)
{
    for (; in->word; in++)
        if (strlen(in->word) == size && strncmp(in->word, word, size) == 0) {
            *wanted |= in->wanted;
            return true;
        }
    return false;
}

static bool measurement_spec_word_equals(const char *word, size_t size, const char *what)
{
    return strlen(what) == size && strncmp(word, what, size) == 0;
}

static bool measurement_spec_parse_rate(const char *word, size_t size, uint32_t most,
                                        uint32_t *rate)
{
    unsigned long value = 0;
    for (size_t i = 0; i < size; i++) {
        if (word[i] < '0' || word[i] > '9' || i > 4)
            return false;
        value = 10 * value + (unsigned long)(word[i] - '0');
    }
    *rate = (uint32_t)value;
    return value >= 1 && value <= most;
}

static bool measurement_spec_parse_samples(const char *word, size_t size,
                                           struct measurement_spec *m)
{
    uint32_t rate;
    if (!measurement_spec_parse_rate(word, size, SAMPLES_MOST, &rate))
        return false;
    m->wanted = (m->wanted & UINT16_MAX) | WANTED_SAMPLES(rate);
    return true;
}

static bool measurement_spec_parse_word(const char *word, size_t size, struct measurement_spec *m)
{
    if (size == 0 || measurement_spec_word_equals(word, size, "none"))
        return true;
    if (measurement_spec_word_equals(word, size, "calls"))
        return measurement_spec_find_word(levels, "cpu", 3, &m->wanted);
    if (measurement_spec_word_equals(word, size, "waits"))
        return m->waits = true;
    if (measurement_spec_word_equals(word, size, "calls=libraries"))
        return m->wanted |= WANTED_LIBRARIES;
    if (size > 6 && strncmp(word, "calls=", 6) == 0)
        return measurement_spec_find_word(levels, word + 6, size - 6, &m->wanted);
    if (size > 5 && strncmp(word, "rate=", 5) == 0)
        return measurement_spec_parse_rate(word + 5, size - 5, MEASURE_RATE_MOST, &m->rate);
    if (size > 8 && strncmp(word, "samples=", 8) == 0)
        return measurement_spec_parse_samples(word + 8, size - 8, m);
    return measurement_spec_find_word(others, word, size, &m->wanted);
}

/* Calls of libraries are measured as calls are, by default with their CPU time. */
static void measurement_spec_add_calls(struct measurement_spec *m)
{
    if (m->wanted & WANTED_LIBRARIES && !(m->wanted & EVERY))
        m->wanted |= CPU;
}

bool measurement_spec_parse(const char *words, struct measurement_spec *m, struct error *error)
{
    *m = (struct measurement_spec){0};
    for (const char *at = words;; at++) {
        size_t size = strcspn(at, ",");
        if (!measurement_spec_parse_word(at, size, m)) {
            error_set(error, "%.*s: unknown measurement; %s", (int)(size < 100 ? size : 100), at,
                      all_words);
            return false;
        }
        at += size;
        if (!*at)
            break;
    }
    measurement_spec_add_calls(m);
    if (!WANTED_RATE(m->wanted) || !(m->wanted & EVERY))
        return true;
    error_set(error, "samples and calls exclude each other: a thread is sampled, or its calls are "
                     "measured");
    return false;
}

/* ---- reading a file ---- */

static void measurement_spec_parse_exact(struct description_reader *reader,
                                         const config_setting_t *root, struct measurement_spec *m)
{
    static const char *const words[] = {"off", "counts", "real", "cpu", "every", NULL};
    const config_setting_t *exact = config_setting_get_member(root, "exact");
    if (!exact)
        return;
    if (!config_setting_is_group(exact)) {
        WRONG(exact, "\"exact\" must be a group: { states = true; }");
        return;
    }
    description_check_keys(reader, exact,
                           "calls libraries states memory waits metrics usage throttle counters");
    int level = description_get_word(reader, exact, "calls", words, 0);
    m->wanted |= level ? levels[level - 1].wanted : 0;
    bool libraries = false;
    description_get_bool(reader, exact, "libraries", &libraries);
    m->wanted |= libraries ? WANTED_LIBRARIES : 0;
    measurement_spec_add_calls(m);
    description_get_bool(reader, exact, "waits", &m->waits);
    for (const struct measurement_level *o = others; o->word; o++) {
        bool on = false;
        description_get_bool(reader, exact, o->word, &on);
        m->wanted |= on ? o->wanted : 0;
    }
    if (m->wanted & WANTED_THROTTLE && !(m->wanted & WANTED_REAL))
        WRONG(config_setting_get_member(exact, "throttle"),
              "\"throttle\" needs timed calls: calls = \"real\", \"cpu\" or \"every\"");
}

static const struct {
    const char *key, *variable;
} lists[MEASURE_LISTS] = {[MEASURE_IGNORE] = {"ignore", "POET_PROFILE_EXCLUDE"},
                          [MEASURE_ONLY] = {"only", "POET_PROFILE_INCLUDE"},
                          [MEASURE_COUNT] = {"count", "POET_PROFILE_COUNT_ONLY"}};

const char *measurement_spec_variable(unsigned list) { return lists[list].variable; }

char *measurement_spec_error(const char *names)
{
    for (struct function_names n = function_names_parse(names); function_names_next(&n, true);)
        if (n.wrong)
            return xasprintf("%.*s: %s", (int)(n.size < 100 ? n.size : 100), n.word, n.wrong);
    return NULL;
}

void measurement_spec_free(struct measurement_spec *m)
{
    for (unsigned i = 0; i < MEASURE_LISTS; i++) {
        free(m->lists[i]);
        m->lists[i] = NULL;
    }
}

static char *measurement_spec_join_names(const struct target_names *names)
{
    char *all = NULL;
    for (size_t i = 0; i < names->count; i++) {
        char *more = xasprintf("%s%s%s", all ? all : "", all ? "," : "", names->items[i]);
        free(all);
        all = more;
    }
    return all;
}

/* Checks that each element of a list is a single valid name. */
static void check_functions(struct description_reader *reader, const config_setting_t *s,
                            const struct target_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        const config_setting_t *e = config_setting_get_elem(s, (unsigned)i);
        char *wrong = strpbrk(names->items[i], ",#\n")
                          ? xasprintf("%s: not a single name", names->items[i])
                          : measurement_spec_error(names->items[i]);
        if (wrong)
            WRONG(e ? e : s, "%s", wrong);
        free(wrong);
    }
}

static void measurement_spec_parse_functions(struct description_reader *reader,
                                             const config_setting_t *root,
                                             struct measurement_spec *m)
{
    const config_setting_t *group = config_setting_get_member(root, "functions");
    if (!group)
        return;
    if (!config_setting_is_group(group)) {
        WRONG(group, "\"functions\" must be a group: { ignore = [\"f\"]; }");
        return;
    }
    description_check_keys(reader, group, "ignore only count");
    for (unsigned i = 0; i < MEASURE_LISTS; i++) {
        const config_setting_t *list = config_setting_get_member(group, lists[i].key);
        struct target_names names = {0};
        if (list && description_get_name_or_names(reader, group, lists[i].key, &names))
            check_functions(reader, list, &names);
        m->lists[i] = measurement_spec_join_names(&names);
    }
}

/* Returns a number of samples per second; 0: none is given. */
static uint32_t measurement_spec_get_rate(struct description_reader *reader,
                                          const config_setting_t *group, const char *key,
                                          uint32_t most)
{
    const config_setting_t *rate = config_setting_get_member(group, key);
    int value =
        rate && config_setting_type(rate) == CONFIG_TYPE_INT ? config_setting_get_int(rate) : 0;
    if (rate && (value < 1 || value > (int)most)) {
        WRONG(rate, "\"%s\" must be samples per second, 1 to %u", key, most);
        return 0;
    }
    return (uint32_t)value;
}

static void measurement_spec_parse_statistical(struct description_reader *reader,
                                               const config_setting_t *root,
                                               struct measurement_spec *m)
{
    const config_setting_t *group = config_setting_get_member(root, "statistical");
    if (!group)
        return;
    if (!config_setting_is_group(group)) {
        WRONG(group, "\"statistical\" must be a group: { rate = 100; }");
        return;
    }
    description_check_keys(reader, group, "rate samples");
    m->rate = measurement_spec_get_rate(reader, group, "rate", MEASURE_RATE_MOST);
    uint32_t samples = measurement_spec_get_rate(reader, group, "samples", SAMPLES_MOST);
    m->wanted |= WANTED_SAMPLES(samples);
    if (samples && m->wanted & EVERY)
        WRONG(group, "\"samples\" and \"calls\" exclude each other");
}

bool measurement_spec_read(const char *text, const char *file, FILE *complaints,
                           struct measurement_spec *m)
{
    struct arena texts = {0};
    struct description_reader reader = {.texts = &texts, .file = file, .complaints = complaints};
    struct target_metric *meters = NULL;
    size_t count = 0;
    config_t config;
    *m = (struct measurement_spec){0};
    config_init(&config);
    if (description_parse_text(&reader, &config, text)) {
        const config_setting_t *root = config_root_setting(&config);
        description_check_keys(&reader, root, "exact statistical functions metrics");
        measurement_spec_parse_exact(&reader, root, m);
        measurement_spec_parse_statistical(&reader, root, m);
        measurement_spec_parse_functions(&reader, root, m);
        metric_rules_parse(&reader, root, &meters, &count);
        m->metrics = count > 0;
        if (!reader.mistakes && !config_setting_length(root))
            description_complain(&reader, file, 1, "no measurement settings; see docs/config.md");
    }
    free(meters);
    arena_free(&texts);
    config_destroy(&config);
    if (reader.mistakes)
        measurement_spec_free(m);
    return !reader.mistakes;
}

bool measurement_spec_is_set(const char *text)
{
    config_t config;
    config_init(&config);
    bool good = config_read_string(&config, text);
    bool described =
        good && (config_lookup(&config, "line_types") || config_lookup(&config, "events") ||
                 config_lookup(&config, "include"));
    bool measures =
        good && (config_lookup(&config, "exact") || config_lookup(&config, "statistical") ||
                 config_lookup(&config, "functions") || config_lookup(&config, "metrics"));
    config_destroy(&config);
    return measures && !described;
}

/* ---- writing ---- */

static const char *level_of(const struct measurement_spec *m)
{
    const char *word = NULL;
    for (const struct measurement_level *l = levels; l->word; l++)
        if ((m->wanted & l->wanted) == l->wanted)
            word = l->word;
    return word;
}

char *measurement_spec_list(const struct measurement_spec *m)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        out_of_memory(1);
    const char *comma = "";
    if (level_of(m)) {
        fprintf(f, "calls=%s", level_of(m));
        comma = ",";
    }
    if (m->wanted & WANTED_LIBRARIES) {
        fprintf(f, "%scalls=libraries", comma);
        comma = ",";
    }
    for (const struct measurement_level *o = others; o->word; o++)
        if (m->wanted & o->wanted) {
            fprintf(f, "%s%s", comma, o->word);
            comma = ",";
        }
    if (m->waits) {
        fprintf(f, "%swaits", comma);
        comma = ",";
    }
    if (WANTED_RATE(m->wanted)) {
        fprintf(f, "%ssamples=%u", comma, WANTED_RATE(m->wanted));
        comma = ",";
    }
    if (m->rate)
        fprintf(f, "%srate=%u", comma, m->rate);
    else if (!*comma)
        fputs("none", f);
    fclose(f);
    return text;
}

/* Writes the lists of functions as libconfig arrays of strings, with \ and " escaped by a
 * backslash. */
static void write_functions(FILE *f, const struct measurement_spec *m)
{
    bool any = false;
    for (unsigned i = 0; i < MEASURE_LISTS; i++) {
        const char *comma = "";
        if (!m->lists[i] || !*m->lists[i])
            continue;
        fprintf(f, "%s    %s = [", any ? "" : "functions = {\n", lists[i].key);
        for (struct function_names n = function_names_parse(m->lists[i]);
             function_names_next(&n, true); comma = ", ") {
            fprintf(f, "%s\"", comma);
            for (size_t k = 0; k < n.size; k++)
                fprintf(f, "%s%c", strchr("\\\"", n.word[k]) ? "\\" : "", n.word[k]);
            fputc('"', f);
        }
        fputs("];\n", f);
        any = true;
    }
    fputs(any ? "};\n" : "", f);
}

char *measurement_spec_write(const struct measurement_spec *m)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        out_of_memory(1);
    fprintf(f, "exact = {\n    calls = \"%s\";\n", level_of(m) ? level_of(m) : "off");
    fprintf(f, "    libraries = %s;\n", m->wanted & WANTED_LIBRARIES ? "true" : "false");
    for (const struct measurement_level *o = others; o->word; o++)
        fprintf(f, "    %s = %s;\n", o->word, m->wanted & o->wanted ? "true" : "false");
    fprintf(f, "    waits = %s;\n};\n", m->waits ? "true" : "false");
    uint32_t samples = WANTED_RATE(m->wanted);
    if (m->rate || samples)
        fputs("statistical = {", f);
    if (m->rate)
        fprintf(f, " rate = %u;", m->rate);
    if (samples)
        fprintf(f, " samples = %u;", samples);
    fputs(m->rate || samples ? " };\n" : "", f);
    write_functions(f, m);
    fclose(f);
    return text;
}
