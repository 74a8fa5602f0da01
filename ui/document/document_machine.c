#include "ui/document/document_machine.h"

#include "target/target.h"
#include "ui/app/settings.h"
#include "ui/document/document_private.h"

#include <glib/gi18n.h>

#define KEY   "machine"
#define CLOCK "clock-ghz"

/* Every description that was read is kept: a few, of some KiB each. */
static const WsMachine *keep(WsMachine *m)
{
    static GPtrArray *all;
    static GMutex mutex;
    g_mutex_lock(&mutex);
    if (!all)
        all = g_ptr_array_new();
    g_ptr_array_add(all, m);
    g_mutex_unlock(&mutex);
    return m;
}

const WsMachine *ws_machine_builtin(const char *target)
{
    static GHashTable *loaded; /* name in its row of the targets -> WsMachine* */
    static GMutex mutex;
    const WsTarget *t = ws_target_find(target);
    const char *const known = t ? t->name : "";
    g_mutex_lock(&mutex);
    if (!loaded)
        loaded = g_hash_table_new(NULL, NULL);
    const WsMachine *m = g_hash_table_lookup(loaded, known);
    if (!m) {
        m = ws_machine_for(NULL, target, NULL);
        g_hash_table_insert(loaded, (gpointer)known, (gpointer)m);
    }
    g_mutex_unlock(&mutex);
    return m;
}

static const char *target_of(const WsDesign *design)
{
    return design ? ws_node_text(ws_design_root(design), WS_F_target) : NULL;
}

/* The choice of last time, if it can still be read. */
static const WsMachine *remembered(void)
{
    g_autofree char *path = ws_settings() ? g_settings_get_string(ws_settings(), KEY) : NULL;
    WsMachine *m = path && *path ? ws_machine_load(path, NULL) : NULL;
    return m ? keep(m) : NULL;
}

/* The machine at the clock that was chosen; each pair is made once. */
static const WsMachine *clocked(const WsMachine *m)
{
    static GHashTable *made; /* WsMachine* -> the last one made of it */
    const double ghz = ws_settings() ? g_settings_get_double(ws_settings(), CLOCK) : 0;
    if (!m || ghz <= 0 || ghz == m->value[WS_MACHINE_GHZ])
        return m;
    if (!made)
        made = g_hash_table_new(NULL, NULL);
    const WsMachine *last = g_hash_table_lookup(made, m);
    if (!last || last->value[WS_MACHINE_GHZ] != ghz) {
        last = keep(ws_machine_at(m, ghz));
        g_hash_table_insert(made, (gpointer)m, (gpointer)last);
    }
    return last;
}

/* Of the machine description, whatever clock was chosen. */
static const WsMachine *described(WsDocument *d, const WsDesign *design)
{
    if (!d->machine_asked) {
        d->machine_asked = TRUE;
        d->machine = remembered();
    }
    const char *target = target_of(design);
    const gboolean fits = d->machine && (!target || !g_strcmp0(target, d->machine->target));
    return fits ? d->machine : ws_machine_builtin(target);
}

const WsMachine *ws_document_machine_for(WsDocument *d, const WsDesign *design)
{
    return clocked(described(d, design));
}

double ws_document_machine_clock(WsDocument *d)
{
    const WsMachine *m = described(d, ws_document_latest(d));
    return m ? m->value[WS_MACHINE_GHZ] : 0;
}

void ws_document_use_clock(WsDocument *d, double ghz)
{
    if (!ws_settings())
        return;
    g_settings_set_double(ws_settings(), CLOCK, CLAMP(ghz, 0, 10));
    ws_document_predict(d);
}

const WsMachine *ws_document_machine(WsDocument *d)
{
    return ws_document_machine_for(d, ws_document_latest(d));
}

gboolean ws_document_machine_chosen(WsDocument *d)
{
    const WsDesign *design = ws_document_latest(d);
    return described(d, design) != ws_machine_builtin(target_of(design));
}

gboolean ws_document_use_machine(WsDocument *d, GFile *file, GError **error)
{
    g_autofree char *path = file ? g_file_get_path(file) : NULL;
    WsMachine *m = NULL;
    if (file && !path) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, _("It is not on this machine."));
        return FALSE;
    }
    if (path && !(m = ws_machine_load(path, error)))
        return FALSE;
    const char *target = target_of(ws_document_latest(d));
    if (m && target && g_strcmp0(target, m->target)) {
        g_set_error(error, WS_MACHINE_ERROR, WS_MACHINE_ERROR_FORMAT,
                    _("It describes a machine for %s; this design is for %s."), m->target, target);
        ws_machine_free(m);
        return FALSE;
    }
    d->machine_asked = TRUE;
    d->machine = m ? keep(m) : NULL;
    if (ws_settings())
        g_settings_set_string(ws_settings(), KEY, path ? path : "");
    ws_document_predict(d);
    return TRUE;
}
