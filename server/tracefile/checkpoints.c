#define _GNU_SOURCE
#include "server/tracefile/checkpoints.h"

#include "base/alloc.h"
#include "server/tracefile/file_space.h"
#include "server/tracefile/restart_points.h"
#include "server/tracefile/tracefile_state.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

/* ---- slots ---- */

static uint64_t checkpoint_slot_checksum(const uint8_t *slot, unsigned i)
{
    return XXH3_64bits_withSeed(slot, 16, i + 1);
}

static bool checkpoint_slot_read(const uint8_t *head, unsigned i, uint64_t *place, uint64_t *serial)
{
    const uint8_t *slot = head + SLOT_AT + SLOT_BYTES_HEAD * i;
    *place = chunk_get_u64(slot);
    *serial = chunk_get_u64(slot + 8);
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    return *place != 0;
#else
    return *place && checkpoint_slot_checksum(slot, i) == chunk_get_u64(slot + 16);
#endif
}

/* ---- replaying ---- */

struct tracefile_replayer {
    struct tracefile *file;
    void (*visit)(void *context, struct chunk);
    void *context;
    uint8_t *bytes; /* part of the file in memory, from `at` */
    uint64_t at;
    size_t count, room;
    uint64_t lost, places, first; /* damage: bytes, number of places, and the first place */
    uint32_t state; /* number of the checkpoint that was read; 0: none */
    /* the place in the journal up to which the checkpoint knows it */
    struct delivered_until delivered;
    bool known_only; /* visits only the part of the journal that the checkpoint knows */
};

#define STRETCH_BYTES (1u << 20)

static void note_damage(struct tracefile_replayer *r, uint64_t at, uint64_t bytes)
{
    if (r->places++ == 0)
        r->first = at;
    r->lost += bytes;
}

/* Returns `size` bytes of the file, or NULL if it ends before. */
static const uint8_t *checkpoint_lookup_read_bytes(struct tracefile_replayer *r, uint64_t at,
                                                   size_t size)
{
    if (at > r->file->size || r->file->size - at < size)
        return NULL;
    if (at >= r->at && at - r->at <= r->count && r->count - (at - r->at) >= size)
        return r->bytes + (at - r->at);
    size_t wanted = size < STRETCH_BYTES ? STRETCH_BYTES : size;
    if (wanted > r->room) {
        /* the file states the size: too much is damage */
        uint8_t *bytes = realloc(r->bytes, wanted);
        if (!bytes)
            return NULL;
        r->bytes = bytes;
        r->room = wanted;
    }
    r->at = r->file->read_until = at;
    r->count = tracefile_read_at(r->file->fd, r->bytes, wanted, at);
    return r->count >= size ? r->bytes : NULL;
}

/* Reads the chunk at a place; returns false if no whole chunk of the region is there.  Its data
 * remain in the replayer's buffer. */
static bool chunk_at(struct tracefile_replayer *r, const struct tracefile_region *region,
                     uint64_t at, struct chunk *chunk)
{
    uint64_t end = region->end < r->file->size ? region->end : r->file->size;
    const uint8_t *head = at < end ? checkpoint_lookup_read_bytes(r, at, CHUNK_HEAD_BYTES) : NULL;
    if (!head || !chunk_read_head(head, chunk) || chunk->epoch != region->epoch ||
        chunk->size > end - at)
        return false;
    head = checkpoint_lookup_read_bytes(r, at, CHUNK_HEAD_BYTES + (size_t)chunk->size);
    if (!head || !chunk_is_whole(head, head + CHUNK_HEAD_BYTES, chunk->size))
        return false;
    chunk->data = head + CHUNK_HEAD_BYTES;
    return true;
}

/* Returns the place of the region's next whole chunk after a place, or the region's end. */
static uint64_t next_chunk(struct tracefile_replayer *r, const struct tracefile_region *region,
                           uint64_t at)
{
    uint64_t end = region->end < r->file->size ? region->end : r->file->size;
    struct chunk ignored;
    while (++at < end) {
        const uint8_t *p = checkpoint_lookup_read_bytes(r, at, CHUNK_HEAD_BYTES);
        if (!p)
            break;
        size_t known = r->count - (size_t)(at - r->at) - 3;
        const uint8_t *mark = memchr(p, CHUNK_MARK & 0xff, known);
        if (!mark) {
            at += known - 1;
            continue;
        }
        at += (uint64_t)(mark - p);
        if (chunk_at(r, region, at, &ignored))
            return at;
    }
    return end;
}

