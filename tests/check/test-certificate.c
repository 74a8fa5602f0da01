/* Certificates: the text of a small one, and that those of all proved designs keep the form of
 * docs/soundness.md section 8.1, read here by a reader of its own. */
#include "check/check.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <string.h>

static WsVerdict *certified(const char *text, const char *file)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), file, findings);
    g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    const WsCheckOptions o = { .certificate = TRUE };
    return p ? ws_check(p, &o, findings) : NULL;
}

/* --- the form --------------------------------------------------------------------------------- */
typedef struct {
    char **line;
    guint at;
    const char *file;
    guint symbols, nodes, met; /* met: nodes that some target has named so far */
    guint64 letters;
} Reader;

static char **next(Reader *r, const char *word, guint fields)
{
    const char *line = r->line[r->at++];
    char **f = g_strsplit(line ? line : "", " ", (gint)fields);
    if (!line || strcmp(f[0] ? f[0] : "", word) != 0 || g_strv_length(f) != fields)
        g_error("%s:%u: \"%s\" is not a line %s of %u fields", r->file, r->at, line, word, fields);
    return f;
}

static gboolean is(const Reader *r, const char *word)
{
    const char *line = r->line[r->at];
    return line && g_str_has_prefix(line, word) && line[strlen(word)] == ' ';
}

static gint64 number(const Reader *r, const char *text)
{
    char *end = NULL;
    gint64 x = g_ascii_strtoll(text, &end, 10);
    if (!*text || *end)
        g_error("%s:%u: %s is not a number", r->file, r->at, text);
    return x;
}

/* A target is a node met before or the next one. */
static void target(Reader *r, const char *text)
{
    if (strcmp(text, "end") == 0)
        return;
    gint64 to = number(r, text);
    g_assert_cmpint(to, >=, 0);
    g_assert_cmpint(to, <=, r->met);
    r->met = MAX(r->met, (guint)to + 1);
}

static void read_symbols(Reader *r)
{
    g_auto(GStrv) n = next(r, "symbols", 2);
    r->symbols = (guint)number(r, n[1]);
    for (guint i = 0; i < r->symbols; i++) {
        g_auto(GStrv) f = next(r, "symbol", 17);
        g_assert_cmpint(number(r, f[1]), ==, i);
        g_assert_cmpstr(f[2], ==, i == 0 ? "tiles" : strcmp(f[2], "letter") ? "number" : "letter");
        g_assert_true(strcmp(f[3], "launch") == 0 || strcmp(f[3], "tile") == 0);
        g_assert_cmpstr(f[5], ==, "least");
        g_assert_cmpint(number(r, f[10]), >=, 1);
        g_assert_cmpint(number(r, f[12]), >=, 1);
        g_assert_cmpstr(f[15], ==, "text");
        if (i < 64 && strcmp(f[2], "letter") == 0)
            r->letters |= 1ull << i;
    }
    g_auto(GStrv) m = next(r, "forms", 2);
    for (gint64 i = number(r, m[1]); i > 0; i--) {
        const char *line = r->line[r->at++];
        g_assert_true(g_str_has_prefix(line, "form number ") ||
                      g_str_has_prefix(line, "form letter "));
        g_assert_nonnull(strstr(line, " as "));
    }
}

/* The answers to a question about a number leave nothing out but what is assumed or known. */
static void read_node(Reader *r, guint i)
{
    g_auto(GStrv) head = next(r, "node", 7);
    g_assert_cmpint(number(r, head[1]), ==, i);
    guint symbol = (guint)number(r, head[3]);
    g_assert_cmpuint(symbol, <, r->symbols);
    while (is(r, "knows"))
        g_strfreev(next(r, "knows", 8));
    guint equal = 0, more = 0, mod = 0;
    while (is(r, "option")) {
        g_auto(GStrv) f = next(r, "option", 4);
        number(r, f[2]);
        equal += strcmp(f[1], "=") == 0;
        more += strcmp(f[1], ">=") == 0;
        mod += strcmp(f[1], "mod") == 0;
        target(r, f[3]);
    }
    if (symbol < 64 && r->letters >> symbol & 1)
        g_assert_cmpuint(equal, ==, 2);
    else if (mod == 0)
        g_assert_cmpuint(more, ==, 1);
    g_assert_true(mod == 0 || equal + more == 0);
}

