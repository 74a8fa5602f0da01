/* Two agents that meet in every tile, but for one more wait where a condition holds: refuted where
 * a launch has such a tile, at such a position, with such elements, and not where none has. */
#include "design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"

#define A     "{'wait':'back','use':'n'},{'arrive':'go','use':'n'},{'advance':'n'}"
#define B     "{'wait':'go','use':'n'},{'arrive':'back','use':'n'},{'advance':'n'}"
#define AXIS  "'axes':{'t':'T'},'launch':'persistent'"
#define NAMES AXIS ",'let':{'e':'L[t]','f':'L[t + 1]','o':'L[t + T]','p':'P[t]'}"

typedef struct {
    const char *title, *tiles, *more; /* b makes one round more where this holds */
    const char *launch;               /* part of the case that refutes it; NULL: there is none */
} Row;

static const Row rows[] = {
    { "the third tile of CTA 1", AXIS ",'grid':'3'", "t == 7 && tile == 2", "CTA 1 of 3" },
    { "no second tile of a grid of three", AXIS ",'grid':'3'", "t == 7 && tile == 1" },
    { "a grid of so many CTAs", AXIS ",'grid':'N - 5'", "t == 3 && tile == 1", "CTA 0 of 3" },
    { "a tile that comes too early", AXIS, "t == 2 && tile == 3" },
    { "positions of a grid of two", AXIS ",'grid':'2'", "t != 2*tile && t % 2 == 0" },
    { "positions of any grid", AXIS, "t != 2*tile && t % 2 == 0", "T = 3" },
    { "two axes", "'axes':{'t':'T','u':'N'},'launch':'persistent'", "u == 2 && t == 0 && tile == 1",
      "T = " },
    { "groups of tiles", "'axes':{'t':'T','u':'2'},'launch':'persistent','order':'grouped(t, 2)'",
      "u == 1 && t == 1 && tile == 3", "T = 2" },
    { "an axis that runs backwards", AXIS ",'reverse':['t']", "t == 0 && tile == 2", "T = 3" },
    { "an element beyond its range", NAMES, "e == 6" },
    { "two elements", NAMES, "e == 5 && f == 3 && tile == 1", "] = 3" },
    { "outside its shape an element is 0", NAMES, "o > 0" },
    { "an index beyond its range", NAMES, "p >= T" },
    { "a single tile", "'axes':{'t':'T'},'launch':'single'", "t == 9", "CTA 9 of 10" },
    { "no tile after the last", "'axes':{'t':'T'},'launch':'single'", "t >= T" },
    { "a size that no tensor map has", AXIS, "N % 8 == 3" },
    { "a size that tensor maps have", AXIS, "N % 16 == 8", "N = 8" },
};

static char *design_of(const Row *row)
{
    const gboolean single = strstr(row->tiles, "single") != NULL;
    const char *begin = single ? "" : "{'for':'tile','over':'tiles','do':[",
               *end = single ? "" : "]}";
    GString *t = g_string_new(NULL);
    g_string_append_printf(
        t,
        "{'warpstave':1,'name':'launches','target':'sm_90a','sizes':{'N':8,'T':4},"
        "'tensors':[{'name':'L','dtype':'i32','shape':['T'],'data':'integers(2, 6)'},"
        "{'name':'P','dtype':'i32','shape':['T'],'data':'indices(T, 1)'},"
        "{'name':'X','dtype':'bf16','shape':[64,'N']}],'tiles':{%s},"
        "'buffers':[{'name':'x','dtype':'bf16','tile':[64,64]}],"
        "'barriers':[{'name':'go'},{'name':'back','init':'ready'},{'name':'full'}],'groups':["
        "{'name':'a','role':'producer','warps':1,'counters':[{'name':'n'}],'body':["
        "{'load':'X','at':[0,0],'into':'x','signal':'full','use':0},{'wait':'full','use':0},"
        "%s" A "%s]},"
        "{'name':'b','role':'worker','warps':1,'counters':[{'name':'n'}],'body':["
        "%s" B ",{'if':'%s','then':[" B "]}%s]}]}",
        row->tiles, begin, end, begin, row->more, end);
    return g_strdelimit(g_string_free(t, FALSE), "'", '"');
}

