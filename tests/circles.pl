#!/usr/bin/perl
# Who calls whom, from the symbols of the objects (nm), in TAP:
#   no room calls another that docs/rooms.txt does not let it include;
#   no files of one room call each other in a circle, other than those that docs/circles.txt accepts.
# circles.pl --list prints the circles that there are, in the form of docs/circles.txt.
use strict;
use warnings;

my $build = $ENV{B} // 'build';
my $listing = @ARGV && $ARGV[0] eq '--list';

# What libc defines is called of libc, though the rooms within other people's programs define it, too.
my ($libc) = `ldd $^X` =~ m{(/\S*/libc\.so\S*)};
my %libc = map { /(\S+?)@/ ? ($1 => 1) : () } split /\n/, $libc ? `nm -D --defined-only $libc` : '';

# ---- files, their rooms and symbols ----
my (%file, %defined);    # object name without ending -> {room, name, uses}; symbol -> [files]
my $implementation = (glob "$build/mpi-*")[0] // '';
for my $source (split /\n/, `git ls-files '*.c'`) {
    next if $source =~ m{^(tests|examples)/};
    my $stem = $source =~ s/\.c$//r;
    my ($object) = grep { -e } "$build/o/$stem.o", "$build/pic/$stem.o", "$implementation/$stem.o";
    ($object) = grep { -e } "$build/pic/$stem.o", "$implementation/$stem.o" if $stem =~ m{^clients/trace/};
    next unless $object && -e $object;
    my ($room, $name) = $stem =~ m{^(.*)/(.*)$};
    $file{$stem} = { room => $room, name => $name, uses => [] };
    for (split /\n/, `nm $object`) {
        my ($kind, $symbol) = /(\S) (\S+)$/ or next;
        next if $libc{$symbol};
        if ($kind eq 'U') { push @{ $file{$stem}{uses} }, $symbol } # w: a hook, filled by who is there
        elsif ($kind =~ /[A-Z]/) { push @{ $defined{$symbol} }, $stem }
    }
}
die "circles.pl: no objects under $build: make first\n" unless %file;

# The rooms that run inside other people's programs are never linked with the others.
sub inside { return $_[0] =~ m{^clients/trace(/|$)} }
my (%calls, %across);
for my $from (sort keys %file) {
    my $room = $file{$from}{room};
    for my $symbol (@{ $file{$from}{uses} }) {
        my @to = grep { inside($room) || !inside($file{$_}{room}) } @{ $defined{$symbol} // [] };
        my @own = grep { $file{$_}{room} eq $room } @to;
        $calls{$from}{$_}{$symbol} = 1 for @own;
        next if @own || !@to;
        push @{ $across{"$from $symbol"} }, @to;
    }
}

# ---- circles: strongly connected components (Tarjan 1972) ----
my (%index, %low, %on, @stack, @circles);
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
    my @circle;
    do { push @circle, my $w = pop @stack; $on{$w} = 0 } while ($circle[-1] ne $v);
    push @circles, [ sort @circle ] if @circle > 1;
}
defined $index{$_} or visit($_) for sort keys %file;
sub written { # ROOM: FILE FILE...
    my @circle = @{ $_[0] };
    return "$file{$circle[0]}{room}: " . join ' ', map { $file{$_}{name} } @circle;
}
if ($listing) {
    print written($_), "\n" for @circles;
    exit 0;
}

# ---- against what is written down ----
my $bad = 0;
sub say_bad { print "# $_[0]\n"; $bad++ }

my %allowed;
open my $rooms, '<', 'docs/rooms.txt' or die "docs/rooms.txt: $!\n";
while (<$rooms>) {
    my ($room, $others) = /^([^#\s]+):\s*(.*)/ or next;
    $allowed{$room}{ s{/[^/]*\.h$}{}r } = 1 for split ' ', $others;
}
# What a room declares may lie in a room within it, for whoever is not in there.
sub may_call {
    my ($room, $other) = @_;
    return grep { $other eq $_ || (index($other, "$_/") == 0 && index($room, "$_/") != 0) }
      keys %{ $allowed{$room} // {} };
}
for my $call (sort keys %across) {
    my ($from, $symbol) = split / /, $call;
    next if $symbol =~ /^poet_/; # of poet.h, which is for everybody
    next if grep { may_call($file{$from}{room}, $file{$_}{room}) } @{ $across{$call} };
    say_bad("$from.c: the room $file{$from}{room} may not call $symbol of $across{$call}[0].c");
}
print $bad ? 'not ' : '', "ok 1 - no room calls what docs/rooms.txt does not let it include\n";

$bad = 0;
my @accepted;
open my $list, '<', 'docs/circles.txt' or die "docs/circles.txt: $!\n";
while (<$list>) {
    next if /^\s*(#|$)/ || /^\s/;
    my ($room, $names) = /^(\S+): (.*)/ or next;
    push @accepted, { line => $., text => "$room: $names", names => { map { ("$room/$_" => 1) } split ' ', $names } };
}
for my $circle (@circles) {
    my $fits;
    for my $a (@accepted) {
        next if grep { !$a->{names}{$_} } @$circle;
        $fits = 1;
        $a->{found} += @$circle;
    }
    next if $fits;
    say_bad('a circle that docs/circles.txt does not accept: ' . written($circle));
    my @arrows;
    for my $v (@$circle) {
        push @arrows, "$file{$v}{name} -> $file{$_}{name}: " . join ' ', sort keys %{ $calls{$v}{$_} }
          for grep { $_ ne $v && $calls{$v}{$_} } @$circle;
    }
    print "#   $_\n" for grep { defined } @arrows[0 .. 39];
    print "#   and ", @arrows - 40, " more\n" if @arrows > 40;
}
print $bad ? 'not ' : '', "ok 2 - no circle of files but those of docs/circles.txt\n";
for my $a (@accepted) {
    print "# docs/circles.txt, line $a->{line}: this circle is smaller now, shorten it: $a->{text}\n"
      if ($a->{found} // 0) != keys %{ $a->{names} };
}
print "1..2\n";
