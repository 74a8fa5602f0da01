#!/usr/bin/env bash
# The manual page and the completion that are made with the program: manual.sh WARPSTAVE.1 WARPSTAVE.BASH COMMAND.DEF
page=$1 completion=$2 table=$3 n=0
case_of() { # name, command…
    local name=$1
    shift
    n=$((n + 1))
    if "$@"; then echo "ok $n $name"; else echo "not ok $n $name"; fi
}
commands() { sed -n 's/^WS_COMMAND(\([a-z]*\),.*/\1/p' "$table"; }
every_command() { # has a section of its own, and its place in the completion
    local command
    for command in $(commands); do
        grep -q "^\.SS warpstave $command " "$page" || { echo "# no section of $command" && return 1; }
        offers "$command" warpstave "$command" || return 1
    done
    [ "$(commands | wc -l)" -gt 10 ]
}
offers() { # word, words on the line…
    local wanted=$1
    shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _warpstave
    [[ " ${COMPREPLY[*]} " == *" $wanted "* ]] || { echo "# no $wanted after $*" && return 1; }
}
options() {
    offers --witness warpstave check --wi && offers --as warpstave generate -- &&
        offers ptx warpstave generate --as = pt && offers cuda warpstave generate --as = &&
        offers tle warpstave generate --as tl && ! offers ptx warpstave check --as pt >/dev/null
}
described() { grep -q '^\\fB\\-o\\fR, \\fB\\-\\-output\\fR' "$page" && grep -A1 -q 'strict' "$page"; }
well_formed() { # no complaint of groff, where it is installed
    command -v groff >/dev/null || return 0
    local said
    said=$(groff -man -Tutf8 -ww "$page" 2>&1 >/dev/null)
    [ -z "$said" ] || { echo "# $said" && return 1; }
}
echo 1..4
source "$completion"
case_of every-command every_command
case_of options options
case_of options-are-described described
case_of well-formed well_formed
