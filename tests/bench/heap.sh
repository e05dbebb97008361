# Read by bench.sh: what it costs to count what a program takes from its heap.
part_heap() {
    local rounds few plain one two wanted
    rounds=$(scaled 5000000) few=$(scaled 500000)
    cc -O2 -fno-builtin "$here/heap.c" -o heap-pairs -pthread
    with_memory() { poet record -m memory ./heap-pairs "$@"; }
    with_heaptrack() { heaptrack -o "$work/heaptrack" ./heap-pairs "$@" 2>/dev/null | grep -E '^[0-9.]+$'; rm -f "$work"/heaptrack*; }
    with_massif() { valgrind --tool=massif --massif-out-file=/dev/null ./heap-pairs "$@" 2>/dev/null; }
    with_memcheck() { valgrind ./heap-pairs "$@" 2>/dev/null; }
    serve
    plain=$(median ./heap-pairs "$rounds" 1 0)
    wanted="$plain ns plain"
    if command -v heaptrack >/dev/null; then
        wanted="$wanted, $(median with_heaptrack "$few" 1 0) heaptrack"
    else
        lacks "heaptrack"
    fi
    if command -v valgrind >/dev/null; then
        wanted="$wanted, $(median with_memcheck "$few" 1 0) memcheck, $(median with_massif "$few" 1 0) massif"
    else
        lacks "valgrind"
    fi
    row "heap: malloc and free" "$(median with_memory "$rounds" 1 0) ns a pair" "$wanted"
    row "heap: the same, 16 calls deep" "$(median with_memory "$rounds" 1 12) ns a pair"
    one=$(median with_memory "$rounds" 1 0) two=$(median with_memory "$rounds" 2 0)
    row "heap: by two threads" "$(calc %.2f "2 * $one / $two") times one's" \
        "$(calc %.2f "2 * $plain / $(median ./heap-pairs "$rounds" 2 0)") plain"
}
