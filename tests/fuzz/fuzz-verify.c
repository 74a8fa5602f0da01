/* Certificates damaged by token, as those of a right design and passed off as those of its broken
 * mutants. None of a mutant is verified, whatever is put right that the verifier says of it; what
 * is verified of the right design assumes nothing that its sizes can contradict. The first byte of
 * the input picks the design; the line `design` is always that of the program that is judged. */
#include "../oracle/draw/mutate.h"
#include "../verify/corrected.h"
#include "check/check.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "verify/verify.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

static const char *const names[] = {
    "gemm-one-consumer.wstave",
    "gemm-pingpong.wstave",
    "moves/gemm-dynamic.wstave",
    "moves/cluster-copy.wstave",
    "moves/cluster-send.wstave",
    "memory/peek-into-a-ring.wstave",
    "moves/gather-groups.wstave",
    "memory/ring-over-two-passes.wstave",
    "memory/known-by-its-arrivals.wstave",
    "catalogue/C13-tiles-that-do-not-fill-the-ring.wstave",
    "catalogue/C35-two-loaders-every-other-slot.wstave",
};
enum { N_DESIGNS = G_N_ELEMENTS(names), MOST_BROKEN = 24 };

typedef struct {
    WsProgram *program;
    char *certificate;
    WsProgram *broken[MOST_BROKEN];
    char *what[MOST_BROKEN];
    guint n_broken;
} Subject;

static Subject subject[N_DESIGNS];

static WsVerdictKind verdict(const WsProgram *p, char **certificate)
{
    const WsCheckOptions o = { .certificate = certificate != NULL, .protocol_only = TRUE };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsVerdict) v = ws_check(p, &o, findings);
    if (certificate)
        *certificate = g_strdup(v->certificate);
    return v->kind;
}

static WsProgram *program_of(const WsDesign *d)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsProgram *p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (p && ws_findings_exit_code(findings, FALSE) != 0)
        g_clear_pointer(&p, ws_program_unref);
    return p;
}

static void add_broken(Subject *s, const Mutant *m)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(m->text, strlen(m->text), "mutant", findings);
    WsProgram *p = program_of(d);
    if (p && verdict(p, NULL) == WS_VERDICT_REFUTED) {
        s->what[s->n_broken] = g_strdup(m->what);
        s->broken[s->n_broken++] = p;
    } else if (p) {
        ws_program_unref(p);
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    g_autofree char *folder =
        g_path_get_dirname(WS_SOURCE_ROOT "/tests/designs/gemm-one-consumer.wstave");
    for (guint i = 0; i < N_DESIGNS; i++) {
        g_autofree char *file = g_build_filename(folder, names[i], NULL), *text = NULL;
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) d = ws_design_load(file, findings);
        Subject *s = &subject[i];
        s->program = program_of(d);
        if (!s->program || verdict(s->program, &s->certificate) != WS_VERDICT_PROVED ||
            !s->certificate || !g_file_get_contents(file, &text, NULL, NULL))
            g_error("%s has no certificate", file);
        g_autoptr(GPtrArray) mutants = mutants_of(text, d, s->program);
        /* of all kinds: every fifth, then those between */
        for (guint k = 0; k < 5 * mutants->len && s->n_broken < MOST_BROKEN; k += 5)
            add_broken(s, mutants->pdata[k % mutants->len]);
        if (s->n_broken == 0)
            g_error("%s has no broken mutant", file);
    }
    return 0;
}

/* --- what an accepted certificate assumes ------------------------------------------------------
 */
typedef struct {
    const WsProgram *p;
    gint64 *size; /* of each variable */
    guint depth;
} Sizes;

static WsLookup value_of(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    Sizes *s = data;
    for (guint i = 0; i < s->p->n_vars && s->depth < 50; i++) {
        const WsVar *v = &s->p->var[i];
        if (leaf->op == WS_EXPR_VAR ? (gint)i != leaf->var : g_strcmp0(leaf->name, v->name) != 0)
            continue;
        if (v->kind == WS_VAR_SIZE) {
            *value = s->size[i];
            return WS_LOOKUP_KNOWN;
        }
        if (v->kind == WS_VAR_RUN && v->value && !v->real) {
            const WsExprEnv env = { .integer = value_of, .data = s };
            s->depth++;
            const gboolean known = ws_expr_eval(v->value, &env, value, NULL);
            s->depth--;
            return known ? WS_LOOKUP_KNOWN : WS_LOOKUP_UNKNOWN;
        }
    }
    (void)error;
    return WS_LOOKUP_UNKNOWN;
}

