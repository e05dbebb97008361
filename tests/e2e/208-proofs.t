#!/bin/bash
# poet waits of programs with known times, to the nanosecond, by each synchronization primitive.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/proofs.sh"
start_server -o traces/ -q

# ---- Meira's figure 4, with five ways of waking another thread ----
played semaphores <<'S'
environment pthread
after sem_acquired sem_post
line thread p0 p1 p2
line *semaphore s0 s1 s2
0 p0 start at=a0
0 p1 start at=b0
0 p2 start at=c0
20 p1 wait on=s0 at=b1
25 p2 wait on=s1 at=c1
50 p0 sem_post on=s0 at=a1
50 p1 sem_acquired on=s0 at=b2
80 p0 wait on=s2 at=a2
90 p1 sem_post on=s1 at=b3
90 p2 sem_acquired on=s1 at=c2
125 p2 sem_post on=s2 at=c3
125 p0 sem_acquired on=s2 at=a3
S
figure_4() { waits && echo "while:" && waits --while && path | sort; }
figure_4 | sed 's/[TR]://' >wanted
is "Meira's figure 4 with semaphores" "$(cat wanted)" "65 p2 rendezvous serialization 100 %:
  36.1111 0xa0 → 0xa1 p0 propagated
  28.8889 0xb2 → 0xb3 p1 direct
45 p0 rendezvous serialization 100 %:
  24 0xb2 → 0xb3 p1 propagated
  21 0xc2 → 0xc3 p2 direct
30 p1 rendezvous serialization 100 %:
  30 0xa0 → 0xa1 p0 direct
of 140 unexplained 0
while:
65 p2 rendezvous serialization 100 %:
  40 0xb2 → 0xb3 p1 direct
  25 0xa0 → 0xa1 p0 propagated
45 p0 rendezvous serialization 100 %:
  35 0xc2 → 0xc3 p2 direct
  10 0xb2 → 0xb3 p1 propagated
30 p1 rendezvous serialization 100 %:
  30 0xa0 → 0xa1 p0 direct
