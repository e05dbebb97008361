#include "config/formula.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 64u /* maximum nesting of factors */
#define NAME_BYTES 256u

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
    char name[NAME_BYTES];
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
    if (++f->depth > DEEPEST)
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
