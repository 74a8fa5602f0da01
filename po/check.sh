#!/usr/bin/env bash
# Every file of the studio with texts is named in po/POTFILES, and nothing else is. Prints TAP; with --fix it
# writes the list instead: po/check.sh . --fix
set -euo pipefail
cd "$1"
wanted=$(
    {
        ls resources/ui/*.in resources/ui/*.ui resources/ui/*.gschema.xml ui/*.def
        grep -lE '(^|[^A-Za-z_])(_|N_|g_dngettext)\(' ui/*.c
    } | LC_ALL=C sort
)
if [ "${2:-}" = --fix ]; then
    echo "$wanted" >po/POTFILES
    exit 0
fi
listed=$(grep -vE '^(#|$)' po/POTFILES | LC_ALL=C sort)
echo 1..2
missing=$(LC_ALL=C comm -23 <(echo "$wanted") <(echo "$listed"))
stale=$(LC_ALL=C comm -13 <(echo "$wanted") <(echo "$listed"))
[ -z "$missing" ] && echo "ok 1 every file with texts is listed" ||
    echo "not ok 1 not in po/POTFILES: "$missing
[ -z "$stale" ] && echo "ok 2 every listed file has texts" ||
    echo "not ok 2 without texts, or gone: "$stale
