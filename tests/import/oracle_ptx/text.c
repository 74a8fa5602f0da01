/* Reads one kernel of a PTX text: instructions, registers by scope, labels, shared variables. */
#include "machine.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char name[128];
    int value, bits; /* register; or offset of a shared variable; or instruction of a label */
    int scope;
} Name;
typedef struct {
    Name *at;
    int n, cap;
} Names;

static Names registers, variables, labels, targets;
static int scopes[64], n_open, n_scopes;
static const char *why;
static int line;

static void *grown(void *at, int n, int *cap, size_t size)
{
    if (n < *cap)
        return at;
    *cap = *cap ? *cap * 2 : 64;
    return realloc(at, (size_t)*cap * size);
}

static Name *names_add(Names *s, const char *name, int value, int scope)
{
    s->at = grown(s->at, s->n, &s->cap, sizeof *s->at);
    Name *n = &s->at[s->n++];
    memset(n, 0, sizeof *n);
    snprintf(n->name, sizeof n->name, "%.120s", name);
    n->value = value;
    n->scope = scope;
    return n;
}

/* The innermost one that an open scope declares. */
static Name *names_find(const Names *s, const char *name)
{
    for (int depth = n_open - 1; depth >= 0; depth--)
        for (int i = s->n - 1; i >= 0; i--)
            if (s->at[i].scope == scopes[depth] && !strcmp(s->at[i].name, name))
                return &s->at[i];
    return NULL;
}

static bool word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.' || c == ':';
}

static const char *skip(const char *s)
{
    while (isspace((unsigned char)*s)) {
        line += *s == '\n';
        s++;
    }
    return s;
}

static bool number(const char *s, u64 *value)
{
    const bool minus = *s == '-';
    char *end;
    s += minus;
    if (!isdigit((unsigned char)*s))
        return false;
    if (s[0] == '0' && (s[1] == 'f' || s[1] == 'F' || s[1] == 'd' || s[1] == 'D'))
        *value = strtoull(s + 2, &end, 16);
    else if (s[0] == '0' && (s[1] == 'b' || s[1] == 'B'))
        *value = strtoull(s + 2, &end, 2);
    else
        *value = strtoull(s, &end, 0); /* hexadecimal, octal, decimal */
    if (*end == 'U' || *end == 'u')
        end++;
    if (*end == '.')
        return true; /* a decimal float: no value of this machine */
    if (minus)
        *value = -*value;
    return *end == 0;
}

static void operand_read(Kernel *k, char *s, Operand *o);

static void list_read(Kernel *k, char *s, int *first, int *count)
{
    Operand found[600];
    int n = 0, depth = 0;
    char *start = s;
    for (char *c = s;; c++) {
        depth += *c == '{' || *c == '[';
        depth -= *c == '}' || *c == ']';
        if ((*c == ',' && depth == 0) || *c == 0) {
            const char was = *c;
            *c = 0;
            if (n < 600)
                operand_read(k, start, &found[n++]);
            start = c + 1;
            if (was == 0)
                break;
        }
    }
    *first = k->n_items;
    *count = n;
    for (int i = 0; i < n; i++) {
        k->item = grown(k->item, k->n_items, &k->cap_items, sizeof *k->item);
        k->item[k->n_items++] = found[i];
    }
}

static void trim(char **s)
{
    while (isspace((unsigned char)**s))
        (*s)++;
    char *end = *s + strlen(*s);
    while (end > *s && isspace((unsigned char)end[-1]))
        *--end = 0;
}

