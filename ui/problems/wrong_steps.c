#include "ui/problems/wrong_steps.h"

#include "model/finding.h"
#include "ui/parts/words.h"

static const WsFinding *error_at(WsDocument *d, guint i)
{
    WsFindings *findings = ws_document_findings(d);
    if (!findings || ws_document_pending(d) || i >= findings->list->len)
        return NULL;
    return findings->list->pdata[i];
}

static gboolean counts(const WsFinding *f)
{
    return f->severity == WS_SEVERITY_ERROR && !f->silenced;
}

GHashTable *ws_wrong_steps(WsDocument *document)
{
    GHashTable *steps = NULL;
    const WsFinding *f;
    for (guint i = 0; (f = error_at(document, i)); i++) {
        if (!counts(f))
            continue;
        if (!steps)
            steps = g_hash_table_new(g_str_hash, g_str_equal);
        if (f->at)
            g_hash_table_add(steps, f->at);
        for (guint k = 0; f->steps && k < f->steps->len; k++)
            g_hash_table_add(steps, f->steps->pdata[k]);
    }
    return steps;
}

static gboolean names(const WsFinding *f, const char *step)
{
    if (!g_strcmp0(f->at, step))
        return TRUE;
    for (guint i = 0; f->steps && i < f->steps->len; i++)
        if (!g_strcmp0(f->steps->pdata[i], step))
            return TRUE;
    return FALSE;
}

char *ws_wrong_step_text(WsDocument *document, const char *step)
{
    const WsFinding *f;
    for (guint i = 0; step && (f = error_at(document, i)); i++)
        if (counts(f) && names(f, step))
            return ws_words_message(f);
    return NULL;
}
