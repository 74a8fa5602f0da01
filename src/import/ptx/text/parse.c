#include "import/ptx/text/ptx.h"

#include "import/import.h"

#include <string.h>

/* Text -> instructions of one kernel. */

typedef struct {
    WsPtx *p;
    const char *file, *at, *end;
    guint line;
    const char *loc;
    GError **error;
    GPtrArray *declared; /* const char*: registers of the open scopes */
    GArray *scopes;      /* Scope: the open ones */
    guint scope, n_scopes;
    gboolean open; /* who comes to the end of what was read so far goes on behind it */
} Parser;

static gboolean fail(Parser *s, const char *remedy, const char *what)
{
    g_set_error(s->error, WS_IMPORT_ERROR, WS_IMPORT_ERROR_READ, "%s:%u:1: %s. %s", s->file,
                s->line, what, remedy);
    return FALSE;
}

static void skip_space(Parser *s)
{
    while (s->at < s->end) {
        if (*s->at == '\n') {
            s->line++;
            s->at++;
        } else if (g_ascii_isspace(*s->at)) {
            s->at++;
        } else if (s->end - s->at > 1 && s->at[0] == '/' && s->at[1] == '/') {
            while (s->at < s->end && *s->at != '\n')
                s->at++;
        } else if (s->end - s->at > 1 && s->at[0] == '/' && s->at[1] == '*') {
            for (s->at += 2; s->end - s->at > 1 && !(s->at[0] == '*' && s->at[1] == '/'); s->at++)
                s->line += *s->at == '\n';
            s->at = MIN(s->at + 2, s->end);
        } else {
            return;
        }
    }
}

/* The text up to `;`, with single blanks, comments left out; labels and braces end before it. */
static char *statement(Parser *s)
{
    GString *out = g_string_new(NULL);
    gboolean blank = FALSE;
    while (s->at < s->end && *s->at != ';') {
        const char *before = s->at;
        skip_space(s);
        blank |= s->at > before;
        if (s->at >= s->end || *s->at == ';')
            break;
        if (blank && out->len)
            g_string_append_c(out, ' ');
        blank = FALSE;
        g_string_append_c(out, *s->at++);
    }
    if (s->at < s->end)
        s->at++;
    return g_string_free(out, FALSE);
}

static void split_arguments(WsPtx *p, WsPtxInst *i, const char *text)
{
    GPtrArray *args = g_ptr_array_new();
    guint depth = 0;
    const char *start = text;
    for (const char *c = text;; c++) {
        if (*c == '{' || *c == '[' || *c == '(')
            depth++;
        else if ((*c == '}' || *c == ']' || *c == ')') && depth)
            depth--;
        if ((*c == ',' && !depth) || !*c) {
            if (c > start)
                g_ptr_array_add(args, (gpointer)ws_ptx_keep(p, start, c - start));
            start = c + 1;
        }
        if (!*c)
            break;
    }
    i->n = args->len;
    i->arg = (const char **)g_ptr_array_free(args, FALSE);
}

static void add_instruction(Parser *s, const char *text, guint line)
{
    WsPtx *p = s->p;
    WsPtxInst i = { .line = line, .loc = s->loc, .target = -1, .scope = s->scope };
    if (*text == '@') {
        const gsize n = strcspn(text, " ");
        i.negated = text[1] == '!';
        i.guard = ws_ptx_keep(p, text + 1 + i.negated, n - 1 - i.negated);
        text += n + strspn(text + n, " ");
    }
    const gsize n = strcspn(text, " ");
    i.op = ws_ptx_keep(p, text, n);
    i.law = ptx_law(i.op);
    i.matters = ptx_matters(i.op);
    split_arguments(p, &i, text + n);
    g_array_append_val(p->inst, i);
    s->open = i.guard || ws_ptx_end(p, &i) == PTX_GOES_ON;
}

static void add_table(WsPtx *p, const char *name, const char *text)
{
    GPtrArray *labels = g_ptr_array_new();
    g_auto(GStrv) word = g_strsplit_set(text, ", ", -1);
    for (guint i = 0; word[i]; i++)
        if (*word[i] && *word[i] != '.')
            g_ptr_array_add(labels, (gpointer)ws_ptx_keep(p, word[i], strlen(word[i])));
    g_hash_table_insert(p->tables, (gpointer)name, labels);
}

