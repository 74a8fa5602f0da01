#!/usr/bin/env python3
"""Names and notes of what a new design starts from, as ui/compose/template_names.def: po/templates.py . [--write]"""
import json
import re
import sys

HEAD = '''/* Names and notes of the templates of the palette and of the designs that a new one starts from: they
 * stand in these designs, and here they are marked for translation (po/check.sh . --fix).
 * WS_TEMPLATE_TEXT(text) */
'''
root = sys.argv[1]
xml = open(f"{root}/resources/ui/studio.gresource.xml", encoding="utf-8").read()
texts = []
for file in re.findall(r'<file(?: alias="designs/[^"]*")?>([^<]*[.]wstave)</file>', xml):
    design = json.load(open(f"{root}/resources/ui/{file}", encoding="utf-8"))
    texts += [design[key] for key in ("name", "note") if design.get(key)]
quoted = [text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for text in dict.fromkeys(texts)]
out = HEAD + "".join(f'WS_TEMPLATE_TEXT(N_("{text}"))\n' for text in quoted)
if "--write" in sys.argv:
    open(f"{root}/ui/compose/template_names.def", "w", encoding="utf-8").write(out)
else:
    sys.stdout.write(out)
