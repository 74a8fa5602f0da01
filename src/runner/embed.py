"""Writes a text file as a C string constant: embed.py INPUT OUTPUT SYMBOL."""
import sys

with open(sys.argv[1]) as source, open(sys.argv[2], "w") as out:
    out.write("extern const char %s[];\nconst char %s[] =\n" % (sys.argv[3], sys.argv[3]))
    for line in source:
        text = line.rstrip("\n").replace("\\", "\\\\").replace('"', '\\"')
        out.write('"%s\\n"\n' % text)
    out.write(";\n")
