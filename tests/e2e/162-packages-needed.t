#!/bin/bash
# make deps installs the packages to build and run Poet, make deps-test those of the tests; services of installed
# packages are neither started nor enabled, and an existing policy-rc.d is preserved. apt-get and similar commands
# are replaced by scripts here.
. "$(dirname "$0")/lib.sh"
mkdir -p bin system/usr/sbin
policy=system/usr/sbin/policy-rc.d
stub() { # stub NAME: reads its text
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
is "deps build run: missing packages are installed" "$(deps build run)" "installing: compiler"
is "deps build run: other packages are not installed" "$(cat log)" "apt-get update
apt-get install -y --no-install-recommends compiler
may a service start: 101"
check "deps: no policy-rc.d remains if there was none" test ! -e $policy
rm log
is "deps: nothing is done if no package is missing" "$(deps build run)$(cat log 2>/dev/null)" ""
printf '#!/bin/sh\nexit 104\n' >$policy
chmod +x $policy
is "deps build run test: packages of the tests are installed" "$(deps build run test)" "installing: nginx redis-server"
is "deps build run test: services are neither started nor enabled" "$(cat log)" "apt-get update
apt-get install -y --no-install-recommends nginx redis-server
may a service start: 101
update-rc.d nginx disable
systemctl disable nginx.service
systemctl disable redis-server.service"
$policy
is "deps: an existing policy-rc.d is preserved" $? 104
printf 'fonts\nold\n' >there
: >fails
check "deps: a failed installation is a failure" sh -c "! PATH='$work/bin:$PATH' DEPS_ROOT='$work/system' sh '$root/tests/deps.sh' list build"
$policy
is "deps: an existing policy-rc.d is preserved after a failure" "$? $(ls system/usr/sbin)" "104 policy-rc.d"
sections() { awk -v section="$1" '/^#/ { now = $2; next } now == section' "$root/packages.txt"; }
is "packages.txt: build and run need no servers and no MPI" "$(sections build; sections run | grep -E 'server|nginx|memcached|mpi|chromium')" "$(sections build)"
for part in build run test; do
    check "packages.txt has packages to $part" test -n "$(sections $part)"
done
is "make deps and make deps-test use packages.txt" "$(make -n -C "$root" deps deps-test 2>/dev/null | grep deps.sh)" "tests/deps.sh packages.txt build run
tests/deps.sh packages.txt build run test"
done_testing
