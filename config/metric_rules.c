#define _GNU_SOURCE
#include "config/metric_rules.h"

#include "base/alloc.h"
#include "config/description_values.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- formulas ---- */

#define FORMULA_DEEPEST 64u /* maximum nesting of factors */
#define FORMULA_NAME_BYTES 256u

struct formula_reader {
    const char *text, *at;
    formula_name *name;
    void *context;
    unsigned depth;
    bool unknown, wrong;
};

static char formula_skip_blanks(struct formula_reader *f)
{
    while (isspace((unsigned char)*f->at))
        f->at++;
    return *f->at;
}

static double formula_fail(struct formula_reader *f)
{
    f->wrong = true;
    return 0;
}

static double formula_parse_sum(struct formula_reader *f);

static double formula_parse_name(struct formula_reader *f)
{
    char name[FORMULA_NAME_BYTES];
    const char *begin = f->at + (*f->at == '\''), *end = begin;
    bool quoted = *f->at == '\'';
    double value = 0;
    while (quoted ? *end && *end != '\'' : isalnum((unsigned char)*end) || *end == '_')
        end++;
    size_t size = (size_t)(end - begin);
    if (size == 0 || size >= sizeof name || (quoted && *end != '\''))
        return formula_fail(f);
    memcpy(name, begin, size);
    name[size] = 0;
    f->at = end + quoted;
    f->unknown |= !f->name(f->context, name, &value);
    return value;
}

static double formula_parse_factor(struct formula_reader *f)
{
    char c = formula_skip_blanks(f);
    double value;
    if (++f->depth > FORMULA_DEEPEST)
        return formula_fail(f);
    if (c == '(') {
        f->at++;
        value = formula_parse_sum(f);
        if (!f->wrong && formula_skip_blanks(f) == ')')
            f->at++;
        else
            formula_fail(f);
    } else if (c == '-') {
        f->at++;
        value = -formula_parse_factor(f);
    } else if (isdigit((unsigned char)c) || c == '.') {
        char *end;
        value = strtod(f->at, &end);
        if (end == f->at)
            return formula_fail(f);
        f->at = end;
    } else {
        value = formula_parse_name(f);
    }
    f->depth--;
    return value;
}

static double formula_parse_product(struct formula_reader *f)
{
    double value = formula_parse_factor(f);
    for (char c; !f->wrong && ((c = formula_skip_blanks(f)) == '*' || c == '/');) {
        f->at++;
        double other = formula_parse_factor(f);
        f->unknown |= c == '/' && other == 0;
        value = c == '*' ? value * other : other != 0 ? value / other : 0;
    }
    return value;
}

static double formula_parse_sum(struct formula_reader *f)
{
    double value = formula_parse_product(f);
    for (char c; !f->wrong && ((c = formula_skip_blanks(f)) == '+' || c == '-');) {
        f->at++;
        double other = formula_parse_product(f);
        value = c == '+' ? value + other : value - other;
    }
    return value;
}

enum formula_result formula_value(const char *text, formula_name *name, void *context,
                                  double *value, unsigned *wrong)
{
    struct formula_reader f = {.text = text, .at = text, .name = name, .context = context};
    *value = formula_parse_sum(&f);
    if (!f.wrong && formula_skip_blanks(&f))
        f.wrong = true;
    *wrong = (unsigned)(f.at - text);
    return f.wrong ? FORMULA_WRONG : f.unknown ? FORMULA_UNKNOWN : FORMULA_GOOD;
}

/* ---- reading ---- */

struct known_metric {
    const struct target_metric *meters;
    size_t count;
    const char *missing;
};

static bool is_known(void *context, const char *name, double *value)
{
    struct known_metric *known = context;
    *value = 1;
    for (size_t i = 0; i < known->count; i++)
        if (strcmp(known->meters[i].name, name) == 0)
            return true;
    free((char *)(uintptr_t)known->missing);
    known->missing = xstrdup(name);
    return false;
}

/* Checks a formula, which may use only the metrics before it. */
static void check_formula(struct description_reader *reader, const config_setting_t *s,
                          const char *formula, const struct target_metric *before, size_t count)
{
    struct known_metric known = {.meters = before, .count = count};
    double value;
    unsigned wrong;
    enum formula_result is = formula_value(formula, is_known, &known, &value, &wrong);
    if (is == FORMULA_WRONG)
        WRONG(s, "invalid \"formula\" at \"%s\"", *(formula + wrong) ? formula + wrong : "end");
    else if (known.missing)
        WRONG(s, "\"formula\": no metric \"%s\" before it", known.missing);
    free((char *)(uintptr_t)known.missing);
}

static void check_meter(struct description_reader *reader, const config_setting_t *s,
                        const struct target_metric *m)
{
    bool timed = m->from.count || m->to.count;
    if (timed + (m->count.count > 0) + (m->formula != NULL) + m->own != 1)
        WRONG(s, "a metric needs \"start\" and \"end\", or \"count\", or \"formula\", or "
                 "from_program = true");
    else if (timed && (!m->from.count || !m->to.count))
        WRONG(s, "\"%s\" without \"%s\"", m->from.count ? "start" : "end",
              m->from.count ? "end" : "start");
    else if (m->per_line && !timed)
        WRONG(s, "\"per\" is for metrics with \"start\" and \"end\"");
}

