#define _GNU_SOURCE
#include "server/forwarding/nats_connection.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONNECT_MS 3000
#define WAIT_MS 5000 /* for an answer of JetStream */
#define PING_MS 10000 /* after so long without data, a ping is sent */

static const char *nats_connection_environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* ---- files that the environment names ---- */

static const struct nats_secret_file {
    const char *name;
    const char *with; /* without this one it says nothing */
    bool secret;
} files[] = {{"POET_NATS_CREDS", NULL, true},
             {"POET_NATS_SEED", "POET_NATS_NKEY", true},
             {"POET_NATS_CA", NULL, false},
             {"POET_NATS_CERT", "POET_NATS_KEY", false},
             {"POET_NATS_KEY", "POET_NATS_CERT", true}};

/* libnats would say of some of it that an argument is wrong, and of some nothing. */
static bool is_usable(const struct nats_secret_file *file, const struct nats_address *where,
                      char *why)
{
    const char *path = nats_connection_environment(file->name);
    struct stat st;
    if (!path)
        return true;
    if (file->with && !nats_connection_environment(file->with))
        snprintf(why, NATS_WHY_BYTES, "%s: %s is set, and %s is not: set both", where->shown,
                 file->name, file->with);
    else if (access(path, R_OK) < 0 || stat(path, &st) < 0)
        snprintf(why, NATS_WHY_BYTES, "%s: %s: %s: %s", where->shown, file->name, path,
                 strerror(errno));
    else if (!S_ISREG(st.st_mode))
        snprintf(why, NATS_WHY_BYTES, "%s: %s: %s is not a file", where->shown, file->name, path);
    else if (file->secret && st.st_mode & 077)
        snprintf(why, NATS_WHY_BYTES,
                 "%s: %s: %s: readable by others; chmod 600, and replace it if it was read",
                 where->shown, file->name, path);
    else
        return true;
    return false;
}

static bool are_usable(const struct nats_address *where, char *why)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (!is_usable(&files[i], where, why))
            return false;
    bool seed = nats_connection_environment("POET_NATS_SEED"), good = true;
    if (nats_connection_environment("POET_NATS_NKEY") && !seed)
        good = false,
        snprintf(why, NATS_WHY_BYTES,
                 "%s: POET_NATS_NKEY is set, and POET_NATS_SEED is not: set both", where->shown);
    else if (seed && nats_connection_environment("POET_NATS_CREDS"))
        good = false,
        snprintf(why, NATS_WHY_BYTES, "%s: POET_NATS_CREDS and POET_NATS_SEED are set: unset one",
                 where->shown);
    return good;
}

/* Sets the credentials, if the address has none. */
static natsStatus nats_connection_print_identity(natsOptions *options, const char **which)
{
    const char *creds = nats_connection_environment("POET_NATS_CREDS"),
               *seed = nats_connection_environment("POET_NATS_SEED");
    *which = "POET_NATS_CREDS";
    if (creds)
        return natsOptions_SetUserCredentialsFromFiles(options, creds, NULL);
    *which = "POET_NATS_NKEY and POET_NATS_SEED";
    return seed ? natsOptions_SetNKeyFromSeed(options,
                                              nats_connection_environment("POET_NATS_NKEY"), seed)
                : NATS_OK;
}

static bool is_secure(const struct nats_address *where)
{
    return where->tls || nats_connection_environment("POET_NATS_CA") ||
           nats_connection_environment("POET_NATS_CERT");
}

static natsStatus load_tls(natsOptions *options, const struct nats_address *where,
                           const char **which)
{
    const char *ca = nats_connection_environment("POET_NATS_CA"),
               *certificate = nats_connection_environment("POET_NATS_CERT");
    *which = "TLS";
    if (!is_secure(where))
        return NATS_OK;
    natsStatus s = natsOptions_SetSecure(options, true);
    if (s == NATS_OK)
        s = natsOptions_SetExpectedHostname(options, where->host);
    if (s == NATS_OK && ca)
        *which = "POET_NATS_CA", s = natsOptions_LoadCATrustedCertificates(options, ca);
    if (s == NATS_OK && certificate)
        *which = "POET_NATS_CERT and POET_NATS_KEY (do they belong together?)",
        s = natsOptions_LoadCertificatesChain(options, certificate,
                                              nats_connection_environment("POET_NATS_KEY"));
    return s;
}

/* ---- what went wrong ---- */

/* Checks that the host name resolves: libnats reports an unknown name as a missing server. */
static bool is_known(const struct nats_address *where, char *why)
{
    struct addrinfo *found = NULL, wanted = {.ai_socktype = SOCK_STREAM};
    int e = getaddrinfo(where->host, where->port, &wanted, &found);
    if (e)
        snprintf(why, NATS_WHY_BYTES, "%s: %s: check the host name", where->shown, gai_strerror(e));
    else
        freeaddrinfo(found);
    return !e;
}

/* Returns advice about the kind of credentials that was used and rejected. */
static const char *nats_connection_auth_advice(void)
{
    if (nats_connection_environment("POET_NATS_CREDS"))
        return "check POET_NATS_CREDS (expired, or user unknown to the server)";
    if (nats_connection_environment("POET_NATS_SEED"))
        return "check POET_NATS_NKEY (must be known to the server) and POET_NATS_SEED (must match "
               "it)";
    return "check USER:PASSWORD@ or TOKEN@ in the address, or set POET_NATS_CREDS, or "
           "POET_NATS_NKEY and POET_NATS_SEED";
}

