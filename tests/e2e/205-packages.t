#!/bin/bash
# Poet in other builds, and as Debian packages: pkg-config, CMake, Meson, autotools; installation, upgrade, removal.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
has() { command -v "$1" >/dev/null; }
export PKG_CONFIG_PATH="$B/lib/pkgconfig"

# ---- pkg-config ----
is "pkg-config: the version is that of poet" "$(pkg-config --modversion poet)" "$(poet --version | cut -d' ' -f2)"
cat >told.c <<'C'
#include <poet.h>
int main(void) { poet_text("told"); return 0; }
C
check "pkg-config: a program that uses poet.h compiles and runs" sh -c 'cc told.c $(pkg-config --cflags --libs poet) -Wl,-rpath,$(pkg-config --variable=libdir poet) -o told && ./told'
check "pkg-config: the program writes a sound trace" until_true sound "$(trace_of told)"
like "libpoet's soname has a version" "$(readelf -d told)" 'NEEDED.*\[libpoet\.so\.0\]'
is "pkg-config: the variable poetcc" "$(pkg-config --variable=poetcc poet)" "$B/bin/poetcc"

# ---- build systems ----
cp -r "$root/examples/build" ex
# built NAME DIRECTORY: it runs, prints its result, and its trace is sound
traced() { # all events: both threads acquire the lock by themselves
    (cd "$1" && rm -f ./*.poet && ./pool) >out 2>&1 && until_true sound "$(trace_of "$1/pool")" &&
        poet dump "$(trace_of "$1/pool")" | grep -q ' acquired .*M:lock'
}
told() { # the annotations only
    (cd "$1" && rm -f ./*.poet && ./pool) >out 2>&1 && until_true sound "$(trace_of "$1/pool")" &&
        [ "$(figure "$(trace_of "$1/pool")" annotations)" = 6 ] &&
        ! poet dump "$(trace_of "$1/pool")" | grep -q ' acquired .*M:lock'
}
if has cmake; then
    check "CMake: a project that uses poet.h" sh -c 'cmake -S ex/cmake -B c1 && cmake --build c1' && check "CMake: the trace of annotations is sound" told c1
    check "CMake: a project under poetcc -trace" sh -c 'CC="poetcc -trace" cmake -S ex/cmake -B c2 && cmake --build c2'
    check "CMake: the trace under poetcc -trace is sound" traced c2
else
    skip "cmake is not installed"
fi
if has meson && has ninja; then
    check "Meson: a project that uses poet.h" sh -c 'meson setup m1 ex/meson && ninja -C m1'
    check "Meson: the trace of annotations is sound" told m1
    check "Meson: a project under poetcc -trace" sh -c 'CC="poetcc -trace" meson setup m2 ex/meson && ninja -C m2'
    check "Meson: the trace under poetcc -trace is sound" traced m2
else
    skip "meson and ninja are not installed"
fi
if has autoreconf && has automake; then
    check "autotools: the configure script" sh -c 'cd ex/autotools && autoreconf -i'
    mkdir a1 a2
    check "autotools: a project that uses poet.h" sh -c 'cd a1 && ../ex/autotools/configure -q && make -s'
    check "autotools: the trace of annotations is sound" told a1
    check "autotools: a project under poetcc -trace" sh -c 'cd a2 && ../ex/autotools/configure -q CC="poetcc -trace" && make -s'
    check "autotools: the trace under poetcc -trace is sound" traced a2
else
    skip "autoconf and automake are not installed"
fi
is "CC is poetcc itself: POET_CC is the compiler" "$(CC="poetcc -trace" POET_CC="echo cc" poetcc -E x.c)" "cc -E x.c"
is "CXX is poetcc++ itself: POET_CXX is the compiler" "$(CXX="ccache $B/bin/poetcc++ -trace" POET_CXX="echo c++" poetcc++ -E x.cc)" "c++ -E x.cc"

# ---- Debian packages ----
if ! has dh || ! has dpkg-deb; then
    skip "debhelper is not installed"
    done_testing
    exit
fi
# The packages use what is compiled already: other tests use it meanwhile, so nothing of it may be rebuilt.
unset PKG_CONFIG_PATH
export DEB_BUILD_OPTIONS=noautodbgsym FLAGS=
compiled() { ls -l --time-style=full-iso "$B/bin/poet" "$B/libexec/poet" "$B"/lib/*.so.0 "$B/lib/poet"; }
compiled >compiled
check "make deb succeeds" make -C "$root" deb B="$work/debs" DEB_B="$B"
is "make deb rebuilds nothing" "$(compiled | diff compiled -)" ""
is "make deb leaves nothing in the source tree" "$(cd "$root" && ls debian | tr '\n' ' ')" \
    "changelog control copyright libpoet-dev.install libpoet0.install libpoet0.symbols poet.install poet.links poet.lintian-overrides rules source "
debs=$work/debs/packages
is "the packages have the version of poet" "$(head -n 1 "$root/debian/changelog" | sed 's/.*(\(.*\)).*/\1/')" "$(poet --version | cut -d' ' -f2)"
# dpkg-gensymbols refuses a later version that lacks a listed symbol.
is "the symbols file lists the functions of poet.h" \
    "$(dpkg-deb -I "$debs"/libpoet0_*.deb symbols | grep -E ' (poet_annotate|poet_event)@')" \
    "$(printf ' %s@Base 0.1\n' poet_annotate poet_event)"
is "make deb makes three packages" "$(cd "$debs" && ls | sed 's/_.*//' | tr '\n' ' ')" "libpoet-dev libpoet0 poet "
if has lintian; then
    is "lintian reports no error or warning" "$(lintian --allow-root "$debs"/*.deb 2>&1 | grep '^[EW]:')" ""
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
check "the packages install" into -i "$debs"/*.deb
is "all three packages are installed" "$(state | grep -c 'install ok installed')" 3
is "the packaged poet runs" "$("$r/usr/bin/poet" --version)" "$(poet --version)"
check "the packaged poetcc compiles" "$r/usr/bin/poetcc" -trace -g "$root/examples/prodcons.c" -o packaged
is "the packaged poetcc links the packaged libpoet" "$(ldd packaged | grep -c "$r/usr/lib/$multiarch/libpoet.so.0")" 1
is "the packaged Python module loads" "$(python3 -I -S -c 'import runpy; print(len(runpy.run_path("'"$r"'/usr/lib/python3/dist-packages/poet.py", run_name="poet")["__doc__"]) > 0)')" True
is "a program of the packaged poetcc starts the packaged server" "$(PATH=$r/usr/bin:/usr/bin:/bin ./packaged 2>/dev/null)" "sum of 10 items: 45"
check "a program of the packaged poetcc writes a sound trace" until_true sound "$(trace_of packaged)"
cc -g "$root/examples/prodcons.c" -o plain -pthread
check "the packaged poet record runs a program" env PATH="/usr/bin:/bin" "$r/usr/bin/poet" record -o recorded.poet -- ./plain
check "the packaged poet record writes a sound trace" until_true sound recorded.poet
is "pkg-config finds the packaged poetcc" "$(PKG_CONFIG_LIBDIR=$r/usr/lib/$multiarch/pkgconfig pkg-config --define-variable=prefix="$r/usr" --variable=poetcc poet)" "$r/usr/bin/poetcc"
for page in poet poetcc poetcc++ poet-ls; do check "man page $page is packaged" test -e "$r/usr/share/man/man1/$page.1.gz"; done
# A newer version is installed over the first.
mkdir new
for p in poet libpoet0 libpoet-dev; do
    dpkg-deb -R "$debs/${p}_"*.deb "new/$p" && sed -i 's/^Version: .*/&+1/; s/(= \([^)]*\))/(= \1+1)/g' "new/$p/DEBIAN/control"
    dpkg-deb --root-owner-group -Zgzip -z1 -b "new/$p" "new/$p.deb" >/dev/null
done
check "the packages upgrade" into -i new/*.deb
is "all three packages are upgraded" "$(state | grep -c '+1 install ok installed')" 3
is "the upgraded poet runs" "$("$r/usr/bin/poet" --version)" "$(poet --version)"
check "the packages are removed" into -P libpoet-dev poet libpoet0
is "no file of the packages remains" "$(find "$r" -path "$r/var/lib/dpkg" -prune -o ! -type d -print)" ""
done_testing
