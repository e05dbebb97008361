#!/usr/bin/perl
# Checks the calls between files, from the symbols of the objects (nm); prints TAP:
#   modules call only modules that docs/dependencies.txt lets them include;
#   files of a module call each other in no cycle other than those in docs/cycles.txt.
# cycles.pl --list prints the existing cycles, in the format of docs/cycles.txt.
use strict;
use warnings;

my $build = $ENV{B} // 'build';
my $listing = @ARGV && $ARGV[0] eq '--list';

# A call of a function of libc counts as such, although modules in the traced program define it, too.
my ($libc) = `ldd $^X` =~ m{(/\S*/libc\.so\S*)};
my %libc = map { /(\S+?)@/ ? ($1 => 1) : () } split /\n/, $libc ? `nm -D --defined-only $libc` : '';

# ---- files, their modules and symbols ----
my (%file, %defined);    # object name without ending -> {module, name, uses}; symbol -> [files]
my $implementation = (glob "$build/mpi-*")[0] // '';
for my $source (split /\n/, `git ls-files '*.c'`) {
    next if $source =~ m{^(tests|examples)/};
    my $stem = $source =~ s/\.c$//r;
    my ($object) = grep { -e } "$build/o/$stem.o", "$build/pic/$stem.o", "$implementation/$stem.o";
    ($object) = grep { -e } "$build/pic/$stem.o", "$implementation/$stem.o" if $stem =~ m{^clients/libpoet/};
    next unless $object && -e $object;
    my ($module, $name) = $stem =~ m{^(.*)/(.*)$};
    $file{$stem} = { module => $module, name => $name, uses => [] };
    for (split /\n/, `nm $object`) {
        my ($kind, $symbol) = /(\S) (\S+)$/ or next;
        next if $libc{$symbol};
        if ($kind eq 'U') { push @{ $file{$stem}{uses} }, $symbol } # not w, hooks
        elsif ($kind =~ /[A-Z]/) { push @{ $defined{$symbol} }, $stem }
    }
}
die "cycles.pl: no objects under $build: make first\n" unless %file;

# The modules that run inside traced programs are never linked with the others.
sub inside { return $_[0] =~ m{^clients/libpoet(/|$)} }
my (%calls, %across);
for my $from (sort keys %file) {
    my $module = $file{$from}{module};
    for my $symbol (@{ $file{$from}{uses} }) {
        my @to = grep { inside($module) || !inside($file{$_}{module}) } @{ $defined{$symbol} // [] };
        my @own = grep { $file{$_}{module} eq $module } @to;
        $calls{$from}{$_}{$symbol} = 1 for @own;
        next if @own || !@to;
        push @{ $across{"$from $symbol"} }, @to;
    }
}

# ---- cycles: strongly connected components (Tarjan 1972) ----
my (%index, %low, %on, @stack, @cycles);
my $counter = 0;
sub visit {
    my ($v) = @_;
    $index{$v} = $low{$v} = $counter++;
    push @stack, $v;
    $on{$v} = 1;
    for my $w (sort keys %{ $calls{$v} // {} }) {
        next if $w eq $v;
        if (!defined $index{$w}) {
            visit($w);
            $low{$v} = $low{$w} if $low{$w} < $low{$v};
        } elsif ($on{$w} && $index{$w} < $low{$v}) {
            $low{$v} = $index{$w};
        }
    }
    return if $low{$v} != $index{$v};
    my @cycle;
    do { push @cycle, my $w = pop @stack; $on{$w} = 0 } while ($cycle[-1] ne $v);
    push @cycles, [ sort @cycle ] if @cycle > 1;
}
defined $index{$_} or visit($_) for sort keys %file;
sub written { # returns MODULE: FILE FILE...
    my @cycle = @{ $_[0] };
    return "$file{$cycle[0]}{module}: " . join ' ', map { $file{$_}{name} } @cycle;
}
if ($listing) {
    print written($_), "\n" for @cycles;
    exit 0;
}

# ---- comparison with docs/dependencies.txt and docs/cycles.txt ----
my $bad = 0;
sub say_bad { print "# $_[0]\n"; $bad++ }

my %allowed;
open my $modules, '<', 'docs/dependencies.txt' or die "docs/dependencies.txt: $!\n";
while (<$modules>) {
    my ($module, $others) = /^([^#\s]+):\s*(.*)/ or next;
    $allowed{$module}{ s{/[^/]*\.h$}{}r } = 1 for split ' ', $others;
}
# A module that may include another one may also call modules within that, unless it is one of them.
sub may_call {
    my ($module, $other) = @_;
    return grep { $other eq $_ || (index($other, "$_/") == 0 && index($module, "$_/") != 0) }
      keys %{ $allowed{$module} // {} };
}
for my $call (sort keys %across) {
    my ($from, $symbol) = split / /, $call;
    next if $symbol =~ /^poet_/; # of poet.h, for all programs
    next if grep { may_call($file{$from}{module}, $file{$_}{module}) } @{ $across{$call} };
    say_bad("$from.c: the module $file{$from}{module} may not call $symbol of $across{$call}[0].c");
}
print $bad ? 'not ' : '', "ok 1 - no module calls what docs/dependencies.txt does not let it include\n";

$bad = 0;
my @accepted;
open my $list, '<', 'docs/cycles.txt' or die "docs/cycles.txt: $!\n";
while (<$list>) {
    next if /^\s*(#|$)/ || /^\s/;
    my ($module, $names) = /^(\S+): (.*)/ or next;
    push @accepted, { line => $., text => "$module: $names", names => { map { ("$module/$_" => 1) } split ' ', $names } };
}
for my $cycle (@cycles) {
    my $fits;
    for my $a (@accepted) {
        next if grep { !$a->{names}{$_} } @$cycle;
        $fits = 1;
        $a->{found} += @$cycle;
    }
    next if $fits;
    say_bad('a cycle that docs/cycles.txt does not accept: ' . written($cycle));
    my @arrows;
    for my $v (@$cycle) {
        push @arrows, "$file{$v}{name} -> $file{$_}{name}: " . join ' ', sort keys %{ $calls{$v}{$_} }
          for grep { $_ ne $v && $calls{$v}{$_} } @$cycle;
    }
    print "#   $_\n" for grep { defined } @arrows[0 .. 39];
    print "#   and ", @arrows - 40, " more\n" if @arrows > 40;
}
print $bad ? 'not ' : '', "ok 2 - no cycle of files but those of docs/cycles.txt\n";
for my $a (@accepted) {
    print "# docs/cycles.txt, line $a->{line}: this cycle is smaller now, shorten it: $a->{text}\n"
      if ($a->{found} // 0) != keys %{ $a->{names} };
}
print "1..2\n";
