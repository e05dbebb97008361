#!/bin/sh
# Installs the missing packages of some sections of a list, as root or through sudo; does nothing, and
# asks nothing, if none is missing.
#   tests/deps.sh packages.txt build run
# Services of the packages are not started or enabled: tests start their own, on other ports.
set -u
root=${DEPS_ROOT:-} # (a test sets another one)
policy=$root/usr/sbin/policy-rc.d

installed() { dpkg-query -W -f '${Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/.* ok installed //p' | sort -u; }

# Invoke-rc.d(8) and deb-systemd-invoke(1) run this program; status 101 forbids starting a service.
forbid_services() {
    [ -e "$policy" ] || [ -L "$policy" ] && { mv "$policy" "$policy.poet" || return 1; }
    printf '#!/bin/sh\n# Put here by make deps while it installs packages.\nexit 101\n' >"$policy" && chmod 755 "$policy"
}
allow_services() {
    rm -f "$policy"
    [ ! -e "$policy.poet" ] && [ ! -L "$policy.poet" ] || mv "$policy.poet" "$policy"
}

# Disables the services of newly installed packages again, which their installation enables.
disable_services() { # disable_services PACKAGE...
    for package; do
        case $package in systemd* | dbus* | init*) continue ;; esac
        dpkg-query -L "$package" | sed -n 's|^/etc/init\.d/||p' | while read -r service; do
            update-rc.d "$service" disable >/dev/null 2>&1
        done
        dpkg-query -L "$package" | sed -nE 's#^(/usr)?/lib/systemd/system/([^/@]*\.(service|socket|timer|path))$#\2#p' |
            while read -r unit; do
                systemctl disable "$unit" >/dev/null 2>&1 || deb-systemd-helper disable "$unit" >/dev/null 2>&1
            done
    done
}

install_quietly() { # install_quietly PACKAGE...: runs as root
    export DEBIAN_FRONTEND=noninteractive
    log=$(mktemp) before=$(mktemp) after=$(mktemp)
    trap 'allow_services; rm -f "$log" "$before" "$after"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    installed >"$before"
    if ! { forbid_services && apt-get update && apt-get install -y --no-install-recommends "$@"; } >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        echo "apt-get failed: install them yourself: $*" >&2
        exit 1
    fi
    installed >"$after"
    # shellcheck disable=SC2046
    disable_services $(comm -13 "$before" "$after")
}

if [ "$1" = --install ]; then
    shift
    install_quietly "$@"
    exit
fi
list=$1
shift
if ! command -v dpkg-query >/dev/null; then
    echo "no Debian here: what is needed is named, by Debian's names, in $list" >&2
    exit 0
fi
wanted=$(awk -v sections=" $* " '/^#/ { section = $2; next } index(sections, " " section " ")' "$list")
# shellcheck disable=SC2086
there=$(installed $wanted)
missing=
for package in $wanted; do
    printf '%s\n' "$there" | grep -qxF "$package" || missing="$missing $package"
done
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=sudo
else
    echo "These packages are missing; install them with:" >&2
    echo "  su -c 'apt-get update && apt-get install -y --no-install-recommends$missing'" >&2
    exit 1
fi
echo "installing:$missing"
# shellcheck disable=SC2086
$as_root "$0" --install $missing
