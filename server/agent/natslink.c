#define _GNU_SOURCE
#include "server/agent/natslink.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_MS 3000
#define WAIT_MS 5000 /* for an answer of JetStream */
#define PING_MS 10000 /* where nothing is heard, it is asked for */

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* Who we are, where the address does not say it; false: a file that cannot be used, why names it. */
static natsStatus show_who(natsOptions *options, const char **which)
{
    const char *creds = variable("POET_NATS_CREDS"), *seed = variable("POET_NATS_SEED"),
               *key = variable("POET_NATS_NKEY");
    natsStatus s = NATS_OK;
    *which = "POET_NATS_CREDS";
    if (creds)
        s = natsOptions_SetUserCredentialsFromFiles(options, creds, NULL);
    if (s != NATS_OK)
        return s;
    *which = "POET_NATS_NKEY and POET_NATS_SEED";
    return key || seed ? natsOptions_SetNKeyFromSeed(options, key, seed) : NATS_OK;
}

static natsStatus load_tls(natsOptions *options, const struct nats_where *where, const char **which)
{
    const char *ca = variable("POET_NATS_CA"), *certificate = variable("POET_NATS_CERT"),
               *key = variable("POET_NATS_KEY");
    natsStatus s = NATS_OK;
    *which = "TLS";
    if (where->tls || ca || certificate)
        s = natsOptions_SetSecure(options, true);
    if (s == NATS_OK && ca)
        *which = "POET_NATS_CA", s = natsOptions_LoadCATrustedCertificates(options, ca);
    if (s == NATS_OK && certificate)
        *which = "POET_NATS_CERT and POET_NATS_KEY",
        s = natsOptions_LoadCertificatesChain(options, certificate, key);
    return s;
}

/* libnats says of a name that nobody knows that there is no server. */
static bool is_known(const struct nats_where *where, char *why)
{
    struct addrinfo *found = NULL, wanted = {.ai_socktype = SOCK_STREAM};
    int e = getaddrinfo(where->host, where->port, &wanted, &found);
    if (e)
        snprintf(why, NATS_WHY_BYTES, "%s: %s: look at the host's name", where->shown,
                 gai_strerror(e));
    else
        freeaddrinfo(found);
    return !e;
}

static void why_not(char *why, const struct nats_where *where, natsStatus s)
{
    natsStatus ignored;
    const char *said = nats_GetLastError(&ignored);
    if (s == NATS_NO_SERVER)
        snprintf(why, NATS_WHY_BYTES, "%s: nobody listens there: start nats-server -js there",
                 where->shown);
    else if (s == NATS_CONNECTION_AUTH_FAILED)
        snprintf(
            why, NATS_WHY_BYTES,
            "%s: the NATS server does not let us in: look at USER:PASSWORD@ in its address, or at "
            "POET_NATS_CREDS, or POET_NATS_NKEY and POET_NATS_SEED",
            where->shown);
    else if (s == NATS_SSL_ERROR || s == NATS_SECURE_CONNECTION_WANTED ||
             s == NATS_SECURE_CONNECTION_REQUIRED)
        snprintf(
            why, NATS_WHY_BYTES,
            "%s: %s: tls:// is for a server with TLS, and POET_NATS_CA names who signed for it",
            where->shown, natsStatus_GetText(s));
    else
        snprintf(why, NATS_WHY_BYTES, "%s: %s%s%s", where->shown, natsStatus_GetText(s),
                 said && *said ? ": " : "", said ? said : "");
    why[strcspn(why, "\n")] = 0;
}

static natsStatus prepare(natsOptions *options, const struct nats_where *where, const char **which)
{
    natsStatus s = natsOptions_SetURL(options, where->url);
    if (s == NATS_OK)
        s = natsOptions_SetName(options, "poet server");
    if (s == NATS_OK)
        s = natsOptions_SetTimeout(options, CONNECT_MS);
    if (s == NATS_OK)
        s = natsOptions_SetAllowReconnect(options, false);
    if (s == NATS_OK)
        s = natsOptions_SetPingInterval(options, PING_MS);
    *which = "its address";
    if (s == NATS_OK)
        s = show_who(options, which);
    if (s == NATS_OK)
        s = load_tls(options, where, which);
    return s;
}

bool natslink_open(struct natslink *link, const struct nats_where *where, char *why)
{
    natsOptions *options = NULL;
    jsOptions js;
    const char *which = "";
    *link = (struct natslink){0};
    if (!is_known(where, why))
        return false;
    natsStatus s = natsOptions_Create(&options);
    if (s == NATS_OK)
        s = prepare(options, where, &which);
    if (s != NATS_OK) {
        snprintf(why, NATS_WHY_BYTES, "%s: %s cannot be used: %s", where->shown, which,
                 natsStatus_GetText(s));
        natsOptions_Destroy(options);
        return false;
    }
    s = natsConnection_Connect(&link->nc, options);
    natsOptions_Destroy(options);
    jsOptions_Init(&js);
    js.Wait = WAIT_MS;
    if (s == NATS_OK)
        s = natsConnection_JetStream(&link->js, link->nc, &js);
    if (s == NATS_OK)
        return true;
    why_not(why, where, s);
    natslink_close(link);
    return false;
}

void natslink_close(struct natslink *link)
{
    jsCtx_Destroy(link->js);
    if (link->nc)
        natsConnection_Close(link->nc);
    natsConnection_Destroy(link->nc);
    *link = (struct natslink){0};
}

void natslink_why(char *why, const struct nats_where *where, const char *stream, natsStatus status,
                  jsErrCode code)
{
    const char *what = NULL;
    if (code == JSNotEnabledErr || code == JSNotEnabledForAccountErr ||
        status == NATS_NO_RESPONDERS)
        what = "has no JetStream: start nats-server with -js";
    else if (code == JSStreamStoreFailedErr || code == JSInsufficientResourcesErr ||
             code == JSStorageResourcesExceededErr || code == JSStreamMaxStreamBytesExceededErr)
        what =
            "has no room: raise its limits, or remove streams of runs that are read (nats stream rm)";
    else if (code == JSStreamMessageExceedsMaximumErr)
        what = "takes no messages of that size: raise its max_msg_size";
    else if (code == JSStreamNotFoundErr)
        what = "is not there: an agent makes it, or: nats stream add";
    else if (code == JSStreamNameExistErr)
        what = "was made otherwise: its subjects must be poet.RUN.*";
    else if (code == JSStreamWrongLastSequenceErr)
        what = "has another message than was thought: it is asked again";
    else if (status == NATS_NOT_PERMITTED)
        what = "may not be used by this user: permit it poet.> and $JS.API.>";
    else if (status == NATS_TIMEOUT)
        what = "does not answer";
    if (what)
        snprintf(why, NATS_WHY_BYTES, "%s: the stream %s %s", where->shown, stream, what);
    else
        snprintf(why, NATS_WHY_BYTES, "%s: the stream %s: %s (%d)", where->shown, stream,
                 natsStatus_GetText(status), (int)code);
}
