#include "wire/text.h"

#include "wire/program_messages.h"

#include <stdlib.h>
#include <string.h>

/* Decodes one character. Returns its length in bytes, or 0 if it is not valid UTF-8 (RFC 3629): no
 * surrogates, no overlong forms, nothing above U+10FFFF. */
static size_t text_decode_utf8(const unsigned char *s, size_t size, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
    if (n == 0 || n > size)
        return 0;
    uint32_t c = n == 1 ? s[0] : s[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if (s[i] >> 6 != 2)
            return 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    *character = c;
    return n;
}

static bool is_control(uint32_t c) { return c < 0x20 || c == 0x7f; }

/* Is it a C1 control, a line or paragraph separator, a mark or override of the writing direction, a
 * byte order mark, or a noncharacter (some of which XML forbids)? */
static bool is_harmful(uint32_t c)
{
    return (c >= 0x80 && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0x200e || c == 0x200f || c == 0x061c ||
           c == 0xfeff || (c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef);
}

#define REPLACEMENT 0xfffdu
#define PICTURES 0x2400u
#define PICTURE_OF_DELETE 0x2421u

static size_t encode_three(char *to, uint32_t c) /* U+0800 to U+FFFF */
{
    to[0] = (char)(0xe0 | c >> 12);
    to[1] = (char)(0x80 | (c >> 6 & 0x3f));
    to[2] = (char)(0x80 | (c & 0x3f));
    return 3;
}

char *text_readable(const char *bytes, size_t size, bool lines)
{
    size = size ? strnlen(bytes, size) : 0;
    char *text = malloc(3 * size + 1), *to = text;
    if (!text)
        return NULL;
    for (size_t i = 0; i < size;) {
        uint32_t c = 0;
        size_t n = text_decode_utf8((const unsigned char *)bytes + i, size - i, &c);
        if (n == 0 || is_harmful(c)) {
            to += encode_three(to, REPLACEMENT);
        } else if (is_control(c) && !(lines && (c == '\n' || c == '\t'))) {
            to += encode_three(to, c == 0x7f ? PICTURE_OF_DELETE : PICTURES + c);
        } else {
            memcpy(to, bytes + i, n);
            to += n;
        }
        i += n ? n : 1;
    }
    *to++ = 0;
    char *fitted = realloc(text, (size_t)(to - text));
    return fitted ? fitted : text;
}

void text_mask(char *s)
{
    for (size_t left = strlen(s), n; left; s += n, left -= n) {
        uint32_t c = 0;
        n = text_decode_utf8((const unsigned char *)s, left, &c);
        if (n && !is_control(c) && !is_harmful(c))
            continue;
        n = n ? n : 1;
        memset(s, '?', n);
    }
}

size_t text_cut(const char *s, size_t most)
{
    size_t n = strnlen(s, most + 1);
    if (n <= most)
        return n;
    for (n = most; n && ((unsigned char)s[n] & 0xc0) == 0x80; n--)
        ;
    return n;
}

void text_print(FILE *f, const char *s)
{
    for (; *s; s++)
        if (*s == '\n' || *s == '\t')
            fputs(*s == '\n' ? "\\n" : "\\t", f);
        else
            fputc(*s, f);
}

char *text_name(struct text_view text) { return text_readable(text.bytes, text.size, false); }

char *text_copy(struct text_view text)
{
    size_t size = text.size ? strnlen(text.bytes, text.size) : 0;
    char *copy = malloc(size + 1);
    if (copy && size)
        memcpy(copy, text.bytes, size);
    if (copy)
        copy[size] = 0;
    return copy;
}

char *text_note(struct text_view text) { return text_readable(text.bytes, text.size, true); }

static char *decode_readable(struct decoder *in, size_t limit, bool lines)
{
    char *raw = decode_string(in, limit);
    char *text = raw ? text_readable(raw, SIZE_MAX, lines) : NULL;
    free(raw);
    return text;
}

char *decode_name(struct decoder *in, size_t limit) { return decode_readable(in, limit, false); }

char *decode_note(struct decoder *in, size_t limit) { return decode_readable(in, limit, true); }