static void launches(gconstpointer data)
{
    const Row *row = data;
    g_autofree char *text = design_of(row);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = right_program(text, "launches", findings);
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_autofree char *words = ws_verdict_text(v);
    const WsFinding *f = find_finding(findings, "P-DL", NULL, NULL, NULL);
    g_test_message("%s\n%s", words, f ? f->message : "");
    g_assert_cmpint(v->kind == WS_VERDICT_REFUTED, ==, row->launch != NULL);
    if (!row->launch)
        return;
    g_assert_nonnull(f);
    g_assert_nonnull(strstr(f->sizes, row->launch));
}

/* Rounds that do nothing cost steps as operations do: a bound of steps ends the search. */
static void empty_rounds(void)
{
    static const guint64 work[] = { 0, 1 << 20 };
    for (guint i = 0; i < G_N_ELEMENTS(work); i++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsProgram) p =
            edited_program("once-refuted/far-numbers-in-two-loops.wstave", NULL, NULL, 0, findings);
        const WsCheckOptions options = { .max_work = work[i] };
        g_autoptr(WsVerdict) v = ws_check(p, &options, findings);
        const guint64 most = work[i] ? work[i] : 400 << 20;
        g_test_message("%" G_GUINT64_FORMAT " steps of %" G_GUINT64_FORMAT, v->work, most);
        g_assert_cmpint(v->kind, ==, WS_VERDICT_OUTSIDE);
        /* the proof, its second try, the plays of cases and those of an alarm each have their own,
         * and the last play may go on to its end: 8 million rounds */
        g_assert_cmpuint(v->work, <=, 4 * most + (2 * 16 * (8 << 20)));
    }
}

/* Proved is what has a launch, if only by sizes of a search. */
static void no_launch(void)
{
    static const struct {
        const char *assume, *sizes;
        WsVerdictKind kind;
    } cases[] = {
        { "'N <= 8'", "'N':8,'T':4", WS_VERDICT_PROVED },
        { "'N >= 9','N <= 3'", "'N':8,'T':4", WS_VERDICT_OUTSIDE },
        { "'N < 0'", "'N':8,'T':4", WS_VERDICT_OUTSIDE },
        { "'1 == 2'", "'N':8,'T':4", WS_VERDICT_OUTSIDE },
        { "'T % 2 == 0','(T + 1) % 2 == 0'", "'N':8,'T':4", WS_VERDICT_OUTSIDE },
        { "'T*T == 2'", "'N':8,'T':4", WS_VERDICT_OUTSIDE },
        { "'T/(N - N) >= 0'", "'N':8,'T':4", WS_VERDICT_OUTSIDE },
        { "'T == 0'", "'N':8,'T':0", WS_VERDICT_OUTSIDE },          /* without a tile */
        { "'T % 1000003 == 5'", "'N':8,'T':4", WS_VERDICT_PROVED }, /* the search finds it */
        { "'T*T == 1002001'", "'N':8,'T':4", WS_VERDICT_OUTSIDE },  /* not this one */
        { "'T*T == 1002001'", "'N':8,'T':1001", WS_VERDICT_PROVED },
        { "'T >= 3','N == T + 5','N <= 8'", "'N':80,'T':4", WS_VERDICT_PROVED },
        /* kernels do not count so far */
        { "'N >= 2147418112'", "'N':2147418112,'T':4", WS_VERDICT_OUTSIDE },
        { "'N > 2147418111','T >= 1'", "'N':4294967296,'T':4", WS_VERDICT_OUTSIDE },
        { "'T >= 2147483648'", "'N':8,'T':2147483648", WS_VERDICT_OUTSIDE },
        { "'N >= 2147418104'", "'N':2147418104,'T':4", WS_VERDICT_PROVED },
        { "'N % 8 == 0'", "'N':4294967296,'T':4", WS_VERDICT_PROVED },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Row row = { "no launch", AXIS, "N < 0", NULL };
        g_autofree char *plain = design_of(&row);
        g_autofree char *list = g_strdup_printf(",'assume':[%s],\"tiles\"", cases[i].assume);
        g_autofree char *sizes = g_strdelimit(g_strdup(cases[i].sizes), "'", '"');
        g_autofree char *quoted = g_strdelimit(g_strdup(list), "'", '"');
        g_auto(GStrv) part = g_strsplit(plain, ",\"tiles\"", 2);
        g_autofree char *assumed = g_strjoinv(quoted, part);
        g_auto(GStrv) half = g_strsplit(assumed, "\"N\":8,\"T\":4", 2);
        g_autofree char *text = g_strjoinv(sizes, half);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsProgram) p = right_program(text, "no-launch", findings);
        g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
        const WsFinding *f = find_finding(findings, "F-PLAY", NULL, NULL, NULL);
        g_autofree char *words = ws_verdict_text(v);
        g_test_message("%s with %s: %s", cases[i].assume, cases[i].sizes, words);
        g_assert_cmpint(v->kind, ==, cases[i].kind);
        g_assert_true((f != NULL) == (v->kind != WS_VERDICT_PROVED));
        g_assert_true(!f == !(strstr(words, "no sizes were found") ||
                              strstr(words, "every launch that was found is refused")));
    }
}