/* ".shared .align 8 .b8 name[64]": gets a place of its own. */
static void add_shared(WsPtx *p, const char *text, gsize n)
{
    g_autofree char *one = g_strndup(text, n);
    const char *at = strstr(one, ".shared"), *open = at ? strchr(at, '[') : NULL;
    const char *align = at ? strstr(at, ".align") : NULL;
    if (at && strstr(one, ".extern"))
        p->shared_align = MAX(p->shared_align, align ? g_ascii_strtoll(align + 6, NULL, 0) : 0);
    if (!at || strstr(one, ".extern") || p->shared_end > WS_PTX_STATIC * 8)
        return;
    const char *end = open ? open : one + strlen(one);
    while (end > at && g_ascii_isspace(end[-1]))
        end--;
    const char *name = end;
    while (name > at && ws_ptx_is_name(name[-1]))
        name--;
    const gint64 wanted = align ? g_ascii_strtoll(align + 6, NULL, 0) : 8,
                 unit = CLAMP(wanted, 8, 1024),
                 bytes = open ? CLAMP(g_ascii_strtoll(open + 1, NULL, 0), 1, WS_PTX_STATIC) : 8;
    const char *width = strstr(at, ".b64") || strstr(at, ".u64") || strstr(at, ".f64")   ? "8"
                        : strstr(at, ".b32") || strstr(at, ".u32") || strstr(at, ".f32") ? "4"
                                                                                         : "1";
    if (name == end)
        return;
    p->shared_end = (p->shared_end + unit - 1) / unit * unit;
    g_hash_table_insert(p->shared, (gpointer)ws_ptx_keep(p, name, end - name),
                        GSIZE_TO_POINTER((gsize)p->shared_end + 1));
    p->shared_end += bytes * (*width - '0');
}

/* "%r<9>" is %r0 to %r8. */
static gboolean in_range(const char *range, const char *name)
{
    const gsize n = strcspn(range, "<");
    return range[n] && !strncmp(range, name, n) &&
           name[n + strspn(name + n, "0123456789")] == (strchr(name, '<') ? '<' : '\0');
}

/* ".reg .b32 d, b": what an outer scope calls so, too, is another register, and listed. */
static void add_locals(Parser *s, const char *text, guint line)
{
    WsPtx *p = s->p;
    g_auto(GStrv) word = g_strsplit_set(text, ", ", -1);
    const guint n = s->declared->len;
    for (guint i = 1; word[i]; i++) {
        if (!*word[i] || *word[i] == '.')
            continue;
        const char *name = ws_ptx_keep(p, word[i], strlen(word[i]));
        if (*name != '%')
            g_hash_table_add(p->locals, (gpointer)name);
        for (guint k = 0; k < n; k++) {
            const char *outer = g_ptr_array_index(s->declared, k);
            if (!strcmp(outer, name) || in_range(outer, name) || in_range(name, outer)) {
                const WsPtxOdd odd = { ws_ptx_keep(p, text, MIN(strlen(text), 60)), line };
                g_array_append_val(p->odd, odd);
                break;
            }
        }
        g_ptr_array_add(s->declared, (gpointer)name);
    }
}

static void shared_before(WsPtx *p, const char *text, const char *end)
{
    for (const char *at = text; (at = g_strstr_len(at, end - at, ".shared")); at += 7) {
        const char *from = at, *to = memchr(at, ';', end - at);
        if (!to)
            return;
        while (from > text && from[-1] != ';' && from[-1] != '\n')
            from--;
        while (from < to && g_ascii_isspace(*from))
            from++;
        if (*from == '.') /* a declaration, no instruction of an earlier kernel */
            add_shared(p, from, to - from);
    }
}

/* ".loc 1 23 4, function_name …": where the next instructions come from. */
static void location(Parser *s)
{
    char *end;
    const guint64 number = g_ascii_strtoull(s->at + 4, &end, 10);
    const guint64 line = g_ascii_strtoull(end, NULL, 10);
    g_autofree char *key = g_strdup_printf("%" G_GUINT64_FORMAT, number);
    const char *name = g_hash_table_lookup(s->p->files, key);
    g_autofree char *loc =
        name && line ? g_strdup_printf("%s:%" G_GUINT64_FORMAT, name, line) : NULL;
    s->loc = loc ? ws_ptx_keep(s->p, loc, strlen(loc)) : NULL;
}

/* What a directive inside of a kernel declares; what is not known is listed. */
static void add_directive(Parser *s, const char *text, guint line)
{
    static const char *const harmless[] = { ".local",       ".param",        ".pragma",
                                            ".align",       ".loc",          ".callprototype",
                                            ".calltargets", ".branchtargets" };
    if (g_str_has_prefix(text, ".shared")) {
        add_shared(s->p, text, strlen(text));
        return;
    }
    if (g_str_has_prefix(text, ".reg")) {
        add_locals(s, text, line);
        return;
    }
    for (guint i = 0; i < G_N_ELEMENTS(harmless); i++)
        if (g_str_has_prefix(text, harmless[i]))
            return;
    const WsPtxOdd odd = { ws_ptx_keep(s->p, text, MIN(strlen(text), 60)), line };
    g_array_append_val(s->p->odd, odd);
}

