#include "ui/document/player.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <string.h>

#define MOVE_MS   900 /* of one move while it runs */
#define SETTLE_MS 120 /* a design that changes all the time is left alone */

struct _WsPlayer {
    GObject parent;
    WsDocument *document; /* borrowed: it owns the player */
    GPtrArray *choice;    /* const WsFinding*, of the document */
    guint chosen, position;
    gboolean wanted, busy;
    guint tick, settle; /* sources, 0 none */
    guint asked;        /* number of the last request: older answers are dropped */
    WsWitness *witness;
    char *why;
};

enum { LOADED, MOVED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(WsPlayer, ws_player, G_TYPE_OBJECT)

/* --- making a witness ---------------------------------------------------------------------------
 */
typedef struct {
    WsProgram *program;
    WsFinding finding; /* rule and place, who, and the launch it was met with */
} Wish;

static void wish_free(gpointer data)
{
    Wish *wish = data;
    ws_program_unref(wish->program);
    g_free(wish->finding.at);
    g_free(wish->finding.agent);
    g_clear_pointer(&wish->finding.met, ws_met_unref);
    g_clear_pointer(&wish->finding.rounds, g_array_unref);
    g_free(wish);
}

static void make(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    Wish *wish = data;
    GError *error = NULL;
    WsWitness *w = ws_witness_new(wish->program, &wish->finding, &error);
    if (w)
        g_task_return_pointer(task, w, (GDestroyNotify)ws_witness_free);
    else
        g_task_return_error(task, error);
}

static void stop(WsPlayer *p)
{
    if (p->tick)
        g_source_remove(p->tick);
    p->tick = 0;
}

static void drop(WsPlayer *p)
{
    stop(p);
    p->position = 0;
    p->busy = FALSE;
    p->asked++;
    g_clear_pointer(&p->witness, ws_witness_free);
    g_clear_pointer(&p->why, g_free);
}

static void made(GObject *source, GAsyncResult *result, gpointer data)
{
    g_autoptr(WsPlayer) p = data;
    g_autoptr(GError) error = NULL;
    GTask *task = G_TASK(result);
    guint asked = GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(task), "asked"));
    WsWitness *w = g_task_propagate_pointer(task, &error);
    if (asked != p->asked) { /* of a design that is gone */
        ws_witness_free(w);
        return;
    }
    p->busy = FALSE;
    p->witness = w;
    p->why = error ? g_strdup(error->message) : NULL;
    g_signal_emit(p, signals[LOADED], 0);
}

static gboolean ask(gpointer data)
{
    WsPlayer *p = data;
    p->settle = 0;
    WsProgram *program = ws_document_program(p->document);
    if (!program || p->chosen >= p->choice->len)
        return G_SOURCE_REMOVE;
    const WsFinding *f = p->choice->pdata[p->chosen];
    Wish *wish = g_new0(Wish, 1);
    wish->program = ws_program_ref(program);
    wish->finding.rule = f->rule;
    wish->finding.at = g_strdup(f->at);
    wish->finding.agent = g_strdup(f->agent);
    wish->finding.met = ws_met_ref(f->met);
    wish->finding.rounds = f->rounds ? g_array_copy(f->rounds) : NULL;
    memcpy(wish->finding.fact, f->fact, sizeof f->fact);
    drop(p);
    p->busy = TRUE;
    g_autoptr(GTask) task = g_task_new(NULL, NULL, made, g_object_ref(p));
    g_object_set_data(G_OBJECT(task), "asked", GUINT_TO_POINTER(p->asked));
    g_task_set_task_data(task, wish, wish_free);
    g_task_run_in_thread(task, make);
    g_signal_emit(p, signals[LOADED], 0);
    return G_SOURCE_REMOVE;
}

static void ask_soon(WsPlayer *p, guint ms)
{
    if (p->settle)
        g_source_remove(p->settle);
    p->settle = 0;
    if (p->wanted && p->choice->len)
        p->settle = ms ? g_timeout_add(ms, ask, p) : g_idle_add(ask, p);
}

static void document_changed(WsDocument *document, WsPlayer *p)
{
    WsFindings *findings = ws_document_findings(document);
    g_ptr_array_set_size(p->choice, 0);
    p->chosen = 0;
    for (guint i = 0; findings && ws_document_program(document) && i < findings->list->len; i++) {
        const WsFinding *f = findings->list->pdata[i];
        if (f->severity == WS_SEVERITY_ERROR && ws_rule(f->rule)->klass == WS_CLASS_P &&
            !f->silenced)
            g_ptr_array_add(p->choice, (gpointer)f);
    }
    drop(p);
    ask_soon(p, SETTLE_MS);
    g_signal_emit(p, signals[LOADED], 0);
}

