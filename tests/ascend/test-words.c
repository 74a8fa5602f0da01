/* Every broken kin of the designs of ascend is told in its words: findings, stories, remedies,
 * verdicts and witnesses name no CTA, warp, lane, mbarrier or TMA, in English, German and Chinese.
 */
#include "ascend/designs.h"
#include "ascend/mutants.h"
#include "base/phrase.h"
#include "check/check.h"
#include "check/verdict.h"
#include "check/witness/witness.h"

/* What a GPU has and a core of ascend has not, as whole words; German and Chinese after them. */
static const char *const foreign[] = {
    "CTA",   "CTAs",     "cta",        "warp",        "warps",       "warp group",
    "lane",  "lanes",    "thread",     "threads",     "mbarrier",    "mbarriers",
    "TMA",   "SM",       "SMs",        "cluster",     "wgmma",       "shared memory",
    "PTX",   "cp.async", "Warps",      "Thread",      "Threads",     "Lane",
    "Lanes", "Cluster",  "gemeinsame", "gemeinsamen", "gemeinsamer", "Mbarrier"
};
static const char *const foreign_chinese[] = { "共享内存", "共享存储", "线程", "集群" };

typedef struct {
    GHashTable *german, *chinese; /* text -> its translation */
    guint mutants, findings, witnesses, told;
} Words;

static gboolean is_letter(char c)
{
    return g_ascii_isalnum(c) || c == '_' || (guchar)c >= 0x80;
}

static void need_own(Words *w, const char *text, const char *how)
{
    for (guint i = 0; text && i < G_N_ELEMENTS(foreign); i++) {
        const gsize n = strlen(foreign[i]);
        for (const char *at = strstr(text, foreign[i]); at; at = strstr(at + 1, foreign[i]))
            if ((at == text || !is_letter(at[-1])) && !is_letter(at[n]))
                g_error("%s: \"%s\" in: %s", how, foreign[i], text);
    }
    for (guint i = 0; text && i < G_N_ELEMENTS(foreign_chinese); i++)
        if (strstr(text, foreign_chinese[i]))
            g_error("%s: \"%s\" in: %s", how, foreign_chinese[i], text);
    w->told += text != NULL;
}

static const char *translated(const char *text, gpointer language)
{
    const char *own = g_hash_table_lookup(language, text);
    return own && *own ? own : text;
}

static void need_phrase(Words *w, const char *phrase, const char *how)
{
    g_autofree char *english = ws_phrase_text(phrase, NULL, NULL);
    g_autofree char *german = ws_phrase_text(phrase, translated, w->german);
    g_autofree char *chinese = ws_phrase_text(phrase, translated, w->chinese);
    need_own(w, english, how);
    need_own(w, german, how);
    need_own(w, chinese, how);
}

static void need_finding(Words *w, const WsFinding *f, const char *how)
{
    w->findings++;
    need_phrase(w, f->said, how);
    need_phrase(w, f->what, how);
    need_phrase(w, f->advised, how);
    need_phrase(w, f->barrier_said, how);
    need_own(w, f->message, how);
    need_own(w, f->remedy, how);
    need_own(w, f->barrier, how);
    need_own(w, f->sizes, how);
    need_own(w, f->agent, how);
    for (guint i = 0; f->story && i < f->story->len; i++) {
        const WsStoryLine *line = f->story->pdata[i];
        need_phrase(w, line->said, how);
        need_own(w, line->text, how);
    }
}

static void need_witness(Words *w, WsProgram *p, const WsFindings *findings, const char *how)
{
    g_autoptr(WsWitness) run = ws_witness_of(p, findings, NULL);
    if (!run)
        return;
    w->witnesses++;
    g_autofree char *text = ws_witness_text(run, TRUE);
    need_own(w, text, how);
    need_own(w, run->sizes, how);
    need_phrase(w, run->ending, how);
    need_phrase(w, run->message, how);
    for (guint i = 0; i < run->n_moves; i++)
        need_phrase(w, run->move[i].words, how);
    for (guint i = 0; i < run->n_agents; i++)
        need_own(w, run->agent[i], how);
}

static void judge(const char *text, const char *how, gpointer data)
{
    Words *w = data;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), NULL, findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    w->mutants++;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR) > 0)
        return; /* of the language, before any target */
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_autofree char *said = ws_verdict_said(v);
    need_phrase(w, said, how);
    for (guint i = 0; i < v->skipped->len; i++)
        need_phrase(w, v->skipped->pdata[i], how);
    for (guint i = 0; i < findings->list->len; i++)
        need_finding(w, findings->list->pdata[i], how);
    if (v->kind == WS_VERDICT_REFUTED)
        need_witness(w, p, findings, how);
}

/* --- translations ----------------------------------------------------------------------------- */

/* "a\n" of a line of a file of translations, put behind what is there. */
static void append_quoted(GString *s, const char *line)
{
    const char *from = strchr(line, '"'), *to = from ? strrchr(line, '"') : NULL;
    if (!from || to == from)
        return;
    g_autofree char *inside = g_strndup(from + 1, (gsize)(to - from - 1));
    g_autofree char *plain = g_strcompress(inside);
    g_string_append(s, plain);
}

static GHashTable *language(const char *name)
{
    g_autofree char *path = g_strdup_printf("%s/po/%s.po", WS_SOURCE_ROOT, name), *all = NULL;
    g_assert_true(g_file_get_contents(path, &all, NULL, NULL));
    g_auto(GStrv) line = g_strsplit(all, "\n", -1);
    GHashTable *t = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autoptr(GString) text = g_string_new(NULL), own = g_string_new(NULL);
    GString *to = NULL;
    for (guint i = 0; line[i]; i++) {
        if (g_str_has_prefix(line[i], "msgid ") || !*line[i]) {
            if (text->len)
                g_hash_table_replace(t, g_strdup(text->str), g_strdup(own->str));
            g_string_truncate(text, 0);
            g_string_truncate(own, 0);
            to = *line[i] ? text : NULL;
        } else if (g_str_has_prefix(line[i], "msgstr")) {
            to = own;
        }
        if (to && *line[i] != '#')
            append_quoted(to, line[i]);
    }
    return t;
}

static void told(const char *design)
{
    Words w = { language("de"), language("zh_CN"), 0, 0, 0, 0 };
    g_assert_cmpuint(g_hash_table_size(w.german), >, 1000);
    g_assert_cmpstr(translated("tile", w.german), !=, NULL);
    g_autofree char *text = ascend_text(design, NULL, 0);
    judge(text, "as it is", &w);
    ascend_mutants(design, judge, &w);
    g_test_message("%s: %u mutants, %u findings, %u witnesses, %u texts", design, w.mutants,
                   w.findings, w.witnesses, w.told);
    g_assert_cmpuint(w.findings, >=, 60);
    g_assert_cmpuint(w.witnesses, >=, 40);
    g_hash_table_unref(w.german);
    g_hash_table_unref(w.chinese);
}

static void test_vector_add(void)
{
    told("vector-add");
}

static void test_gemm(void)
{
    told("cube-gemm");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ascend/words/vector-add", test_vector_add);
    g_test_add_func("/ascend/words/gemm", test_gemm);
    return g_test_run();
}
