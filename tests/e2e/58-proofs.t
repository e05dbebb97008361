#!/bin/bash
# What is told of waiting is what was: programs of which every nanosecond is known, by each way of waiting there is.
. "$(dirname "$0")/lib.sh"
start_server -o traces/ -q

# played NAME < SCRIPT: the program runs; $run is its trace, which is sound
played() {
    python3 "$root/tests/e2e/stage.py" "$1" || not_ok "$1 is played"
    run=
    until_true ls traces/"$1"-*.poet
    run=$(ls traces/"$1"-*.poet)
    check "$1 is sound" sound "$run"
}
# waits [OPTION...]: each wait by its begin: MS THREAD for whom, class; what is charged: MS STEP THREAD direct or not; total
waits() {
    poet waits --by wait --sort waited --json "$run" "$@" | perl -MJSON::PP -ne '$o = decode_json($_); $r = $o->{row};
        if ($o->{total}) { printf "of %g unexplained %g\n", $o->{total}{waited_ns} / 1e6, $o->{total}{unexplained_ns} / 1e6 }
        elsif ($r && !$o->{depth}) { printf "%g %s %s %s:", $r->{waited_ns} / 1e6, $r->{thread}, $r->{class}, $r->{kind}; print $r->{guessed} ? " guessed\n" : "\n" }
        elsif ($r) { printf "  %g %s %s %s\n", $r->{charge_ns} / 1e6, $r->{step}, $r->{thread}, $r->{direct} }'
}
path() { # each step on the path: STEP MS; its length, work, hops
    poet path --json "$run" "$@" | perl -MJSON::PP -ne '$o = decode_json($_);
        printf "%s %g\n", $o->{row}{step}, $o->{row}{path_ns} / 1e6 if $o->{row} && $o->{row}{path_ns};
        printf "%g of %g, %g hops\n", map { $_ || 0 } $o->{total}{length_ns} / 1e6, $o->{total}{work_ns} / 1e6, $o->{total}{hops} if $o->{total}'
}

# ---- Meira's figure 4, by five ways of telling another thread that it may go on ----
played semaphores <<'S'
environment pthread
after taken post
line task p0 p1 p2
line *semaphore s0 s1 s2
0 p0 start at=a0
0 p1 start at=b0
0 p2 start at=c0
20 p1 wait on=s0 at=b1
25 p2 wait on=s1 at=c1
50 p0 post on=s0 at=a1
50 p1 taken on=s0 at=b2
80 p0 wait on=s2 at=a2
90 p1 post on=s1 at=b3
90 p2 taken on=s1 at=c2
125 p2 post on=s2 at=c3
125 p0 taken on=s2 at=a3
S
figure_4() { waits && echo "while:" && waits --while && path | sort; }
figure_4 | sed 's/[TR]://' >wanted
is "Meira's figure, by semaphores" "$(cat wanted)" "65 p2 meeting IP 100 %:
  36.1111 0xa0 to 0xa1 p0 propagated
  28.8889 0xb2 to 0xb3 p1 direct
45 p0 meeting IP 100 %:
  24 0xb2 to 0xb3 p1 propagated
  21 0xc2 to 0xc3 p2 direct
30 p1 meeting IP 100 %:
  30 0xa0 to 0xa1 p0 direct
of 140 unexplained 0
while:
65 p2 meeting IP 100 %:
  40 0xb2 to 0xb3 p1 direct
  25 0xa0 to 0xa1 p0 propagated
45 p0 meeting IP 100 %:
  35 0xc2 to 0xc3 p2 direct
  10 0xb2 to 0xb3 p1 propagated
30 p1 meeting IP 100 %:
  30 0xa0 to 0xa1 p0 direct
