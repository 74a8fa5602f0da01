#!/usr/bin/env bash
# Runs a test of the studio on a display of its own: with-display.sh TEST-PROGRAM [ARGUMENT …]
# Where Xvfb or dbus are missing, every case of the program is reported as skipped.
set -euo pipefail
program=$1
shift

if ! command -v Xvfb >/dev/null || ! command -v xauth >/dev/null ||
    ! command -v dbus-run-session >/dev/null; then
    n=0
    while read -r name; do
        n=$((n + 1))
        echo "ok $n $name # SKIP no display: install xvfb xauth dbus"
    done < <("$program" -l | grep "^/")
    echo "1..$n"
    exit 0
fi

# Nothing of the person's own: no settings, recent files, caches or display.
home=$(mktemp -d "${TMPDIR:-/tmp}/warpstave-ui.XXXXXX")
server=
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$home" 2>/dev/null || true # what still ends may write into it
}
trap finish EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
mkdir -m 700 "$home/run"
unset WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS DESKTOP_SESSION XDG_CURRENT_DESKTOP NO_AT_BRIDGE \
    GTK_A11Y GTK_THEME GTK_MODULES LANGUAGE
export HOME=$home XDG_CONFIG_HOME=$home/config XDG_DATA_HOME=$home/data XDG_CACHE_HOME=$home/cache \
    XDG_STATE_HOME=$home/state XDG_RUNTIME_DIR=$home/run
export GDK_BACKEND=x11 GSK_RENDERER=cairo GTK_USE_PORTAL=0 LC_ALL=C.UTF-8
export GSETTINGS_BACKEND=${GSETTINGS_BACKEND:-memory} GIO_USE_VFS=local
# Leaks are looked for in the tests of the libraries below ui/. Here GTK, fontconfig, Pango and the
# accessibility bus keep hundreds of objects until the process ends, and a leak detector that stops
# every thread of a program with D-Bus workers adds seconds to each of these tests.
export ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS:-}

# Started here and not by xvfb-run, which tries display numbers until one is free, and leaves its
# server running when a test ends in an abort: whoever waits for this script's output would wait on.
# The server picks its number itself and writes it when it takes connections; the cookie does not
# depend on the number.
cookie=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
export XAUTHORITY=$home/xauthority
: >"$XAUTHORITY"
xauth -q add :0 . "$cookie"
mkfifo "$home/number"
Xvfb -displayfd 9 -screen 0 1600x1000x24 -nolisten tcp -auth "$XAUTHORITY" \
    9>"$home/number" >"$home/xvfb.log" 2>&1 </dev/null &
server=$!
read -r number <"$home/number" || {
    echo "with-display.sh: Xvfb did not start:" >&2
    cat "$home/xvfb.log" >&2
    exit 1
}
xauth -q remove :0
export DISPLAY=:$number
xauth -q add "$DISPLAY" . "$cookie"

# Standard output is the test's alone: what the bus starts speaks there, too.
status=0
dbus-run-session -- sh -c 'exec "$@" >&8 8>&-' sh "$program" "$@" 8>&1 \
    2> >(grep -vE '^(dbus-daemon|SpiRegistry|\*\* Message)' >&2) >&2 || status=$?
exit "$status"