/* By what OpenSSL says of its certificate. */
static const char *nats_connection_tls_advice(const char *text)
{
    if (strstr(text, "mismatch"))
        return "server certificate is for another host; use the name in it";
    if (strstr(text, "expired") || strstr(text, "not yet valid"))
        return "server certificate has expired or is not yet valid; renew it, or check the clock "
               "of this host";
    if (strstr(text, "issuer") || strstr(text, "self") || strstr(text, "signature"))
        return "server certificate has an unknown issuer; set the CA file in "
               "POET_NATS_CA";
    return strstr(text, "certificate") && !strstr(text, "alert")
               ? "server certificate is not trusted"
               : NULL;
}

/* A server that does not like our certificate, or misses it, says so in its own log alone. */
static const char *nats_connection_certificate_advice(void)
{
    return nats_connection_environment("POET_NATS_CERT")
               ? "connection closed by NATS server; check whether POET_NATS_CERT has expired, and "
                 "whether the server knows its issuer"
               : "connection closed by NATS server; it may require a certificate: "
                 "POET_NATS_CERT and POET_NATS_KEY";
}

/* Returns the last error text of libnats, without its source location. */
static const char *nats_connection_last_error_text(void)
{
    natsStatus ignored;
    const char *text = nats_GetLastError(&ignored);
    const char *behind = text && *text == '(' ? strstr(text, "): ") : NULL;
    return behind ? behind + 3 : text ? text : "";
}

static const char *known_reason(const struct nats_address *where, natsStatus s, const char *text)
{
    const char *cause = s == NATS_SSL_ERROR ? nats_connection_tls_advice(text) : NULL;
    if (cause)
        return cause;
    if (s == NATS_NO_SERVER)
        return "no server is listening; start nats-server -js there";
    if (s == NATS_SECURE_CONNECTION_WANTED)
        return "server has no TLS; use nats:// without POET_NATS_CA and POET_NATS_CERT, or give it "
               "a certificate";
    if (is_secure(where) &&
        (s == NATS_PROTOCOL_ERROR || s == NATS_CONNECTION_CLOSED || s == NATS_IO_ERROR ||
         (s == NATS_SSL_ERROR && (strstr(text, "alert") || !strstr(text, "handshake")))))
        return nats_connection_certificate_advice();
    return NULL;
}

static void nats_connection_failure_reason(char *why, const struct nats_address *where,
                                           natsStatus s)
{
    const char *text = nats_connection_last_error_text(), *reason = known_reason(where, s, text);
    if (reason)
        snprintf(why, NATS_WHY_BYTES, "%s: %s", where->shown, reason);
    else if (s == NATS_CONNECTION_AUTH_FAILED)
        snprintf(why, NATS_WHY_BYTES, "%s: NATS authentication failed: %s", where->shown,
                 nats_connection_auth_advice());
    else
        snprintf(why, NATS_WHY_BYTES, "%s: %s%s%s", where->shown, natsStatus_GetText(s),
                 *text ? ": " : "", text);
    why[strcspn(why, "\n")] = 0;
}

/* ---- to connect ---- */

static natsStatus nats_connection_set_options(natsOptions *options,
                                              const struct nats_address *where, const char **which)
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
    if (s == NATS_OK)
        s = natsOptions_SetSendAsap(options, true); /* each message is waited for */
    *which = "its address";
    if (s == NATS_OK)
        s = nats_connection_print_identity(options, which);
    if (s == NATS_OK)
        s = load_tls(options, where, which);
    return s;
}

bool nats_connection_open(struct nats_connection *link, const struct nats_address *where, char *why)
{
    natsOptions *options = NULL;
    jsOptions js;
    const char *which = "";
    *link = (struct nats_connection){0};
    if (!are_usable(where, why) || !is_known(where, why))
        return false;
    natsStatus s = natsOptions_Create(&options);
    if (s == NATS_OK)
        s = nats_connection_set_options(options, where, &which);
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
    nats_connection_failure_reason(why, where, s);
    nats_connection_close(link);
    return false;
}

void nats_connection_close(struct nats_connection *link)
{
    jsCtx_Destroy(link->js);
    if (link->nc)
        natsConnection_Close(link->nc);
    natsConnection_Destroy(link->nc);
    *link = (struct nats_connection){0};
}

void nats_connection_error_text(char *why, const struct nats_address *where, const char *stream,
                                natsStatus status, jsErrCode code)
{
    const char *what = NULL;
    if (code == JSNotEnabledErr || code == JSNotEnabledForAccountErr ||
        status == NATS_NO_RESPONDERS)
        what = "has no JetStream; start nats-server with -js";
    else if (code == JSStreamStoreFailedErr || code == JSInsufficientResourcesErr ||
             code == JSStorageResourcesExceededErr || code == JSStreamMaxStreamBytesExceededErr)
        what =
            "is full; increase its limits, or remove streams of runs already read (nats stream rm)";
    else if (code == JSStreamMessageExceedsMaximumErr)
        what = "rejects messages of that size; increase max_msg_size";
    else if (code == JSStreamNotFoundErr)
        what = "does not exist; an agent creates it, or: nats stream add";
    else if (code == JSStreamNameExistErr)
        what = "has other subjects; required: poet.RUN.*";
    else if (code == JSStreamWrongLastSequenceErr)
        what = "has an unexpected message; requesting again";
    else if (status == NATS_NOT_PERMITTED)
        what = "is not permitted for this user; permit poet.> and $JS.API.>";
    else if (status == NATS_TIMEOUT)
        what = "does not answer";
    if (what)
        snprintf(why, NATS_WHY_BYTES, "%s: the stream %s %s", where->shown, stream, what);
    else
        snprintf(why, NATS_WHY_BYTES, "%s: the stream %s: %s (%d)", where->shown, stream,
                 natsStatus_GetText(status), (int)code);
}