static guint read_certificate(const char *text, const char *file)
{
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    Reader r = { .line = line, .file = file };
    g_strfreev(next(&r, "warpstave-certificate", 2));
    g_auto(GStrv) design = next(&r, "design", 2);
    g_assert_cmpuint(strlen(design[1]), ==, 64);
    g_strfreev(next(&r, "policy", 2));
    read_symbols(&r);
    g_auto(GStrv) begin = next(&r, "begin", 2);
    target(&r, begin[1]);
    g_auto(GStrv) nodes = next(&r, "nodes", 2);
    r.nodes = (guint)number(&r, nodes[1]);
    for (guint i = 0; i < r.nodes; i++) {
        g_assert_cmpuint(i, <, r.met); /* somebody before it leads there */
        read_node(&r, i);
    }
    g_assert_cmpuint(r.met, ==, r.nodes);
    g_strfreev(next(&r, "end", 1));
    g_assert_cmpstr(r.line[r.at], ==, "");
    g_assert_null(r.line[r.at + 1]);
    return r.nodes;
}

/* Whether the verifier's list says of this one why it has none. */
static gboolean is_known(const char *file, const char *why)
{
    static const struct {
        const char *file, *why;
    } rows[] = {
#define UNVERIFIED(file, why) { file, why },
#include "../verify/unverified.def"
#undef UNVERIFIED
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        if (why && g_str_has_suffix(file, rows[i].file) && strstr(why, rows[i].why))
            return TRUE;
    }
    return FALSE;
}

static void read_folder(const char *name, guint *proved)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, name, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    for (const char *f; dir && (f = g_dir_read_name(dir));) {
        g_autofree char *below = g_build_filename(path, f, "design.wstave", NULL);
        g_autofree char *here = g_build_filename(path, f, NULL);
        const char *file = g_str_has_suffix(f, ".wstave") ? here : below;
        g_autofree char *text = NULL;
        if (!g_file_get_contents(file, &text, NULL, NULL))
            continue;
        if (strstr(text, "\"target\": \"ascend\"")) /* no certificate speaks of flags */
            continue;
        g_autoptr(WsVerdict) v = certified(text, file);
        if (!v || v->kind != WS_VERDICT_PROVED)
            continue;
        if (!v->certificate && is_known(file, v->uncertified))
            continue;
        if (!v->certificate)
            g_error("%s: proved, and no certificate: %s", file, v->uncertified);
        read_certificate(v->certificate, file);
        ++*proved;
    }
}

static void every_proof_has_one(void)
{
    guint proved = 0;
    read_folder("tests/designs", &proved);
    read_folder("tests/designs/catalogue", &proved);
    read_folder("tests/designs/moves", &proved);
    read_folder("projects", &proved);
    g_test_message("%u certificates", proved);
    g_assert_cmpuint(proved, >=, 60);
}

/* --- a small one ------------------------------------------------------------------------------ */
static const char small[] =
    "{ 'warpstave': 1, 'name': 'one slot', 'target': 'sm_90a', 'sizes': { 'N': 4 },"
    "  'assume': ['N >= 1'],"
    "  'tensors': [{ 'name': 'X', 'dtype': 'bf16', 'shape': [64, 64] }],"
    "  'tiles': { 'axes': { 't': 1 }, 'launch': 'single' },"
    "  'barriers': [{ 'name': 'go' }, { 'name': 'back', 'init': 'ready' }],"
    "  'groups': ["
    "    { 'name': 'a', 'role': 'worker', 'warps': 1, 'body': [{ 'for': 'i', 'count': 'N', 'do': ["
    "      { 'wait': 'back', 'use': 'i' }, { 'arrive': 'go', 'use': 'i' }] }] },"
    "    { 'name': 'b', 'role': 'worker', 'warps': 1, 'body': [{ 'for': 'i', 'count': 'N', 'do': ["
    "      { 'wait': 'go', 'use': 'i' }, { 'arrive': 'back', 'use': 'i' }] }] }] }";

static const char small_text[] =
    "warpstave-certificate 3\n"
    "policy 0\n"
    "symbols 2\n"
    "symbol 0 tiles launch - least 1 most - modulus 1 every 1 left 0 text \n"
    "symbol 1 number launch - least 1 most - modulus 1 every 1 left 0 text N\n"
    "forms 1\n"
    "form number _0 as _7\n"
    "begin 0\n"
    "nodes 2\n"
    "node 0 ask 1 0 - 0\n"
    "knows 1 0 - 0 1 - -\n"
    "option = 1 end\n"
    "option >= 2 1\n";

static void text_of_a_small_one(void)
{
    g_autofree char *design = g_strdelimit(g_strdup(small), "'", '"');
    g_autoptr(WsVerdict) v = certified(design, "small.wstave");
    g_assert_nonnull(v);
    g_assert_nonnull(v->certificate);
    read_certificate(v->certificate, "small.wstave");
    char *hash = strstr(v->certificate, "design ");
    memmove(hash, hash + 72, strlen(hash + 72) + 1); /* the hash is no matter of the form */
    v->certificate[MIN(strlen(v->certificate), strlen(small_text))] = '\0';
    g_assert_cmpstr(v->certificate, ==, small_text);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/certificate/small", text_of_a_small_one);
    g_test_add_func("/certificate/every-proof", every_proof_has_one);
    return g_test_run();
}
