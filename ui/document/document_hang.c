#include "ui/document/document_hang.h"
#include "model/findings.h"
#include "program/program.h"

#include "ui/document/document_private.h"

#include <glib/gi18n.h>

#define KEY "warpstave-hang"

static void hang_free(gpointer data)
{
    WsHang *h = data;
    ws_collected_free(h->of);
    g_free(h);
}

GFile *ws_hang_folder(GFile *file)
{
    g_autofree char *name = g_file_get_basename(file);
    if (name && g_str_has_suffix(name, "results.json"))
        return g_file_get_parent(file);
    g_autoptr(GFile) results = g_file_get_child(file, "results.json");
    return g_file_query_exists(results, NULL) ? g_object_ref(file) : NULL;
}

/* The case that hung, else the first. */
static const WsCollectedCase *case_of(const WsCollected *c)
{
    for (guint i = 0; i < c->cases->len; i++) {
        const WsCollectedCase *one = c->cases->pdata[i];
        if (one->stuck_agents->len)
            return one;
    }
    return c->cases->len ? c->cases->pdata[0] : NULL;
}

static gboolean is_of(WsDocument *d, const WsCollected *c)
{
    const WsProgram *p = ws_document_program(d);
    return p && c->program && !g_strcmp0(p->design_hash, c->program->design_hash);
}

gboolean ws_document_open_hang(WsDocument *d, GFile *folder, GError **error)
{
    g_autofree char *path = g_file_get_path(folder);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsCollected) c = path ? ws_collect(path, findings, error) : NULL;
    if (!path)
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, "%s",
                    _("It is not on this machine."));
    if (!c)
        return FALSE;
    const WsCollectedCase *one = case_of(c);
    if (!one) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s",
                    _("These results hold no case."));
        return FALSE;
    }
    g_autoptr(GFile) design = g_file_get_child(folder, "design.wstave");
    if (!is_of(d, c) && !ws_document_open(d, design, error))
        return FALSE;
    WsHang *h = g_new0(WsHang, 1);
    h->state = one->state;
    h->seen = one->seen;
    h->stuck = one->stuck_agents;
    h->of = g_steal_pointer(&c);
    g_object_set_data_full(G_OBJECT(d), KEY, h, hang_free);
    ws_document_emit(d, WS_SIGNAL_HUNG);
    return TRUE;
}

const WsHang *ws_document_hang(WsDocument *d)
{
    const WsHang *h = g_object_get_data(G_OBJECT(d), KEY);
    return h && is_of(d, h->of) ? h : NULL;
}

/* "tile 1, round 4"; the rounds as the runner counts them. */
static char *rounds_text(const WsCollectedStuck *s)
{
    g_autoptr(GString) out = g_string_new(NULL);
    for (guint i = 0; i < MIN(s->n_rounds, G_N_ELEMENTS(s->round)); i++)
        g_string_append_printf(out, "%s%" G_GINT64_FORMAT, i ? "." : "", s->round[i]);
    return g_string_free(g_steal_pointer(&out), FALSE);
}

char *ws_hang_text(const WsHang *hang, guint stuck)
{
    const WsCollectedStuck *s = &g_array_index(hang->stuck, WsCollectedStuck, stuck);
    g_autofree char *rounds = rounds_text(s);
    if (s->sync)
        /* Translators: agent, barrier, CTA, round as "0.4". */
        return g_strdup_printf(_("%s waits at %s (CTA %u, round %s)"), s->agent, s->barrier, s->cta,
                               rounds);
    /* Translators: agent, barrier, slot, parity awaited, parity seen, arrivals missing, CTA, round
     * as "0.4". */
    return g_strdup_printf(_("%s waits for %s, slot %u: parity %u awaited, %u seen, arrivals "
                             "missing: %u (CTA %u, round %s)"),
                           s->agent, s->barrier, s->slot, s->parity, s->parity, s->pending, s->cta,
                           rounds);
}

char *ws_hang_label(const WsHang *hang, guint stuck)
{
    const WsCollectedStuck *s = &g_array_index(hang->stuck, WsCollectedStuck, stuck);
    g_autofree char *rounds = rounds_text(s);
    if (s->sync)
        /* Translators: barrier, round as "0.4". */
        return g_strdup_printf(_("stuck at %s, round %s"), s->barrier, rounds);
    /* Translators: barrier, slot, parity, arrivals missing, round as "0.4". */
    return g_strdup_printf(_("stuck at %s, slot %u, parity %u, %u missing, round %s"), s->barrier,
                           s->slot, s->parity, s->pending, rounds);
}
