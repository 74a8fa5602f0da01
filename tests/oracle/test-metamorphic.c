/* Changes that change nothing: other names of barriers, an unrolled loop, a mark between steps, all
 * groups meeting once at the beginning must not change what the check says of a design; one fence
 * or one edge more must not make a right design wrong. Over the whole catalogue and the shipped
 * designs. */
#include "check/check.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "model/hint.h"
#include "program/elaborate.h"
#include "program/parts/barrier.h"
#include "program/program.h"

#include <string.h>

/* Verdict, and the rules of all errors in order. */
static char *said_of(const char *text)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), "changed", findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR))
        return NULL;
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    GString *s = g_string_new(ws_verdict_word(v->kind));
    for (guint i = 0; i < findings->list->len; i++) {
        const WsFinding *f = findings->list->pdata[i];
        if (f->severity == WS_SEVERITY_ERROR)
            g_string_append_printf(s, " %s", ws_rule(f->rule)->text);
    }
    return g_string_free(s, FALSE);
}

static char *replaced_all(const char *text, const char *from, const char *to)
{
    g_auto(GStrv) part = g_strsplit(text, from, -1);
    return g_strjoinv(to, part);
}

/* --- changes; NULL: there is nothing to change ---------------------------------------------------
 */
static char *renamed(const char *text, const WsProgram *p)
{
    char *out = g_strdup(text);
    for (guint i = 0; i < p->n_barriers; i++) {
        if (p->barrier[i].derived)
            continue;
        static const char *const end[] = { "\"", "[" };
        for (guint k = 0; k < G_N_ELEMENTS(end); k++) {
            g_autofree char *from = g_strdup_printf("\"%s%s", p->barrier[i].name, end[k]),
                            *to = g_strdup_printf("\"other_%s%s", p->barrier[i].name, end[k]);
            char *next = replaced_all(out, from, to);
            g_free(out);
            out = next;
        }
    }
    char *kept = replaced_all(out, "\"unroll\": \"other_full\"", "\"unroll\": \"full\"");
    g_free(out);
    return kept;
}

static char *per_line(const char *text, char *(*change)(const char *line))
{
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    gboolean any = FALSE;
    for (guint i = 0; line[i]; i++) {
        char *next = change(line[i]);
        if (!next)
            continue;
        any = TRUE;
        g_free(line[i]);
        line[i] = next;
    }
    return any ? g_strjoinv("\n", line) : NULL;
}

static char *unroll_line(const char *line)
{
    const char *at = strstr(line, "\"for\": \"k\", ");
    if (!at || strstr(line, "unroll") || strstr(line, "\"over\""))
        return NULL;
    gsize n = (gsize)(at - line) + strlen("\"for\": \"k\", ");
    return g_strdup_printf("%.*s\"unroll\": 2, %s", (int)n, line, line + n);
}

static char *unrolled(const char *text, const WsProgram *p)
{
    return per_line(text, unroll_line);
}

static char *mark_line(const char *line)
{
    return strstr(line, "{ \"wait\"") && g_str_has_suffix(line, "},")
               ? g_strdup_printf("%s\n{ \"mark\": \"here\" },", line)
               : NULL;
}

static char *marked(const char *text, const WsProgram *p)
{
    return per_line(text, mark_line);
}

static char *meet_line(const char *line)
{
    const char *at = strstr(line, "\"body\": [");
    return at ? g_strdup_printf("%.*s\"body\": [ { \"sync\": \"cta\" },%s", (int)(at - line), line,
                                at + strlen("\"body\": ["))
              : NULL;
}

/* The barrier of the whole CTA must not be taken by the design itself. */
static char *met(const char *text, const WsProgram *p)
{
    return strstr(text, "\"sync\": \"cta\"") || p->n_agents < 2 ? NULL : per_line(text, meet_line);
}

static char *fence_line(const char *line)
{
    const char *at = strstr(line, "{ \"mma\"");
    return at ? g_strdup_printf("%.*s{ \"fence\": \"async\" },\n%s", (int)(at - line), line, at)
              : NULL;
}

static char *fenced(const char *text, const WsProgram *p)
{
    return per_line(text, fence_line);
}

static const struct {
    const char *name;
    char *(*change)(const char *text, const WsProgram *p);
    gboolean right_only; /* it may mend a wrong one */
} changes[] = {
    { "barriers renamed", renamed, FALSE }, { "loops unrolled by 2", unrolled, FALSE },
    { "marks added", marked, FALSE },       { "all meet at the start", met, TRUE },
    { "fences added", fenced, TRUE },
};

static guint n_compared;

typedef struct {
    char *text, *before;
} Asked;

static void test_design(gconstpointer data)
{
    const Asked *asked = data;
    const char *text = asked->text, *before = asked->before;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), "design", findings);
    g_autoptr(WsProgram) p = ws_elaborate(d, NULL, 0, findings);
    for (guint i = 0; i < G_N_ELEMENTS(changes); i++) {
        if (changes[i].right_only && strncmp(before, "refuted", 7) == 0)
            continue;
        g_autofree char *changed = changes[i].change(text, p),
                        *after = changed ? said_of(changed) : NULL;
        if (!changed)
            continue;
        n_compared++;
        if (g_strcmp0(before, after) != 0) {
            g_test_message("%s: %s before, %s after\n%s", changes[i].name, before,
                           after ? after : "refused", changed);
            g_test_fail();
        }
    }
}

static void asked_free(gpointer data)
{
    Asked *a = data;
    g_free(a->text);
    g_free(a->before);
    g_free(a);
}

/* Changes are of steps: a hint is written out before, since it takes none but those of its groups.
 */
static void write_out(char **text)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) hinted = ws_design_parse(*text, strlen(*text), "design", findings);
    g_autoptr(WsDesign) explicit =
        hinted && ws_hint_in(hinted) ? ws_hint_explicit(hinted, FALSE, findings) : NULL;
    if (!explicit)
        return;
    g_free(*text);
    *text = ws_design_print(explicit);
}

/* The designs of a folder of which the check says something. */
static void add_folder(const char *folder, GPtrArray *all)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, folder, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir))) {
        if (!g_str_has_suffix(name, ".wstave") || strstr(name, "gfx950"))
            continue;
        g_autofree char *file = g_build_filename(path, name, NULL);
        g_autofree char *title = g_strdup_printf("/metamorphic/%s", name);
        Asked *a = g_new0(Asked, 1);
        g_assert_true(g_file_get_contents(file, &a->text, NULL, NULL));
        write_out(&a->text);
        a->before = said_of(a->text);
        if (!a->before) { /* refused by elaboration */
            asked_free(a);
            continue;
        }
        g_ptr_array_add(all, a);
        g_test_add_data_func(title, a, test_design);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_set_nonfatal_assertions();
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(asked_free);
    add_folder("tests/designs/catalogue", all);
    add_folder("tests/designs", all);
    int status = g_test_run();
    g_test_message("%u comparisons", n_compared);
    return status || n_compared < 200;
}
