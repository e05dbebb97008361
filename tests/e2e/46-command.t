#!/bin/bash
# The commands beside what they are about: what they take where nothing is named, the runs that are kept, colour,
# JSON, completions.
. "$(dirname "$0")/lib.sh"
status() { "$@" >/dev/null 2>&1; echo $?; }
# on_terminal COMMAND: its output, standard output a terminal
on_terminal() { TERM=xterm script -qec "$1" /dev/null </dev/null | tr -d '\r'; }
unset NO_COLOR

# ---- what they take where nothing is named ----
like "no run at all" "$(poet blocked 2>&1)" "^poet blocked: latest: no trace found"
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
    is "poet $c alone is about the latest run" "$(poet $c)" "$(poet $c "$kept")"
done
is "and so is check, which names it" "$(poet check)" "$(poet check "$kept")"
is "order of two events" "$(poet order 1:1 1:2)" before
is "order of pairs" "$(printf '1:1 1:2\n' | poet order -)" before
is "with options behind them" "$(poet order 1:1 1:2 --json)" '{"a":"1:1","b":"1:2","order":"before","reasons":[]}'
check "export" poet export -o x.txt
is "in a pipe nothing is said of that" "$(poet stat 2>&1 >/dev/null)" ""
like "on a terminal it is said which run it is" "$(on_terminal "poet stat" | head -n 1)" \
    "^poet stat: latest: prodcons of 20[0-9-]* [0-9:]*, .*/kept\.poet$"
is "but not where it was named" "$(on_terminal "poet stat $kept" | grep -c latest)" 0
is "a run of the state directory by its name" "$(poet order kept.poet 1:1 1:2; poet order kept 1:1 1:2)" "before
before"
is "to check, too" "$(poet check kept)" "$(poet check "$kept" | sed 's|.*kept.poet:|kept:|')"
is "one SOURCE too many" "$(poet stat latest latest 2>&1 | head -n 1)" "poet stat: extra operand: latest"

# ---- what there is not ----
lines=$(figure "$kept" lines) last=$(poet dump --json | grep -c '^{"event":"1:')
is "an event that there is not" "$(poet order 1:1 1:999 2>&1)" "poet order: no event 1:999 in this run (line 1 has $last events)"
is "the first of two" "$(poet order 1:998 1:1 2>&1)" "poet order: no event 1:998 in this run (line 1 has $last events)"
is "a line that there is not" "$(poet order 1:1 77:1 2>&1)" "poet order: no event 77:1 in this run (it has $lines lines)"
is "neither of both" "$(poet order 76:1 77:1 2>&1 | wc -l)" 2
is "with --why" "$(poet order --why 1:1 1:999 2>&1)" "poet order: no event 1:999 in this run (line 1 has $last events)"
is "which pair it is" "$(printf '1:1 1:2\n1:1 1:999\n' | poet order - 2>&1 | tail -n 1)" \
    "poet order: pair 2: no event 1:999 in this run (line 1 has $last events)"
is "in an export, too" "$(poet export -o x.txt --around 1:999 2>&1)" "poet export: no event 1:999 in this run (line 1 has $last events)"
is "one line type is not several" "$(poet check "$root/config/shiviz.conf")" "$root/config/shiviz.conf: 1 line type, 4 event types: OK"
is "a command misspelt" "$(poet exprot 2>&1 | head -n 1)" 'poet: unknown command "exprot"; did you mean "export"?'
is "or nothing like any" "$(poet frobnicate 2>&1 | head -n 1)" 'poet: unknown command "frobnicate"'
is "help for it" "$(poet help exprot 2>&1 | head -n 1)" 'poet: unknown command "exprot"; did you mean "export"?'
if [ -x "$B/libexec/poet/poet-view" ]; then
    is "an option of the viewer misspelt" "$(poet view --descripton x 2>&1 | head -n 1)" \
        "poet view: unknown option --descripton; did you mean --description?"
else
    skip "the viewer is not built"
fi
is "the manual has every command" "$(poet help | sed -n 's/^  \([a-z][a-z]*\)  *[a-z].*/\1/p' | grep -v help | sort)" \
    "$(cd "$root/docs/man" && ls poet-*.1 | sed 's/poet-\(.*\)\.1/\1/' | sort)"