typedef struct {
    guint declared, number;
} Scope;

static void scope(Parser *s, gboolean opens)
{
    if (opens) {
        const Scope outer = { s->declared->len, s->scope };
        g_array_append_val(s->scopes, outer);
        g_array_append_val(s->p->outer, s->scope);
        s->scope = ++s->n_scopes;
    } else if (s->scopes->len) {
        const Scope *outer = &g_array_index(s->scopes, Scope, s->scopes->len - 1);
        g_ptr_array_set_size(s->declared, (gint)outer->declared);
        s->scope = outer->number;
        g_array_set_size(s->scopes, s->scopes->len - 1);
    }
}

static gboolean body(Parser *s)
{
    guint depth = 1;
    while (depth) {
        skip_space(s);
        if (s->at >= s->end)
            return fail(s, "Import the whole file.", "the text ends inside the kernel");
        if (s->p->inst->len > WS_PTX_MAX_INSTRUCTIONS) {
            g_autofree char *many =
                g_strdup_printf("more than %d instructions", WS_PTX_MAX_INSTRUCTIONS);
            return fail(s, "Import a smaller kernel.", many);
        }
        if (*s->at == '{' || *s->at == '}') {
            const gboolean opens = *s->at++ == '{';
            depth += opens ? 1 : -1;
            scope(s, opens);
            continue;
        }
        if (*s->at == ';') {
            s->at++;
            continue;
        }
        const char *name = s->at;
        while (s->at < s->end && ws_ptx_is_name(*s->at))
            s->at++;
        const char *after = s->at;
        skip_space(s);
        if (after > name && s->at < s->end && *s->at == ':' && s->at[1] != ':') {
            const char *label = ws_ptx_keep(s->p, name, after - name);
            s->at++;
            skip_space(s);
            if (s->end - s->at > 14 && !strncmp(s->at, ".branchtargets", 14)) {
                g_autofree char *table = statement(s);
                add_table(s->p, label, table + 14);
            } else {
                ws_ptx_add_label(s->p, label, s->scope);
                s->open = TRUE;
            }
            continue;
        }
        s->at = name;
        const guint line = s->line;
        if (s->end - s->at > 5 && !strncmp(s->at, ".loc", 4)) {
            location(s);
            while (s->at < s->end && *s->at != '\n')
                s->at++;
            continue;
        }
        g_autofree char *text = statement(s);
        if (*text == '.')
            add_directive(s, text, line);
        else if (*text)
            add_instruction(s, text, line);
    }
    if (s->open && s->p->inst->len) /* the end of the body ends its thread */
        add_instruction(s, "ret", s->line);
    return TRUE;
}

static void parameters(WsPtx *p, const char *text, gsize n)
{
    g_autofree char *all = g_strndup(text, n);
    g_auto(GStrv) one = g_strsplit(all, ",", -1);
    for (guint i = 0; one[i]; i++) {
        g_strstrip(one[i]);
        if (!strstr(one[i], ".param"))
            continue;
        const char *name = one[i] + strlen(one[i]);
        const gboolean wide = g_str_has_suffix(one[i], "]");
        if (wide)
            while (name > one[i] && *name != '[')
                name--;
        const char *end = name;
        while (name > one[i] && ws_ptx_is_name(name[-1]))
            name--;
        const char *kept = ws_ptx_keep(p, name, end - name);
        g_array_append_val(p->params, kept);
        g_array_append_val(p->wide, wide);
    }
}

static gint64 directive(const char *from, const char *to, const char *name)
{
    const char *at = g_strstr_len(from, to - from, name);
    return at ? g_ascii_strtoll(at + strlen(name), NULL, 0) : 0;
}

static void add_odd(WsPtx *p, const char *text, gsize n, guint line)
{
    const WsPtxOdd odd = { ws_ptx_keep(p, text, MIN(n, 60)), line };
    g_array_append_val(p->odd, odd);
}

/* NAME x, y, z: x; 0: it is not there. Threads and CTAs are numbered by x alone: what has more in y
 * or z, or is not written in plain numbers, is listed. */