/* Returns whether the file ends within what may be a chunk: one that is being written, or that was
 * cut off. */
static bool is_cut(struct tracefile_replayer *r, const struct tracefile_region *region, uint64_t at)
{
    struct chunk chunk;
    if (r->file->size - at < CHUNK_HEAD_BYTES)
        return true;
    const uint8_t *head = checkpoint_lookup_read_bytes(r, at, CHUNK_HEAD_BYTES);
    return head && chunk_read_head(head, &chunk) && chunk.epoch == region->epoch &&
           chunk.size > r->file->size - at - CHUNK_HEAD_BYTES;
}

/* Returns whether only space preallocated for the journal's last chunks follows: zeros, up to the
 * end of the file or to a chunk that is not of the journal. */
static bool is_spare(struct tracefile_replayer *r, uint64_t at)
{
    struct chunk chunk;
    for (; at < r->file->size; at++) {
        const uint8_t *p = checkpoint_lookup_read_bytes(r, at, 1);
        if (p && *p == 0)
            continue;
        p = checkpoint_lookup_read_bytes(r, at, CHUNK_HEAD_BYTES);
        return p && chunk_read_head(p, &chunk) && chunk.epoch == 0 && chunk.kind >= CHUNK_NEWS;
    }
    return true;
}

/* Visits a region's chunks.  Returns true if another region continues it, and sets *region. */
static bool read_region(struct tracefile_replayer *r, struct tracefile_region *region)
{
    bool open = region->end == NO_END; /* in the last region nothing else lies between chunks */
    for (uint64_t at = region->begin; at < region->end && at < r->file->size;) {
        struct chunk chunk;
        if (!chunk_at(r, region, at, &chunk)) {
            uint64_t next = next_chunk(r, region, at);
            uint64_t end = region->end < r->file->size ? region->end : r->file->size;
            if (next < end || (open && !is_cut(r, region, at) && !is_spare(r, at)))
                note_damage(r, at, next - at);
            at = next;
            continue;
        }
        bool known = chunk.epoch < r->delivered.epoch ||
                     (chunk.epoch == r->delivered.epoch && at < r->delivered.at);
        if (r->known_only && !known)
            return false;
        at += CHUNK_HEAD_BYTES + (uint64_t)chunk.size;
        if (chunk.kind != CHUNK_NEXT) {
            chunk.epoch = r->state ? r->state - known : chunk.epoch;
            r->visit(r->context, chunk);
        } else if (chunk.size == 24) {
            struct tracefile_region next = {chunk_get_u64(chunk.data),
                                            chunk_get_u64(chunk.data + 8),
                                            (uint32_t)chunk_get_u64(chunk.data + 16), false};
            bool follows = next.epoch == region->epoch + 1 && next.begin < next.end &&
                           next.begin >= TRACEFILE_HEAD_BYTES;
            *region = next;
            return follows;
        }
    }
    return false;
}

/* Visits the NEWS chunks.  Each has the place of the one before, so they are collected first and
 * visited oldest first. */
static void read_news(struct tracefile_replayer *r, uint64_t place)
{
    uint64_t *places = NULL;
    size_t count = 0, room = 0;
    struct chunk chunk;
    for (uint64_t before = UINT64_MAX; place && place < before;) {
        uint8_t *data = chunk_get(r->file, CHUNK_NEWS, place, &chunk);
        if (!data || chunk.size < 8) {
            note_damage(r, place, CHUNK_HEAD_BYTES);
            free(data);
            break;
        }
        places = array_reserve(places, &room, count + 1, sizeof *places);
        places[count++] = before = place;
        place = chunk_get_u64(data);
        free(data);
    }
    while (count--) {
        uint8_t *data = chunk_get(r->file, CHUNK_NEWS, places[count], &chunk);
        if (!data)
            continue;
        chunk.data += 8;
        chunk.size -= 8;
        r->visit(r->context, chunk);
        free(data);
    }
    free(places);
}

