#define _GNU_SOURCE
#include "clients/cli/finding_options.h"

#include "base/alloc.h"
#include "clients/connection/finding_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FAIL_ON = 7000, FORMAT, FINDINGS, ACCEPTED };

static struct finding_settings {
    const char *fail_on, *format, *file, *accepted;
} wanted;

/* ---- options ---- */

static const struct option_row finding_rows[] = {
    OPTION_STORES(FAIL_ON, struct finding_settings, fail_on),
    OPTION_STORES(FORMAT, struct finding_settings, format),
    OPTION_STORES(FINDINGS, struct finding_settings, file),
    OPTION_STORES(ACCEPTED, struct finding_settings, accepted),
    {0}};

static error_t finding_options_parse(int key, char *value, struct argp_state *state)
{
    state->input = &wanted;
    return option_rows_parse(finding_rows, key, value, state);
}

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Findings (docs/ci.md):", 5},
    {"fail-on", FAIL_ON, "KIND,...", 0,
     "exit with status 1 if there is a finding of one of these kinds (all: of any kind) that is "
     "not accepted, 0 if there is none, 2 after an error",
     5},
    {"format", FORMAT, "FORMAT", 0,
     "print the findings instead: gcc (FILE:LINE: error: ..., as editors read it), json, sarif "
     "(SARIF 2.1), junit (XML) or github (annotations of GitHub Actions)",
     5},
    {"findings", FINDINGS, "FILE", 0,
     "write the findings to FILE; its suffix selects the format, unless --format does: .sarif, "
     ".xml (JUnit), .json or .txt (gcc)",
     5},
    {"accepted", ACCEPTED, "FILE", 0,
     "ignore the findings that FILE lists, one per line: kind and identity, as --format gcc "
     "prints them, and the reason",
     5},
    {0}};

const struct argp finding_options = {.options = options, .parser = finding_options_parse};

bool finding_options_given(void)
{
    return wanted.fail_on || wanted.format || wanted.file || wanted.accepted;
}

bool finding_options_fail(void) { return wanted.fail_on; }

bool finding_options_replace_text(void) { return wanted.format && !wanted.file; }

/* Returns whether --fail-on includes a kind. */
static bool finding_options_fails_on(const struct finding_kind_row *kind)
{
    size_t n = strlen(kind->name);
    for (const char *list = wanted.fail_on; list && *list;) {
        size_t word = strcspn(list, ",");
        if ((word == 3 && memcmp(list, "all", 3) == 0) ||
            (word == n && memcmp(list, kind->name, n) == 0))
            return true;
        list += word + (list[word] == ',');
    }
    return false;
}

static int finding_options_check_kinds(const struct command *command, unsigned groups)
{
    for (const char *list = wanted.fail_on; list;) {
        size_t n = strcspn(list, ",");
        if (!(n == 3 && memcmp(list, "all", 3) == 0) && !finding_kind_named(list, n, groups)) {
            char *known = finding_text_kinds(groups);
            command_usage(command, "--fail-on %.*s: unknown kind (known: all, %s)", (int)n, list,
                          known);
            free(known);
            return EXIT_USAGE;
        }
        list = list[n] ? list + n + 1 : NULL;
    }
    return EXIT_DONE;
}

int finding_options_check(const struct command *command, unsigned groups)
{
    if (wanted.format && !finding_format_named(wanted.format))
        return command_usage(command, "--format %s: gcc, json, sarif, junit or github",
                             wanted.format);
    if (wanted.file && !wanted.format && !finding_format_of_file(wanted.file))
        return command_usage(command,
                             "--findings %s: no suffix of a format (.sarif, .xml, .json, .txt); "
                             "name one by --format",
                             wanted.file);
    return finding_options_check_kinds(command, groups);
}

/* ---- accepted findings ---- */

/* The findings of a file that are accepted. */
struct finding_acceptance {
    const struct finding_kind_row *kind;
    char identity[17];
    char *reason;
    bool used;
};