static gint64 along_x(WsPtx *p, const char *from, const char *to, const char *name)
{
    const char *found = g_strstr_len(from, to - from, name), *at = found;
    if (!found)
        return 0;
    gint64 x = 0;
    gboolean plain = TRUE, more = TRUE;
    at += strlen(name);
    for (guint d = 0; plain && more && d < 3; d++) {
        while (at < to && g_ascii_isspace(*at))
            at++;
        char *end;
        const gint64 n = g_ascii_strtoll(at, &end, 10);
        plain = end > at && (*at != '0' || end == at + 1) && n >= 1 && n <= (d ? 1 : 1024);
        x = d ? x : n;
        for (at = end; at < to && g_ascii_isspace(*at); at++)
            ;
        more = at < to && *at == ',';
        at += more;
    }
    if (!plain || more || (at < to && *at != '.' && *at != '/'))
        add_odd(p, found, strcspn(found, "\r\n{"), p->line);
    return CLAMP(x, 1, 4096);
}

/* The name behind ".entry" and its length. */
static const char *entry_name(const char *at, const char *end, gsize *n)
{
    const char *name = at + 6;
    while (name < end && g_ascii_isspace(*name))
        name++;
    *n = 0;
    while (name + *n < end && ws_ptx_is_name(name[*n]))
        ++*n;
    return name;
}

static const char *next_entry(const char *at, const char *end)
{
    while ((at = g_strstr_len(at, end - at, ".entry")) && !g_ascii_isspace(at[6]))
        at += 6;
    return at;
}

/* The entry of that name; else the one whose body holds an mbarrier, else the first. */
static const char *find_entry(const char *text, const char *end, const char *kernel)
{
    const char *first = NULL;
    for (const char *at = text, *next; (at = next_entry(at, end)); at = next ? next : end) {
        gsize n;
        const char *name = entry_name(at, end, &n);
        next = next_entry(at + 6, end);
        if (kernel && strlen(kernel) == n && !strncmp(name, kernel, n))
            return at;
        first = first ? first : at;
        if (!kernel && g_strstr_len(at, (next ? next : end) - at, "mbarrier.init"))
            return at;
    }
    return kernel ? NULL : first;
}

GPtrArray *ws_ptx_kernels(const char *text, gsize length)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    const char *end = text + length;
    for (const char *at = text; (at = next_entry(at, end)); at += 6) {
        gsize n;
        const char *name = entry_name(at, end, &n);
        g_ptr_array_add(names, g_strndup(name, n));
    }
    return names;
}

/* ".target sm_90a": from sm_80 on, and no newer machine, whose products and copies are others. */
static gboolean good_target(Parser *s, const char *text, const char *entry)
{
    const char *at = g_strstr_len(text, entry - text, ".target"), *name = at ? at + 7 : NULL;
    guint line = 1, column = 1;
    if (!at)
        return TRUE; /* part of a file */
    while (name < entry && (*name == ' ' || *name == '\t'))
        name++;
    for (const char *c = text; c < name; c++) {
        column = *c == '\n' ? 1 : column + 1;
        line += *c == '\n';
    }
    const gint64 sm = g_str_has_prefix(name, "sm_") ? g_ascii_strtoll(name + 3, NULL, 10) : 0;
    if (sm >= 80 && sm <= 90)
        return TRUE;
    g_autofree char *word = g_strndup(name, strcspn(name, " \t\r\n,"));
    g_set_error(s->error, WS_IMPORT_ERROR, WS_IMPORT_ERROR_READ,
                "%s:%u:%u: the text is for `%.40s`. Import PTX for sm_80 to sm_90a.", s->file, line,
                column, word);
    return FALSE;
}

/* What the head of the kernel says of its launch; what is not known is listed. */
static void head_directives(WsPtx *p, const char *from, const char *to)
{
    static const char *const known[] = { ".reqntid",           ".maxntid",
                                         ".minnctapersm",      ".maxnreg",
                                         ".explicitcluster",   ".maxclusterrank",
                                         ".reqnctapercluster", ".pragma" };
    for (const char *at = from; at < to; at++) {
        gboolean read = *at != '.';
        for (guint i = 0; i < G_N_ELEMENTS(known); i++)
            read |= g_str_has_prefix(at, known[i]);
        if (read)
            continue;
        const WsPtxOdd odd = { ws_ptx_keep(p, at, strcspn(at, " \t\r\n,{")), p->line };
        g_array_append_val(p->odd, odd);
    }
}