static void operand_read(Kernel *k, char *s, Operand *o)
{
    memset(o, 0, sizeof *o);
    o->reg = o->reg2 = -1;
    trim(&s);
    if (*s == '!') {
        o->not = true;
        s++;
        trim(&s);
    }
    if (*s == '{') {
        char *end = strrchr(s, '}');
        if (!end) {
            why = "a list without an end";
            return;
        }
        *end = 0;
        o->kind = O_LIST;
        list_read(k, s + 1, &o->first, &o->count);
        return;
    }
    if (*s == '[') {
        char *end = strrchr(s, ']');
        if (end)
            *end = 0;
        o->kind = O_ADDRESS;
        char *inner = s + 1, *comma = strchr(inner, ',');
        if (comma) {
            *comma = 0;
            list_read(k, comma + 1, &o->first, &o->count);
        }
        trim(&inner);
        char *plus = strpbrk(inner + 1, "+-");
        if (plus) {
            const bool minus = *plus == '-';
            char *offset = plus + 1;
            *plus = 0;
            trim(&offset);
            trim(&inner);
            if (!number(offset, &o->imm))
                why = "an offset that is not a number";
            if (minus)
                o->imm = -o->imm;
        }
        Operand base;
        operand_read(k, inner, &base);
        if (base.kind == O_REG)
            o->reg = base.reg;
        else if (base.kind == O_IMM)
            o->imm += base.imm;
        else
            why = "an address that is neither register nor name";
        return;
    }
    if (!strcmp(s, "_")) {
        o->kind = O_NONE;
        return;
    }
    if (number(s, &o->imm)) {
        o->kind = O_IMM;
        return;
    }
    char *bar = strchr(s, '|');
    if (bar) {
        *bar = 0;
        Operand a, b;
        operand_read(k, s, &a);
        operand_read(k, bar + 1, &b);
        o->kind = O_REG;
        o->reg = a.kind == O_REG ? a.reg : -1;
        o->reg2 = b.kind == O_REG ? b.reg : -1;
        return;
    }
    char base[128], digits[64] = "";
    snprintf(base, sizeof base, "%.120s", s);
    Name *n = names_find(&registers, base);
    if (n && n->bits >= 0) {
        o->kind = O_REG;
        o->reg = n->value;
        return;
    }
    size_t end = strlen(base); /* %r<10> declares %r0 … %r9 */
    while (end > 0 && isdigit((unsigned char)base[end - 1]))
        end--;
    snprintf(digits, sizeof digits, "%.20s", base + end);
    base[end] = 0;
    strncat(base, "<", sizeof base - strlen(base) - 1);
    n = names_find(&registers, base);
    if (n && digits[0] && atoi(digits) < n->bits && (digits[0] != '0' || !digits[1])) {
        o->kind = O_REG;
        o->reg = n->value + atoi(digits);
        return;
    }
    if (*s == '%') {
        o->kind = O_SPECIAL;
        const int which = special_register(s);
        o->imm = (u64)which;
        if (which < 0)
            why = "a special register that is not known";
        return;
    }
    for (int i = 0; i < k->n_params; i++)
        if (!strcmp(k->param[i].name, s)) {
            o->kind = O_IMM;
            o->imm = PARAM_SPACE + (u64)i * PARAM_BYTES;
            return;
        }
    n = names_find(&variables, s);
    if (n) {
        o->kind = O_IMM;
        o->imm = (u64)n->value;
        return;
    }
    o->kind = O_LABEL; /* resolved at the end */
    o->first = names_add(&targets, s, 0, scopes[n_open - 1]) - targets.at;
    targets.at[o->first].bits = n_open; /* the scopes that were open */
    targets.at[o->first].value = line;
}

static void types_read(Instr *i)
{
    int seen = 0;
    for (int j = i->n_mods - 1; j >= 0 && seen < 2; j--) {
        const char *t = i->mod[j];
        int bits;
        char letter, extra[8] = "";
        if (!strcmp(t, "pred"))
            bits = 1, letter = 'p';
        else if (!strncmp(t, "bf16", 4) || !strncmp(t, "tf32", 4) || !strncmp(t, "e4m3", 4) ||
                 !strncmp(t, "e5m2", 4))
            bits = strstr(t, "x2") || *t == 't' ? 32 : 16, letter = 'f';
        else if (sscanf(t, "%c%d%7s", &letter, &bits, extra) < 2 || !strchr("usbf", letter) ||
                 (bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != 128))
            continue;
        else if (extra[0] && strcmp(extra, "x2"))
            continue;
        else if (extra[0])
            bits *= 2;
        if (seen++ == 0)
            i->bits = i->src_bits = bits, i->is_signed = i->src_signed = letter == 's',
            i->is_float = i->src_float = letter == 'f';
        else
            i->bits = bits, i->is_signed = letter == 's', i->is_float = letter == 'f';
    }
}

