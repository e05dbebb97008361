#!/bin/bash
# Poet in other builds, and as packages of Debian: pkg-config, CMake, Meson, autotools; installed, upgraded, removed.
. "$(dirname "$0")/lib.sh"
has() { command -v "$1" >/dev/null; }
export PKG_CONFIG_PATH="$B/lib/pkgconfig"

# ---- pkg-config ----
is "pkg-config: the version" "$(pkg-config --modversion poet)" "$(poet --version | cut -d' ' -f2)"
cat >told.c <<'C'
#include <poet.h>
int main(void) { poet_text("told"); return 0; }
C
check "a program that tells of itself" sh -c 'cc told.c $(pkg-config --cflags --libs poet) -Wl,-rpath,$(pkg-config --variable=libdir poet) -o told && ./told'
check "leaves a trace" until_true sound "$(trace_of told)"
like "libpoet's name has a version" "$(readelf -d told)" 'NEEDED.*\[libpoet\.so\.0\]'
is "where poetcc is" "$(pkg-config --variable=poetcc poet)" "$B/bin/poetcc"

# ---- build systems ----
cp -r "$root/examples/build" ex
# built NAME DIRECTORY: it runs, says what it has, and its trace is sound
traced() { # all of it: both threads come to the lock by themselves
    (cd "$1" && rm -f ./*.poet && ./pool) >out 2>&1 && until_true sound "$(trace_of "$1/pool")" &&
        poet dump "$(trace_of "$1/pool")" | grep -q ' acquired .*M:lock'
}
told() { # the texts alone
    (cd "$1" && rm -f ./*.poet && ./pool) >out 2>&1 && until_true sound "$(trace_of "$1/pool")" &&
        [ "$(figure "$(trace_of "$1/pool")" annotations)" = 6 ] &&
        ! poet dump "$(trace_of "$1/pool")" | grep -q ' acquired .*M:lock'
}
if has cmake; then
    check "CMake: told" sh -c 'cmake -S ex/cmake -B c1 && cmake --build c1' && check "its trace" told c1
    check "CMake: all traced" sh -c 'CC="poetcc -trace" cmake -S ex/cmake -B c2 && cmake --build c2'
    check "its trace" traced c2
else
    skip "cmake is not installed"
fi
if has meson && has ninja; then
    check "Meson: told" sh -c 'meson setup m1 ex/meson && ninja -C m1'
    check "its trace" told m1
    check "Meson: all traced" sh -c 'CC="poetcc -trace" meson setup m2 ex/meson && ninja -C m2'
    check "its trace" traced m2
else
    skip "meson and ninja are not installed"
fi
if has autoreconf && has automake; then
    check "autotools: the configure script" sh -c 'cd ex/autotools && autoreconf -i'
    mkdir a1 a2
    check "autotools: told" sh -c 'cd a1 && ../ex/autotools/configure -q && make -s'
    check "its trace" told a1
    check "autotools: all traced" sh -c 'cd a2 && ../ex/autotools/configure -q CC="poetcc -trace" && make -s'
    check "its trace" traced a2
else
    skip "autoconf and automake are not installed"
fi
is "CC is poetcc itself: the compiler behind it" "$(CC="poetcc -trace" POET_CC="echo cc" poetcc -E x.c)" "cc -E x.c"
is "of C++" "$(CXX="ccache $B/bin/poetcc++ -trace" POET_CXX="echo c++" poetcc++ -E x.cc)" "c++ -E x.cc"

# ---- Debian packages ----
if ! has dh || ! has dpkg-deb; then
    skip "debhelper is not installed"
    done_testing
    exit
fi
# of what is compiled already: other tests use it meanwhile, so nothing of it may be made again
unset PKG_CONFIG_PATH
export DEB_BUILD_OPTIONS=noautodbgsym FLAGS=
compiled() { ls -l --time-style=full-iso "$B/bin/poet" "$B/libexec/poet" "$B"/lib/*.so.0 "$B/lib/poet"; }
compiled >compiled
check "make deb" make -C "$root" deb B="$work/debs" DEB_B="$B"
is "makes nothing again that is there" "$(compiled | diff compiled -)" ""
is "leaves nothing in the tree" "$(cd "$root" && ls debian | tr '\n' ' ')" \
    "changelog control copyright libpoet-dev.install libpoet0.install libpoet0.symbols poet.install poet.links poet.lintian-overrides rules source "
debs=$work/debs/packages
is "of this version" "$(head -n 1 "$root/debian/changelog" | sed 's/.*(\(.*\)).*/\1/')" "$(poet --version | cut -d' ' -f2)"
# (dpkg-gensymbols refuses a later version that lacks one that is listed)
is "the library says since which version it has what poet.h declares" \
    "$(dpkg-deb -I "$debs"/libpoet0_*.deb symbols | grep -E ' (poet_annotate|poet_event)@')" \
    "$(printf ' %s@Base 0.1\n' poet_annotate poet_event)"
is "three packages" "$(cd "$debs" && ls | sed 's/_.*//' | tr '\n' ' ')" "libpoet-dev libpoet0 poet "
if has lintian; then
    is "lintian" "$(lintian --allow-root "$debs"/*.deb 2>&1 | grep '^[EW]:')" ""
else
    skip "lintian is not installed"
fi
r=$work/root
multiarch=$(dpkg-architecture -q DEB_HOST_MULTIARCH)
mkdir -p "$r/var/lib/dpkg/info" "$r/var/lib/dpkg/updates"
: >"$r/var/lib/dpkg/status"
: >"$r/var/lib/dpkg/available"
into() { dpkg --root="$r" --force-depends --force-not-root --force-script-chrootless --log=/dev/null "$@"; }
state() { dpkg-query --admindir="$r/var/lib/dpkg" -W -f '${Package} ${Version} ${Status}\n' | sort; }
check "they are installed" into -i "$debs"/*.deb
is "all of them" "$(state | grep -c 'install ok installed')" 3
is "its poet runs" "$("$r/usr/bin/poet" --version)" "$(poet --version)"
check "its poetcc compiles" "$r/usr/bin/poetcc" -trace -g "$root/examples/prodcons.c" -o packaged
is "with its library" "$(ldd packaged | grep -c "$r/usr/lib/$multiarch/libpoet.so.0")" 1
is "Python finds its module" "$(python3 -I -S -c 'import runpy; print(len(runpy.run_path("'"$r"'/usr/lib/python3/dist-packages/poet.py", run_name="poet")["__doc__"]) > 0)')" True
is "which has its own server" "$(PATH=$r/usr/bin:/usr/bin:/bin ./packaged 2>/dev/null)" "sum of 10 items: 45"
check "and leaves a trace" until_true sound "$(trace_of packaged)"
cc -g "$root/examples/prodcons.c" -o plain -pthread
check "its record records" env PATH="/usr/bin:/bin" "$r/usr/bin/poet" record -o recorded.poet -- ./plain
check "that is sound, too" until_true sound recorded.poet
is "pkg-config finds it" "$(PKG_CONFIG_LIBDIR=$r/usr/lib/$multiarch/pkgconfig pkg-config --define-variable=prefix="$r/usr" --variable=poetcc poet)" "$r/usr/bin/poetcc"
for page in poet poetcc poetcc++ poet-ls; do check "man $page" test -e "$r/usr/share/man/man1/$page.1.gz"; done
# a newer one over it
mkdir new
for p in poet libpoet0 libpoet-dev; do
    dpkg-deb -R "$debs/${p}_"*.deb "new/$p" && sed -i 's/^Version: .*/&+1/; s/(= \([^)]*\))/(= \1+1)/g' "new/$p/DEBIAN/control"
    dpkg-deb --root-owner-group -Zgzip -z1 -b "new/$p" "new/$p.deb" >/dev/null
done
check "upgraded" into -i new/*.deb
is "all of them are the newer ones" "$(state | grep -c '+1 install ok installed')" 3
is "it still runs" "$("$r/usr/bin/poet" --version)" "$(poet --version)"
check "removed" into -P libpoet-dev poet libpoet0
is "nothing is left of them" "$(find "$r" -path "$r/var/lib/dpkg" -prune -o ! -type d -print)" ""
done_testing
