#!/bin/bash
# poet waits and states of programs with known times, to the nanosecond: every class of wait, messages, accepted calls, tasks.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/proofs.sh"
start_server -o traces/ -q

# ---- every class of wait ----
played kinds <<'S'
environment pthread
after sem_acquired sem_post
after read_acquired write_released
after write_acquired write_released read_released
line thread a b c d
line *semaphore s t
line *rwlock l
line once o
0 a start at=a0
0 b start at=b0
0 c start at=c0
0 d start at=d0
0 a wait on=s
0 a sem_acquired on=s at=a1
10 b wait on=s at=b1
15 c wait on=s at=c1
30 a sem_post on=s at=a2
30 b sem_acquired on=s at=b2
50 b sem_post on=s at=b3
50 c sem_acquired on=s at=c2
60 c sem_post on=s at=c3
60 a acquire about=l
60 a lock/read_acquired on=l at=a4
60 b acquire about=l
60 b lock/read_acquired on=l at=b4
60 c acquire about=l
60 c lock/read_acquired on=l at=c4
60 d acquire about=l at=d4
70 a unlock/read_released on=l at=a5
80 b unlock/read_released on=l at=b5
90 c unlock/read_released on=l at=c5
90 d lock/write_acquired on=l at=d5
100 a acquire about=l at=a6
105 b acquire about=l at=b6
110 d unlock/write_released on=l at=d6
110 a lock/read_acquired on=l
110 b lock/read_acquired on=l
111 a unlock/read_released on=l at=a7
111 b unlock/read_released on=l at=b7
120 a timed_wait on=t at=a8
140 a timeout on=t at=a9
150 b acquire about=o at=b8
150 b initialize about=o at=b9
155 c acquire about=o at=c8
170 b initialized about=o is=done at=ba
170 c ready about=o order=done at=c9
S
is "waits: a semaphore as a lock, the last of three readers, a writer, a timeout, pthread_once" "$(waits)" "35 T:c rendezvous contention 100 %:
  20 0xb2 → 0xb3 T:b direct
  15 0xa1 → 0xa2 T:a direct
30 T:d contention contention 100 %:
  30 0xc4 → 0xc5 T:c direct
20 T:b rendezvous contention 100 %:
  20 0xa1 → 0xa2 T:a direct
20 T:a timeout :
  20 timeout at 0xa8 T:a direct
15 T:c contention contention 100 %:
  15 0xb9 → 0xba T:b direct
10 T:a contention contention 100 %:
  10 0xd5 → 0xd6 T:d direct
5 T:b contention contention 100 %:
  5 0xd5 → 0xd6 T:d direct
of 135 unexplained 0"

# ---- a server that accepts calls, and two callers ----
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
is "waits: an accepting server waits for a caller, a caller for the member to return" "$(waits)" "40 T:server rendezvous serialization 100 %:
  30 0xb2 → 0xb3 T:one direct
  10 0xb0 → 0xb1 T:one direct
25 T:two contention contention 100 %:
  25 0xb2 → 0xb3 T:one propagated
5 T:server rendezvous serialization 100 %:
  3.75 0xc0 → 0xc1 T:two direct
  1.25 0xc2 → 0xc3 T:two direct
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
is "waits: a caller waits for the server to accept" "$(waits | head -n 4)" "25 T:two contention contention 100 %:
  25 0xa2 → 0xa3 T:server direct
10 T:server rendezvous serialization 100 %:
  10 0xb0 → 0xb1 T:one direct"

# ---- messages: waits for a late sender, for a late receiver, and without a partner ----
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
is "waits: a late receiver, a nonblocking send, no partner, and unknown" "$(waits --threads a)" "26 R:a rendezvous serialization 96 %, contention 4 %: ambiguous
  25 0xb0 → 0xb1 R:b direct
  1 other  
6 R:a rendezvous serialization 72 %, contention 28 %: ambiguous
  2.83333 0xb3 → 0xb4 R:b direct
  1.5 0xb5 → 0xb6 R:b direct
  1 wake-up latency at 0xa7 R:a direct
  0.5 wake-up latency at 0xb2 R:b direct
  0.166667 other  
4 R:a rendezvous contention 100 %:
  4 wake-up latency at 0xa3 R:a direct
3 R:a rendezvous :
  3 unattributed at 0xa9 R:a direct
2 R:a rendezvous contention 100 %:
  2 wake-up latency at 0xa5 R:a direct
of 41 unexplained 3"