static gboolean parse(Parser *s, const char *text, const char *kernel)
{
    const char *at = find_entry(text, s->end, kernel);
    if (!at && kernel)
        return fail(s, "Ask --list for their names.", "no kernel of the file has that name");
    if (!at)
        return fail(s, "Import the PTX of a kernel.", "the file holds no .entry");
    for (const char *c = text; c < at; c++)
        s->line += *c == '\n';
    s->p->line = s->line;
    if (!good_target(s, text, at))
        return FALSE;
    shared_before(s->p, text, at);
    s->at = at + 6;
    skip_space(s);
    const char *name = s->at;
    while (s->at < s->end && ws_ptx_is_name(*s->at))
        s->at++;
    s->p->entry = ws_ptx_keep(s->p, name, s->at - name);
    const char *open = memchr(s->at, '{', s->end - s->at);
    const char *left = memchr(s->at, '(', s->end - s->at);
    if (!open)
        return fail(s, "Import the whole file.", "the kernel has no body");
    if (left && left < open) {
        const char *right = memchr(left, ')', open - left);
        if (right)
            parameters(s->p, left + 1, right - left - 1);
    }
    const char *head = left && left < open ? memchr(left, ')', open - left) : NULL;
    head_directives(s->p, head ? head : s->at, open);
    const char *from = head ? head : s->at;
    s->p->threads = along_x(s->p, from, open, ".reqntid");
    s->p->threads_most = !s->p->threads;
    if (!s->p->threads)
        s->p->threads = along_x(s->p, from, open, ".maxntid");
    const gint64 ctas = along_x(s->p, from, open, ".reqnctapercluster");
    s->p->cluster = CLAMP(ctas, 1, 16);
    s->p->cluster_said = ctas > 0 || directive(s->at, open, ".maxclusterrank") == 1;
    s->p->maxnreg = directive(s->at, open, ".maxnreg");
    for (const char *c = s->at; c < open; c++)
        s->line += *c == '\n';
    s->at = open + 1;
    return body(s);
}

static void free_inst(gpointer data)
{
    g_free(((WsPtxInst *)data)->arg);
}

static void free_block(gpointer data)
{
    WsPtxBlock *b = data;
    g_array_unref(b->next);
    g_array_unref(b->before);
}

static void free_loop(gpointer data)
{
    g_hash_table_unref(((WsPtxLoop *)data)->blocks);
}

WsPtx *ws_ptx_parse(const char *text, gsize length, const char *file, const char *kernel,
                    GError **error)
{
    g_autoptr(WsPtx) p = g_new0(WsPtx, 1);
    p->text = g_string_chunk_new(1 << 14);
    p->params = g_array_new(FALSE, FALSE, sizeof(char *));
    p->wide = g_array_new(FALSE, FALSE, sizeof(gboolean));
    p->inst = g_array_new(FALSE, FALSE, sizeof(WsPtxInst));
    g_array_set_clear_func(p->inst, free_inst);
    p->tables =
        g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_ptr_array_unref);
    p->labels = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_array_unref);
    p->outer = g_array_new(FALSE, TRUE, sizeof(guint));
    p->blocks = g_array_new(FALSE, TRUE, sizeof(WsPtxBlock));
    g_array_set_clear_func(p->blocks, free_block);
    p->block_of = g_array_new(FALSE, TRUE, sizeof(guint));
    p->loops = g_array_new(FALSE, TRUE, sizeof(WsPtxLoop));
    p->shared = g_hash_table_new(g_str_hash, g_str_equal);
    p->shared_end = WS_PTX_STATIC;
    p->own = g_hash_table_new(g_str_hash, g_str_equal);
    p->locals = g_hash_table_new(g_str_hash, g_str_equal);
    p->odd = g_array_new(FALSE, FALSE, sizeof(WsPtxOdd));
    p->files = g_hash_table_new(g_str_hash, g_str_equal);
    p->spun = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
    g_array_set_clear_func(p->loops, free_loop);
    g_autoptr(GPtrArray) declared = g_ptr_array_new();
    g_autoptr(GArray) scopes = g_array_new(FALSE, FALSE, sizeof(Scope));
    Parser s = { p, file, text, text + length, 1, NULL, error, declared, scopes, 0, 0, FALSE };
    if (length > WS_PTX_MAX_BYTES) {
        fail(&s, "Import a smaller file.", "more than 8 MiB of text");
        return NULL;
    }
    if (memchr(text, 0, length) || !g_utf8_validate(text, (gssize)length, NULL)) {
        fail(&s, "Import the PTX text, not a cubin.", "the file is no text");
        return NULL;
    }
    ws_ptx_around(p, text, text + length);
    if (!parse(&s, text, kernel))
        return NULL;
    return g_steal_pointer(&p);
}
