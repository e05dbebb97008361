/* Texts of a trace inside a web page, escaped so that no name in a program can become anything but
 * text. */
#include "clients/cli/html/html_scene.h"

#include "base/alloc.h"
#include "base/text_hash.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT 0xfffdu

/* Returns the length of a UTF-8 sequence by its first byte; 0: no sequence begins with it. */
static unsigned html_text_sequence_bytes(unsigned char c)
{
    return c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
}

/* Decodes the next UTF-8 character; a byte that begins no valid one becomes U+FFFD. */
static uint32_t html_text_decode_character(const char **text)
{
    const unsigned char *s = (const unsigned char *)*text;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned n = html_text_sequence_bytes(*s);
    uint32_t c = n == 1 ? *s : *s & (0xffu >> (n + 1));
    for (unsigned i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            n = 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    bool bad = n == 0 || c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000);
    *text += bad ? 1 : n;
    return bad ? REPLACEMENT : c;
}

/* Returns whether it is a control character, noncharacter, or invisible character, such as those
 * that change the order in which a text is displayed. */
static bool html_text_is_hidden(uint32_t c)
{
    return (c < 0x20 && c != '\t' && c != '\n') || (c >= 0x7f && c < 0xa0) ||
           (c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0x061c || c == 0xfeff ||
           (c >= 0xe0000 && c <= 0xe007f) || (c & 0xfffe) == 0xfffe;
}

static void html_text_write_character(FILE *f, uint32_t c)
{
    if (c < 0x80) {
        fputc((int)c, f);
        return;
    }
    if (c < 0x800) {
        fputc((int)(0xc0 | c >> 6), f);
    } else {
        if (c < 0x10000) {
            fputc((int)(0xe0 | c >> 12), f);
        } else {
            fputc((int)(0xf0 | c >> 18), f);
            fputc((int)(0x80 | (c >> 12 & 0x3f)), f);
        }
        fputc((int)(0x80 | (c >> 6 & 0x3f)), f);
    }
    fputc((int)(0x80 | (c & 0x3f)), f);
}

void html_text_json(FILE *f, const char *text)
{
    fputc('"', f);
    while (*text) {
        uint32_t c = html_text_decode_character(&text);
        c = html_text_is_hidden(c) ? REPLACEMENT : c;
        if (c < 0x20 || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c == 0x2028 ||
            c == 0x2029)
            fprintf(f, "\\u%04x", c);
        else
            html_text_write_character(f, c);
    }
    fputc('"', f);
}

void html_text_html(FILE *f, const char *text)
{
    while (*text) {
        uint32_t c = html_text_decode_character(&text);
        c = html_text_is_hidden(c) ? REPLACEMENT : c;
        if (c == '"' || c == '\'' || c == '<' || c == '>' || c == '&')
            fprintf(f, "&#%u;", c);
        else
            html_text_write_character(f, c);
    }
}

/* ---- distinct strings ---- */

uint32_t html_text_number(struct html_text_strings *strings, const char *text)
{
    uint64_t h = text_hash_add(TEXT_HASH_EMPTY, text, strlen(text)), i = 0;
    for (uintptr_t known; (known = (uintptr_t)map_get(&strings->index, h, i)) != 0; i++)
        if (strcmp(strings->items[known - 1], text) == 0)
            return (uint32_t)(known - 1);
    strings->items =
        array_reserve(strings->items, &strings->room, strings->count + 1, sizeof *strings->items);
    strings->items[strings->count++] = xstrdup(text);
    map_put(&strings->index, h, i, (void *)(uintptr_t)strings->count);
    return (uint32_t)(strings->count - 1);
}

void html_text_free(struct html_text_strings *strings)
{
    for (size_t i = 0; i < strings->count; i++)
        free(strings->items[i]);
    free(strings->items);
    map_free(&strings->index);
    *strings = (struct html_text_strings){0};
}
