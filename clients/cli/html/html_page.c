#define _GNU_SOURCE
#include "clients/cli/html/html_page.h"

#include "base/alloc.h"
#include "clients/cli/html/html_scene.h"

#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The page's script and style sheet are files of their own; the assembler embeds them. */
/* clang-format off */
#define EMBED(name, file)                                                                          \
    __asm__(".pushsection .rodata\n"                                                               \
            ".global " #name "\n" #name ":\n.incbin \"" file "\"\n.byte 0\n"                       \
            ".popsection\n");                                                                      \
    extern const char name[] __attribute__((visibility("hidden")))
/* clang-format on */
EMBED(webpage_program, "clients/cli/html/page.js");
EMBED(webpage_looks, "clients/cli/html/page.css");

/* Writes the hash source of a script or style sheet, 'sha256-...', which makes the content security
 * policy allow exactly this one. */
static void write_hash(FILE *f, const char *text)
{
    GChecksum *checksum = g_checksum_new(G_CHECKSUM_SHA256);
    guint8 digest[32];
    gsize size = sizeof digest;
    g_checksum_update(checksum, (const guchar *)text, (gssize)strlen(text));
    g_checksum_get_digest(checksum, digest, &size);
    char *base64 = g_base64_encode(digest, size);
    fprintf(f, "'sha256-%s'", base64);
    g_free(base64);
    g_checksum_free(checksum);
}

static void write_head(FILE *f, const char *title)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src ",
          f);
    write_hash(f, webpage_program);
    fputs("; style-src ", f);
    write_hash(f, webpage_looks);
    fputs("; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
          f);
    html_text_html(f, title);
    fprintf(f, "</title>\n<style>%s</style>\n</head>\n", webpage_looks);
}

static void write_button(FILE *f, const char *attributes, const char *words)
{
    fprintf(f, "<button type=\"button\" %s>%s</button>\n", attributes, words);
}

static void write_body(FILE *f, const char *title, const char *report)
{
    fputs("<body>\n<header>\n<h1><bdi>", f);
    html_text_html(f, title);
    fputs("</bdi></h1>\n"
          "<input id=\"find\" type=\"search\" placeholder=\"Find\" aria-label=\"Find\">\n",
          f);
    write_button(
        f, "id=\"time\" aria-pressed=\"false\" title=\"Toggle logical order / time scale (T)\"",
        "Time scale");
    write_button(f, "id=\"out\" title=\"Zoom out (-)\" aria-label=\"Zoom out\"", "−");
    write_button(f, "id=\"in\" title=\"Zoom in (+)\" aria-label=\"Zoom in\"", "+");
    write_button(f, "id=\"fit\" title=\"Zoom to fit (*)\"", "Fit");
    fputs("</header>\n", f);
    if (report) {
        fputs("<pre id=\"report\">", f);
        html_text_html(f, report);
        fputs("</pre>\n", f);
    }
    fputs("<main>\n<div id=\"picture\"><svg id=\"svg\" role=\"application\" "
          "tabindex=\"0\"></svg><div id=\"card\" role=\"tooltip\" hidden></div></div>\n"
          "<aside id=\"side\">\n<div role=\"tablist\">\n",
          f);
    static const char *const tabs[][2] = {{"event", "Event"},   {"waiting", "Blocked"},
                                          {"events", "Events"}, {"rows", "Lines"},
                                          {"notes", "Notes"},   {"help", "Keys"}};
    for (size_t i = 0; i < sizeof tabs / sizeof *tabs; i++) {
        char attributes[80];
        snprintf(attributes, sizeof attributes, "role=\"tab\" data-tab=\"%s\"", tabs[i][0]);
        write_button(f, attributes, tabs[i][1]);
    }
    fputs("</div>\n<div id=\"page\" role=\"tabpanel\" tabindex=\"-1\"></div>\n</aside>\n</main>\n"
          "<div id=\"paper\"></div>\n<div id=\"legend\"></div>\n"
          "<div id=\"status\" role=\"status\" aria-live=\"polite\"></div>\n"
          "<noscript>This page draws the diagram by JavaScript; it loads nothing.</noscript>\n",
          f);
}

static bool write_all(const struct command *command, const struct html_data *data, FILE *f)
{
    const struct event_diagram *p = data->picture;
    char *title = p->caption ? xasprintf("%s — %s", p->title, p->caption) : xstrdup(p->title);
    write_head(f, title);
    write_body(f, title, data->report);
    free(title);
    fputs("<script type=\"application/json\" id=\"data\">", f);
    bool good = html_data_write(command, data, f);
    fprintf(f, "</script>\n<script>%s</script>\n</body>\n</html>\n", webpage_program);
    return good;
}

bool html_page_write(const struct command *command, const struct html_data *data, const char *file)
{
    char *part = xasprintf("%s.part", file);
    FILE *f = fopen(part, "we");
    const char *why = f ? NULL : strerror(errno);
    bool good = f && write_all(command, data, f);
    if (f && ferror(f))
        why = strerror(errno);
    if (f && fclose(f) != 0)
        why = strerror(errno);
    if (good && !why && rename(part, file) < 0)
        why = strerror(errno);
    if (why)
        command_fail(command, "%s: %s", file, why);
    if (!good || why)
        unlink(part);
    free(part);
    return good && !why;
}
