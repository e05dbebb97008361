#!/bin/sh
# make deps installs what builds and runs Poet, make deps-test what tests need; of what is installed no service is started,
# none is left enabled, and the machine's own policy is as before.  Here apt-get and its like are scripts.
. "$(dirname "$0")/lib.sh"
mkdir -p bin system/usr/sbin
policy=system/usr/sbin/policy-rc.d
stub() { # stub NAME: its text
    { echo '#!/bin/sh' && cat; } >"bin/$1"
    chmod +x "bin/$1"
}
stub id <<'S'
echo 0
S
stub apt-get <<'S'
echo "apt-get $*" >>log
[ "$1" = install ] || exit 0
"$DEPS_ROOT/usr/sbin/policy-rc.d" nginx start
echo "may a service start: $?" >>log
for package; do case $package in install | -*) ;; *) echo "$package" >>there ;; esac; done
[ ! -e fails ]
S
stub dpkg-query <<'S'
[ "$1" = -L ] && case $2 in
nginx) printf '/etc/init.d/nginx\n/lib/systemd/system/nginx.service\n/lib/systemd/system/nginx@.service\n/usr/share/doc\n' && exit ;;
redis-server) printf '/usr/lib/systemd/system/redis-server.service\n' && exit ;;
old) printf '/lib/systemd/system/old.service\n' && exit ;;
*) exit ;;
esac
sed 's/^/install ok installed /' there
S
for tool in update-rc.d systemctl; do
    stub $tool <<'S'
echo "$(basename "$0") $*" >>log
S
done
cat >list <<'L'
# build
compiler
# run
fonts
# test
nginx
redis-server
old
L
deps() { PATH=$work/bin:$PATH DEPS_ROOT=$work/system sh "$root/tests/deps.sh" list "$@"; }
printf 'fonts\nold\n' >there
is "what builds and runs" "$(deps build run)" "installing: compiler"
is "that alone" "$(cat log)" "apt-get update
apt-get install -y --no-install-recommends compiler
may a service start: 101"
check "there is no policy where there was none" test ! -e $policy
rm log
is "where nothing is missing nothing is done" "$(deps build run)$(cat log 2>/dev/null)" ""
printf '#!/bin/sh\nexit 104\n' >$policy
chmod +x $policy
is "what tests need" "$(deps build run test)" "installing: nginx redis-server"
is "is not started, and not enabled" "$(cat log)" "apt-get update
apt-get install -y --no-install-recommends nginx redis-server
may a service start: 101
update-rc.d nginx disable
systemctl disable nginx.service
systemctl disable redis-server.service"
$policy
is "a policy of the machine's own is as before" $? 104
printf 'fonts\nold\n' >there
: >fails
check "a failure is one" sh -c "! PATH='$work/bin:$PATH' DEPS_ROOT='$work/system' sh '$root/tests/deps.sh' list build"
$policy
is "and leaves that policy, too" "$? $(ls system/usr/sbin)" "104 policy-rc.d"
sections() { awk -v section="$1" '/^#/ { now = $2; next } now == section' "$root/packages.txt"; }
is "no server and no MPI among what builds and runs" "$(sections build; sections run | grep -E 'server|nginx|memcached|mpi|chromium')" "$(sections build)"
for part in build run test; do
    check "the list has packages to $part" test -n "$(sections $part)"
done
is "which make deps and make deps-test name" "$(make -n -C "$root" deps deps-test 2>/dev/null | grep deps.sh)" "tests/deps.sh packages.txt build run
tests/deps.sh packages.txt build run test"
done_testing