/* Parses the head of a checkpoint; returns false if it is invalid. */
static bool read_state_head(const struct chunk *state, struct checkpoint_head *head)
{
    size_t left = state->size;
    const uint8_t *at = state->data;
    *head = (struct checkpoint_head){.size = CHECKPOINT_HEAD_BYTES + 4};
    if (left < head->size)
        return false;
    head->part_count = chunk_get_u32(at + CHECKPOINT_HEAD_BYTES);
    head->parts = at + head->size;
    if (head->part_count > (left - head->size) / 8)
        return false;
    head->size += 8 * (size_t)head->part_count;
    head->thread_bytes = chunk_get_u64(at + 72);
    head->threads = at + head->size;
    if (head->thread_bytes > left - head->size)
        return false;
    head->size += (size_t)head->thread_bytes;
    return true;
}

/* Reads from a checkpoint's head from where on the journal is to be read, and how much of it the
 * checkpoint knows. */
static void note_place(struct tracefile_replayer *r, const uint8_t *data,
                       struct tracefile_region *region, struct chunk *state)
{
    *region = (struct tracefile_region){chunk_get_u64(data + 8), chunk_get_u64(data + 16),
                                        (uint32_t)chunk_get_u64(data + 24), false};
    state->epoch = (uint32_t)chunk_get_u64(data + 32);
    r->state = state->epoch;
    r->delivered =
        (struct delivered_until){(uint32_t)chunk_get_u64(data + 48), chunk_get_u64(data + 56)};
    state->thread = (uint32_t)chunk_get_u64(data + 64);
}

/* Visits the checkpoint at a place, and the NEWS before it; returns false if it is damaged. */
static bool read_state(struct tracefile_replayer *r, uint64_t place,
                       struct tracefile_region *region)
{
    struct chunk chunk;
    struct checkpoint_head head;
    uint8_t *data = chunk_get(r->file, CHUNK_STATE, place, &chunk);
    if (!data || !read_state_head(&chunk, &head)) {
        free(data);
        return false;
    }
    read_news(r, chunk_get_u64(data));
    uint64_t written = chunk_get_u64(data + 40);
    note_place(r, data, region, &chunk);
    if (r->file->size < written)
        note_damage(r, r->file->size, written - r->file->size);
    chunk.data += head.size;
    chunk.size -= (uint32_t)head.size;
    r->visit(r->context, chunk);
    if (head.thread_bytes)
        r->visit(r->context, (struct chunk){.kind = CHUNK_THREADS,
                                            .epoch = chunk.thread,
                                            .data = head.threads,
                                            .size = (uint32_t)head.thread_bytes});
    free(data);
    return true;
}

/* Returns whether a checkpoint and each part that it needs are whole; else sets *bad to the place
 * of the damage. */
static bool state_is_whole(const struct tracefile *file, uint64_t place, uint64_t *bad)
{
    struct chunk chunk, part;
    struct checkpoint_head head = {0};
    uint8_t *data = chunk_get(file, CHUNK_STATE, place, &chunk);
    bool whole = data && read_state_head(&chunk, &head);
    *bad = place;
    for (uint32_t i = 0; whole && i < head.part_count; i++) {
        *bad = chunk_get_u64(head.parts + 8 * (size_t)i);
        uint8_t *bytes = chunk_get(file, CHUNK_PART, *bad, &part);
        whole = bytes != NULL;
        free(bytes);
    }
    free(data);
    return whole;
}

/* Returns the place of the newest whole checkpoint, 0 if there is none.  Notes as damage what
 * makes a newer one unreadable. */
