/* check --from … --fix: edits of a kernel's own text are tried until one is proved. */
#include "cli/check_report.h"
#include "cli/import_report.h"
#include "import/edits.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"

#include <stdio.h>
#include <string.h>

/* Edits that are tried, and how long. */
enum { EDITS = 4000, SECONDS = 60 };

/* The line of a step of the imported design; 0: none. */
static guint line_of(const WsDesign *design, const char *step)
{
    g_autofree char *at = g_strndup(step, strcspn(step, "#"));
    guint line = 0, column;
    const WsNode *node = ws_design_find(design, at);
    for (; node && !ws_import_place(node, &line, &column, NULL);)
        node = ws_design_owner(design, node, NULL, NULL);
    return node ? line : 0;
}

/* Numbers of bytes in a remedy ("expect exactly the bytes …: 32768 instead of 65536"). */
static void take_numbers(const char *remedy, GArray *number)
{
    for (const char *at = remedy; at && *at;) {
        const gsize n = strspn(at, "0123456789");
        const gint64 bytes = n && n < 12 ? g_ascii_strtoll(at, NULL, 10) : 0;
        if (bytes >= 16 && bytes % 16 == 0)
            g_array_append_val(number, bytes);
        at += n ? n : 1;
    }
}

static void take_hints(const WsDesign *design, const WsFindings *findings, GArray *line,
                       GPtrArray *name, GArray *number)
{
    for (guint i = 0; i < findings->list->len; i++) {
        const WsFinding *f = findings->list->pdata[i];
        if (f->severity < WS_SEVERITY_WARNING || ws_rule(f->rule)->klass != WS_CLASS_P)
            continue;
        if (f->line)
            g_array_append_val(line, f->line);
        for (guint k = 0; f->steps && k < f->steps->len; k++) {
            const guint at = line_of(design, f->steps->pdata[k]);
            if (at)
                g_array_append_val(line, at);
        }
        if (f->object)
            g_ptr_array_add(name, f->object);
        take_numbers(f->remedy, number);
    }
    g_ptr_array_add(name, NULL);
}

static gboolean is_proved(const WsCliSource *source, const WsImportOptions *how,
                          const WsCheckOptions *check)
{
    const WsCheckOptions only = { .policy = check->policy, .verdict_only = TRUE };
    g_auto(WsJudged) k = { 0 };
    if (!ws_cli_judge_source(source, how, &only, &k, NULL))
        return FALSE;
    g_autofree char *gap = ws_import_gap(k.import);
    return k.verdict->kind == WS_VERDICT_PROVED && !gap;
}

static void print_edit(const WsCliSource *source, const WsImportEdit *edit, const char *edited)
{
    g_autofree char *text = ws_import_difference(source->text, edited, source->file);
    printf("\nwith this edit the kernel is proved; line %u, %s\n"
           "only what synchronises is proved, not what it computes; nothing was written: apply it "
           "with patch %s\n\n%s",
           edit->line, edit->title, source->file, text);
}

/* Edits that are tried side by side; the likeliest that is proved is the one. */
typedef struct {
    const WsCliSource *source;
    const WsImportOptions *how;
    const WsCheckOptions *check;
    const GPtrArray *edits;
    gint64 until;
    GMutex lock;
    guint next, best; /* under the lock */
    gboolean late;
} Search;

static gpointer try_edits(gpointer data)
{
    Search *s = data;
    g_mutex_lock(&s->lock);
    while (s->next < s->best && !s->late) {
        const guint i = s->next++;
        s->late = ws_cli_interrupted() || g_get_monotonic_time() > s->until;
        ws_cli_progress("edit %u of %u", i + 1, s->edits->len);
        g_mutex_unlock(&s->lock);
        g_autofree char *edited = ws_import_edited(s->source->text, s->edits->pdata[i]);
        const WsCliSource other = { s->source->file, edited, strlen(edited), s->source->language };
        const gboolean proved = is_proved(&other, s->how, s->check);
        g_mutex_lock(&s->lock);
        if (proved)
            s->best = MIN(s->best, i);
    }
    g_mutex_unlock(&s->lock);
    return NULL;
}

static const WsImportEdit *search(Search *s)
{
    const guint n = CLAMP(g_get_num_processors(), 1, 16);
    g_autoptr(GPtrArray) thread = g_ptr_array_new();
    s->best = s->edits->len;
    g_mutex_init(&s->lock);
    for (guint i = 0; i < n; i++)
        g_ptr_array_add(thread, g_thread_new("edits", try_edits, s));
    for (guint i = 0; i < n; i++)
        g_thread_join(thread->pdata[i]);
    g_mutex_clear(&s->lock);
    ws_cli_progress(NULL);
    return s->best < s->edits->len ? s->edits->pdata[s->best] : NULL;
}

static const char *why_not(const WsJudged *k, const WsCliSource *source)
{
    g_autofree char *gap = ws_import_gap(k->import);
    if (k->verdict->kind == WS_VERDICT_PROVED)
        return "the kernel is proved";
    if (k->verdict->kind != WS_VERDICT_REFUTED && gap)
        return "what is not read comes first";
    return source->language == WS_IMPORT_PTX
               ? "a compiler wrote the PTX; change the source at the lines named"
               : NULL;
}

void ws_cli_offer_edit(const char *file, const char *from, const WsImportOptions *how,
                       const WsCheckOptions *check)
{
    g_auto(WsCliSource) source = { 0 };
    g_auto(WsJudged) k = { 0 };
    g_autoptr(GError) error = NULL;
    int code;
    if (!ws_cli_source(file, from, &source, &code) ||
        !ws_cli_judge_source(&source, how, check, &k, NULL))
        return; /* said before */
    const char *no = why_not(&k, &source);
    if (no) {
        printf("\nno edit is offered: %s\n", no);
        return;
    }
    ws_import_locate(k.design, k.findings);
    g_autoptr(GArray) line = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autoptr(GPtrArray) name = g_ptr_array_new();
    g_autoptr(GArray) number = g_array_new(FALSE, FALSE, sizeof(gint64));
    take_hints(k.design, k.findings, line, name, number);
    const WsImportHints hints = { (const guint *)(gpointer)line->data, line->len,
                                  (char *const *)name->pdata,
                                  (const gint64 *)(gpointer)number->data, number->len };
    Search s = { .source = &source, .how = how, .check = check };
    g_autoptr(GPtrArray) edits =
        ws_import_edits(source.text, source.length, file, source.language, &hints, EDITS, &error);
    if (!edits) {
        printf("\nno edit is offered: %s\n", error->message);
        return;
    }
    s.edits = edits;
    s.until = g_get_monotonic_time() + SECONDS * G_USEC_PER_SEC;
    const WsImportEdit *found = search(&s);
    g_autofree char *edited = found ? ws_import_edited(source.text, found) : NULL;
    if (found)
        print_edit(&source, found, edited);
    else
        printf("\nno edit is offered: none of %u small edits near the findings is proved%s\n",
               MIN(s.next, edits->len), s.late ? " (stopped after a minute)" : "");
}
