#!/bin/sh
# Counts, by module, the .c files that have a header of the same name; a statistic, not a test.  A file
# counts as having one if it needs none: if it exports only main, interposed calls of other libraries,
# or what a header in `tables` declares (rows of tables, and hooks).  -l also lists the files without
# one, with the symbols that are declared elsewhere.  Reads the objects in $B: run make first.
set -u
B=${B:-build}
tables='clients/cli/command.h clients/cli/completion.h server/queries/query.h clients/libpoet/core/fork_reset.h clients/libpoet/poet.h'
list=${1:-}
libc=$(ldd "$(command -v perl)" | sed -n 's/.*=> \(.*libc\.so[^ ]*\).*/\1/p')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{ nm -D --defined-only "$libc" | sed 's/.* //; s/@.*//'; echo main; } | sort -u >"$work/known"
# (symbols that are declared by macros of the tables' rows)
{ cat $tables | tr -cs 'A-Za-z0-9_' '\n'
  sed -n 's/.*Q([0-9]*, [A-Z_]*, \([a-z]*\)).*/question_\1/p' wire/request.h; } | sort -u >"$work/rows"
git ls-files '*.c' | grep -Ev '^(tests|examples)/' | while read -r file; do
    stem=${file%.c} module=${file%/*}
    if [ -f "$stem.h" ]; then
        echo "$module own"
        continue
    fi
    for object in "$B/pic/$stem.o" "$B"/mpi-*/"$stem.o" "$B/o/$stem.o"; do
        case $object in
        */o/clients/libpoet/* | "$B"/pic/wire/*) continue ;;
        esac
        [ -f "$object" ] && break
    done
    exported=$(nm --defined-only "$object" 2>/dev/null | sed -n 's/.* [TDBRVC] //p' |
        grep -Ev '^(MPI_|poet_link_with_poetcc_trace__|poet_process_|poet_omp_|GOMP_|omp_|__kmpc_|ompt_|DW\.ref\.|__wrap_)' | sort -u |
        comm -23 - "$work/known" | comm -23 - "$work/rows" | tr '\n' ' ')
    if [ -z "$exported" ]; then
        echo "$module none"
    else
        echo "$module lacks"
        [ "$list" = -l ] && echo "# $file: $exported" >&2
    fi
done | awk '
{ count[$1]++; kind[$1, $2]++; all++; sum[$2]++ }
function line(module, n, own, none) {
    return sprintf("%-32s %3d of %3d  %3d %%   with %3d, needs none %3d", module, own + none, n,
                   100 * (own + none) / n, own, none)
}
END {
    for (module in count)
        print line(module, count[module], kind[module, "own"], kind[module, "none"]) | "sort"
    close("sort")
    print line("all", all, sum["own"], sum["none"])
}'