static uint64_t find_state(struct tracefile_replayer *r)
{
    uint8_t head[TRACEFILE_HEAD_BYTES];
    uint64_t places[2], serials[2];
    static const uint8_t none[SLOT_BYTES_HEAD];
    if (tracefile_read_at(r->file->fd, head, sizeof head, 0) != sizeof head)
        return 0;
    bool good[2];
    for (unsigned i = 0; i < 2; i++) {
        good[i] = checkpoint_slot_read(head, i, &places[i], &serials[i]);
        if (!good[i] && memcmp(head + SLOT_AT + SLOT_BYTES_HEAD * i, none, sizeof none) != 0)
            note_damage(r, SLOT_AT + SLOT_BYTES_HEAD * i, SLOT_BYTES_HEAD);
    }
    bool known = head[TRACEFILE_HOLDS_OFFSET] <= TRACEFILE_HOLDS_WHOLE &&
                 (head[TRACEFILE_HOLDS_OFFSET] ^ head[TRACEFILE_HOLDS_OFFSET + 1]) == 0xff;
    uint64_t begun = chunk_get_u64(head + TRACEHEAD_BEGUN_AT);
    bool dated = begun == ~chunk_get_u64(head + TRACEHEAD_BEGUN_AT + 8);
    for (unsigned i = TRACEFILE_HOLDS_OFFSET; i < TRACEFILE_HEAD_BYTES; i++)
        if (head[i] && !(known && i < TRACEHEAD_BEGUN_AT) &&
            !(dated && i >= TRACEHEAD_BEGUN_AT && i < TRACEHEAD_BEGUN_AT + TRACEHEAD_BEGUN_BYTES))
            note_damage(r, i, 1);
    unsigned newest = good[0] && good[1] ? serials[1] > serials[0] : good[1];
    for (unsigned turn = 0; turn < 2; turn++, newest ^= 1) {
        if (!good[newest])
            continue;
        uint64_t bad;
        if (state_is_whole(r->file, places[newest], &bad))
            return places[newest];
        note_damage(r, bad, CHUNK_HEAD_BYTES);
    }
    return 0;
}

void tracefile_progress(const struct tracefile *file, uint64_t *at, uint64_t *size)
{
    *at = file->read_until;
    *size = file->size;
}

static void checkpoint_lookup_replay_file(struct tracefile_replayer *r, char **damage)
{
    struct tracefile_region region = {TRACEFILE_HEAD_BYTES, NO_END, 1, false};
    uint64_t state = find_state(r);
    if (state)
        read_state(r, state, &region);
    while (read_region(r, &region))
        ;
    *damage = NULL;
    if (r->places)
        *damage = xasprintf(
            "damaged at byte %llu: %llu bytes in %llu place%s are lost, the rest is shown",
            (unsigned long long)r->first, (unsigned long long)r->lost,
            (unsigned long long)r->places, r->places == 1 ? "" : "s");
    free(r->bytes);
}

void tracefile_replay(struct tracefile *file, void (*visit)(void *context, struct chunk),
                      void *context, char **damage)
{
    checkpoint_lookup_replay_file(
        &(struct tracefile_replayer){.file = file, .visit = visit, .context = context}, damage);
}

void tracefile_replay_known(struct tracefile *file, void (*visit)(void *context, struct chunk),
                            void *context, char **damage)
{
    checkpoint_lookup_replay_file(
        &(struct tracefile_replayer){
            .file = file, .visit = visit, .context = context, .known_only = true},
        damage);
}

bool checkpoint_find_newest(struct tracefile *file, struct newest_checkpoint *state)
{
    struct tracefile_replayer r = {.file = file};
    struct chunk chunk;
    uint8_t head[TRACEFILE_HEAD_BYTES];
    uint64_t place;
    *state = (struct newest_checkpoint){.from = {TRACEFILE_HEAD_BYTES, NO_END, 1, false},
                                        .delivered = {1, TRACEFILE_HEAD_BYTES}};
    state->place = find_state(&r);
    free(r.bytes);
    if (r.places || tracefile_read_at(file->fd, head, sizeof head, 0) != sizeof head)
        return false;
    if (!state->place)
        return true;
    for (unsigned i = 0; i < 2; i++)
        if (checkpoint_slot_read(head, i, &place, &state->serial) && place == state->place)
            break;
    state->data = chunk_get(file, CHUNK_STATE, state->place, &chunk);
    if (!state->data || !read_state_head(&chunk, &state->head))
        return false;
    note_place(&r, state->data, &state->from, &chunk);
    state->delivered = r.delivered;
    state->number = r.state;
    state->from_number = chunk.thread;
    return true;
}

/* Returns an area for a checkpoint of this size.  Two areas alternate, so that the previous
 * checkpoint stays whole while this one is written. */
static struct checkpoint_area *area_for(struct tracefile *file, size_t size)
{
    struct checkpoint_area *area = &file->areas[file->states % 2];
    if (area->room >= size)
        return area;
    if (area->room) /* too small by now: its space is returned to the file system */
        fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)area->place,
                  (off_t)area->room);
    *area = (struct checkpoint_area){tracefile_update_end(file, size + size / 2), size + size / 2};
    file_space_keep(&file->kept, area->place, area->room);
    return area;
}

