#!/bin/bash
# Authentication with a NATS server: each method of docs/cluster.md connects, and each failure gives one line that
# says what to do.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/nats.sh"
mkdir keys
if ! python3 "$root/tests/e2e/natscreds.py" keys 2>openssl.log; then
    skip "openssl cannot make such keys here: $(tail -n 1 openssl.log)"
    done_testing
    exit 0
fi
number=0
# tried PATTERN URL [VARIABLE=VALUE...]: starts an agent until its log matches PATTERN; leaves the log in $line
tried() {
    awaited=$1 where=$2
    shift 2
    number=$((number + 1))
    env "$@" poet server --to "$where" -l "unix:$work/tried.sock" -o "tried$number/" 2>tried$number.log &
    agent=$!
    pids="$pids $agent"
    until_true grep -E "$awaited" tried$number.log
    kill $agent
    wait $agent 2>/dev/null
    line=$(grep -v listening tried$number.log)
    [ "$(printf '%s\n' "$line" | grep -c "are kept in")" -le 1 ] || not_ok "the message is printed once" "$line"
}
let_in() { # let_in NAME URL [VARIABLE=VALUE...]
    name=$1
    shift
    tried "connected to" "$@" # the server may be slow at first
    like "$name: the agent connects" "$line" " connected to [^ ]*$"
    case $line in *" connected to "*) ;; *) tail -n 5 nats.log | sed 's/^/# nats-server: /' ;; esac
}
refused() { # refused NAME PATTERN URL [VARIABLE=VALUE...]
    name=$1 pattern=$2
    shift 2
    tried "connected to|are kept in" "$@"
    like "$name: one line says what to do" "$line" "$pattern.*; events are kept in"
}

# ---- user, password and token ----
nats_start -1 --user anna --pass open
at=127.0.0.1:$nats_port
let_in "user and password" "nats://anna:open@$at"
refused "wrong password" "authentication failed: check USER:PASSWORD@ or TOKEN@" "nats://anna:shut@$at"
is "logs do not contain passwords" "$(grep -l shut tried*.log | wc -l)" 0
nats_kill
nats_start -1 --auth hush
at=127.0.0.1:$nats_port
let_in "token" "nats://hush@$at"
refused "wrong token" "authentication failed: check USER:PASSWORD@ or TOKEN@" "nats://rush@$at"
refused "no token" "authentication failed: .* set POET_NATS_CREDS" "nats://$at"
nats_kill

# ---- NKeys ----
nkey=$(cat keys/user.nkey)
printf 'authorization { users: [ { nkey: %s } ] }\n' "$nkey" >nkey.conf
nats_start -1 -c nkey.conf
let_in "NKey with its seed" "$url" POET_NATS_NKEY="$nkey" POET_NATS_SEED=keys/user.seed
refused "NKey with another seed" "check POET_NATS_NKEY .*POET_NATS_SEED" "$url" POET_NATS_NKEY="$nkey" POET_NATS_SEED=keys/other.seed
refused "NKey without a seed" "POET_NATS_NKEY is set, and POET_NATS_SEED is not: set both" "$url" POET_NATS_NKEY="$nkey"
refused "seed without an NKey" "POET_NATS_SEED is set, and POET_NATS_NKEY is not: set both" "$url" POET_NATS_SEED=keys/user.seed
refused "missing seed file" "POET_NATS_SEED: keys/none: No such file" "$url" POET_NATS_NKEY="$nkey" POET_NATS_SEED=keys/none
cp keys/user.seed open.seed
chmod 644 open.seed
refused "seed file readable by others" "open.seed: readable by others; chmod 600" "$url" POET_NATS_NKEY="$nkey" POET_NATS_SEED=open.seed
nats_kill

