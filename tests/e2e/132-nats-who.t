#!/bin/sh
# Who we are to a NATS server, and who it is to us: each way that docs/cluster.md names is let in, and of what is wrong there is one
# line that says what to do.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/nats.sh"
mkdir who
if ! python3 "$root/tests/e2e/natscreds.py" who 2>openssl.log; then
    skip "openssl makes no keys of that kind here: $(tail -n 1 openssl.log)"
    done_testing
    exit 0
fi
number=0
# tried PATTERN URL [VARIABLE=VALUE...]: what an agent says of it until it says that, in $line
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
    [ "$(printf '%s\n' "$line" | grep -c "are kept in")" -le 1 ] || not_ok "it is said once" "$line"
}
let_in() { # let_in NAME URL [VARIABLE=VALUE...]
    name=$1
    shift
    tried "connected to" "$@" # also when the server was slow at first
    like "$name: let in" "$line" " connected to [^ ]*$"
    case $line in *" connected to "*) ;; *) tail -n 5 nats.log | sed 's/^/# nats-server: /' ;; esac
}
refused() { # refused NAME PATTERN URL [VARIABLE=VALUE...]
    name=$1 pattern=$2
    shift 2
    tried "connected to|are kept in" "$@"
    like "$name: one line says what to do" "$line" "$pattern.*; events are kept in"
}

# ---- words ----
nats_start -1 --user anna --pass open
at=127.0.0.1:$nats_port
let_in "user and password" "nats://anna:open@$at"
refused "another password" "authentication failed: check USER:PASSWORD@ or TOKEN@" "nats://anna:shut@$at"
is "no password in what is said" "$(grep -l shut tried*.log | wc -l)" 0
nats_kill
nats_start -1 --auth hush
at=127.0.0.1:$nats_port
let_in "token" "nats://hush@$at"
refused "another token" "authentication failed: check USER:PASSWORD@ or TOKEN@" "nats://rush@$at"
refused "none" "authentication failed: .* set POET_NATS_CREDS" "nats://$at"
nats_kill

# ---- NKeys ----
nkey=$(cat who/user.nkey)
printf 'authorization { users: [ { nkey: %s } ] }\n' "$nkey" >nkey.conf
nats_start -1 -c nkey.conf
let_in "NKey" "$url" POET_NATS_NKEY="$nkey" POET_NATS_SEED=who/user.seed
refused "another seed" "check POET_NATS_NKEY .*POET_NATS_SEED" "$url" POET_NATS_NKEY="$nkey" POET_NATS_SEED=who/other.seed
refused "no seed" "POET_NATS_NKEY is set, and POET_NATS_SEED is not: set both" "$url" POET_NATS_NKEY="$nkey"
refused "no public key" "POET_NATS_SEED is set, and POET_NATS_NKEY is not: set both" "$url" POET_NATS_SEED=who/user.seed
refused "a seed that is missing" "POET_NATS_SEED: who/none: No such file" "$url" POET_NATS_NKEY="$nkey" POET_NATS_SEED=who/none
cp who/user.seed open.seed
chmod 644 open.seed
refused "a seed that others can read" "open.seed: readable by others; chmod 600" "$url" POET_NATS_NKEY="$nkey" POET_NATS_SEED=open.seed
nats_kill

# ---- credentials ----
nats_start -1 -c who/operator.conf
let_in "credentials" "$url" POET_NATS_CREDS=who/user.creds
refused "credentials that have expired" "authentication failed: check POET_NATS_CREDS \\(expired" "$url" POET_NATS_CREDS=who/expired.creds
refused "a file that is missing" "POET_NATS_CREDS: who/none: No such file" "$url" POET_NATS_CREDS=who/none
refused "a folder" "POET_NATS_CREDS: who is no file" "$url" POET_NATS_CREDS=who
cp who/user.creds open.creds
chmod 640 open.creds
refused "a file that others can read" "open.creds: readable by others; chmod 600" "$url" POET_NATS_CREDS=open.creds
refused "two ways at once" "POET_NATS_CREDS and POET_NATS_SEED are set: take one away" "$url" POET_NATS_CREDS=who/user.creds POET_NATS_NKEY="$nkey" POET_NATS_SEED=who/user.seed
nats_kill

# ---- TLS ----
with_tls() { # with_tls CERTIFICATE [MORE]: a server that shows it
    printf 'tls { cert_file: "%s/who/%s.pem", key_file: "%s/who/%s.key" %s }\n' "$work" "$1" "$work" "$1" "${2-}" >tls.conf
    nats_start -1 -c tls.conf
    url=tls://127.0.0.1:$nats_port
}
unknown="server certificate has an unknown issuer; set the CA file in POET_NATS_CA"
with_tls server
let_in "TLS, by who signed" "$url" POET_NATS_CA=who/ca.pem
let_in "by the address alone" "nats://127.0.0.1:$nats_port" POET_NATS_CA=who/ca.pem
refused "another who signed" "$unknown" "$url" POET_NATS_CA=who/other-ca.pem
refused "none" "$unknown" "$url"
refused "and none by nats://" "$unknown" "nats://127.0.0.1:$nats_port"
refused "another name of that host" "server certificate is for another host" "tls://localhost:$nats_port" POET_NATS_CA=who/ca.pem
refused "a file that is missing" "POET_NATS_CA: who/none: No such file" "$url" POET_NATS_CA=who/none
refused "that is no certificate" "POET_NATS_CA cannot be used" "$url" POET_NATS_CA=nkey.conf
nats_kill
with_tls elsewhere
refused "the certificate of another host" "server certificate is for another host; use the name in it" "$url" POET_NATS_CA=who/ca.pem
nats_kill
with_tls expired
refused "one that has expired" "server certificate has expired" "$url" POET_NATS_CA=who/ca.pem
nats_kill
nats_start
refused "no TLS there" "server has no TLS; use nats://" "tls://127.0.0.1:$nats_port"
nats_kill

# ---- and ours ----
ours="POET_NATS_CERT=who/client.pem POET_NATS_KEY=who/client.key"
with_tls server ", ca_file: \"$work/who/ca.pem\", verify: true"
export POET_NATS_CA=who/ca.pem
refused "no certificate of ours" "it may require a certificate: POET_NATS_CERT" "$url"
refused "one that has expired" "check whether POET_NATS_CERT has expired" "$url" POET_NATS_CERT=who/expired.pem POET_NATS_KEY=who/expired.key
refused "one of somebody else" "whether the server knows its issuer" "$url" POET_NATS_CERT=who/other-ca.pem POET_NATS_KEY=who/other-ca.key
refused "the key of another one" "POET_NATS_CERT and POET_NATS_KEY \\(do they belong together\\?\\) cannot be used" "$url" POET_NATS_CERT=who/client.pem POET_NATS_KEY=who/server.key
refused "no key" "POET_NATS_CERT is set, and POET_NATS_KEY is not: set both" "$url" POET_NATS_CERT=who/client.pem
chmod 644 who/server.key
refused "a key that others can read" "who/server.key: readable by others; chmod 600" "$url" POET_NATS_CERT=who/client.pem POET_NATS_KEY=who/server.key
let_in "our certificate" "$url" $ours
export $ours
agent all
reader r all
program all all 1000
check "events go that way" until_true ended r all
is "all of them" "$(sorted "$(read_by r all)")" "$(sorted "$(kept all all)")"
done_testing