static void put_state_head(struct tracefile *file, struct encoder *out, uint64_t news,
                           const struct restart_point *from)
{
    pthread_mutex_lock(&file->lock);
    tracefile_close_first_region(file);
    struct tracefile_region region = tracefile_region_for(file, from->delivered.epoch);
    pthread_mutex_unlock(&file->lock);
    encode_u64(out, news);
    encode_u64(out, from->delivered.at);
    encode_u64(out, region.end);
    encode_u64(out, from->delivered.epoch);
    encode_u64(out, file->save.number);
    encode_u64(out, file->parts.written);
    encode_u64(out, file->save.delivered.epoch);
    encode_u64(out, file->save.delivered.at);
    encode_u64(out, from->number);
    encode_u64(out, from->threads.size);
}

static struct encoder state_data(struct tracefile *file, const struct checkpoint *state)
{
    struct encoder out = {0};
    const struct restart_point *from = restart_point_for_epoch(&file->marks, file->save.from);
    put_state_head(file, &out, state->news, from);
    encode_u32(&out, (uint32_t)state->part_count);
    for (size_t i = 0; i < state->part_count; i++)
        encode_u64(&out, state->parts[i]);
    encode_bytes(&out, from->threads.data, from->threads.size);
    encode_bytes(&out, state->data, state->size);
    out.failed |= from->threads.failed;
    return out;
}

static bool write_slot(struct tracefile *file, const struct checkpoint_area *area)
{
    unsigned i = file->states % 2;
    uint8_t slot[SLOT_BYTES_HEAD];
    chunk_set_u64(slot, area->place);
    chunk_set_u64(slot + 8, file->states + 1);
    chunk_set_u64(slot + 16, checkpoint_slot_checksum(slot, i));
    return tracefile_write_at(file->fd, slot, sizeof slot, SLOT_AT + SLOT_BYTES_HEAD * i);
}

/* Makes regions at least four times as long as what a checkpoint writes.  The next one is due
 * after a region's length, so checkpoints remain a small part of all writing. */
static void fit_regions(struct tracefile *file, uint64_t cost)
{
    pthread_mutex_lock(&file->lock);
    file->region_bytes = 4 * cost > file->least_region_bytes ? 4 * cost : file->least_region_bytes;
    pthread_mutex_unlock(&file->lock);
}

static bool write_state(struct tracefile *file, const struct checkpoint *state)
{
    struct encoder out = state_data(file, state);
    if (out.failed || out.size > CHUNK_STATE_MAX) {
        encoder_free(&out);
        return false;
    }
    uint8_t head[CHUNK_HEAD_BYTES];
    chunk_head(head,
               &(struct chunk){.kind = CHUNK_STATE, .data = out.data, .size = (uint32_t)out.size});
    struct checkpoint_area *area = area_for(file, sizeof head + out.size);
    bool ok = tracefile_write_at(file->fd, head, sizeof head, area->place) &&
              tracefile_write_at(file->fd, out.data, out.size, area->place + sizeof head) &&
              write_slot(file, area);
    if (ok)
        file_space_reclaim(file, file->states % 2, state);
    file->states += ok;
    fit_regions(file, out.size + state->written);
    encoder_free(&out);
    return ok;
}

bool tracefile_save_begin(struct tracefile *file, struct chunk threads, uint32_t oldest)
{
    if (!(file->lagging ? tracefile_flush_parts(file) : tracefile_flush(file)))
        return false;
    file->save.from = restart_point_set(file, oldest, threads);
    file->save.number = file->marks.newest;
    file->save.delivered = file->delivered;
    file->save.unsaved = file->unsaved;
    file->unsaved = 0;
    return true;
}

void tracefile_save_drop(struct tracefile *file)
{
    file->unsaved += file->save.unsaved;
    file->save.unsaved = 0;
}

bool tracefile_save_end(struct tracefile *file, const struct checkpoint *state)
{
    if (!tracefile_flush_parts(file) || !write_state(file, state)) {
        tracefile_save_drop(file);
        return false;
    }
    tracefile_free_regions(file,
                           restart_point_for_epoch(&file->marks, file->save.from)->delivered.epoch);
    restart_points_drop(&file->marks, file->save.from);
    file->save.unsaved = 0;
    return true;
}
