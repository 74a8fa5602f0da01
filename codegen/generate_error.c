#include "base/phrase.h"
#include "codegen/generate.h"
#include "model/design.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

typedef WsRefusal WsGenerateErrorPrivate;

static void ws_generate_error_private_init(WsGenerateErrorPrivate *r)
{
    *r = (WsGenerateErrorPrivate){ NULL };
}

static void ws_generate_error_private_copy(const WsGenerateErrorPrivate *from,
                                           WsGenerateErrorPrivate *to)
{
    *to = (WsGenerateErrorPrivate){ g_strdup(from->lens), g_strdup(from->step), g_strdup(from->why),
                                    g_strdup(from->remedy) };
}

static void ws_generate_error_private_clear(WsGenerateErrorPrivate *r)
{
    g_free(r->lens);
    g_free(r->step);
    g_free(r->why);
    g_free(r->remedy);
}

G_DEFINE_EXTENDED_ERROR(WsGenerateError, ws_generate_error)

void ws_generate_refuse(GError **error, const char *lens, const WsOp *op, const char *place,
                        const char *why, const char *remedy)
{
    const gboolean step = op && op->agent >= 0;
    if (!error || *error)
        return;
    place = !step ? place : op->step ? op->step : op->id;
    g_autofree char *because = why ? ws_phrase_word(why) : NULL;
    g_autofree char *change = remedy ? ws_phrase_word(remedy) : NULL;
    g_autofree char *english = ws_phrase_text(because, NULL, NULL);
    g_autofree char *advice = ws_phrase_text(change, NULL, NULL);
    g_set_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP,
                "%s%s%s%s: not supported by %s%s%s%s%s", step ? "step " : "",
                step ? ws_node_kind_keyword(op->step_kind) : "", step ? " at " : "",
                place ? place : "design", lens, english ? ": " : "", english ? english : "",
                advice ? "; " : "", advice ? advice : "");
    /* A word ("cluster") is of the whole. */
    const WsRefusal refusal = { (char *)lens, place && strchr(place, '/') ? (char *)place : NULL,
                                because, change };
    ws_generate_error_private_copy(&refusal, ws_generate_error_get_private(*error));
}

void ws_generate_advise(GError *error, const char *remedy)
{
    WsRefusal *r = ws_generate_error_get_private(error);
    g_autofree char *had = r->remedy, *text = error->message;
    g_autofree char *english = ws_phrase_text(remedy, NULL, NULL);
    r->remedy = had ? g_strconcat(had, "; ", remedy, NULL) : g_strdup(remedy);
    error->message = g_strconcat(text, "; ", english, NULL);
}

gboolean ws_generate_fits(const WsProgram *p, const char *lens, GError **error)
{
    const guint most = p->hardware->registers.most;
    for (guint i = 0; i < p->n_agents; i++) {
        const WsAgent *a = &p->agent[i];
        for (guint k = 0; most && k < a->n_values; k++) {
            if (a->value[k].registers <= most)
                continue;
            g_autofree char *why =
                ws_phrase("value %s takes %u registers of every thread, which has at most %u",
                          a->value[k].name, a->value[k].registers, most);
            ws_generate_refuse(error, lens, NULL, a->path, why, "smaller tiles, or more warps");
            return FALSE;
        }
    }
    return TRUE;
}

const WsRefusal *ws_generate_refusal(const GError *error)
{
    return g_error_matches(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP)
               ? ws_generate_error_get_private(error)
               : NULL;
}
