#!/usr/bin/perl
# Counts properties of the source that affect how it reads: names, sizes, line lengths, words.  Prints
# one line per figure; with the name of a figure, each place that it counts.
use strict;
use warnings;

my %file;    # path -> text
my %bare;    # path -> text without comments, strings and directives, same line numbers
my @shown;
my $listed = shift // '';

# ---- reading ----

sub blank
{
    my ($text) = @_;
    $text =~ s/[^\n]/ /g;
    return $text;
}

sub bared
{
    my ($text) = @_;
    $text =~ s{(/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')}{blank($1)}gse;
    $text =~ s{^([ \t]*\#(?:[^\n\\]|\\.|\\\n)*)}{blank($1)}gme;
    return $text;
}

for my $path (split /\n/, `git ls-files '*.c' '*.h'`) {
    open my $in, '<', $path or next;
    local $/;
    $file{$path} = <$in>;
    $bare{$path} = bared($file{$path});
}

my @sources = sort keys %file;
my @product = grep { !m{^tests/} } @sources;

sub line_of { my ($text, $at) = @_; return 1 + (substr($text, 0, $at) =~ tr/\n//); }

# ---- counting ----

sub figure
{
    my ($name, $title, $value, @places) = @_;
    if ($listed eq $name) {
        print "$_\n" for @places;
    } elsif ($listed eq '') {
        printf "%-12s %-58s %s\n", $name, $title, $value;
    }
    push @shown, $name;
}

# Function definitions: [path, line, name, static].  A body begins with a brace at the outermost level
# after a parameter list.
my @functions;
my %members;    # "path:line tag" -> count
my %tags;       # tag -> places
for my $path (@sources) {
    my $text = $bare{$path};
    my ($depth, $since, $at) = (0, 0, 0);
    while ($text =~ /([{};])/g) {
        my ($c, $here) = ($1, pos($text) - 1);
        if ($c eq '{') {
            if ($depth++ == 0) {
                my $head = substr($text, $since, $here - $since);
                if ($head =~ /\)\s*$/ && $head =~ /\b([a-z_]\w*)\s*\((?!\()/ && $head !~ /=/) {
                    my $name = $1;
                    $name = $1 if $name =~ /^(?:__attribute__|_Alignas)$/ && $head =~ /\)\s*\)\s*.*?\b([a-z]\w*)\s*\(/s;
                    push @functions, [$path, line_of($text, $since + index($head, $name)), $name,
                                      $head =~ /\bstatic\b/ ? 1 : 0];
                }
            }
        } elsif ($c eq '}') {
            $depth-- if $depth > 0;
            $since = $here + 1 if $depth == 0;
        } elsif ($depth == 0) {
            $since = $here + 1;
        }
    }
    while ($text =~ /\b(struct|union|enum)\s+(\w+)\s*\{/g) {
        my ($kind, $tag, $from) = ($1, $2, pos $text);
        push @{$tags{$tag}}, "$path:" . line_of($text, $from);
        next if $kind eq 'enum';
        my ($level, $count) = (1, 0);
        while ($level && $text =~ /([{};,])/g) {
            $level++ if $1 eq '{';
            $level-- if $1 eq '}';
            $count++ if $level == 1 && ($1 eq ';' || $1 eq ',');
        }
        $members{"$path:" . line_of($text, $from) . " $tag"} = $count;
        pos($text) = $from;
    }
}

my @product_functions = grep { $_->[0] !~ m{^tests/} } @functions;
my @single = grep { $_->[2] !~ /[a-z0-9]_[a-z0-9]/ && $_->[2] ne 'main' } @product_functions;
figure('functions', 'functions outside of tests', scalar @product_functions,
       map { "$_->[0]:$_->[1]: $_->[2]" } @product_functions);
figure('single', 'functions with names of one word',
       sprintf('%d (%.1f %%)', scalar @single, 100 * @single / @product_functions),
       map { "$_->[0]:$_->[1]: $_->[2]" } @single);

my @twice = grep { @{$tags{$_}} > 1 } sort keys %tags;
@twice = grep { my %p = map { $_ => 1 } grep { !m{^tests/} } @{$tags{$_}}; keys %p > 1 } @twice;
figure('tags', 'tags of structs, unions and enums defined more than once', scalar @twice,
       map { my $t = $_; map { "$_: $t" } @{$tags{$t}} } @twice);

my %stems;
for (@product) {
    my ($folder, $stem) = m{^(.*)/([^/]+)\.[ch]$} or next;
    $stems{$stem}{$folder} = 1;
}
my @same = grep { keys %{$stems{$_}} > 1 } sort keys %stems;
figure('stems', 'base names of files in several directories', scalar @same,
       map { my $s = $_; "$s: " . join(' ', sort keys %{$stems{$s}}) } @same);

# Short files are exempt if something else sets their size: programs to read (examples/), stubs that
# replace a file of another name in some builds, and data that a header declares, with one function
# at most that reads it.
my %function_count;
$function_count{$_->[0]}++ for @functions;
my $is_data = sub {
    my ($path) = @_;
    my $header = $path =~ s/\.c$/.h/r;
    return ($function_count{$path} // 0) < 2 && ($file{$header} // '') =~ /^extern /m;
};
my @short = grep { /\.c$/ && ($file{$_} =~ tr/\n//) < 40 && !m{^examples/|_stub\.c$} && !$is_data->($_) } @product;
figure('files', 'C files and headers outside of tests', scalar @product, @product);
figure('short', '.c files of less than 40 lines', scalar @short, @short);
my $lines = 0;
$lines += ($file{$_} =~ tr/\n//) for @product;
figure('lines', 'lines outside of tests', $lines);

my (@long, @torn);
for my $path (@sources) {
    my @l = split /\n/, $file{$path};
    for my $i (0 .. $#l) {
        (my $spread = $l[$i]) =~ s/\t/        /g;
        utf8::decode($spread);
        push @long, "$path:" . ($i + 1) if length $spread > 100;
        push @torn, "$path:" . ($i + 1)
          if $i && $l[$i - 1] =~ /^\s*(?:const |static |extern )*(?:struct |enum |union )?\w+ \**$/ &&
             $l[$i] =~ m{^\s+\**\w+(?:\[[^\]]*\])?;\s*/[/*]};
    }
}
figure('long', 'lines of more than 100 columns', scalar @long, @long);
figure('torn', 'declarations torn in two', scalar @torn, @torn);

my @large = sort { $members{$b} <=> $members{$a} || $a cmp $b } grep { !m{^tests/} } keys %members;
figure('members', 'members of the largest struct', $members{$large[0]}, map { "$members{$_} $_" } @large[0 .. 19]);

# ---- prose ----

# Sentences of headers without a subject: they begin with a word that continues another sentence.
my $fragment = qr/^(?:Of|As|Whether|What|Who|Whom|Whose|Where|Which|Likewise|The same|Else|So|Also|And|Or|But|NULL:|false:|true:|0:|-1:|How|Its|Their|One that|Those)\b/;
my @fragments;
for my $path (grep { /\.h$/ } @product) {
    while ($file{$path} =~ m{/\*(.*?)\*/}gs) {
        my ($comment, $line) = ($1, line_of($file{$path}, $-[0]));
        $comment =~ s/\n[ \t]*\*?/ /g;
        for (split /(?<=[.:;])\s+(?=[A-Z])/, $comment) {
            s/^\s+|\s+$//g;
            push @fragments, "$path:$line: $_" if /$fragment/;
        }
    }
}
figure('fragments', 'sentences of headers without a subject', scalar @fragments, @fragments);

# Words that the glossary does not allow, in strings, comments, documents and help.
my @stop;
if (open my $in, '<', 'docs/glossary.md') {
    my $within = 0;
    while (<$in>) {
        $within = 1 if /^## Words that are not used/;
        push @stop, map { quotemeta } split m{, }, $1 if $within && /^\| ([^|]+?) \|/ && !/^\| (?:not|---)/;
    }
}
if (@stop) {
    # "…" stands for a word, which is no longer, later or another comparison; "there is no …" is allowed.
    my $compared = qr/(?:longer|later|earlier|more|less|larger|smaller|deeper|higher|lower|better|wider|shorter)\b/;
    my $word = join '|', map { s/\\ / +/gr } map { s/\\ (?:\\?[^\x00-\x7f])+$/ +(?!$compared)\\w+/r } @stop;
    my @hits;
    my $look = sub {
        my ($path, $line, $text) = @_;
        $text =~ s{(\n[ \t]*\*?)}{' ' x length $1}ge;    # a comment of several lines
        while ($text =~ /\b(there\s+)?($word)\b/gi) {
            my ($allowed, $hit) = ($1, $2);
            push @hits, "$path:$line: $hit" if !defined $allowed && !($hit eq 'petition' && $path =~ m{^tests/});
        }
    };
    # These use the terms of uC++ (tests may name its event "petition"), or list the words.
    my $exempt = qr{^docs/(?:glossary|coming-from|ucpp)\.md$|^config/ucpp|^(?:examples|clients)/ucpp/|^tests/style\.pl$|^tests/.*ucpp};
    for my $path (@sources) {
        next if $path =~ $exempt;
        while ($file{$path} =~ m{(/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*")}gs) {
            $look->($path, line_of($file{$path}, $-[0]), $1);
        }
    }
    for my $path (split /\n/, `git ls-files '*.md' '*.conf' '*.sh' '*.js' '*.html' '*.1' '*.5' '*.t' '*.pl' 'clients/*.py' 'tests/*.py' '*.hpp' '*.cpp' Makefile clients/cli/poetcc`) {
        next if $path =~ $exempt;
        open my $in, '<', $path or next;
        $look->($path, $., $_) while <$in>;
    }
    figure('words', 'words that the glossary does not allow', scalar @hits, @hits);
}

die "style: $listed: unknown figure (known: @shown)\n" if $listed ne '' && !grep { $_ eq $listed } @shown;