/* The name of a CTA's one tile is there before the body: what it reads is read before
 * griddepcontrol, and the verdict says of what. A `let` behind it, and the names of a loop over
 * tiles, read later. */
static void early_names(void)
{
    static const struct {
        const char *tiles, *body;
        guint early;
    } cases[] = {
        { "'axes':{'t':'T'},'launch':'single','let':{'e':'L[t]','f':'e + L[0]'}",
          "{'griddepcontrol':'wait'},{'if':'f == 9','then':[]}", 1 },
        { "'axes':{'t':'T'},'launch':'single','let':{'e':'L[t]','f':'e + P[0]'}",
          "{'griddepcontrol':'launch_dependents'},{'if':'f == 9','then':[]}", 2 },
        { "'axes':{'t':'T'},'launch':'single'",
          "{'griddepcontrol':'wait'},{'let':'e','be':'L[t]'},{'if':'e == 9','then':[]}", 0 },
        { "'axes':{'t':'T'},'launch':'persistent','let':{'e':'L[t]'}",
          "{'griddepcontrol':'wait'},{'for':'tile','over':'tiles','do':[{'if':'e == "
          "9','then':[]}]}",
          0 },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = g_strdelimit(
            g_strdup_printf(
                "{'warpstave':1,'name':'early','target':'sm_90a','sizes':{'T':4},'tensors':["
                "{'name':'L','dtype':'i32','shape':['T'],'data':'integers(2, 6)'},"
                "{'name':'P','dtype':'i32','shape':['T'],'data':'integers(2, 6)'}],"
                "'tiles':{%s},'groups':[{'name':'a','role':'worker','warps':1,'body':[%s]}]}",
                cases[i].tiles, cases[i].body),
            "'", '"');
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsProgram) p = right_program(text, "early", findings);
        g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
        guint early = 0, unwaited = 0;
        for (guint k = 0; k < v->assumed->len; k++) {
            unwaited += strstr(v->assumed->pdata[k], "no griddepcontrol waits") != NULL;
            early += strstr(v->assumed->pdata[k], "before any griddepcontrol") != NULL;
        }
        g_assert_cmpint(v->kind, ==, WS_VERDICT_PROVED);
        g_assert_cmpuint(early, ==, cases[i].early);
        g_assert_cmpuint(unwaited, ==, !strstr(cases[i].body, "'wait'"));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/check/launches/%s", rows[i].title);
        g_test_add_data_func(path, &rows[i], launches);
    }
    g_test_add_func("/check/launches/early-names", early_names);
    g_test_add_func("/check/launches/no-launch", no_launch);
    g_test_add_func("/check/launches/empty-rounds", empty_rounds);
    return g_test_run();
}