of 140 unexplained 0
0xa0 to 0xa1 50
0xb2 to 0xb3 40
0xc2 to 0xc3 35
125 of 200, 3 hops"
{
    echo 'environment pthread
line task p0 p1 p2
line monitor m0 m1 m2
line condition c0 c1 c2
0 p0 start at=a0
0 p1 start at=b0
0 p2 start at=c0'
    awaits() { # MS THREAD MUTEX PLACE
        echo "$1 $2 petition about=m$3 at=$4
$1 $2 enter/entered on=m$3
$1 $2 wait on=m$3 about=c$3"
    }
    signals() { # MS THREAD MUTEX PLACE WHO ITS-PLACE
        echo "$1 $2 petition about=m$3 at=$4
$1 $2 enter/entered on=m$3
$1 $2 signal on=m$3 about=c$3 is=c$3
$1 $2 left/leave on=m$3
$1 $5 wake on=m$3 about=c$3 order=c$3 at=$6
$1 $5 left/leave on=m$3"
    }
    awaits 20 p1 0 b1
    awaits 25 p2 1 c1
    signals 50 p0 0 a1 p1 b2
    awaits 80 p0 2 a2
    signals 90 p1 1 b3 p2 c2
    signals 125 p2 2 c3 p0 a3
} >script
played conditions <script
is "by conditions" "$(figure_4 | sed 's/[TR]://')" "$(cat wanted)"
played streams <<'S'
environment process
line task p0 p1 p2
line stream s0 s1 s2
0 p0 start at=a0
0 p1 start at=b0
0 p2 start at=c0
20 p1 empty about=s0 at=b1
25 p2 empty about=s1 at=c1
50 p0 write about=s0 send stream=1:0:4 at=a1
50 p1 read about=s0 receive stream=1:0:4 at=b2
80 p0 empty about=s2 at=a2
90 p1 write about=s1 send stream=2:0:4 at=b3
90 p2 read about=s1 receive stream=2:0:4 at=c2
125 p2 write about=s2 send stream=3:0:4 at=c3
125 p0 read about=s2 receive stream=3:0:4 at=a3
S
is "by bytes between processes" "$(figure_4 | sed 's/[TR]://')" "$(cat wanted)"
played messages <<'S'
environment mpi
line rank p0 p1 p2
0 p0 start at=a0
0 p1 start at=b0
0 p2 start at=c0
20 p1 recv at=b1
25 p2 recv at=c1
50 p0 send send=1/1 at=a1
50 p0 sent
50 p1 receive receive=1/1 at=b2
80 p0 recv at=a2
90 p1 send send=2/1 at=b3
90 p1 sent
90 p2 receive receive=2/1 at=c2
125 p2 send send=3/1 at=c3
125 p2 sent
125 p0 receive receive=3/1 at=a3
S
is "by messages between ranks" "$(figure_4 | sed 's/[TR]://')" "$(cat wanted)"
{
    echo 'environment ucpp
line task p0 p1 p2
0 p0 create at=a0
0 p0 start
0 p1 create at=b0
0 p1 start
0 p2 create at=c0
0 p2 start'
    calls() { # MS THREAD PLACE WHOM ITS-PLACE
        echo "$1 $2 petition about=$4 at=$3
$1 $2 enter/entered on=$4
$1 $2 left/leave on=$4
$1 $4 accepted at=$5"
    }
    echo "20 p1 accept at=b1
25 p2 accept at=c1"
    calls 50 p0 a1 p1 b2
    echo "80 p0 accept at=a2"
    calls 90 p1 b3 p2 c2
    calls 125 p2 c3 p0 a3
} >script
played accepting <script
is "by calls that are accepted" "$(figure_4 | sed 's/[TR]://')" "$(cat wanted)"

# ---- four meet at a barrier, three times ----
{
    echo 'environment pthread
line task t1 t2 t3 t4
line barrier b
0 t1 start at=a0
0 t2 start at=a0
0 t3 start at=a0
0 t4 start at=a0'
    for round in 0 1 2; do
        for t in 1 2 3 4; do echo "$((40 * round + 10 * t)) t$t arrive about=b at=a1"; done
        for t in 1 2 3 4; do echo "$((40 * round + 40)) t$t passed group=$round/4 at=a0"; done
    done
} >script
played barrier <script
is "nine waits at a barrier, all for the last of the four" "$(waits --by thread)" "90 T:t1 meeting LI 100 %:
  90 0xa0 to 0xa1 T:t4 direct
60 T:t2 meeting LI 100 %:
  60 0xa0 to 0xa1 T:t4 direct
30 T:t3 meeting LI 100 %:
  30 0xa0 to 0xa1 T:t4 direct
of 180 unexplained 0"
is "since the round before" "$(poet waits --why 1:4 --json "$run" | grep -o '"since_ns":[0-9]\+')" '"since_ns":40000000'
is "its path" "$(path)" "0xa0 to 0xa1 120
120 of 300, 1 hops"

