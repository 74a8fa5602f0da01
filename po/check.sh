#!/usr/bin/env bash
# Every file of the studio with texts is named in po/POTFILES, and nothing else is; every text of a finding in
# po/findings.def. Prints TAP; with --fix it writes both instead: po/check.sh . --fix
set -euo pipefail
cd "$1"
[ "${2:-}" != --fix ] || python3 po/findings.py . --write
[ "${2:-}" != --fix ] || python3 po/templates.py . --write
wanted=$(
    {
        ls resources/ui/*.in resources/ui/*.ui resources/ui/*.gschema.xml ui/*/*.def po/findings.def
        grep -lE '(^|[^A-Za-z_])(_|N_|g_dngettext)\(' ui/*.c ui/*/*.c
    } | LC_ALL=C sort
)
if [ "${2:-}" = --fix ]; then
    echo "$wanted" >po/POTFILES
    exit 0
fi
listed=$(grep -vE '^(#|$)' po/POTFILES | LC_ALL=C sort)
# What src/edit calls its steps is translated by the studio: ui/compose/edit_names.def marks every one.
verbs=$(sed -nE 's/.*(ws_draft_name|name_of|verb)(\(d,| =) "([^"]*%s[^"]*)".*/\3/p' src/edit/*.c | LC_ALL=C sort -u)
marked=$(sed -nE 's/^WS_EDIT_NAME\(N_\("(.*)"\)\)$/\1/p' ui/compose/edit_names.def | LC_ALL=C sort -u)
echo 1..5
missing=$(LC_ALL=C comm -23 <(echo "$wanted") <(echo "$listed"))
stale=$(LC_ALL=C comm -13 <(echo "$wanted") <(echo "$listed"))
[ -z "$missing" ] && echo "ok 1 every file with texts is listed" ||
    echo "not ok 1 not in po/POTFILES: "$missing
[ -z "$stale" ] && echo "ok 2 every listed file has texts" ||
    echo "not ok 2 without texts, or gone: "$stale
[ -n "$verbs" ] && [ "$verbs" = "$marked" ] && echo "ok 3 every name of an edit is marked" ||
    echo "not ok 3 in src/edit and in ui/compose/edit_names.def: "$(LC_ALL=C comm -3 <(echo "$verbs") <(echo "$marked"))
# Texts of findings stand where they are said, in src/: po/findings.def lists them for xgettext.
python3 po/findings.py . | cmp -s - po/findings.def && echo "ok 4 every text of a finding is listed" ||
    echo "not ok 4 po/findings.def is not what the sources say: po/check.sh . --fix writes it"
# What a new design starts from has its name and its note in its own file.
python3 po/templates.py . | cmp -s - ui/compose/template_names.def && echo "ok 5 every text of a template is marked" ||
    echo "not ok 5 ui/compose/template_names.def is not what the templates say: po/check.sh . --fix writes it"
