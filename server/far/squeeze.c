#include "server/far/squeeze.h"

#include <zstd.h>

#define LEVEL 1 /* journals are packed already: what repeats, repeats soon */

static ZSTD_CCtx *making;
static ZSTD_DCtx *reading;

size_t squeeze_room(size_t size) { return ZSTD_compressBound(size); }

size_t squeeze(void *to, size_t room, const void *from, size_t size)
{
    if (!making)
        making = ZSTD_createCCtx();
    size_t n = making ? ZSTD_compressCCtx(making, to, room, from, size, LEVEL) : 0;
    return ZSTD_isError(n) ? 0 : n;
}

bool unsqueeze(void *to, size_t size, const void *from, size_t bytes)
{
    if (!reading)
        reading = ZSTD_createDCtx();
    size_t n = reading ? ZSTD_decompressDCtx(reading, to, size, from, bytes) : 0;
    return !ZSTD_isError(n) && n == size;
}

void squeeze_rest(void)
{
    ZSTD_freeCCtx(making);
    ZSTD_freeDCtx(reading);
    making = NULL;
    reading = NULL;
}
