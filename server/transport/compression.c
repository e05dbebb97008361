#include "server/transport/compression.h"

#ifdef POET_COMPRESSION
#include <zstd.h>

#define LEVEL 1 /* journals are packed already: what repeats, repeats soon */

static ZSTD_CCtx *compression_encoder;
static ZSTD_DCtx *compression_decoder;

size_t compression_bound(size_t size) { return ZSTD_compressBound(size); }

size_t compression_compress(void *to, size_t room, const void *from, size_t size)
{
    if (!compression_encoder)
        compression_encoder = ZSTD_createCCtx();
    size_t n = compression_encoder
                   ? ZSTD_compressCCtx(compression_encoder, to, room, from, size, LEVEL)
                   : 0;
    return ZSTD_isError(n) ? 0 : n;
}

bool compression_decompress(void *to, size_t size, const void *from, size_t bytes)
{
    if (!compression_decoder)
        compression_decoder = ZSTD_createDCtx();
    size_t n =
        compression_decoder ? ZSTD_decompressDCtx(compression_decoder, to, size, from, bytes) : 0;
    return !ZSTD_isError(n) && n == size;
}

void compression_release(void)
{
    ZSTD_freeCCtx(compression_encoder);
    ZSTD_freeDCtx(compression_decoder);
    compression_encoder = NULL;
    compression_decoder = NULL;
}

#else /* Poet is built without GnuTLS or zstd */

size_t compression_bound(size_t size) { return size; }

size_t compression_compress(void *to, size_t room, const void *from, size_t size) { return 0; }

bool compression_decompress(void *to, size_t size, const void *from, size_t bytes) { return false; }

void compression_release(void) {}

#endif