static void metric_rules_receive_one(struct description_reader *reader, const config_setting_t *s,
                                     struct target_metric **meters, size_t *count)
{
    static const char *const per[] = {"thread", "line", NULL}, *const good[] = {"", "high", "low",
                                                                                NULL};
    struct target_metric m = {0};
    description_check_keys(reader, s, "name unit start end per better formula count from_program");
    description_get_copy(reader, s, "name", &m.name);
    description_get_copy(reader, s, "unit", &m.unit);
    description_get_copy(reader, s, "formula", &m.formula);
    description_get_name_or_names(reader, s, "start", &m.from);
    description_get_name_or_names(reader, s, "end", &m.to);
    description_get_name_or_names(reader, s, "count", &m.count);
    description_get_bool(reader, s, "from_program", &m.own);
    m.per_line = description_get_word(reader, s, "per", per, 0) == 1;
    m.good = (uint8_t)description_get_word(reader, s, "better", good, METRIC_BETTER_UNKNOWN);
    if (!m.name || !*m.name)
        WRONG(s, "a metric without \"name\"");
    struct target_metric *same = NULL; /* of an earlier part, which this one replaces */
    for (size_t i = 0; m.name && i < *count; i++)
        if (strcmp((*meters)[i].name, m.name) == 0)
            same = &(*meters)[i];
    if (same && same->part == reader->part)
        WRONG(s, "duplicate metric \"%s\"", m.name);
    check_meter(reader, s, &m);
    if (m.formula)
        check_formula(reader, s, m.formula, *meters, same ? (size_t)(same - *meters) : *count);
    m.name = m.name ? m.name : description_copy_text(reader, "");
    m.unit = m.unit ? m.unit : description_copy_text(reader, m.from.count ? "ns" : "");
    m.part = reader->part;
    if (same) {
        *same = m;
        return;
    }
    *meters = xreallocarray(*meters, *count + 1, sizeof **meters);
    (*meters)[(*count)++] = m;
}

void metric_rules_parse(struct description_reader *reader, const config_setting_t *root,
                        struct target_metric **meters, size_t *count)
{
    const config_setting_t *list = description_get_groups(reader, root, "metrics");
    for (int i = 0; list && i < config_setting_length(list); i++)
        metric_rules_receive_one(reader, config_setting_get_elem(list, (unsigned)i), meters, count);
}

bool metric_rules_read(const char *text, const char *file, FILE *complaints, struct arena *texts,
                       struct target_metric **meters, size_t *count)
{
    struct description_reader reader = {.texts = texts, .file = file, .complaints = complaints};
    config_t config;
    config_init(&config);
    *meters = NULL;
    *count = 0;
    if (description_parse_text(&reader, &config, text)) {
        description_check_keys(&reader, config_root_setting(&config),
                               "metrics exact statistical functions");
        metric_rules_parse(&reader, config_root_setting(&config), meters, count);
        if (!reader.mistakes && !*count)
            description_complain(&reader, file, 1, "no \"metrics\" in this file");
    }
    config_destroy(&config);
    if (reader.mistakes) {
        free(*meters);
        *meters = NULL;
        *count = 0;
    }
    return !reader.mistakes;
}

/* ---- writing ---- */

static void add_text(config_setting_t *group, const char *key, const char *text)
{
    config_setting_set_string(config_setting_add(group, key, CONFIG_TYPE_STRING), text);
}

static void add_names(config_setting_t *group, const char *key, const struct target_names *names)
{
    if (!names->count)
        return;
    config_setting_t *list = config_setting_add(group, key, CONFIG_TYPE_ARRAY);
    for (size_t i = 0; i < names->count; i++)
        config_setting_set_string(config_setting_add(list, NULL, CONFIG_TYPE_STRING),
                                  names->items[i]);
}

static void add_meter(config_setting_t *list, const struct target_metric *m)
{
    config_setting_t *group = config_setting_add(list, NULL, CONFIG_TYPE_GROUP);
    add_text(group, "name", m->name);
    add_text(group, "unit", m->unit);
    add_names(group, "start", &m->from);
    add_names(group, "end", &m->to);
    add_names(group, "count", &m->count);
    if (m->per_line)
        add_text(group, "per", "line");
    if (m->formula)
        add_text(group, "formula", m->formula);
    if (m->own)
        config_setting_set_bool(config_setting_add(group, "from_program", CONFIG_TYPE_BOOL), 1);
    if (m->good)
        add_text(group, "better", m->good == GOOD_HIGH ? "high" : "low");
}

char *metric_rules_write(const struct target_metric *meters, size_t count)
{
    config_t config;
    char *text = NULL;
    size_t size;
    config_init(&config);
    config_setting_t *list =
        config_setting_add(config_root_setting(&config), "metrics", CONFIG_TYPE_LIST);
    for (size_t i = 0; i < count; i++)
        add_meter(list, &meters[i]);
    FILE *f = open_memstream(&text, &size);
    if (!f)
        out_of_memory(1);
    config_write(&config, f);
    fclose(f);
    config_destroy(&config);
    return text;
}
