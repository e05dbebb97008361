/* poet order: how two events stand to each other. */
#define _GNU_SOURCE
#include "clients/poet/command.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 10000

struct pair {
    struct ref a, b;
};

static const char *const words[] = {"no such event", "before", "after", "concurrent", "same",
                                    "unknown"};

/* Asks for a batch and prints the answers; the first pair that does not exist ends it. */
static bool some_concurrent;

/* What was not seen may order what is concurrent by all that was. */
static void warn(const struct command *command, struct subject *subject)
{
    struct out out = {0};
    struct in in;
    struct shown_stat stat;
    source_ask(&out, MESSAGE_STAT);
    if (!source_send(&subject->source, &out) ||
        !subject_expect(command, subject, MESSAGE_STAT_IS, &in))
        return;
    get_stat(&in, &stat);
    if (stat.untraced)
        fprintf(stderr, "poet order: the program also synchronised %llu times in ways that cannot be "
                        "followed (futexes of its own): what is concurrent here may be ordered by those\n",
                (unsigned long long)stat.untraced);
    free(stat.damage);
}

static int ask(const struct command *command, struct subject *subject, const struct pair *pairs,
               size_t count, size_t first)
{
    struct out out = {0};
    struct in in;
    out_begin(&out, MESSAGE_ORDER);
    for (size_t i = 0; i < count; i++) {
        put_ref(&out, pairs[i].a);
        put_ref(&out, pairs[i].b);
    }
    out_end(&out);
    if (!source_send(&subject->source, &out) ||
        !subject_expect(command, subject, MESSAGE_ORDER_IS, &in))
        return EXIT_FAILED;
    for (size_t i = 0; i < count; i++) {
        uint8_t answer = get_u8(&in);
        if (answer == 0 || answer > 5) {
            char a[48], b[48];
            ref_print(a, sizeof a, pairs[i].a);
            ref_print(b, sizeof b, pairs[i].b);
            fflush(stdout);
            return command_fail(command, "pair %zu: there is no event %s or no event %s",
                                first + i + 1, a, b);
        }
        puts(words[answer]);
        some_concurrent |= answer == 1 + ORDER_CONCURRENT;
    }
    return EXIT_DONE;
}

/* Prints the chain of events that makes one come before the other. */
static int ask_why(const struct command *command, struct subject *subject, const struct pair *pair)
{
    struct out out = {0};
    struct in in;
    char a[48], b[48];
    ref_print(a, sizeof a, pair->a);
    ref_print(b, sizeof b, pair->b);
    out_begin(&out, MESSAGE_WHY);
    put_ref(&out, pair->a);
    put_ref(&out, pair->b);
    out_end(&out);
    if (!source_send(&subject->source, &out) ||
        !subject_expect(command, subject, MESSAGE_WHY_IS, &in))
        return EXIT_FAILED;
    if (!get_u8(&in))
        return command_fail(command, "there is no event %s or no event %s", a, b);
    uint32_t count = get_u32(&in);
    for (uint32_t i = 0; i < count; i++) {
        struct shown_event event;
        char ref[48];
        if (!subject_expect(command, subject, MESSAGE_EVENT, &in))
            return EXIT_FAILED;
        get_event(&in, &event);
        ref_print(ref, sizeof ref, event.at);
        const struct book *book = &subject->source.book;
        bool hidden = event.at.line & HIDDEN_LINE;
        printf("%-10s %-12s %-28s %s\n", ref, book_type(book, event.type),
               hidden ? "(collects what comes before)" : book_label(book, event.at.line),
               subject_site(subject, &event));
        shown_event_free(&event);
    }
    return (int)count;
}

/* Either way round. */
static int why(const struct command *command, struct subject *subject, struct pair pair)
{
    int count = ask_why(command, subject, &pair);
    if (count == 0 && ref_equal(pair.a, pair.b) == false) {
        struct pair turned = {pair.b, pair.a};
        count = ask_why(command, subject, &turned);
    }
    if (count == 0)
        puts("no chain of events leads from one to the other");
    return count >= 2 || count == 0 ? EXIT_DONE : EXIT_FAILED;
}

static int ask_all(const struct command *command, struct subject *subject, FILE *f)
{
    static struct pair pairs[BATCH];
    char line[256], a[100], b[100], rest;
    size_t count = 0, total = 0;
    int status = EXIT_DONE;
    for (unsigned long number = 1; status == EXIT_DONE && fgets(line, sizeof line, f); number++) {
        if (line[strspn(line, " \t\n")] == 0)
            continue;
        if (sscanf(line, "%99s %99s %c", a, b, &rest) != 2 || !ref_parse(a, &pairs[count].a) ||
            !ref_parse(b, &pairs[count].b))
            return command_fail(command, "standard input:%lu: write LINE:NUMBER LINE:NUMBER", number);
        if (++count == BATCH) {
            status = ask(command, subject, pairs, count, total);
            total += count;
            count = 0;
        }
    }
    return status == EXIT_DONE && count ? ask(command, subject, pairs, count, total) : status;
}

static int run(const struct command *command, int argc, char **argv)
{
    static const struct option options[] = {
        {"why", no_argument, 0, 'w'}, {"help", no_argument, 0, 'h'}, {0, 0, 0, 0}};
    int c, status;
    bool chain = false;
    while ((c = getopt_long(argc, argv, "+h", options, NULL)) != -1)
        if (c == 'w')
            chain = true;
        else if (command_option(command, c, &status))
            return status;
    struct pair pair;
    bool from_input = !chain && argc - optind == 2 && strcmp(argv[optind + 1], "-") == 0;
    if (!from_input && argc - optind != 3)
        return command_usage(command, "a SOURCE and two events are needed, or a SOURCE and -");
    if (!from_input &&
        (!ref_parse(argv[optind + 1], &pair.a) || !ref_parse(argv[optind + 2], &pair.b)))
        return command_usage(command, "an event is written LINE:NUMBER, as in 2:17");
    struct subject subject;
    if (!subject_open(command, &subject, argv[optind], LABELS_ADDRESS))
        return EXIT_FAILED;
    status = chain && !from_input ? why(command, &subject, pair)
             : from_input         ? ask_all(command, &subject, stdin) : ask(command, &subject, &pair, 1, 0);
    fflush(stdout);
    if (some_concurrent)
        warn(command, &subject);
    subject_close(&subject);
    return status;
}

const struct command command_order = {
    "order", "say how two events stand to each other",
    "order SOURCE A B\n"
    "       poet order SOURCE -\n"
    "       poet order --why SOURCE A B\n"
    "Print how event A stands to event B: before, after, concurrent, same (one point of the order),\n"
    "or unknown where lost events forbid an answer.  Events are written LINE:NUMBER.  With - pairs are\n"
    "read from standard input, one a line.\n\n"
    "      --why   print a chain of events that makes one come before the other, by the fewest steps\n"
    "              from line to line: one event a line, with its type, its line and its call site\n",
    run};
