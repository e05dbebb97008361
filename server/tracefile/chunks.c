#include "server/tracefile/chunks.h"

#include <xxhash.h>

uint32_t chunk_get_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint64_t chunk_get_u64(const uint8_t *p)
{
    return chunk_get_u32(p) | (uint64_t)chunk_get_u32(p + 4) << 32;
}

void chunk_set_u32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

void chunk_set_u64(uint8_t *p, uint64_t v)
{
    chunk_set_u32(p, (uint32_t)v);
    chunk_set_u32(p + 4, (uint32_t)(v >> 32));
}

/* Returns the checksum of a chunk: XXH3 of its data, seeded with that of its head. */
static uint32_t chunk_checksum(const uint8_t *head, const uint8_t *data, size_t size)
{
    XXH64_hash_t seed = XXH3_64bits(head, CHUNK_HEAD_BYTES - 4);
    return (uint32_t)XXH3_64bits_withSeed(data, size, seed);
}

void chunk_head(uint8_t head[CHUNK_HEAD_BYTES], const struct chunk *chunk)
{
    chunk_set_u32(head, CHUNK_MARK);
    chunk_set_u32(head + 4, chunk->size);
    chunk_set_u32(head + 8, chunk->session);
    chunk_set_u32(head + 12, chunk->thread);
    chunk_set_u32(head + 16, chunk->kind);
    chunk_set_u32(head + 20, chunk->epoch);
    chunk_set_u32(head + 24, ~chunk->size);
    chunk_set_u32(head + 28, chunk_checksum(head, chunk->data, chunk->size));
}

bool chunk_read_head(const uint8_t head[CHUNK_HEAD_BYTES], struct chunk *chunk)
{
    *chunk = (struct chunk){.kind = (uint16_t)chunk_get_u32(head + 16),
                            .session = chunk_get_u32(head + 8),
                            .thread = chunk_get_u32(head + 12),
                            .epoch = chunk_get_u32(head + 20),
                            .size = chunk_get_u32(head + 4)};
    return chunk_get_u32(head) == CHUNK_MARK && chunk_get_u32(head + 24) == ~chunk->size &&
           chunk->size <= (chunk->kind == CHUNK_STATE || chunk->kind == CHUNK_NEWS
                               ? CHUNK_STATE_MAX
                               : CHUNK_BYTES_MAX);
}

bool chunk_is_whole(const uint8_t head[CHUNK_HEAD_BYTES], const uint8_t *data, size_t size)
{
/* (defined by libFuzzer) checksums would reject all of the fuzzer's input */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    return head && (data || !size);
#else
    return chunk_checksum(head, data, size) == chunk_get_u32(head + 28);
#endif
}