static void instruction_read(Kernel *k, char *s, int at)
{
    Instr i = { .guard = -1, .line = at };
    Operand o;
    trim(&s);
    if (*s == '@') {
        char *end = s + 1;
        while (*end && !isspace((unsigned char)*end))
            end++;
        const char was = *end;
        *end = 0;
        operand_read(k, s + 1, &o);
        if (o.kind != O_REG || !was) {
            why = "a guard that is no register";
            return;
        }
        i.guard = o.reg;
        i.guard_not = o.not ;
        s = end + 1;
        trim(&s);
    }
    char word[300];
    int n = 0;
    while (word_char(*s) && n < 290)
        word[n++] = *s++;
    word[n] = 0;
    int part = 0;
    for (char *c = word, *next; c; c = next) {
        next = strchr(c, '.');
        if (next)
            *next++ = 0;
        if (part++ == 0) {
            i.op = -1;
            for (int r = 0; instr_rows[r].name; r++)
                if (!strcmp(instr_rows[r].name, c))
                    i.op = r;
            if (i.op < 0) {
                fprintf(stderr, "line %d: %s is not known to this machine\n", at, c);
                why = "an instruction that this machine does not know";
                return;
            }
        } else if (i.n_mods < MAX_MODS)
            snprintf(i.mod[i.n_mods++], sizeof i.mod[0], "%.23s", c);
    }
    types_read(&i);
    trim(&s);
    if (*s) {
        int first, count;
        list_read(k, s, &first, &count);
        for (int j = 0; j < count && j < MAX_OPERANDS; j++)
            i.arg[i.n_args++] = k->item[first + j];
        if (count > MAX_OPERANDS)
            why = "more operands than this machine takes";
    }
    k->instr = grown(k->instr, k->n_instrs, &k->cap_instrs, sizeof *k->instr);
    k->instr[k->n_instrs++] = i;
}

static int type_bytes(const char *s)
{
    const char *digits = strpbrk(s, "0123456789");
    return digits ? atoi(digits) / 8 : 1;
}

/* `.reg .b32 %r<9>, x;` and `.shared .align 8 .b8 name[64];` */
static void declaration_read(Kernel *k, char *s, int *shared)
{
    char *word = strtok(s, " \t\n");
    const bool is_reg = word && !strcmp(word, ".reg"), is_shared = word && strstr(word, ".shared");
    int align = 16, bytes = 4;
    while ((word = strtok(NULL, " \t\n,")) != NULL) {
        if (!strcmp(word, ".align")) {
            word = strtok(NULL, " \t\n");
            align = word ? atoi(word) : 16;
        } else if (*word == '.')
            bytes = type_bytes(word + 1);
        else if (is_reg) {
            char *open = strchr(word, '<');
            const int n = open ? atoi(open + 1) : 0;
            if (open)
                open[1] = 0;
            Name *r = names_add(&registers, word, k->n_regs, scopes[n_open - 1]);
            r->bits = n; /* how many */
            k->n_regs += open ? n : 1;
        } else if (is_shared) {
            char *open = strchr(word, '[');
            if (open)
                bytes *= open[1] == ']' ? 0 : atoi(open + 1), *open = 0;
            *shared = (*shared + align - 1) / align * align;
            names_add(&variables, word, *shared, scopes[n_open - 1]);
            *shared += bytes;
        }
    }
}

static void targets_read(Kernel *k, const char *label, char *s)
{
    Operand list = { 0 };
    list_read(k, s, &list.first, &list.count);
    k->target = realloc(k->target, sizeof *k->target * (size_t)(k->n_targets + 1));
    int *t = k->target[k->n_targets] = malloc(sizeof *t * (size_t)(list.count + 2));
    t[0] = list.count;
    for (int i = 0; i < list.count; i++)
        t[i + 1] = k->item[list.first + i].first; /* resolved later */
    Name *n = names_add(&labels, label, -1 - k->n_targets, scopes[n_open - 1]);
    n->bits = -1;
    k->n_targets++;
}

static int parent[4096]; /* of a scope */

static Name *label_find(const char *name, int scope)
{
    for (; scope >= 0; scope = parent[scope])
        for (int i = 0; i < labels.n; i++)
            if (labels.at[i].scope == scope && !strcmp(labels.at[i].name, name))
                return &labels.at[i];
    return NULL;
}

static void resolve(Operand *o)
{
    if (o->kind != O_LABEL)
        return;
    const Name *t = &targets.at[o->first];
    const Name *l = label_find(t->name, t->scope);
    if (!l) {
        fprintf(stderr, "line %d: %s is neither register, variable nor label\n", t->value, t->name);
        why = "a name that is not known";
        return;
    }
    o->imm = (u64)(s64)l->value;
}

