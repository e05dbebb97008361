#!/usr/bin/perl
# Checks docs/files.md, which describes each source file by the first sentence of its header's first
# comment (or of its own); prints TAP: each file has one, and the page is up to date.
# file-index.pl --write writes the page.
use strict;
use warnings;

my $page = 'docs/files.md';

sub sentence { # returns the first sentence of a file's first comment
    open my $file, '<', $_[0] or return '';
    local $/;
    my ($text) = <$file> =~ m{\A(?:#define \w+(?: \w+)?\n)*/\*(.*?)\*/}s or return '';
    $text =~ s/\n \*/ /g;
    $text =~ s/\s+/ /g;
    $text =~ s/^ | $//g;
    return $text =~ /^(.*?[.:])(?= [A-Z]|$)/ ? $1 : $text;
}

my (%modules, @bad, %seen);
for my $path (split /\n/, `git ls-files -co --exclude-standard '*.c' '*.h'`) {
    my ($module, $name) = $path =~ m{^(.*)/(.*)\.[ch]$} or next;
    next if $module =~ m{^(tests|examples)(/|$)} || !-e $path || $seen{"$module/$name"}++;
    my $what = (map { sentence("$module/$name.$_") } grep { -e "$module/$name.$_" } qw(h c))[0];
    ($what) = grep { $_ } map { sentence("$module/$name.$_") } qw(h c) if !$what;
    push @bad, "$path does not say in its first comment what it is for" if !$what;
    my $files = join ' ', grep { -e "$module/$name.$_" } qw(h c);
    $modules{$module}{$name} = { files => $files =~ /^c$/ ? "$name.c" : $files =~ /^h$/ ? "$name.h" : $name, what => $what // '' };
}

my $text = <<'END';
# The source, file by file

What each file is for, as its first sentence says. `x` is a pair, `x.h` and `x.c`. [dependencies.txt](dependencies.txt) says which module
may include and call which, [tour.md](tour.md) follows one event through them. `tests/file-index.pl --write` writes this page.
END
for my $module (sort keys %modules) {
    $text .= "\n## $module/\n\n| file | what it is for |\n|---|---|\n";
    for my $name (sort keys %{ $modules{$module} }) {
        my ($files, $what) = @{ $modules{$module}{$name} }{qw(files what)};
        $what =~ s/\|/\\|/g;
        $what =~ s/</&lt;/g;
        $what =~ s/:$/./;
        $text .= "| `$files` | $what |\n";
    }
}

if (@ARGV && $ARGV[0] eq '--write') {
    open my $out, '>', $page or die "$page: $!\n";
    print $out $text;
    close $out or die "$page: $!\n";
}
my $is = '';
if (open my $in, '<', $page) {
    local $/;
    $is = <$in>;
}
print "# $_\n" for @bad;
print @bad ? 'not ' : '', "ok 1 - each file says what it is for\n";
print "# tests/file-index.pl --write mends that\n" if $is ne $text;
print $is ne $text ? 'not ' : '', "ok 2 - $page is as the files are\n1..2\n";
exit(@bad || $is ne $text ? 1 : 0);
