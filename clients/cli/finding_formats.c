/* Output of findings in the formats that editors and CI systems read. */
#define _GNU_SOURCE
#include "clients/cli/finding_options.h"

#include "base/alloc.h"
#include "clients/cli/output_format.h"
#include "clients/cli/version.h"

#include <json-c/json.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Returns a path relative to the working directory if it is below it. */
static const char *finding_formats_path(const char *path)
{
    static char directory[PATH_MAX];
    if (!*directory && !getcwd(directory, sizeof directory))
        return path;
    size_t n = strlen(directory);
    return strncmp(path, directory, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

/* ---- gcc ---- */

static void finding_formats_gcc_place(FILE *f, const struct finding_place *place)
{
    if (*place->path)
        fprintf(f, "%s:", finding_formats_path(place->path));
    if (*place->path && place->line)
        fprintf(f, "%d:", place->line);
    fputs(*place->path ? " " : "poet: ", f);
}

static void finding_formats_gcc(FILE *f, const struct finding_report *r)
{
    struct finding_place nowhere = {.path = (char[]){""}};
    for (uint32_t i = 0; i < r->findings->count; i++) {
        const struct run_finding *item = &r->findings->items[i];
        if (item->reason)
            continue;
        finding_formats_gcc_place(f, item->place_count ? item->places : &nowhere);
        fprintf(f, "%s: %s [%s %s]\n", item->certainty == FINDING_CERTAIN ? "error" : "warning",
                item->text, item->kind->name, item->identity);
        for (uint32_t k = 0; k < item->place_count; k++)
            if (item->places[k].path[0] && strcmp(item->places[k].text, item->text) != 0) {
                finding_formats_gcc_place(f, &item->places[k]);
                fprintf(f, "note: %s\n", item->places[k].text);
            }
    }
}

/* ---- JSON ---- */

static struct json_object *finding_formats_json_place(const struct finding_place *place)
{
    struct json_object *o = json_object_new_object();
    json_add_text(o, "file", *place->path ? place->path : NULL);
    json_object_object_add(o, "line", place->line ? json_object_new_int(place->line) : NULL);
    json_add_text(o, "function", *place->function ? place->function : NULL);
    json_add_text(o, "text", place->text);
    return o;
}

struct json_object *finding_json(const struct run_finding *item)
{
    struct json_object *o = json_object_new_object(), *places = json_object_new_array(),
                       *objects = json_object_new_array();
    json_add_text(o, "kind", item->kind->name);
    json_add_text(o, "certainty", finding_certainty_name(item->certainty));
    json_add_text(o, "identity", item->identity);
    json_add_text(o, "text", item->text);
    for (uint32_t k = 0; k < item->object_count; k++)
        json_object_array_add(objects, json_object_new_string(item->objects[k]));
    json_object_object_add(o, "objects", objects);
    for (uint32_t k = 0; k < item->place_count; k++)
        json_object_array_add(places, finding_formats_json_place(&item->places[k]));
    json_object_object_add(o, "places", places);
    json_add_text(o, "accepted", item->reason);
    return o;
}

static void finding_formats_json(FILE *f, const struct finding_report *r)
{
    struct json_object *all = json_object_new_object(), *list = json_object_new_array();
    for (uint32_t i = 0; i < r->findings->count; i++)
        json_object_array_add(list, finding_json(&r->findings->items[i]));
    json_object_object_add(all, "findings", list);
    json_write(f, all);
    putc('\n', f);
}

/* ---- SARIF ---- */

static struct json_object *finding_formats_message(const char *text)
{
    struct json_object *o = json_object_new_object();
    json_add_text(o, "text", text);
    return o;
}

/* Returns a path as a URI reference (RFC 3986), in new memory. */
static char *finding_formats_uri(const char *path)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "-._~/";
    char *uri = NULL;
    size_t size;
    FILE *to = open_memstream(&uri, &size);
    if (!to)
        out_of_memory(0);
    fputs(*path == '/' ? "file://" : "", to);
    for (; *path; path++)
        fprintf(to, strchr(plain, *path) ? "%c" : "%%%02X", (unsigned char)*path);
    fclose(to);
    return uri;
}

static struct json_object *finding_formats_sarif_place(const struct finding_place *place, bool text)
{
    struct json_object *o = json_object_new_object(), *physical = json_object_new_object(),
                       *artifact = json_object_new_object(), *region = json_object_new_object();
    json_object_object_add(artifact, "uri",
                           json_take_text(finding_formats_uri(finding_formats_path(place->path))));
    json_object_object_add(physical, "artifactLocation", artifact);
    json_object_object_add(region, "startLine", json_object_new_int(place->line ? place->line : 1));
    json_object_object_add(physical, "region", region);
    json_object_object_add(o, "physicalLocation", physical);
    if (text)
        json_object_object_add(o, "message", finding_formats_message(place->text));
    return o;
}

static struct json_object *finding_formats_sarif_result(const struct run_finding *item)
{
    static const char *const levels[] = {
        [FINDING_CERTAIN] = "error", [FINDING_LIKELY] = "warning", [FINDING_POSSIBLE] = "warning"};
    struct json_object *o = json_object_new_object(), *places = json_object_new_array(),
                       *related = json_object_new_array(), *prints = json_object_new_object();
    char *text = xstrdup(item->text);
    json_add_text(o, "ruleId", item->kind->name);
    json_add_text(o, "level", levels[item->certainty]);
    for (uint32_t k = 0; k < item->place_count; k++) {
        const struct finding_place *place = &item->places[k];
        if (*place->path && !json_object_array_length(places))
            json_object_array_add(places, finding_formats_sarif_place(place, false));
        if (*place->path)
            json_object_array_add(related, finding_formats_sarif_place(place, true));
        else if (strcmp(place->text, item->text) != 0) {
            char *more = xasprintf("%s\n%s", text, place->text);
            free(text);
            text = more;
        }
    }
    json_object_object_add(o, "message", finding_formats_message(text));
    free(text);
    json_object_object_add(o, "locations", places);
    json_object_object_add(o, "relatedLocations", related);
    json_add_text(prints, "poetIdentity/v1", item->identity);
    json_object_object_add(o, "partialFingerprints", prints);
    if (item->reason) {
        struct json_object *accepted = json_object_new_object(), *list = json_object_new_array();
        json_add_text(accepted, "kind", "external");
        json_add_text(accepted, "justification", item->reason);
        json_object_array_add(list, accepted);
        json_object_object_add(o, "suppressions", list);
    }
    return o;
}

static struct json_object *finding_formats_sarif_rules(unsigned groups)
{
    struct json_object *rules = json_object_new_array();
    for (const struct finding_kind_row *kind = finding_kinds; kind->name; kind++) {
        if (!(kind->group & groups))
            continue;
        struct json_object *rule = json_object_new_object();
        json_add_text(rule, "id", kind->name);
        json_object_object_add(rule, "shortDescription", finding_formats_message(kind->headline));
        json_object_array_add(rules, rule);
    }
    return rules;
}

static void finding_formats_sarif(FILE *f, const struct finding_report *r)
{
    struct json_object *log = json_object_new_object(), *runs = json_object_new_array(),
                       *run = json_object_new_object(), *tool = json_object_new_object(),
                       *driver = json_object_new_object(), *results = json_object_new_array();
    json_add_text(log, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_add_text(log, "version", "2.1.0");
    json_add_text(driver, "name", "Poet");
    json_add_text(driver, "version", POET_VERSION);
    json_object_object_add(driver, "rules", finding_formats_sarif_rules(r->groups));
    json_object_object_add(tool, "driver", driver);
    json_object_object_add(run, "tool", tool);
    for (uint32_t i = 0; i < r->findings->count; i++)
        json_object_array_add(results, finding_formats_sarif_result(&r->findings->items[i]));
    json_object_object_add(run, "results", results);
    json_object_array_add(runs, run);
    json_object_object_add(log, "runs", runs);
    fputs(json_object_to_json_string_ext(log,
                                         JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE),
          f);
    putc('\n', f);
    json_object_put(log);
}

/* ---- JUnit ---- */

/* Writes a text for XML 1.0, which has no representation of most control characters. */
static void finding_formats_xml(FILE *f, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", f);
            break;
        case '<':
            fputs("&lt;", f);
            break;
        case '>':
            fputs("&gt;", f);
            break;
        case '"':
            fputs("&quot;", f);
            break;
        case '\n':
            fputs("&#10;", f);
            break;
        default:
            putc((unsigned char)*text < 0x20 ? ' ' : *text, f);
        }
}

static void finding_formats_junit_finding(FILE *f, const struct run_finding *item)
{
    fprintf(f, item->reason ? "      <skipped message=\"accepted: " : "      <failure message=\"");
    finding_formats_xml(f, item->reason ? item->reason : item->text);
    fprintf(f, item->reason ? "\"/>\n" : "\" type=\"%s\">", item->kind->name);
    for (uint32_t k = 0; !item->reason && k < item->place_count; k++) {
        const struct finding_place *place = &item->places[k];
        if (*place->path) {
            finding_formats_xml(f, finding_formats_path(place->path));
            fprintf(f, ":%d: ", place->line);
        }
        finding_formats_xml(f, place->text);
        putc('\n', f);
    }
    if (!item->reason)
        fputs("</failure>\n", f);
}

static void finding_formats_junit_case(FILE *f, const struct finding_report *r,
                                       const struct finding_kind_row *kind,
                                       const struct run_finding *item)
{
    fputs("    <testcase classname=\"poet", f);
    fputs(r->source ? "." : "", f);
    finding_formats_xml(f, r->source ? r->source : "");
    fprintf(f, "\" name=\"%s%s%s\"%s\n", kind->name, item ? " " : "", item ? item->identity : "",
            item ? ">" : "/>");
    if (!item)
        return;
    finding_formats_junit_finding(f, item);
    fputs("    </testcase>\n", f);
}

/* Writes a test case for each finding, and one that passed for each kind without a finding. */
static void finding_formats_junit(FILE *f, const struct finding_report *r)
{
    uint32_t tests = 0, failures = 0, skipped = 0;
    char *cases = NULL;
    size_t size;
    FILE *to = open_memstream(&cases, &size);
    for (const struct finding_kind_row *kind = finding_kinds; to && kind->name; kind++) {
        uint32_t before = tests;
        for (uint32_t i = 0; i < r->findings->count; i++) {
            const struct run_finding *item = &r->findings->items[i];
            if (item->kind != kind)
                continue;
            finding_formats_junit_case(to, r, kind, item);
            tests++;
            skipped += item->reason != NULL;
            failures += item->reason == NULL;
        }
        if (tests == before && kind->group & r->groups) {
            finding_formats_junit_case(to, r, kind, NULL);
            tests++;
        }
    }
    if (to)
        fclose(to);
    fprintf(f,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites>\n"
            "  <testsuite name=\"poet\" tests=\"%u\" failures=\"%u\" errors=\"0\" skipped=\"%u\">\n"
            "%s"
            "  </testsuite>\n"
            "</testsuites>\n",
            tests, failures, skipped, cases ? cases : "");
    free(cases);
}

/* ---- GitHub ---- */

/* Writes a text with the escapes of workflow commands. */
static void finding_formats_escaped(FILE *f, const char *text, bool property)
{
    for (; *text; text++)
        if (*text == '%' || *text == '\r' || *text == '\n' ||
            (property && (*text == ':' || *text == ',')))
            fprintf(f, "%%%02X", (unsigned char)*text);
        else
            putc(*text, f);
}

static void finding_formats_github(FILE *f, const struct finding_report *r)
{
    for (uint32_t i = 0; i < r->findings->count; i++) {
        const struct run_finding *item = &r->findings->items[i];
        const struct finding_place *place = item->place_count ? item->places : NULL;
        if (item->reason)
            continue;
        fprintf(f, "::%s ", item->certainty == FINDING_CERTAIN ? "error" : "warning");
        if (place && *place->path) {
            fputs("file=", f);
            finding_formats_escaped(f, finding_formats_path(place->path), true);
            fprintf(f, ",line=%d,", place->line ? place->line : 1);
        }
        fprintf(f, "title=%s::", item->kind->name);
        finding_formats_escaped(f, item->text, false);
        for (uint32_t k = 0; k < item->place_count; k++) {
            place = &item->places[k];
            fputs("%0A", f);
            if (*place->path)
                fprintf(f, "%s:%d: ", finding_formats_path(place->path), place->line);
            finding_formats_escaped(f, place->text, false);
        }
        putc('\n', f);
    }
}

/* ---- formats ---- */

const struct finding_format finding_formats[] = {
    {"gcc", ".txt", finding_formats_gcc},       {"json", ".json", finding_formats_json},
    {"sarif", ".sarif", finding_formats_sarif}, {"junit", ".xml", finding_formats_junit},
    {"github", NULL, finding_formats_github},   {NULL, NULL, NULL}};

const struct finding_format *finding_format_named(const char *name)
{
    const struct finding_format *format = finding_formats;
    while (format->name && strcmp(format->name, name) != 0)
        format++;
    return format->name ? format : NULL;
}

const struct finding_format *finding_format_of_file(const char *file)
{
    const char *dot = strrchr(file, '.');
    const struct finding_format *format = finding_formats;
    while (format->name && !(dot && format->suffix && strcasecmp(dot, format->suffix) == 0))
        format++;
    return format->name ? format : NULL;
}
