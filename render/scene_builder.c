#include "render/scene_builder.h"

#include "base/alloc.h"

#include <string.h>

double scene_builder_text_width(const struct builder *b, const char *text, double size, bool bold)
{
    if (b->options->measure)
        return b->options->measure(b->options->context, text, size, bold);
    size_t n = 0;
    for (; *text; text++)
        n += (*text & 0xc0) != 0x80;
    return 0.55 * size * (double)n;
}

char *scene_builder_fit_text(const struct builder *b, const char *text, double size, double limit)
{
    size_t n = strlen(text);
    char *s = xmalloc(n + 4);
    memcpy(s, text, n + 1);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] < ' ')
            s[i] = ' ';
    while (n && scene_builder_text_width(b, s, size, false) > limit) {
        n -= n > 64 ? n / 8 : 1;
        while (n && (s[n] & 0xc0) == 0x80)
            n--;
        memcpy(s + n, "…", 4);
    }
    return s;
}

int32_t scene_builder_row(const struct builder *b, uint32_t line)
{
    return line && line <= b->line_room ? b->row_of[line - 1] : -1;
}