struct finding_acceptances {
    struct finding_acceptance *items;
    uint32_t count;
};

/* Reads "KIND IDENTITY REASON"; returns what is wrong, or NULL. */
static const char *finding_options_read_line(char *line, struct finding_acceptance *a)
{
    char *kind = line, *identity, *reason;
    size_t n = strcspn(kind, " \t");
    identity = kind + n + strspn(kind + n, " \t");
    a->kind = finding_kind_named(kind, n, ~0u);
    if (!a->kind)
        return "unknown kind of finding";
    n = strspn(identity, "0123456789abcdef");
    if (n != 16 || (identity[n] && !isspace((unsigned char)identity[n])))
        return "not an identity of 16 hexadecimal digits";
    reason = identity + n + strspn(identity + n, " \t");
    if (!*reason)
        return "no reason";
    memcpy(a->identity, identity, n);
    a->identity[n] = 0;
    a->reason = xstrdup(reason);
    return NULL;
}

static bool finding_options_read_accepted(const struct command *command,
                                          struct finding_acceptances *all)
{
    char *line = NULL;
    size_t size = 0;
    bool good = true;
    FILE *f = wanted.accepted ? fopen(wanted.accepted, "re") : NULL;
    if (wanted.accepted && !f) {
        command_fail(command, "%s: %s", wanted.accepted, strerror(errno));
        return false;
    }
    for (unsigned number = 1; f && good && getline(&line, &size, f) >= 0; number++) {
        struct finding_acceptance a = {0};
        char *text = line + strspn(line, " \t");
        text[strcspn(text, "\r\n")] = 0;
        const char *wrong = *text && *text != '#' ? finding_options_read_line(text, &a) : NULL;
        if (wrong)
            command_fail(command, "%s:%u: %s (KIND IDENTITY REASON)", wanted.accepted, number,
                         wrong);
        good = !wrong;
        if (a.reason)
            ARRAY_PUSH(all->items, all->count, a);
    }
    if (f && ferror(f)) {
        command_fail(command, "%s: %s", wanted.accepted, strerror(errno));
        good = false;
    }
    if (f)
        fclose(f);
    free(line);
    return good;
}

static void finding_options_accept(struct run_findings *findings, struct finding_acceptances *all)
{
    for (uint32_t i = 0; i < findings->count; i++)
        for (uint32_t k = 0; k < all->count; k++) {
            struct run_finding *f = &findings->items[i];
            struct finding_acceptance *a = &all->items[k];
            if (a->kind != f->kind || strcmp(a->identity, f->identity) != 0)
                continue;
            a->used = true;
            if (!f->reason)
                f->reason = xstrdup(a->reason);
        }
}

static void finding_options_report_unused(const struct command *command,
                                          const struct finding_acceptances *all, unsigned groups)
{
    for (uint32_t k = 0; k < all->count; k++)
        if (!all->items[k].used && all->items[k].kind->group & groups)
            fprintf(stderr, "poet %s: %s: %s %s did not occur in this run\n", command->name,
                    wanted.accepted, all->items[k].kind->name, all->items[k].identity);
}

/* ---- judging ---- */

/* Writes the findings to --findings, or to standard output; false after reporting an error. */
static bool finding_options_write(const struct command *command,
                                  const struct finding_report *report)
{
    const struct finding_format *format =
        wanted.format ? finding_format_named(wanted.format) : finding_format_of_file(wanted.file);
    FILE *f = wanted.file ? fopen(wanted.file, "we") : stdout;
    if (f)
        format->write(f, report);
    bool bad = !f || ferror(f);
    if (f && wanted.file)
        bad |= fclose(f) != 0;
    if (bad)
        command_fail(command, "%s: %s", wanted.file ? wanted.file : "standard output",
                     strerror(errno));
    return !bad;
}