# ---- a lock is handed on ----
played convoy <<'S'
environment pthread
line task p0 p1 p2
line monitor m
0 p0 start at=a0
0 p0 petition about=m
0 p0 enter/entered on=m at=a1
0 p1 start at=b0
0 p2 start at=c0
10 p1 petition about=m at=b1
15 p2 petition about=m at=c1
30 p0 left/leave on=m at=a2
30 p1 enter/entered on=m at=b2
50 p1 left/leave on=m at=b3
50 p2 enter/entered on=m at=c2
55 p2 left/leave on=m at=c3
S
is "who held the lock meanwhile, whatever they did before" "$(waits)" "35 T:p2 exclusion CC 100 %:
  20 0xb2 to 0xb3 T:p1 direct
  15 0xa1 to 0xa2 T:p0 direct
20 T:p1 exclusion CC 100 %:
  20 0xa1 to 0xa2 T:p0 direct
of 55 unexplained 0"
is "its path" "$(path)" "0xa1 to 0xa2 30
0xb2 to 0xb3 20
0xc2 to 0xc3 5
55 of 80, 2 hops"

# ---- one waits for one who waits ----
played cascade <<'S'
environment pthread
line task main q r
line monitor m
0 main start at=a0
0 q start at=f0
0 r start at=d0
0 r petition about=m
0 r enter/entered on=m at=d1
0 main join about=q at=a1
10 q petition about=m at=f1
40 r left/leave on=m at=d2
40 q enter/entered on=m at=f0
50 q end is=end at=f1
50 main joined about=q order=end at=a2
S
is "a joins b, who waits for a lock" "$(waits)" "50 T:main meeting IP 100 %:
  30 0xd1 to 0xd2 T:r propagated
  20 0xf0 to 0xf1 T:q direct
30 T:q exclusion CC 100 %:
  30 0xd1 to 0xd2 T:r direct
of 80 unexplained 0"
is "its path" "$(path)" "0xd1 to 0xd2 40
0xf0 to 0xf1 10
50 of 60, 2 hops"

# ---- one is late, who waits for it comes late elsewhere ----
played late <<'S'
environment pthread
after taken post
line task late p1 p2
line *semaphore s1 s2
line barrier b
0 late start at=a0
0 p1 start at=f0
0 p2 start at=f0
10 p1 wait on=s1 at=f0
10 p2 wait on=s2 at=f0
60 late post on=s1 at=a1
60 late arrive about=b
60 p1 taken on=s1 at=f0
70 p1 post on=s2
70 p1 arrive about=b
70 p2 taken on=s2
75 p2 arrive about=b
75 late passed group=1/3
75 p1 passed group=1/3
75 p2 passed group=1/3
S
is "all wait for the one who is late, at last for others" "$(waits | sed 's/ meeting .*//')" "60 T:p2
  60 0xa0 to 0xa1 T:late propagated
50 T:p1
  50 0xa0 to 0xa1 T:late direct
15 T:late
  10 0xf0 to 0xf0 T:p1 propagated
  5 0xf0 to 0xf0 T:p2 direct
5 T:p1
  5 0xf0 to 0xf0 T:p2 direct
of 130 unexplained 0"
is "its path" "$(path | tail -n 1)" "75 of 95, 3 hops"

# ---- each kind of waiting ----
played kinds <<'S'
environment pthread
after taken post
after read write_left
after write write_left read_left
line task a b c d
line *semaphore s t
line *rwlock l
line once o
0 a start at=a0
0 b start at=b0
0 c start at=c0
0 d start at=d0
0 a wait on=s
0 a taken on=s at=a1
10 b wait on=s at=b1
15 c wait on=s at=c1
30 a post on=s at=a2
30 b taken on=s at=b2
50 b post on=s at=b3
50 c taken on=s at=c2
60 c post on=s at=c3
60 a petition about=l
60 a enter/read on=l at=a4
60 b petition about=l
60 b enter/read on=l at=b4
60 c petition about=l
60 c enter/read on=l at=c4
60 d petition about=l at=d4
70 a left/read_left on=l at=a5
80 b left/read_left on=l at=b5
90 c left/read_left on=l at=c5
90 d enter/write on=l at=d5
100 a petition about=l at=a6
105 b petition about=l at=b6
110 d left/write_left on=l at=d6
110 a enter/read on=l
110 b enter/read on=l
111 a left/read_left on=l at=a7
111 b left/read_left on=l at=b7
120 a timed_wait on=t at=a8
140 a timeout on=t at=a9
150 b petition about=o at=b8
150 b initialise about=o at=b9
155 c petition about=o at=c8
170 b initialised about=o is=done at=ba
170 c ready about=o order=done at=c9
S
is "a semaphore as a lock; the last of three readers; a writer; a time; once" "$(waits)" "35 T:c meeting CC 100 %:
  20 0xb2 to 0xb3 T:b direct
  15 0xa1 to 0xa2 T:a direct