# ---- a lifetime, and the threads that ran during a wait ----
played states <<'S'
environment pthread
line thread main t1 t2 t3
line mutex m n
0 main start at=a0
0 main create on=t1 is=made
0 t2 start at=b0
0 t2 acquire about=m
0 t2 lock/acquired on=m
0 t3 start at=c0
0 t3 acquire about=n
0 t3 lock/acquired on=n
1 t1 start order=made at=d0
5 t2 acquire about=n at=b1
10 t1 acquire about=m at=d1
20 t3 unlock/released on=n at=c1
20 t2 lock/acquired on=n at=b2
20 t2 unlock/released on=n
25 t2 unlock/released on=m at=b3
30 t1 lock/acquired on=m at=d2
30 t1 unlock/released on=m
50 t1 exit at=d3
60 main close on=t1 closes
S
is "states: all states of a lifetime" "$(poet states --json "$run" --threads t1 | cells created_ns running_ns blocked_ns runnable_ns other_off_cpu_ns exited_ns lifetime_ns)" \
    "1 29 15 5 - 10 60"
is "states --list: the intervals with source lines and their sum" \
    "$(poet states --list --threads t1 --json "$run" | cells state from_ns duration_ns elapsed_ns location object)" "created 0 1 1 0xa0 -
running 1 9 10 0xd0 -
blocked 10 15 25 0xd1 M:m
runnable 25 5 30 0xd1 M:m
running 30 20 50 0xd2 -
exited 50 10 60 0xd3 -"
is "states --by state: total, count, least and most of each state" \
    "$(poet states --by state --threads t1 --json "$run" | cells state total_ns count min_ns max_ns)" "created 1 1 1 1
runnable 5 1 5 5
running 29 2 9 20
blocked 15 1 15 15
exited 10 1 10 10"
now() { poet states --created --json "$run" "$@" | cells thread state location object | sort; }
is "states --created: at 15, t1 and t2 are blocked, and where" "$(now --to 15ms)" "T:main running 0xa0 -
T:t1 blocked 0xd1 M:m
T:t2 blocked 0xb1 M:n
T:t3 running 0xc0 -"
is "states --created: at 28, t1 can run" "$(now --to 28ms | grep t1)" "T:t1 runnable 0xd1 M:m"
is "states --created: at 1, t1 has not started" "$(now --to 1ms | grep t1)" "T:t1 created - -"
is "states --created: at 55, t1 has exited" "$(now --to 55ms | grep t1)" "T:t1 exited 0xd3 -"
is "states --created: at the end, t1 is deleted, and t2 runs" "$(now | grep 't[12]')" "T:t1 - - -
T:t2 running 0xb3 -"
is "waits --while: the holder ran, which waited itself, and then no thread" "$(waits --while)" "20 T:t1 contention contention 100 %:
  10 0xc0 → 0xc1 T:t3 propagated
  5 0xb2 → 0xb3 T:t2 direct
  5 wake-up latency at 0xd1 T:t1 direct
15 T:t2 contention contention 100 %:
  15 0xc0 → 0xc1 T:t3 direct
of 35 unexplained 0"

# ---- tasks: one creates five, in order ----
{
    echo 'environment pthread
line thread main p1 p2 p3 p4 p5
0 main start at=a0'
    for i in 1 2 3 4 5; do
        echo "$((10 * i)) main create on=p$i is=p$i"
        echo "$((10 * i + 5)) p$i start order=p$i"
        [ $i = 2 ] && echo "27 p1 exit is=end1
28 main join about=p1
28 main joined about=p1 order=end1
29 main close on=p1 closes"
    done
    for i in 2 3 4 5; do echo "$((60 + i)) p$i exit"; done
    for i in 2 3 4 5; do echo "$((70 + i)) main close on=p$i closes"; done
    echo "80 main exit"
} >script
played philosophers <script
is "states --tasks: each row has the number of tasks at its creation" \
    "$(poet states --tasks --json "$run" | cells thread created deleted started ended executing)" "T:main 1 0 1 0 1
T:p1 2 0 1 0 2
T:p2 3 0 2 0 3
T:p3 4 1 3 1 3
T:p4 5 1 4 1 4
T:p5 6 1 5 1 5"
is "states --tasks: each row has its time of creation" "$(poet states --tasks --json "$run" | cells created_at_ns | tr '\n' ' ')" "0 10 20 30 40 50 "
is "states --created: times after the range are unknown" \
    "$(poet states --created --to 28ms --json "$run" | cells thread created_at_ns started_at_ns ended_at_ns deleted_at_ns lifetime_ns)" \
    "T:main - 0 - - 28
T:p1 10 15 27 - 18
T:p2 20 25 - - 8"
like "states --created: how many there were" "$(poet states --created --to 28ms "$run")" \
    "3 created, 3 started, 1 ended, 0 deleted; 2 executing"
is "states --created: the first task created the others" "$(poet states --created --json "$run" | grep -o '"depth":.' | tr -dc 0-9)" 011111
poet states "$run" --chart overview -o overview.pdf
like "states --chart overview: execution intervals, with a legend" "$(pdftotext -layout overview.pdf - | tr -s ' \n' ' ')" \
    "T:main T:p1 T:p2 T:p3 T:p4 T:p5 not started exited active"

stop_server
done_testing
