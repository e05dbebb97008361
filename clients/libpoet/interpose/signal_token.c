#define _GNU_SOURCE
#include "clients/libpoet/interpose/signal_token.h"

#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/shared_objects.h"

#include <string.h>

#define SIGNAL_KEYS 0x706f65742e736967u
#define TOKEN_AT 32 /* after si_value; the kernel keeps 48 bytes (struct kernel_siginfo) */

uint64_t signal_token_keys(void) { return SIGNAL_KEYS ^ shared_object_machine; }

static uint64_t signal_token_checksum(uint64_t which, uint64_t scope, int code)
{
    uint64_t z = (which ^ scope) * 0x9e3779b97f4a7c15u + (uint64_t)(unsigned)code;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

bool signal_token_consume(siginfo_t *info, struct event_origin *from, int *code)
{
    static const int codes[] = {SI_USER, SI_TKILL, SI_QUEUE};
    struct signal_token token;
    memcpy(&token, (const char *)info + TOKEN_AT, sizeof token);
    if (info->si_code != SI_QUEUE || !token.check)
        return false;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        bool here = token.check == signal_token_checksum(token.which, process_instance, codes[i]);
        if (!here &&
            token.check != signal_token_checksum(token.which, signal_token_keys(), codes[i]))
            continue;
        *code = codes[i];
        *from = here ? (struct event_origin){.at = {(uint32_t)(token.which >> 40),
                                                    token.which & ((UINT64_C(1) << 40) - 1)}}
                     : (struct event_origin){.at = {0, token.which}, .key = signal_token_keys()};
        memset((char *)info + TOKEN_AT, 0, sizeof token);
        return true;
    }
    return false;
}

struct signal_token signal_token_make(uint64_t which, uint64_t scope, int code)
{
    struct signal_token token = {which, signal_token_checksum(which, scope, code)};
    token.check += token.check == 0;
    return token;
}

void signal_token_attach(siginfo_t *info, struct signal_token token)
{
    memcpy((char *)info + TOKEN_AT, &token, sizeof token);
}
