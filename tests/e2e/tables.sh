# Read by tests of tables, after lib.sh.
export C_INCLUDE_PATH="$root/tests/e2e" # work.h

# rows row|total FIELD...: of each line of JSON that is one
rows() { perl -CO -MJSON::PP -e '
    my ($want, @fields) = @ARGV;
    while (<STDIN>) {
        my $o = decode_json($_);
        my $r = $o->{$want} or next;
        print join("\t", map { defined $r->{$_} ? $r->{$_} : "-" } @fields), "\n";
    }' "$@"; }