static gboolean launches(Sizes *s)
{
    const WsExprEnv env = { .integer = value_of, .data = s };
    for (guint i = 0; i < s->p->n_assume; i++) {
        gint64 truth = 0;
        if (!ws_expr_eval(s->p->assume[i], &env, &truth, NULL) || !truth)
            return FALSE;
    }
    return TRUE;
}

/* A line `symbol` of the launch against the sizes at hand. */
static void require_assumed(Sizes *s, char **f)
{
    const WsExprEnv env = { .integer = value_of, .data = s };
    g_autoptr(WsExpr) e = ws_expr_parse(f[16], NULL);
    gint64 value;
    if (!e || !ws_expr_eval(e, &env, &value, NULL))
        return;
    const gint64 every = g_ascii_strtoll(f[12], NULL, 10), left = g_ascii_strtoll(f[14], NULL, 10);
    if ((strcmp(f[6], "-") != 0 && value < g_ascii_strtoll(f[6], NULL, 10)) ||
        (strcmp(f[8], "-") != 0 && value > g_ascii_strtoll(f[8], NULL, 10)) ||
        ((value % every) + every) % every != left) {
        fprintf(stderr, "verified, but it assumes what is not: %s = %" G_GINT64_FORMAT "\n", f[16],
                value);
        abort();
    }
}

static void require_assumptions(const WsProgram *p, const char *text)
{
    static const gint64 some[] = { 0,  1,  2,  3,  4,   5,   7,   8,   9,    15,   16,
                                   31, 32, 63, 64, 127, 128, 129, 256, 1000, 1024, 4096 };
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    GRand *r = g_rand_new_with_seed(7);
    g_autofree gint64 *size = g_new0(gint64, p->n_vars + 1);
    Sizes s = { .p = p, .size = size };
    for (guint again = 0; again < 60; again++) {
        for (guint i = 0; i < p->n_vars; i++)
            size[i] = some[g_rand_int_range(r, 0, G_N_ELEMENTS(some))] *
                      (g_rand_boolean(r) ? 1 : g_rand_int_range(r, 1, 9));
        if (!launches(&s))
            continue;
        for (guint i = 0; line[i]; i++) {
            g_auto(GStrv) f = g_strsplit(line[i], " ", 17);
            if (g_strv_length(f) == 17 && !strcmp(f[0], "symbol") && !strcmp(f[2], "number") &&
                !strcmp(f[3], "launch") && !strcmp(f[4], "-"))
                require_assumed(&s, f);
        }
    }
    g_rand_free(r);
}

/* --- one certificate ---------------------------------------------------------------------------
 */
/* The text with the hash of `p` in its second line. */
static char *passed_off(const char *text, const WsProgram *p)
{
    const char *at = strstr(text, "\ndesign "), *end = at ? strchr(at + 1, '\n') : NULL;
    if (!end)
        return g_strdup(text);
    g_autofree char *before = g_strndup(text, (gsize)(at - text));
    return g_strconcat(before, "\ndesign ", p->design_hash, end, NULL);
}

static gboolean verified(const WsProgram *p, const char *text, char **reason)
{
    const clock_t begun = clock();
    g_autoptr(WsVerification) v = ws_verify(p, text);
    if (v->answer != WS_VERIFIED && (!v->reason || !g_utf8_validate(v->reason, -1, NULL)))
        abort();
    if (clock() - begun > 8 * CLOCKS_PER_SEC) /* of its own, not of a busy machine */
        abort();
    *reason = g_strdup(v->reason);
    return v->answer == WS_VERIFIED;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || data[0] < 'A' || data[0] >= 'A' + N_DESIGNS)
        return 0; /* of no design */
    const Subject *s = &subject[data[0] - 'A'];
    g_autofree char *text = g_strndup((const char *)data + 1, size - 1), *reason = NULL;
    g_autofree char *own = passed_off(text, s->program);
    if (verified(s->program, own, &reason))
        require_assumptions(s->program, own);
    const guint first = g_str_hash(text);
    for (guint k = 0; k < 3; k++) {
        const guint i = (first + k * 7) % s->n_broken;
        char *bad = passed_off(text, s->broken[i]);
        for (guint again = 0; again < 8 && bad; again++) {
            g_autofree char *why = NULL;
            if (verified(s->broken[i], bad, &why)) {
                fprintf(stderr, "verified, but broken: %s, %s\n%s", s->program->file, s->what[i],
                        bad);
                abort();
            }
            char *better = ws_corrected(bad, why);
            g_free(bad);
            bad = better;
        }
        g_free(bad);
    }
    return 0;
}