# ---- credentials ----
nats_start -1 -c keys/operator.conf
let_in "credentials file" "$url" POET_NATS_CREDS=keys/user.creds
refused "expired credentials" "authentication failed: check POET_NATS_CREDS \\(expired" "$url" POET_NATS_CREDS=keys/expired.creds
refused "missing credentials file" "POET_NATS_CREDS: keys/none: No such file" "$url" POET_NATS_CREDS=keys/none
refused "directory as credentials file" "POET_NATS_CREDS: keys is not a file" "$url" POET_NATS_CREDS=keys
cp keys/user.creds open.creds
chmod 640 open.creds
refused "credentials file readable by others" "open.creds: readable by others; chmod 600" "$url" POET_NATS_CREDS=open.creds
refused "credentials and NKey both set" "POET_NATS_CREDS and POET_NATS_SEED are set: unset one" "$url" POET_NATS_CREDS=keys/user.creds POET_NATS_NKEY="$nkey" POET_NATS_SEED=keys/user.seed
nats_kill

# ---- TLS ----
with_tls() { # with_tls CERTIFICATE [MORE]: a server that presents it
    printf 'tls { cert_file: "%s/keys/%s.pem", key_file: "%s/keys/%s.key" %s }\n' "$work" "$1" "$work" "$1" "${2-}" >tls.conf
    nats_start -1 -c tls.conf
    url=tls://127.0.0.1:$nats_port
}
unknown="server certificate has an unknown issuer; set the CA file in POET_NATS_CA"
with_tls server
let_in "TLS with the CA of the server certificate" "$url" POET_NATS_CA=keys/ca.pem
let_in "TLS required by the server with a nats URL" "nats://127.0.0.1:$nats_port" POET_NATS_CA=keys/ca.pem
refused "TLS with another CA" "$unknown" "$url" POET_NATS_CA=keys/other-ca.pem
refused "TLS without a CA" "$unknown" "$url"
refused "TLS required by the server with a nats URL and without a CA" "$unknown" "nats://127.0.0.1:$nats_port"
refused "TLS with another name of the host" "server certificate is for another host" "tls://localhost:$nats_port" POET_NATS_CA=keys/ca.pem
refused "missing CA file" "POET_NATS_CA: keys/none: No such file" "$url" POET_NATS_CA=keys/none
refused "CA file that is not a certificate" "POET_NATS_CA cannot be used" "$url" POET_NATS_CA=nkey.conf
nats_kill
with_tls elsewhere
refused "server certificate of another host" "server certificate is for another host; use the name in it" "$url" POET_NATS_CA=keys/ca.pem
nats_kill
with_tls expired
refused "expired server certificate" "server certificate has expired" "$url" POET_NATS_CA=keys/ca.pem
nats_kill
nats_start
refused "tls URL for a server without TLS" "server has no TLS; use nats://" "tls://127.0.0.1:$nats_port"
nats_kill

# ---- client certificates ----
ours="POET_NATS_CERT=keys/client.pem POET_NATS_KEY=keys/client.key"
with_tls server ", ca_file: \"$work/keys/ca.pem\", verify: true"
export POET_NATS_CA=keys/ca.pem
refused "no client certificate" "it may require a certificate: POET_NATS_CERT" "$url"
refused "expired client certificate" "check whether POET_NATS_CERT has expired" "$url" POET_NATS_CERT=keys/expired.pem POET_NATS_KEY=keys/expired.key
refused "client certificate of another CA" "whether the server knows its issuer" "$url" POET_NATS_CERT=keys/other-ca.pem POET_NATS_KEY=keys/other-ca.key
refused "client certificate with the key of another one" "POET_NATS_CERT and POET_NATS_KEY \\(do they belong together\\?\\) cannot be used" "$url" POET_NATS_CERT=keys/client.pem POET_NATS_KEY=keys/server.key
refused "client certificate without a key" "POET_NATS_CERT is set, and POET_NATS_KEY is not: set both" "$url" POET_NATS_CERT=keys/client.pem
chmod 644 keys/server.key
refused "client key readable by others" "keys/server.key: readable by others; chmod 600" "$url" POET_NATS_CERT=keys/client.pem POET_NATS_KEY=keys/server.key
let_in "client certificate with its key" "$url" $ours
export $ours
agent all
reader r all
program all all 1000
check "a run over TLS with a client certificate is read to its end" until_true ended r all
is "a run over TLS has the events of the agent's journal" "$(sorted "$(read_by r all)")" "$(sorted "$(kept all all)")"
done_testing
