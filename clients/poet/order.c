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
    }
    return EXIT_DONE;
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
    static const struct option options[] = {{"help", no_argument, 0, 'h'}, {0, 0, 0, 0}};
    int c, status;
    while ((c = getopt_long(argc, argv, "+h", options, NULL)) != -1)
        if (command_option(command, c, &status))
            return status;
    struct pair pair;
    bool from_input = argc - optind == 2 && strcmp(argv[optind + 1], "-") == 0;
    if (!from_input && argc - optind != 3)
        return command_usage(command, "a SOURCE and two events are needed, or a SOURCE and -");
    if (!from_input &&
        (!ref_parse(argv[optind + 1], &pair.a) || !ref_parse(argv[optind + 2], &pair.b)))
        return command_usage(command, "an event is written LINE:NUMBER, as in 2:17");
    struct subject subject;
    if (!subject_open(command, &subject, argv[optind], LABELS_ADDRESS))
        return EXIT_FAILED;
    status = from_input ? ask_all(command, &subject, stdin) : ask(command, &subject, &pair, 1, 0);
    subject_close(&subject);
    return status;
}

const struct command command_order = {
    "order", "say how two events stand to each other",
    "order SOURCE A B\n"
    "       poet order SOURCE -\n"
    "Print how event A stands to event B: before, after, concurrent, same (one point of the order),\n"
    "or unknown where lost events forbid an answer.  Events are written LINE:NUMBER.  With - pairs are\n"
    "read from standard input, one a line.\n",
    run};
