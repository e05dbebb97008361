#include "clients/cli/html/html_source.h"

#include "clients/cli/html/html_text.h"
#include "clients/symbols/safe_open.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define FILE_MOST (4u << 20) /* maximum size of a source file */
#define AROUND 4             /* lines before the call site, and after it */
#define LINE_MOST 300u       /* maximum bytes of a line */

/* Returns the start of a line of the text, counted from 1; NULL if there are fewer lines. */
static const char *html_source_line(const char *text, int line)
{
    for (; text && line > 1; line--) {
        text = strchr(text, '\n');
        text = text && text[1] ? text + 1 : NULL;
    }
    return text;
}

static void write_lines(FILE *f, const char *text, int first, int last)
{
    const char *line = html_source_line(text, first);
    for (int n = first; line && *line && n <= last; n++) {
        size_t bytes = strcspn(line, "\r\n");
        char *part = xstrndup(line, bytes < LINE_MOST ? bytes : LINE_MOST);
        fputs(n > first ? "," : "", f);
        html_text_json(f, part);
        free(part);
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
}

struct html_source_file { /* the file that was read last */
    char *path, *text;
};

static const char *html_source_text(struct html_source_file *kept, const char *path)
{
    if (!kept->path || strcmp(kept->path, path) != 0) {
        free(kept->path);
        free(kept->text);
        kept->path = xstrdup(path);
        kept->text = safe_open_read(path, FILE_MOST, NULL);
    }
    return kept->text;
}

void html_source_write(struct command_source *subject, const struct scene_mark *const *marks,
                       const uint32_t *sites, uint32_t count, FILE *f)
{
    struct map written = {0};
    struct html_source_file kept = {0};
    for (uint32_t i = 0; i < count; i++) {
        if (!sites[i] || map_get(&written, sites[i], 0))
            continue;
        struct symbol_location site =
            symbolize(subject->sites, marks[i]->event->process, marks[i]->event->site);
        const char *text = site.line > 0 && *site.path ? html_source_text(&kept, site.path) : NULL;
        if (!text || !html_source_line(text, site.line))
            continue;
        int first = site.line > AROUND ? site.line - AROUND : 1;
        fprintf(f, "%s\"%u\":{\"first\":%d,\"line\":%d,\"lines\":[", written.count ? "," : "",
                sites[i], first, site.line);
        write_lines(f, text, first, site.line + AROUND);
        fputs("]}", f);
        map_put(&written, sites[i], 0, &written);
    }
    map_free(&written);
    free(kept.path);
    free(kept.text);
}
