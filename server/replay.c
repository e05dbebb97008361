#define _GNU_SOURCE
#include "server/replay.h"

#include "server/keep.h"
#include "server/teller.h"
#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

struct player {
    struct run *run;
    struct teller **tellers;
    size_t count, room;
    const char *trouble; /* first thing that could not be read */
    bool ended;
};

static void begin_session(struct player *player, struct chunk chunk)
{
    struct hello hello;
    struct in in = in_from(chunk.data, chunk.size);
    if (!hello_read(&in, &hello) || hello.role != ROLE_PROGRAM || chunk.session > player->count ||
        chunk.session >= LIMIT_LINES) {
        hello_free(&hello);
        player->trouble = "a session that cannot be";
        return;
    }
    player->tellers =
        grow(player->tellers, &player->room, chunk.session + 1, sizeof *player->tellers);
    if (chunk.session == player->count)
        player->tellers[player->count++] = NULL;
    if (!player->tellers[chunk.session])
        player->tellers[chunk.session] = teller_new(player->run, chunk.session, &hello);
    hello_free(&hello);
}

static void describe(struct player *player, struct chunk chunk)
{
    struct in in = in_from(chunk.data, chunk.size);
    char *name = get_string(&in, 256), *text = get_string(&in, LIMIT_TARGET_BYTES);
    if (!in_done(&in) || !run_describe(player->run, name, text))
        player->trouble = "a description that cannot be read";
    free(name);
    free(text);
}

static bool play(void *context, struct chunk chunk)
{
    struct player *player = context;
    const char *error = NULL;
    struct teller *teller = chunk.session < player->count ? player->tellers[chunk.session] : NULL;
    player->ended = chunk.kind == CHUNK_END;
    if (chunk.kind == CHUNK_SESSION) {
        begin_session(player, chunk);
    } else if (chunk.kind == CHUNK_CHECKPOINT) {
        if (!keep_restore(player->run, chunk, play, player))
            player->trouble = "a checkpoint that cannot be read";
    } else if (chunk.kind == CHUNK_TARGET) {
        describe(player, chunk);
    } else if (chunk.kind == CHUNK_END) {
        return true;
    } else if (!teller) {
        player->trouble = "events of a program that never began";
    } else if (chunk.kind == CHUNK_HANGUP) {
        teller_hangup(teller);
        player->tellers[chunk.session] = NULL;
    } else if (chunk.kind == MESSAGE_SLOTS) {
        struct slot *slots = malloc(chunk.size ? chunk.size : 1); /* for its alignment */
        if (!slots)
            abort();
        memcpy(slots, chunk.data, chunk.size);
        if (!teller_slots(teller, chunk.thread, slots, chunk.size / SLOT_BYTES, &error))
            player->trouble = error;
        free(slots);
    } else if (!teller_message(teller, chunk.kind, chunk.thread, chunk.data, chunk.size, &error)) {
        player->trouble = error;
    }
    return true;
}

struct run *replay(const char *path, const char **why)
{
    struct player player = {.run = run_new("", 1)};
    char *name, *damage;
    bool ok = journal_read(path, &name, play, &player, &damage, why);
    for (size_t i = 0; i < player.count; i++) {
        if (player.tellers[i])
            player.run->unfinished = true;
        teller_free(player.tellers[i]);
    }
    player.run->connected = 0; /* nobody is, to a file */
    free(player.tellers);
    if (!ok) {
        run_free(player.run);
        return NULL;
    }
    free(player.run->name);
    player.run->name = strndup(name, strcspn(name, "@"));
    player.run->file = strdup(path);
    player.run->unfinished |= !player.ended;
    player.run->damage = damage;
    if (!damage && player.trouble && asprintf(&player.run->damage, "damaged: %s", player.trouble) < 0)
        player.run->damage = NULL;
    free(name);
    return player.run;
}