/* Lists the findings of --fail-on on standard error; returns whether there are any. */
static bool finding_options_list_failures(const struct command *command,
                                          const struct run_findings *findings)
{
    uint32_t failures = 0, accepted = 0;
    for (uint32_t i = 0; i < findings->count; i++) {
        const struct run_finding *f = &findings->items[i];
        accepted += f->reason != NULL;
        if (f->reason || !finding_options_fails_on(f->kind))
            continue;
        failures++;
        fprintf(stderr, "poet %s: finding: %s %s: %s\n", command->name, f->kind->name, f->identity,
                f->text);
    }
    if (accepted)
        fprintf(stderr, "poet %s: %u finding%s accepted by %s\n", command->name, accepted,
                plural_suffix(accepted), wanted.accepted);
    return failures > 0;
}

/* Returns false after reporting that --fail-on names a kind of this group, about which nothing is
 * known. */
static bool finding_options_group_is_known(const struct command *command, unsigned group,
                                           const char *why)
{
    for (const char *list = wanted.fail_on; list && *list;) {
        size_t n = strcspn(list, ",");
        if (finding_kind_named(list, n, group)) {
            command_fail(command, "--fail-on %.*s: %s", (int)n, list, why);
            return false;
        }
        list += n + (list[n] == ',');
    }
    return true;
}

/* Does that for errors of the heap, which may not be measured, and for data races. */
static bool finding_options_are_known(const struct command *command,
                                      const struct run_findings *findings)
{
    return (!findings->no_memory || finding_options_group_is_known(
                                        command, FINDINGS_OF_MEMORY,
                                        "the heap was not measured: use poet record -m memory")) &&
           (!findings->no_races ||
            finding_options_group_is_known(
                command, FINDINGS_OF_RACES,
                "accesses of memory were not examined: use poetcc -trace=races"));
}

int finding_options_status(int status)
{
    return wanted.fail_on && status != EXIT_DONE ? EXIT_USAGE : status;
}

int finding_options_judge_all(const struct command *command, struct run_findings *findings,
                              unsigned groups, const char *source, int status)
{
    struct finding_acceptances accepted = {0};
    struct finding_report report = {findings, groups, source};
    if (findings->no_memory)
        report.groups &= ~(unsigned)FINDINGS_OF_MEMORY;
    if (findings->no_races)
        report.groups &= ~(unsigned)FINDINGS_OF_RACES;
    bool good = finding_options_read_accepted(command, &accepted) &&
                finding_options_are_known(command, findings);
    finding_options_accept(findings, &accepted);
    if (good && (wanted.format || wanted.file))
        good = finding_options_write(command, &report);
    fflush(stdout);
    if (good)
        finding_options_report_unused(command, &accepted, groups);
    bool fails = wanted.fail_on && finding_options_list_failures(command, findings);
    for (uint32_t k = 0; k < accepted.count; k++)
        free(accepted.items[k].reason);
    free(accepted.items);
    run_findings_free(findings);
    if (!wanted.fail_on)
        return good ? status : EXIT_FAILED;
    return !good || status != EXIT_DONE ? EXIT_USAGE : fails ? EXIT_FAILED : EXIT_DONE;
}

/* Returns the groups to look for: orders that are often intended only if --fail-on names one. */
unsigned finding_options_groups(unsigned groups)
{
    bool named = false;
    for (const char *list = wanted.fail_on; list && *list;) {
        size_t n = strcspn(list, ",");
        named |= finding_kind_named(list, n, FINDINGS_OF_ORDERS) != NULL;
        list += n + (list[n] == ',');
    }
    return named ? groups : groups & ~(unsigned)FINDINGS_OF_ORDERS;
}

int finding_options_judge(const struct command *command, struct command_source *subject,
                          unsigned groups, const char *kinds, const char *source, int status)
{
    struct run_findings findings = {0};
    if (!finding_options_given())
        return status;
    groups = finding_options_groups(groups);
    if (status == EXIT_DONE)
        status = run_findings_collect(command, subject, groups, kinds, &findings);
    if (status != EXIT_DONE) {
        run_findings_free(&findings);
        return finding_options_status(status);
    }
    return finding_options_judge_all(command, &findings, groups, source, status);
}