(exec -a x "$B/bin/poet" server -q -l "unix:$work/named.sock" 2>/dev/null) &
named=$!
pids="$pids $named"
until_true poet runs "unix:$work/named.sock"
like "what it starts has its own name" "$(tr '\0' ' ' <"/proc/$named/cmdline")" "^poet-server "
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
run_of() { poet ls --json | RUN=$1 perl -MJSON::PP -0777 -ne '
    my ($r) = grep { $_->{run} eq $ENV{RUN} } @{decode_json($_)->{runs}}; print join " ", map { $r->{$_} // "null" } qw(program status)'; }
is "ls: a run that goes on" "$(run_of killed.poet)" "deadlock live"
is "is not removed" "$(poet rm -f killed.poet 2>&1 | head -n 1)" "poet rm: killed.poet: run is live (still being written)"
check "it is still there" test -s killed.poet
kill -KILL "$program"; wait "$program" 2>/dev/null
stopped() { [ "$(run_of killed.poet)" = "deadlock killed" ]; }
check "ls: killed" until_true stopped
like "with its deadlock" "$(poet ls | grep ^killed)" 'killed \(or exited in an untraced call\), deadlock$'
is "ls: a run of the state directory, by its name" "$(run_of kept.poet)" "prodcons completed"
is "ls: one here" "$(run_of here.poet)" "prodcons completed"
like "ls: one that cannot be read, and why" "$(poet ls | grep ^broken)" "unreadable: [a-z]"
is "ls: each once" "$(poet ls | grep -c '\.poet ')" 4
is "ls: of a directory" "$(poet ls "$XDG_STATE_HOME/poet" | tail -n 1 | cut -d, -f1)" "1 run"
is "ls: what its figures are" "$(poet ls --json here.poet | perl -MJSON::PP -0777 -ne 'print decode_json($_)->{runs}[0]{events}')" "$(figure here.poet events)"
is "ls: of what is not there" "$(status poet ls nowhere)" 1
is "ls: sorted by name" "$(poet ls --sort name | sed -n 's/^\([a-z]*\)\.poet .*/\1/p' | tr '\n' ' ')" "broken here kept killed "
touch -d '2001-01-01' here.poet
(cd "$XDG_STATE_HOME/poet" && cp kept.poet old.poet && touch -d '20 days ago' old.poet && echo >mine.poet && touch -d '20 days ago' mine.poet)

# ---- rm ----
is "rm: nothing is the default" "$(status poet rm)" 2
is "rm: nor is latest" "$(poet rm -f latest 2>&1 | head -n 1)" "poet rm: latest: name the run itself; see poet ls"
is "rm: what is no trace" "$(poet rm -f other.txt 2>&1 | head -n 1)" "poet rm: other.txt: not a Poet trace file"
ln -s here.poet link.poet
like "rm: a link" "$(poet rm -f link.poet 2>&1 | head -n 1)" "^poet rm: link.poet: symbolic link"
rm link.poet
is "rm: what is not there" "$(poet rm -f nowhere.poet 2>&1 | head -n 1)" "poet rm: nowhere.poet: No such file or directory"
check "all of them stay" test -s other.txt -a -s here.poet
like "rm: asks" "$(echo n | poet rm here.poet 2>&1)" "delete here.poet \(0\.0 MB\)\? deleted 0 runs"
is "rm: nobody there to say yes" "$(poet rm here.poet </dev/null 2>&1 >/dev/null | grep -c 'deleted 0')$(test -s here.poet; echo $?)" 10
is "rm: only says which" "$(poet rm -n here.poet 2>/dev/null)$(test -s here.poet; echo $?)" here.poet0
like "rm: yes, and what it freed" "$(echo y | poet rm here.poet 2>&1)" "deleted 1 run, 0\.0 MB$"
is "it is gone" "$(test -e here.poet; echo $?)" 1
like "rm: those that are old" "$(poet rm -f --older-than 10 2>&1)" "^deleted 1 run, "
is "no others" "$(ls "$XDG_STATE_HOME/poet")" "kept.poet
mine.poet"
is "rm: by its name" "$(poet rm -f kept 2>&1 | cut -d, -f1)" "deleted 1 run"
poet export killed.poet -o kept.txt

# ---- colour ----
for c in "show killed.poet" "blocked killed.poet" "order killed.poet 1:1 1:2" "ls"; do
    is "poet ${c%% *}: none in a pipe" "$(poet $c | grep -c "$(printf '\033')")" 0
    like "poet ${c%% *}: some on a terminal" "$(on_terminal "poet $c" | cat -v)" '\^\[\['
    is "none with NO_COLOR" "$(NO_COLOR=1 on_terminal "poet $c" | grep -c "$(printf '\033')")" 0
    like "unless it is asked for" "$(NO_COLOR=1 poet $c --color=always | cat -v)" '\^\[\['
    is "none where it is forbidden" "$(on_terminal "poet $c --color=never" | grep -c "$(printf '\033')")" 0
    is "the same words" "$(poet $c --color=always | sed 's/\x1b\[[0-9;]*m//g')" "$(poet $c)"
done
is "a word that is none" "$(status poet ls --color=pink)" 2

# ---- JSON ----
start_server -o s.poet -q
./prodcons >/dev/null
until_true finished s.poet
like "runs" "$(poet runs --json)" '^\{"number":1,"name":"prodcons","start_ns":[0-9]{19},"events":[0-9]+,"lost":0,"connected":0,"file":".*s\.poet"\}$'
stop_server
like "check of a sound trace" "$(poet check --json s.poet)" '^\{"file":"s.poet","events":[0-9]+,"ok":true\}$'
like "of a description" "$(poet check --json "$root/config/pthread.conf")" '"event_types":[0-9]+,"ok":true'

# ---- completions ----
share=$B/share
for s in bash:bash-completion/completions/poet zsh:zsh/site-functions/_poet fish:fish/vendor_completions.d/poet.fish; do
    is "the file for ${s%%:*} is what the command prints" "$(poet --completion "${s%%:*}")" "$(cat "$share/${s#*:}")"
done
is "of no other shell" "$(status poet --completion tcsh)" 2
cp s.poet "$XDG_STATE_HOME/poet/other.poet"
# completes LINE: what bash would offer behind it
completes() {
    bash -c '. "$1"; COMP_LINE=$2; COMP_POINT=${#2}; read -ra COMP_WORDS <<<"$2"
        [[ $2 == *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        eval "$(complete -p "${COMP_WORDS[0]}" | sed "s/.*-F \([^ ]*\) .*/\1/")"
        printf "%s\n" "${COMPREPLY[@]}"' - "$share/bash-completion/completions/poet" "$1" 2>/dev/null | sort | tr '\n' ' '
}
is "bash: commands" "$(completes "poet exp")" "export "
is "all of them" "$(completes "poet " | wc -w)" "$(poet help | grep -cE '^  [a-z]+ +[a-z]')"
is "what to have explained" "$(completes "poet help bl")" "blocked "
like "runs, here and in the state directory" "$(completes "poet blocked ")" "killed.poet latest mine.poet other.poet .* s.poet"
is "by their first letters" "$(completes "poet show o")" "other.poet "
is "options" "$(completes "poet ls --")" "--color --help --json --no-pager --sort "
is "those of the programs that it starts" "$(completes "poet server --st")" "--stdio "
is "words for a value" "$(completes "poet export --paper a")" "a3 a4 "
is "behind an equals sign" "$(completes "poet show --labels=")" "address id name "
is "types of events" "$(completes "poet show --text wak")" "wake "
is "descriptions" "$(completes "poet show --description pth")" "pthread "
mkdir -p "$HOME/.config/poet"
echo 'name = "mine";' >"$HOME/.config/poet/mine.conf"
is "also one's own" "$(XDG_CONFIG_HOME= completes "poet show --description min")" "mine "
is "libraries to be left out" "$(completes "poet record --without proc")" "process "
is "files" "$(completes "poet export -o oth")" "other.txt "
poet server -q -l "unix:$XDG_RUNTIME_DIR/poet-7.sock" 2>/dev/null &
other=$!
pids="$pids $other"
until_true poet runs "unix:$XDG_RUNTIME_DIR/poet-7.sock"
is "an endpoint, behind its colon" "$(completes "poet runs unix:$XDG_RUNTIME_DIR/poet-7")" "$XDG_RUNTIME_DIR/poet-7.sock "
kill $other
is "poetcc" "$(completes "poetcc -tr")" "-trace "
is "formats of one command" "$(completes "poet calls --format ")" "callgrind folded pprof "
is "a word or a file" "$(completes "poet import shi")" "shiviz "
# what is offered is taken
for word in $(completes "poet export --format "); do
    check "export --format $word" poet export s.poet -o - --format "$word"
done
for word in $(completes "poet export --paper "); do check "export --paper $word" poet export s.poet -o p.pdf --paper "$word"; done
for word in $(completes "poet ls --sort "); do check "ls --sort $word" poet ls --sort "$word" s.poet; done
if command -v zsh >/dev/null; then
    check "zsh reads its file" zsh -n "$share/zsh/site-functions/_poet"
    is "and defines it" "$(zsh -fc 'autoload -U compinit; fpath=($1 $fpath); compinit -u -D; print ${_comps[poet]} ${_comps[poetcc]}' - "$share/zsh/site-functions")" "_poet _poet"
    zsh_completes() { # LINE EXPECTED: what zsh makes of a line and TAB has that in it
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
    check "zsh: an argument" zsh_completes "poet blocked onl" "only.poet "
    check "zsh: a value" zsh_completes "poet calls --format pp" "pprof"
    mkdir -p programs && printf '#!/bin/sh\n' >programs/completed && chmod +x programs/completed
    check "zsh: a program" zsh_completes "poet record programs/comp" "completed "
    check "zsh: a program behind --" zsh_completes "poet record -- programs/comp" "completed "
    check "zsh: a program behind a trace" zsh_completes "poet replay only.poet -- programs/comp" "completed "
    check "zsh: a trace before a program" zsh_completes "poet replay onl" "only.poet "
    check "zsh: a word or a file" zsh_completes "poet import shi" "shiviz "
    rm only.poet
else
    skip "zsh is not installed"
fi
if command -v fish >/dev/null; then
    fished() { fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$share/fish/vendor_completions.d/poet.fish" "$1" | cut -f1 | tr '\n' ' '; }
    is "fish: commands" "$(fished "poet exp")" "export "
    is "fish: options" "$(fished "poet rm --o")" "--older-than "
    is "fish: words for a value" "$(fished "poet export --paper a")" "a3 a4 "
    is "fish: a word or a file" "$(fished "poet import shi")" "shiviz "
    like "fish: runs" "$(fished "poet stat s.p")" "s.poet"
else
    skip "fish is not installed"
fi
done_testing
