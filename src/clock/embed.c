/* Build tool: writes a text file as a C string constant. embed NAME INPUT OUTPUT */
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: embed NAME INPUT OUTPUT\n");
        return 2;
    }
    FILE *in = fopen(argv[2], "rb"), *out = in ? fopen(argv[3], "wb") : NULL;
    if (!in || !out) {
        perror(in ? argv[3] : argv[2]);
        return 1;
    }
    fprintf(out, "static const char %s[] =\n    \"", argv[1]);
    for (int c; (c = getc(in)) != EOF;) {
        if (c == '\n')
            fputs("\\n\"\n    \"", out);
        else if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 32 || c > 126)
            fprintf(out, "\\%03o", (unsigned)c);
        else
            putc(c, out);
    }
    fputs("\";\n", out);
    int bad = ferror(in) || ferror(out);
    fclose(in);
    return fclose(out) != 0 || bad;
}