of 140 unexplained 0
0xa0 → 0xa1 50
0xb2 → 0xb3 40
0xc2 → 0xc3 35
125 of 200, 3 hops"
{
    echo 'environment pthread
line thread p0 p1 p2
line mutex m0 m1 m2
line condvar c0 c1 c2
0 p0 start at=a0
0 p1 start at=b0
0 p2 start at=c0'
    awaits() { # MS THREAD MUTEX PLACE
        echo "$1 $2 acquire about=m$3 at=$4
$1 $2 lock/acquired on=m$3
$1 $2 wait on=m$3 about=c$3"
    }
    signals() { # MS THREAD MUTEX PLACE WAITER ITS-PLACE
        echo "$1 $2 acquire about=m$3 at=$4
$1 $2 lock/acquired on=m$3
$1 $2 signal on=m$3 about=c$3 is=c$3
$1 $2 unlock/released on=m$3
$1 $5 wake on=m$3 about=c$3 order=c$3 at=$6
$1 $5 unlock/released on=m$3"
    }
    awaits 20 p1 0 b1
    awaits 25 p2 1 c1
    signals 50 p0 0 a1 p1 b2
    awaits 80 p0 2 a2
    signals 90 p1 1 b3 p2 c2
    signals 125 p2 2 c3 p0 a3
} >script
played conditions <script
is "Meira's figure 4 with condition variables" "$(figure_4 | sed 's/[TR]://')" "$(cat wanted)"
played streams <<'S'
environment process
line thread p0 p1 p2
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
is "Meira's figure 4 with bytes between processes" "$(figure_4 | sed 's/[TR]://')" "$(cat wanted)"
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
is "Meira's figure 4 with messages between ranks" "$(figure_4 | sed 's/[TR]://')" "$(cat wanted)"
{
    echo 'environment ucpp
line task p0 p1 p2
0 p0 create at=a0
0 p0 start
0 p1 create at=b0
0 p1 start
0 p2 create at=c0
0 p2 start'
    calls() { # MS THREAD PLACE CALLEE ITS-PLACE
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
is "Meira's figure 4 with accepted calls" "$(figure_4 | sed 's/[TR]://')" "$(cat wanted)"

# ---- four threads at a barrier, three times ----
{
    echo 'environment pthread
line thread t1 t2 t3 t4
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
is "barrier: nine waits are attributed to the last of four threads" "$(waits --by thread)" "90 T:t1 rendezvous imbalance 100 %:
  90 0xa0 → 0xa1 T:t4 direct
60 T:t2 rendezvous imbalance 100 %:
  60 0xa0 → 0xa1 T:t4 direct
30 T:t3 rendezvous imbalance 100 %:
  30 0xa0 → 0xa1 T:t4 direct
of 180 unexplained 0"
is "barrier: paths diverge at the previous round" "$(poet waits --why 1:4 --json "$run" | grep -o '"diverged_ns":[0-9]\+')" '"diverged_ns":40000000'
is "barrier: the critical path" "$(path)" "0xa0 → 0xa1 120
120 of 300, 1 hops"

# ---- a lock convoy ----
played convoy <<'S'
environment pthread
line thread p0 p1 p2
line mutex m
0 p0 start at=a0
0 p0 acquire about=m
0 p0 lock/acquired on=m at=a1
0 p1 start at=b0
0 p2 start at=c0
10 p1 acquire about=m at=b1
15 p2 acquire about=m at=c1
30 p0 unlock/released on=m at=a2
30 p1 lock/acquired on=m at=b2
50 p1 unlock/released on=m at=b3
50 p2 lock/acquired on=m at=c2
55 p2 unlock/released on=m at=c3
S
is "convoy: waits are attributed to the holders' critical sections" "$(waits)" "35 T:p2 contention contention 100 %:
  20 0xb2 → 0xb3 T:p1 direct
  15 0xa1 → 0xa2 T:p0 direct
20 T:p1 contention contention 100 %:
  20 0xa1 → 0xa2 T:p0 direct
of 55 unexplained 0"
is "convoy: the critical path" "$(path)" "0xa1 → 0xa2 30
0xb2 → 0xb3 20
0xc2 → 0xc3 5
55 of 80, 2 hops"

# ---- a wait for a thread that waits ----
played cascade <<'S'
environment pthread
line thread main q r
line mutex m
0 main start at=a0
0 q start at=f0
0 r start at=d0
0 r acquire about=m
0 r lock/acquired on=m at=d1
0 main join about=q at=a1
10 q acquire about=m at=f1
40 r unlock/released on=m at=d2
40 q lock/acquired on=m at=f0
50 q exit is=end at=f1
50 main joined about=q order=end at=a2
S
is "cascade: a join of a thread that waits for a lock" "$(waits)" "50 T:main rendezvous serialization 100 %:
  30 0xd1 → 0xd2 T:r propagated
  20 0xf0 → 0xf1 T:q direct
30 T:q contention contention 100 %:
  30 0xd1 → 0xd2 T:r direct
of 80 unexplained 0"
is "cascade: the critical path" "$(path)" "0xd1 → 0xd2 40
0xf0 → 0xf1 10
50 of 60, 2 hops"

# ---- a late thread with waiters that are late elsewhere ----
played late <<'S'
environment pthread
after sem_acquired sem_post
line thread late p1 p2
line *semaphore s1 s2
line barrier b
0 late start at=a0
0 p1 start at=f0
0 p2 start at=f0
10 p1 wait on=s1 at=f0
10 p2 wait on=s2 at=f0
60 late sem_post on=s1 at=a1
60 late arrive about=b
60 p1 sem_acquired on=s1 at=f0
70 p1 sem_post on=s2
70 p1 arrive about=b
70 p2 sem_acquired on=s2
75 p2 arrive about=b
75 late passed group=1/3
75 p1 passed group=1/3
75 p2 passed group=1/3
S
is "propagation: all waits are attributed to the late thread and those it delayed" "$(waits | sed 's/ rendezvous .*//')" "60 T:p2
  60 0xa0 → 0xa1 T:late propagated
50 T:p1
  50 0xa0 → 0xa1 T:late direct
15 T:late
  10 0xf0 → 0xf0 T:p1 propagated
  5 0xf0 → 0xf0 T:p2 direct
5 T:p1
  5 0xf0 → 0xf0 T:p2 direct
of 130 unexplained 0"
is "propagation: the critical path" "$(path | tail -n 1)" "75 of 95, 3 hops"

stop_server
done_testing