/* --- which ------------------------------------------------------------------------------------ */
guint ws_player_n_choices(WsPlayer *p)
{
    return p->choice->len;
}

const WsFinding *ws_player_choice(WsPlayer *p, guint i)
{
    return i < p->choice->len ? p->choice->pdata[i] : NULL;
}

guint ws_player_chosen(WsPlayer *p)
{
    return p->chosen;
}

void ws_player_choose(WsPlayer *p, guint i)
{
    if (i >= p->choice->len || (i == p->chosen && (p->witness || p->busy)))
        return;
    p->chosen = i;
    p->wanted = TRUE;
    ask_soon(p, 0);
}

gboolean ws_player_choose_finding(WsPlayer *p, const WsFinding *finding)
{
    guint i;
    if (!g_ptr_array_find(p->choice, finding, &i))
        return FALSE;
    ws_player_choose(p, i);
    return TRUE;
}

void ws_player_want(WsPlayer *p)
{
    if (p->wanted)
        return;
    p->wanted = TRUE;
    ask_soon(p, 0);
}

/* --- where ------------------------------------------------------------------------------------ */
const WsWitness *ws_player_witness(WsPlayer *p)
{
    return p->witness;
}

const char *ws_player_why(WsPlayer *p)
{
    return p->why;
}

guint ws_player_position(WsPlayer *p)
{
    return p->position;
}

static void go(WsPlayer *p, gint64 position)
{
    guint last = p->witness ? p->witness->n_moves : 0;
    guint to = (guint)CLAMP(position, 0, (gint64)last);
    if (to == p->position)
        return;
    p->position = to;
    g_signal_emit(p, signals[MOVED], 0);
}

void ws_player_set_position(WsPlayer *p, guint position)
{
    if (position != p->position)
        ws_player_run(p, FALSE);
    go(p, position);
}

void ws_player_step(WsPlayer *p, gint by)
{
    ws_player_run(p, FALSE);
    go(p, (gint64)p->position + by);
}

gboolean ws_player_running(WsPlayer *p)
{
    return p->tick != 0;
}

static gboolean next_move(gpointer data)
{
    WsPlayer *p = data;
    gboolean more = p->witness && p->position + 1 < p->witness->n_moves;
    if (!more)
        p->tick = 0;
    go(p, (gint64)p->position + 1);
    return more ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

void ws_player_run(WsPlayer *p, gboolean run)
{
    if (run == (p->tick != 0) || (run && !p->witness))
        return;
    stop(p);
    if (run && p->position >= p->witness->n_moves)
        go(p, 0);
    if (run)
        p->tick = g_timeout_add(MOVE_MS, next_move, p);
    g_signal_emit(p, signals[MOVED], 0);
}

/* --- object ----------------------------------------------------------------------------------- */
static void finalize(GObject *object)
{
    WsPlayer *p = WS_PLAYER(object);
    if (p->settle)
        g_source_remove(p->settle);
    drop(p);
    g_ptr_array_unref(p->choice);
    G_OBJECT_CLASS(ws_player_parent_class)->finalize(object);
}

static void ws_player_class_init(WsPlayerClass *class)
{
    G_OBJECT_CLASS(class)->finalize = finalize;
    static const char *const name[N_SIGNALS] = { "loaded", "moved" };
    for (guint i = 0; i < N_SIGNALS; i++)
        signals[i] = g_signal_new(name[i], G_TYPE_FROM_CLASS(class), G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 0);
}

static void ws_player_init(WsPlayer *p)
{
    p->choice = g_ptr_array_new();
}

WsPlayer *ws_player_of(WsDocument *document)
{
    static const char *const key = "ws-player";
    WsPlayer *p = g_object_get_data(G_OBJECT(document), key);
    if (p)
        return p;
    p = g_object_new(WS_TYPE_PLAYER, NULL);
    p->document = document;
    g_object_set_data_full(G_OBJECT(document), key, p, g_object_unref);
    g_signal_connect_object(document, "changed", G_CALLBACK(document_changed), p, 0);
    document_changed(document, p);
    return p;
}