static void body_read(Kernel *k, char *s, int *shared)
{
    n_open = 1;
    scopes[0] = 0;
    n_scopes = 1;
    parent[0] = -1;
    for (;;) {
        s = (char *)skip(s);
        if (*s == 0) {
            why = "the text ends inside the kernel";
            return;
        }
        if (*s == '{') {
            if (n_open >= 64 || n_scopes >= 4096) {
                why = "too many scopes";
                return;
            }
            parent[n_scopes] = scopes[n_open - 1];
            scopes[n_open++] = n_scopes++;
            s++;
            continue;
        }
        if (*s == '}') {
            if (--n_open == 0)
                return;
            s++;
            continue;
        }
        if (*s == ';') {
            s++;
            continue;
        }
        char *end = s;
        while (word_char(*end) && *end != ':')
            end++;
        if (*end == ':' && end[1] != ':') { /* a label */
            *end = 0;
            char name[128];
            snprintf(name, sizeof name, "%.120s", s);
            s = (char *)skip(end + 1);
            if (!strncmp(s, ".branchtargets", 14)) {
                char *stop = strchr(s, ';');
                *stop = 0;
                targets_read(k, name, s + 14);
                s = stop + 1;
            } else
                names_add(&labels, name, k->n_instrs, scopes[n_open - 1]);
            continue;
        }
        if (!strncmp(s, ".loc", 4)) { /* ends with its line */
            while (*s && *s != '\n')
                s++;
            continue;
        }
        char *stop = s;
        const int at = line;
        for (; *stop && *stop != ';'; stop++)
            line += *stop == '\n';
        if (!*stop) {
            why = "the text ends inside the kernel";
            return;
        }
        *stop = 0;
        if (!strncmp(s, ".reg", 4) || !strncmp(s, ".shared", 7))
            declaration_read(k, s, shared);
        else if (!strncmp(s, ".pragma", 7))
            ;
        else if (*s == '.')
            why = "a directive that this machine does not know";
        else
            instruction_read(k, s, at);
        if (why) {
            fprintf(stderr, "line %d: %s\n", at, why);
            return;
        }
        s = stop + 1;
    }
}

Kernel *kernel_read(const char *source, const char *name)
{
    static char text[1 << 24];
    Kernel *k = calloc(1, sizeof *k);
    int shared = SHARED_BASE;
    snprintf(text, sizeof text, "%s", source);
    comments_blank(text);
    char *entry = text, *found = NULL;
    while ((entry = strstr(entry, ".entry")) != NULL) {
        char called[128] = "";
        sscanf(entry + 6, " %127[^( \n\t]", called);
        if (!name || !strcmp(called, name)) {
            found = entry;
            snprintf(k->name, sizeof k->name, "%s", called);
            break;
        }
        entry++;
    }
    char *body = found ? strchr(found, '{') : NULL;
    if (!body) {
        fprintf(stderr, "there is no such kernel\n");
        return NULL;
    }
    line = 1;
    for (char *c = text; c < body; c++)
        line += *c == '\n';
    n_open = 1;
    scopes[0] = 0;
    for (int pass = 0; pass < 2;
         pass++) /* variables of the module: static ones lie before the other */
        for (char *v = strstr(text, ".shared"); v && v < found; v = strstr(v + 1, ".shared")) {
            char copy_of[256], *stop = strchr(v, ';');
            const bool is_extern = v - text >= 8 && !strncmp(v - 8, ".extern ", 8);
            if (!stop || stop - v > 250 || is_extern != (pass == 1))
                continue;
            snprintf(copy_of, sizeof copy_of, "%.*s", (int)(stop - v), v);
            if (pass == 1) { /* static variables of the body come first */
                for (char *s = strstr(body, ".shared .align"); s;
                     s = strstr(s + 1, ".shared .align")) {
                    int align, bytes;
                    if (sscanf(s, ".shared .align %d .b8 %*[^[][%d]", &align, &bytes) == 2)
                        shared = (shared + align - 1) / align * align + bytes;
                }
                shared = (shared + 1023) / 1024 * 1024;
            }
            declaration_read(k, copy_of, &shared);
        }
    static char head[1 << 16];
    snprintf(head, sizeof head, "%.*s", (int)(body - found), found);
    why = head_read(k, head);
    shared = SHARED_BASE;
    if (!why)
        body_read(k, body + 1, &shared);
    for (int i = 0; i < k->n_instrs && !why; i++)
        for (int j = 0; j < k->instr[i].n_args; j++)
            resolve(&k->instr[i].arg[j]);
    for (int i = 0; i < k->n_items && !why; i++)
        resolve(&k->item[i]);
    for (int t = 0; t < k->n_targets && !why; t++)
        for (int i = 1; i <= k->target[t][0]; i++) {
            const Name *from = &targets.at[k->target[t][i]];
            const Name *l = label_find(from->name, from->scope);
            k->target[t][i] = l ? l->value : 0;
        }
    if (why) {
        fprintf(stderr, "not understood: %s\n", why);
        return NULL;
    }
    return k;
}
