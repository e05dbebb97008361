#!/bin/bash
# Common behavior of the commands: the default run, error messages, saved runs, color, JSON and completion.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
status() { "$@" >/dev/null 2>&1; echo $?; }
# on_terminal COMMAND: its output, with a terminal as standard output
on_terminal() { TERM=xterm script -qec "$1" /dev/null </dev/null | tr -d '\r'; }
unset NO_COLOR

# ---- the default run ----
like "without any run poet blocked says so" "$(poet blocked 2>&1)" "^poet blocked: latest: no trace found"
compile prodcons
compile deadlock
poet server -o runs/ -q 2>server.log &
server=$!
pids="$pids $server"
until_true poet runs
./prodcons >/dev/null
until_true finished latest
stop_server
file=$(ls runs/*.poet)
mkdir -p "$XDG_STATE_HOME/poet"
mv "$file" "$XDG_STATE_HOME/poet/kept.poet"
kept=$XDG_STATE_HOME/poet/kept.poet
for c in blocked show stat dump; do
    is "poet $c without SOURCE uses the latest run" "$(poet $c)" "$(poet $c "$kept")"
done
is "poet check without SOURCE uses the latest run and names it" "$(poet check)" "$(poet check "$kept")"
is "poet order of two events uses the latest run" "$(poet order 1:1 1:2)" before
is "poet order of pairs uses the latest run" "$(printf '1:1 1:2\n' | poet order -)" before
is "poet order accepts options behind the events" "$(poet order 1:1 1:2 --json)" '{"a":"1:1","b":"1:2","order":"before","reasons":[]}'
check "poet export uses the latest run" poet export -o x.txt
is "in a pipe the default run is not announced" "$(poet stat 2>&1 >/dev/null)" ""
like "on a terminal the default run is announced" "$(on_terminal "poet stat" | head -n 1)" \
    "^poet stat: latest: prodcons of 20[0-9-]* [0-9:]*, .*/kept\.poet$"
is "on a terminal a named run is not announced" "$(on_terminal "poet stat $kept" | grep -c latest)" 0
is "a saved run is found by its name" "$(poet order kept.poet 1:1 1:2; poet order kept 1:1 1:2)" "before
before"
is "poet check finds a saved run by its name" "$(poet check kept)" "$(poet check "$kept" | sed 's|.*kept.poet:|kept:|')"
is "a second SOURCE is refused" "$(poet stat latest latest 2>&1 | head -n 1)" "poet stat: extra operand: latest"

# ---- missing events, commands and options ----
lines=$(figure "$kept" lines) last=$(poet dump --json | grep -c '^{"event":"1:')
is "poet order: a missing event names the line's last event" "$(poet order 1:1 1:999 2>&1)" "poet order: no event 1:999 in this run (line 1 has $last events)"
is "poet order: the first event is missing" "$(poet order 1:998 1:1 2>&1)" "poet order: no event 1:998 in this run (line 1 has $last events)"
is "poet order: a missing line names the number of lines" "$(poet order 1:1 77:1 2>&1)" "poet order: no event 77:1 in this run (it has $lines lines)"
is "poet order: both events are missing" "$(poet order 76:1 77:1 2>&1 | wc -l)" 2
is "poet order --why: a missing event" "$(poet order --why 1:1 1:999 2>&1)" "poet order: no event 1:999 in this run (line 1 has $last events)"
is "poet order -: the missing event's pair is named" "$(printf '1:1 1:2\n1:1 1:999\n' | poet order - 2>&1 | tail -n 1)" \
    "poet order: pair 2: no event 1:999 in this run (line 1 has $last events)"
is "poet export --around: a missing event" "$(poet export -o x.txt --around 1:999 2>&1)" "poet export: no event 1:999 in this run (line 1 has $last events)"
is "poet check: one line type is singular" "$(poet check "$root/config/shiviz.conf")" "$root/config/shiviz.conf: 1 line type, 4 event types: OK"
is "a misspelt command gets a suggestion" "$(poet exprot 2>&1 | head -n 1)" 'poet: unknown command "exprot"; did you mean "export"?'
is "an unknown command without a similar one gets no suggestion" "$(poet frobnicate 2>&1 | head -n 1)" 'poet: unknown command "frobnicate"'
is "poet help of a misspelt command gets a suggestion" "$(poet help exprot 2>&1 | head -n 1)" 'poet: unknown command "exprot"; did you mean "export"?'
if [ -x "$B/libexec/poet/poet-view" ]; then
    is "poet view: a misspelt option gets a suggestion" "$(poet view --descripton x 2>&1 | head -n 1)" \
        "poet view: unknown option --descripton; did you mean --description?"
else
    skip "the viewer is not built"
fi
is "the manual lists every command" "$(poet help | sed -n 's/^  \([a-z][a-z]*\)  *[a-z].*/\1/p' | grep -v help | sort)" \
    "$(cd "$root/docs/man" && ls poet-*.1 | sed 's/poet-\(.*\)\.1/\1/' | sort)"
(exec -a x "$B/bin/poet" server -q -l "unix:$work/named.sock" 2>/dev/null) &
named=$!
pids="$pids $named"
until_true poet runs "unix:$work/named.sock"
like "the trace server's process is named poet-server" "$(tr '\0' ' ' <"/proc/$named/cmdline")" "^poet-server "
is "a server of this host loads no library for others" "$(grep -c 'libgnutls\|libnats' "/proc/$named/maps")" 0
kill "$named"

# ---- ls ----
cp "$kept" here.poet
printf 'POETFILE' >broken.poet
echo "no trace" >other.txt
poet record -o killed.poet -- "$work/deadlock" >/dev/null 2>&1 &
program=$!
pids="$pids $program"
dead() { poet blocked killed.poet | grep -q ^DEADLOCK; }
until_true dead
run_of() { poet ls --json | json ".[0].runs[] | select(.run == \"$1\") | \"\(.program) \(.status)\""; }
is "ls: a live run" "$(run_of killed.poet)" "deadlock live"
is "rm: a live run is refused" "$(poet rm -f killed.poet 2>&1 | head -n 1)" "poet rm: killed.poet: run is live (still being written)"
check "rm: the file of a live run remains" test -s killed.poet
kill -KILL "$program"; wait "$program" 2>/dev/null
stopped() { [ "$(run_of killed.poet)" = "deadlock killed" ]; }
check "ls: the run of a killed program is listed as stopped" until_true stopped
like "ls: the run of a killed program has its deadlock" "$(poet ls | grep ^killed)" 'killed \(or exited in an untraced call\), deadlock$'
is "ls: a saved run by its name" "$(run_of kept.poet)" "prodcons completed"
is "ls: a run in the current directory" "$(run_of here.poet)" "prodcons completed"
like "ls: an unreadable run has the reason" "$(poet ls | grep ^broken)" "unreadable: [a-z]"
is "ls: each run is listed once" "$(poet ls | grep -c '\.poet ')" 4
is "ls: runs of a directory" "$(poet ls "$XDG_STATE_HOME/poet" | tail -n 1 | cut -d, -f1)" "1 run"
is "ls --json: the number of events is that of poet stat" \
    "$(poet ls --json here.poet | json '.[0].runs[0].events')" "$(figure here.poet events)"
is "ls: a missing directory exits with 1" "$(status poet ls nowhere)" 1
is "ls --sort name sorts by name" "$(poet ls --sort name | sed -n 's/^\([a-z]*\)\.poet .*/\1/p' | tr '\n' ' ')" "broken here kept killed "
touch -d '2001-01-01' here.poet
(cd "$XDG_STATE_HOME/poet" && cp kept.poet old.poet && touch -d '20 days ago' old.poet && echo >mine.poet && touch -d '20 days ago' mine.poet)

# ---- rm ----
is "rm: without an operand it exits with 2" "$(status poet rm)" 2
is "rm: latest is refused" "$(poet rm -f latest 2>&1 | head -n 1)" "poet rm: latest: name the run itself; see poet ls"
is "rm: a file that is not a trace is refused" "$(poet rm -f other.txt 2>&1 | head -n 1)" "poet rm: other.txt: not a Poet trace file"
ln -s here.poet link.poet
like "rm: a symbolic link is refused" "$(poet rm -f link.poet 2>&1 | head -n 1)" "^poet rm: link.poet: symbolic link"
rm link.poet
is "rm: a missing file is reported" "$(poet rm -f nowhere.poet 2>&1 | head -n 1)" "poet rm: nowhere.poet: No such file or directory"
check "rm: refused files remain" test -s other.txt -a -s here.poet
like "rm: asks before it deletes" "$(echo n | poet rm here.poet 2>&1)" "delete here.poet \(0\.0 MB\)\? deleted 0 runs"
is "rm: without an answer nothing is deleted" "$(poet rm here.poet </dev/null 2>&1 >/dev/null | grep -c 'deleted 0')$(test -s here.poet; echo $?)" 10
is "rm -n only prints the runs" "$(poet rm -n here.poet 2>/dev/null)$(test -s here.poet; echo $?)" here.poet0
like "rm: deletes after yes, and prints the size" "$(echo y | poet rm here.poet 2>&1)" "deleted 1 run, 0\.0 MB$"
is "rm: the deleted file does not exist" "$(test -e here.poet; echo $?)" 1
like "rm --older-than deletes old runs" "$(poet rm -f --older-than 10 2>&1)" "^deleted 1 run, "
is "rm --older-than keeps newer runs" "$(ls "$XDG_STATE_HOME/poet")" "kept.poet
mine.poet"
is "rm: deletes a saved run by its name" "$(poet rm -f kept 2>&1 | cut -d, -f1)" "deleted 1 run"
poet export killed.poet -o kept.txt

# ---- color ----
for c in "show killed.poet" "blocked killed.poet" "order killed.poet 1:1 1:2" "ls"; do
    is "poet ${c%% *}: no color in a pipe" "$(poet $c | grep -c "$(printf '\033')")" 0
    like "poet ${c%% *}: color on a terminal" "$(on_terminal "poet $c" | cat -v)" '\^\[\['
    is "poet ${c%% *}: no color with NO_COLOR" "$(NO_COLOR=1 on_terminal "poet $c" | grep -c "$(printf '\033')")" 0
    like "poet ${c%% *}: --color=always overrides NO_COLOR" "$(NO_COLOR=1 poet $c --color=always | cat -v)" '\^\[\['
    is "poet ${c%% *}: --color=never disables color" "$(on_terminal "poet $c --color=never" | grep -c "$(printf '\033')")" 0
    is "poet ${c%% *}: the same text with and without color" "$(poet $c --color=always | sed 's/\x1b\[[0-9;]*m//g')" "$(poet $c)"
done
is "--color: an unknown value exits with 2" "$(status poet ls --color=pink)" 2

# ---- JSON ----
start_server -o s.poet -q
./prodcons >/dev/null
until_true finished s.poet
like "runs --json: an object for each run" "$(poet runs --json)" '^\{"number":1,"name":"prodcons","start_ns":[0-9]{19},"events":[0-9]+,"lost":0,"connected":0,"file":".*s\.poet"\}$'
stop_server
like "check --json: a sound trace" "$(poet check --json s.poet)" '^\{"file":"s.poet","events":[0-9]+,"ok":true\}$'
like "check --json: a description" "$(poet check --json "$root/config/pthread.conf")" '"event_types":[0-9]+,"ok":true'

# ---- completions ----
share=$B/share
for s in bash:bash-completion/completions/poet zsh:zsh/site-functions/_poet fish:fish/vendor_completions.d/poet.fish; do
    is "the installed completion for ${s%%:*} is what the command prints" "$(poet --completion "${s%%:*}")" "$(cat "$share/${s#*:}")"
done
is "--completion: an unknown shell exits with 2" "$(status poet --completion tcsh)" 2
cp s.poet "$XDG_STATE_HOME/poet/other.poet"
# completes LINE: what bash offers behind it
completes() {
    bash -c '. "$1"; COMP_LINE=$2; COMP_POINT=${#2}; read -ra COMP_WORDS <<<"$2"
        [[ $2 == *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        eval "$(complete -p "${COMP_WORDS[0]}" | sed "s/.*-F \([^ ]*\) .*/\1/")"
        printf "%s\n" "${COMPREPLY[@]}"' - "$share/bash-completion/completions/poet" "$1" 2>/dev/null | sort | tr '\n' ' '
}
is "bash: commands" "$(completes "poet exp")" "export "
is "bash: all commands" "$(completes "poet " | wc -w)" "$(poet help | grep -cE '^  [a-z]+ +[a-z]')"
is "bash: commands behind poet help" "$(completes "poet help bl")" "blocked "
like "bash: runs, here and in the state directory" "$(completes "poet blocked ")" "killed.poet latest mine.poet other.poet .* s.poet"
is "bash: runs by a prefix" "$(completes "poet show o")" "other.poet "
is "options" "$(completes "poet ls --")" "--color --help --json --no-pager --sort "
is "bash: options of poet server" "$(completes "poet server --st")" "--stdio "
is "bash: values of an option" "$(completes "poet export --paper a")" "a3 a4 "
is "bash: values behind an equals sign" "$(completes "poet show --labels=")" "address id name "
is "bash: event types" "$(completes "poet show --text wak")" "wake "
is "bash: descriptions" "$(completes "poet show --description pth")" "pthread "
mkdir -p "$HOME/.config/poet"
echo 'name = "mine";' >"$HOME/.config/poet/mine.conf"
is "bash: the user's own descriptions" "$(XDG_CONFIG_HOME= completes "poet show --description min")" "mine "
is "bash: libraries of poet record --without" "$(completes "poet record --without proc")" "process "
is "bash: files" "$(completes "poet export -o oth")" "other.txt "
poet server -q -l "unix:$XDG_RUNTIME_DIR/poet-7.sock" 2>/dev/null &
other=$!
pids="$pids $other"
until_true poet runs "unix:$XDG_RUNTIME_DIR/poet-7.sock"
is "bash: an endpoint behind its colon" "$(completes "poet runs unix:$XDG_RUNTIME_DIR/poet-7")" "$XDG_RUNTIME_DIR/poet-7.sock "
kill $other
is "bash: options of poetcc" "$(completes "poetcc -tr")" "-trace "
is "bash: formats of one command" "$(completes "poet calls --format ")" "callgrind folded pprof "
is "bash: a keyword or a file" "$(completes "poet import shi")" "shiviz "
# What is offered is accepted.
for word in $(completes "poet export --format "); do
    check "completion: poet export --format $word is accepted" poet export s.poet -o - --format "$word"
done
for word in $(completes "poet export --paper "); do check "completion: poet export --paper $word is accepted" poet export s.poet -o p.pdf --paper "$word"; done
for word in $(completes "poet ls --sort "); do check "completion: poet ls --sort $word is accepted" poet ls --sort "$word" s.poet; done
if command -v zsh >/dev/null; then
    check "zsh parses its completion file" zsh -n "$share/zsh/site-functions/_poet"
    is "zsh registers the completion" "$(zsh -fc 'autoload -U compinit; fpath=($1 $fpath); compinit -u -D; print ${_comps[poet]} ${_comps[poetcc]}' - "$share/zsh/site-functions")" "_poet _poet"
    zsh_completes() { # zsh_completes LINE EXPECTED: what zsh makes of the line and TAB contains EXPECTED
        timeout 120 zsh -fc '
            zmodload zsh/zpty
            zpty z "PS1= TERM=dumb zsh -f -i"
            zpty -w z "fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; print rea\"\"dy"
            zpty -r -m z seen "*ready*"
            zpty -w -n z "$2"$'"'\t'"'
            zpty -r -m z seen "*$3*"
            zpty -d z' - "$share/zsh/site-functions" "$1" "$2"
    }
    touch only.poet
    check "zsh: runs" zsh_completes "poet blocked onl" "only.poet "
    check "zsh: formats of a command" zsh_completes "poet calls --format pp" "pprof"
    mkdir -p programs && printf '#!/bin/sh\n' >programs/completed && chmod +x programs/completed
    check "zsh: programs of poet record" zsh_completes "poet record programs/comp" "completed "
    check "zsh: programs behind --" zsh_completes "poet record -- programs/comp" "completed "
    check "zsh: programs behind a trace" zsh_completes "poet replay only.poet -- programs/comp" "completed "
    check "zsh: runs in place of a program" zsh_completes "poet replay onl" "only.poet "
    check "zsh: a keyword or a file" zsh_completes "poet import shi" "shiviz "
    rm only.poet
else
    skip "zsh is not installed"
fi
if command -v fish >/dev/null; then
    fished() { fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$share/fish/vendor_completions.d/poet.fish" "$1" | cut -f1 | tr '\n' ' '; }
    is "fish: commands" "$(fished "poet exp")" "export "
    is "fish: options" "$(fished "poet rm --o")" "--older-than "
    is "fish: values of an option" "$(fished "poet export --paper a")" "a3 a4 "
    is "fish: a keyword or a file" "$(fished "poet import shi")" "shiviz "
    like "fish: runs" "$(fished "poet stat s.p")" "s.poet"
else
    skip "fish is not installed"
fi
done_testing
