#!/usr/bin/env python3
"""What a NATS server asks for, made with openssl: natscreds.py DIRECTORY writes there
ca.pem, other-ca.pem, server.pem, server.key (127.0.0.1), elsewhere.pem (another host), expired.pem, client.pem, client.key;
user.seed, user.nkey (an NKey pair), other.seed; operator.conf (of a NATS server with accounts), user.creds, expired.creds."""
import base64, json, os, subprocess, sys, time

os.chdir(sys.argv[1])
os.umask(0o077)


def openssl(*args):
    return subprocess.run(["openssl", *args], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout


# ---- certificates ----
def authority(name):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
            "-subj", "/CN=" + name, "-keyout", name + ".key", "-out", name + ".pem")


def certificate(name, host, *when):
    with open("ext", "w") as ext:
        ext.write("subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n" % host)
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=" + name,
            "-keyout", name + ".key", "-out", name + ".csr")
    openssl("x509", "-req", "-in", name + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-extfile", "ext", "-out", name + ".pem", *(when or ("-days", "30")))


authority("ca")
authority("other-ca")
certificate("server", "IP:127.0.0.1")
certificate("elsewhere", "DNS:elsewhere.invalid")
certificate("client", "DNS:client")
certificate("expired", "IP:127.0.0.1", "-days", "-1")


# ---- NKeys ----
def words(raw):
    crc = 0
    for byte in raw:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return base64.b32encode(raw + crc.to_bytes(2, "little")).rstrip(b"=").decode()


class Key:
    def __init__(self, kind):  # O(perator), A(ccount), U(ser)
        prefix = (ord(kind) - ord("A")) << 3
        self.file = "key-%d" % time.monotonic_ns()
        openssl("genpkey", "-algorithm", "ed25519", "-out", self.file)
        secret = openssl("pkey", "-in", self.file, "-outform", "DER")[-32:]
        self.seed = words(bytes([18 << 3 | prefix >> 5, (prefix & 31) << 3]) + secret)
        self.public = words(bytes([prefix]) + openssl("pkey", "-in", self.file, "-pubout", "-outform", "DER")[-32:])

    def sign(self, claims):
        def part(raw):
            return base64.urlsafe_b64encode(raw).rstrip(b"=")

        claims = dict(claims, iss=self.public, iat=int(time.time()) - 100, jti="x")
        head = json.dumps({"typ": "JWT", "alg": "ed25519-nkey"}).encode()
        text = part(head) + b"." + part(json.dumps(claims).encode())
        with open("signed", "wb") as to:
            to.write(text)
        return (text + b"." + part(openssl("pkeyutl", "-sign", "-rawin", "-inkey", self.file, "-in", "signed"))).decode()


def write(name, text):
    with open(name, "w") as to:
        to.write(text)


def creds(name, jwt, key):
    write(name, "-----BEGIN NATS USER JWT-----\n%s\n------END NATS USER JWT------\n\n"
          "-----BEGIN USER NKEY SEED-----\n%s\n------END USER NKEY SEED------\n" % (jwt, key.seed))


user, other = Key("U"), Key("U")
write("user.nkey", user.public)
write("user.seed", user.seed)
write("other.seed", other.seed)

operator, account, system = Key("O"), Key("A"), Key("A")
many = {n: -1 for n in ("subs", "data", "payload", "imports", "exports", "conn", "leaf")}
store = {n: -1 for n in ("mem_storage", "disk_storage", "streams", "consumer")}


def account_jwt(key, name, limits):
    return operator.sign({"sub": key.public, "name": name, "nats": {"type": "account", "version": 2, "limits": limits}})


def user_jwt(**more):
    free = {n: -1 for n in ("subs", "data", "payload")}
    return account.sign({"sub": user.public, "name": "poet", "nats": dict({"type": "user", "version": 2}, **free), **more})


creds("user.creds", user_jwt(), user)
creds("expired.creds", user_jwt(exp=int(time.time()) - 50), user)
write("operator.conf", "operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: {\n%s: %s\n%s: %s\n}\n" % (
    operator.sign({"sub": operator.public, "name": "o", "nats": {"type": "operator", "version": 2}}), system.public,
    system.public, account_jwt(system, "sys", dict(many, wildcards=True)),
    account.public, account_jwt(account, "a", dict(many, wildcards=True, **store))))