30 T:d exclusion CC 100 %:
  30 0xc4 to 0xc5 T:c direct
20 T:b meeting CC 100 %:
  20 0xa1 to 0xa2 T:a direct
20 T:a timer :
  20 until its time at 0xa8 T:a direct
15 T:c exclusion CC 100 %:
  15 0xb9 to 0xba T:b direct
10 T:a exclusion CC 100 %:
  10 0xd5 to 0xd6 T:d direct
5 T:b exclusion CC 100 %:
  5 0xd5 to 0xd6 T:d direct
of 135 unexplained 0"

# ---- a server that accepts calls, and two that call ----
played served <<'S'
environment ucpp
line task server one two
0 server create at=a0
0 server start
0 one create at=b0
0 one start
0 two create at=c0
0 two start
0 server accept at=a1
10 one petition about=server at=b1
10 one enter/entered on=server at=b2
15 two petition about=server at=c1
40 one left/leave on=server at=b3
40 server accepted at=a2
40 server accept at=a3
40 two enter/entered on=server at=c2
45 two left/leave on=server at=c3
45 server accepted at=a4
50 server end at=a5
50 one end at=b5
50 two end at=c5
S
is "who accepts waits to meet a caller, who calls waits for the member that runs" "$(waits)" "40 T:server meeting IP 100 %:
  30 0xb2 to 0xb3 T:one direct
  10 0xb0 to 0xb1 T:one direct
25 T:two exclusion CC 100 %:
  25 0xb2 to 0xb3 T:one propagated
5 T:server meeting IP 100 %:
  3.75 0xc0 to 0xc1 T:two direct
  1.25 0xc2 to 0xc3 T:two direct
of 70 unexplained 0"
played called <<'S'
environment ucpp
line task server one two
0 server create at=a0
0 server start
0 one create at=b0
0 one start
0 two create at=c0
0 two start
0 server accept at=a1
10 one petition about=server at=b1
10 one enter/entered on=server at=b2
10 one left/leave on=server at=b3
10 server accepted at=a2
15 two petition about=server at=c1
40 server accept at=a3
40 two enter/entered on=server at=c2
45 two left/leave on=server at=c3
45 server accepted at=a4
S
is "who calls waits for who does not accept yet" "$(waits | head -n 4)" "25 T:two exclusion CC 100 %:
  25 0xa2 to 0xa3 T:server direct
10 T:server meeting IP 100 %:
  10 0xb0 to 0xb1 T:one direct"

# ---- messages: one waits for who sends late, who sends for who is late to receive, and else for nobody ----
played sends <<'S'
environment mpi
line rank a b
0 a start at=a0
0 b start at=b0
10 a send send=1/1 about=b at=a1
35 b recv about=a at=b1
35 b receive receive=1/1
36 a sent about=b at=a2
40 b recv about=a at=b2
50 a send send=2/1 about=b at=a3
53 b receive receive=2/1 at=b3
54 a sent about=b at=a4
60 a send send=3/1 about=b at=a5
62 a sent about=b at=a6
62 a isend send=4/1 about=b
70 b recv about=a at=b4
71 b receive receive=3/1 at=b5
75 a wait about=b at=a7
80 b recv about=a at=b6
80 b receive receive=4/1
81 a completed at=a8
90 a send send=5/1 about=b at=a9
93 a sent about=b at=aa
S
is "who is late for a send, or for one that was begun; nobody; not known" "$(waits --lines a)" "26 R:a meeting IP 96 % CC 4 %: guessed
  25 0xb0 to 0xb1 R:b direct
  1 others  
