# Read by tests of tables, after lib.sh.
export C_INCLUDE_PATH="$root/tests/e2e" # work.h

# rows row|total FIELD...: of each line of JSON that is one
rows() {
    local fields
    fields=$(printf ', .%s' "${@:2}")
    json ".[].$1 // empty | cells(${fields#, }; \"\t\")"
}