/* --- damage ------------------------------------------------------------------------------------
 */
static const char *word(GRand *r)
{
    static const char *const list[] = {
        "-",
        "0",
        "1",
        "-1",
        "2",
        "3",
        "8",
        "end",
        "before",
        "after",
        "launch",
        "1:0",
        "1:after",
        "1:launch",
        "=",
        ">=",
        "<=",
        "mod",
        "number",
        "letter",
        "tile",
        "cta",
        "split",
        "cta,split",
        "div",
        "max",
        "min",
        "mul",
        "1048576",
        "2147483647",
        "4294967296",
        "9223372036854775806",
        "-9223372036854775807",
        "9223372036854775808",
    };
    return list[g_rand_int_range(r, 0, G_N_ELEMENTS(list))];
}

static guint any(GRand *r, guint n)
{
    return (guint)g_rand_int_range(r, 0, (gint)MAX(n, 1));
}

/* The first word is kept: lines change within their kind. */
static char *line_changed(GRand *r, const char *line, const char *other)
{
    g_auto(GStrv) f = g_strsplit(line, " ", -1), g = g_strsplit(other, " ", -1);
    const guint n = g_strv_length(f), m = g_strv_length(g);
    if (n < 2)
        return g_strdup(word(r));
    const guint i = 1 + any(r, n - 1);
    char *to;
    char *end;
    const gint64 x = g_ascii_strtoll(f[i], &end, 10);
    if (!*end && any(r, 2))
        to = g_strdup_printf("%" G_GINT64_FORMAT,
                             (gint64)((guint64)x + (guint64)g_rand_int_range(r, -2, 3)));
    else if (m > i && any(r, 2))
        to = g_strdup(g[any(r, 4) ? i : 1 + any(r, m - 1)]);
    else
        to = g_strdup(word(r));
    g_free(f[i]);
    f[i] = to;
    return g_strjoinv(" ", f);
}

static void damage(GRand *r, GPtrArray *line)
{
    const guint i = any(r, line->len), j = any(r, line->len);
    switch (any(r, 8)) {
    case 0:
        g_ptr_array_remove_index(line, i);
        break;
    case 1:
        g_ptr_array_insert(line, (gint)i, g_strdup(line->pdata[j]));
        break;
    case 2: {
        gpointer moved = g_ptr_array_steal_index(line, i);
        g_ptr_array_insert(line, (gint)any(r, line->len + 1), moved);
        break;
    }
    default: {
        /* one of its kind lends a word */
        guint other = j;
        const char *from = line->pdata[i];
        const gsize kind = strcspn(from, " ");
        for (guint k = 0; k < line->len; k++) {
            const guint n = (j + k) % line->len;
            if (n != i && !strncmp(line->pdata[n], from, kind + 1)) {
                other = n;
                break;
            }
        }
        char *to = line_changed(r, from, line->pdata[other]);
        g_free(line->pdata[i]);
        line->pdata[i] = to;
        break;
    }
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    GRand *r = g_rand_new_with_seed(seed);
    const guint pick = any(r, N_DESIGNS), way = any(r, 16);
    GString *text = g_string_new(NULL);
    if (size < 2 || data[0] < 'A' || data[0] >= 'A' + N_DESIGNS || way == 0)
        g_string_append_printf(text, "%c%s", 'A' + pick, subject[pick].certificate);
    else
        g_string_append_len(text, (const char *)data, (gssize)strnlen((const char *)data, size));
    if (way == 1 || text->len < 2) {
        g_rand_free(r);
        g_string_free(text, TRUE);
        return LLVMFuzzerMutate(data, size, max_size);
    }
    GPtrArray *line = g_ptr_array_new_with_free_func(g_free);
    g_auto(GStrv) part = g_strsplit(text->str + 1, "\n", -1);
    for (guint i = 0; part[i] && part[i + 1]; i++)
        g_ptr_array_add(line, g_strdup(part[i]));
    for (guint n = 1 + any(r, 3); n > 0 && line->len > 1; n--)
        damage(r, line);
    g_string_truncate(text, 1);
    for (guint i = 0; i < line->len; i++)
        g_string_append_printf(text, "%s\n", (char *)line->pdata[i]);
    const size_t length = MIN(text->len, max_size);
    memcpy(data, text->str, length);
    g_ptr_array_unref(line);
    g_string_free(text, TRUE);
    g_rand_free(r);
    return length;
}