6 R:a meeting IP 72 % CC 28 %: guessed
  2.83333 0xb3 to 0xb4 R:b direct
  1.5 0xb5 to 0xb6 R:b direct
  1 going on at 0xa7 R:a direct
  0.5 going on at 0xb2 R:b direct
  0.166667 others  
4 R:a meeting CC 100 %:
  4 going on at 0xa3 R:a direct
3 R:a meeting :
  3 unexplained at 0xa9 R:a direct
2 R:a meeting CC 100 %:
  2 going on at 0xa5 R:a direct
of 41 unexplained 3"

# ---- a life, and who ran while somebody waited ----
played states <<'S'
environment pthread
line task main t1 t2 t3
line monitor m n
0 main start at=a0
0 main create on=t1 is=made
0 t2 start at=b0
0 t2 petition about=m
0 t2 enter/entered on=m
0 t3 start at=c0
0 t3 petition about=n
0 t3 enter/entered on=n
1 t1 start order=made at=d0
5 t2 petition about=n at=b1
10 t1 petition about=m at=d1
20 t3 left/leave on=n at=c1
20 t2 enter/entered on=n at=b2
20 t2 left/leave on=n
25 t2 left/leave on=m at=b3
30 t1 enter/entered on=m at=d2
30 t1 left/leave on=m
50 t1 end at=d3
60 main close on=t1 closes
S
# cells NAME...: of each row, for human beings: times in ms
cells() {
    perl -MJSON::PP -e 'my @names = @ARGV; while (<STDIN>) { my $r = decode_json($_)->{row} or next;
        print join(" ", map { my $v = $r->{$_}; !defined $v ? "-" : /_ns$/ ? $v / 1e6 : $v } @names), "\n" }' "$@"
}
is "states" "$(poet states --json "$run" --lines t1 | cells start_ns running_ns blocked_ns ready_ns system_ns terminate_ns life_ns)" \
    "1 29 15 5 - 10 60"
is "one after the other, with the place and their sum" \
    "$(poet states --list --lines t1 --json "$run" | cells state from_ns took_ns so_far_ns where for)" "start 0 1 1 - -
running 1 9 10 0xd0 -
blocked 10 15 25 0xd1 M:m
ready 25 5 30 0xd1 M:m
running 30 20 50 0xd2 -
terminate 50 10 60 - -"
is "who ran meanwhile: the holder, whom he waited for himself, and then nobody any more" "$(waits --while)" "20 T:t1 exclusion CC 100 %:
  10 0xc0 to 0xc1 T:t3 propagated
  5 0xb2 to 0xb3 T:t2 direct
  5 going on at 0xd1 T:t1 direct
15 T:t2 exclusion CC 100 %:
  15 0xc0 to 0xc1 T:t3 direct
of 35 unexplained 0"

# ---- tasks: one makes five, in the order of their creation ----
{
    echo 'environment pthread
line task main p1 p2 p3 p4 p5
0 main start at=a0'
    for i in 1 2 3 4 5; do
        echo "$((10 * i)) main create on=p$i is=p$i"
        echo "$((10 * i + 5)) p$i start order=p$i"
        [ $i = 2 ] && echo "27 p1 end is=end1
28 main join about=p1
28 main joined about=p1 order=end1
29 main close on=p1 closes"
    done
    for i in 2 3 4 5; do echo "$((60 + i)) p$i end"; done
    for i in 2 3 4 5; do echo "$((70 + i)) main close on=p$i closes"; done
    echo "80 main end"
} >script
played philosophers <script
is "each with how many there were then" \
    "$(poet states --tasks --json "$run" | cells thread created deleted started ended executing)" "T:main 1 0 1 0 1
T:p1 2 0 1 0 2
T:p2 3 0 2 0 3
T:p3 4 1 3 1 3
T:p4 5 1 4 1 4
T:p5 6 1 5 1 5"
is "and when" "$(poet states --tasks --json "$run" | cells created_at_ns | tr '\n' ' ')" "0 10 20 30 40 50 "
is "made by the first" "$(poet states --created --json "$run" | grep -o '"depth":.' | tr -dc 0-9)" 011111
poet states "$run" --chart overview -o overview.pdf
like "when they were at work, with what the colours mean" "$(pdftotext -layout overview.pdf - | tr -s ' \n' ' ')" \
    "T:main T:p1 T:p2 T:p3 T:p4 T:p5 before it began, after it ended between"

stop_server
done_testing
