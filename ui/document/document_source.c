#include "ui/document/document_source.h"

#include "edit/compare.h"
#include "ui/document/document_compare.h"
#include "ui/document/document_machine.h"
#include "ui/document/document_private.h"
#include "ui/parts/format.h"
#include "ui/parts/words.h"

#include <glib/gi18n.h>
#include <string.h>

static void ws_document_source_free(WsSource *s)
{
    if (!s)
        return;
    g_clear_object(&s->file);
    g_clear_pointer(&s->unread, g_ptr_array_unref);
    g_clear_pointer(&s->import, ws_import_free);
    g_free(s->name);
    g_free(s->text);
    g_free(s);
}

static WsSource *source_new(GFile *file, char *name, char *text)
{
    static gint readings;
    WsSource *s = g_new0(WsSource, 1);
    s->number = (guint)g_atomic_int_add(&readings, 1) + 1;
    s->file = g_object_ref(file);
    s->name = name;
    s->text = g_utf8_validate(text, -1, NULL) ? text : g_utf8_make_valid(text, -1);
    if (s->text != text)
        g_free(text);
    s->from = ws_import_guess(name, s->text);
    return s;
}

gboolean ws_source_is(GFile *file)
{
    g_autofree char *name = g_file_get_basename(file);
    return name && ws_import_guess(name, NULL) != WS_IMPORT_FROM_COUNT;
}

/* --- asking --------------------------------------------------------------------------------------
 */

const WsSource *ws_document_source(WsDocument *d)
{
    return d->source;
}

const WsSourceMap *ws_document_source_map(WsDocument *d)
{
    WsDesign *design = ws_document_design(d);
    if (!d->source || !design)
        return NULL;
    if (d->mapped != design) {
        g_clear_pointer(&d->map, ws_source_map_free);
        g_clear_pointer(&d->mapped, ws_design_unref);
        d->map = ws_source_map_new(design, d->source->text, d->source->name);
        d->mapped = ws_design_ref(design);
    }
    return d->map;
}

void ws_document_take_source(WsDocument *d, WsSource *source)
{
    g_clear_pointer(&d->map, ws_source_map_free);
    g_clear_pointer(&d->mapped, ws_design_unref);
    ws_document_source_free(d->source);
    d->source = source;
}

gboolean ws_document_source_is_ours(WsDocument *d)
{
    g_autofree char *text = NULL;
    return d->source && g_file_load_contents(d->source->file, NULL, &text, NULL, NULL, NULL) &&
           !strcmp(text, d->source->text);
}

static void opaque_free(gpointer data)
{
    WsOpaque *o = data;
    g_free(o->what);
    g_ptr_array_unref(o->steps);
    g_free(o);
}

static WsOpaque *add_opaque(GPtrArray *all, guint first, guint last, const char *what)
{
    WsOpaque *o = g_new0(WsOpaque, 1);
    *o = (WsOpaque){ first, MAX(first, last), g_strdup(what),
                     g_ptr_array_new_with_free_func(g_free) };
    g_ptr_array_add(all, o);
    return o;
}

static WsOpaque *opaque_over(const GPtrArray *all, const WsSourceSpan *span)
{
    for (guint i = 0; i < all->len; i++) {
        WsOpaque *o = all->pdata[i];
        if (span->first >= o->first && span->first <= o->last)
            return o;
    }
    return NULL;
}

static gint by_line(gconstpointer a, gconstpointer b)
{
    const WsOpaque *x = *(WsOpaque *const *)a, *y = *(WsOpaque *const *)b;
    return x->first < y->first ? -1 : x->first > y->first;
}

GPtrArray *ws_document_opaque(WsDocument *d)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(opaque_free);
    const WsSourceMap *map = ws_document_source_map(d);
    for (guint i = 0; map && d->source->unread && i < d->source->unread->len; i++) {
        const WsUnread *u = d->source->unread->pdata[i];
        add_opaque(all, MAX(u->line, 1) - 1, MAX(u->end_line, 1) - 1, u->what);
    }
    for (guint i = 0; map && i < ws_source_map_n(map); i++) {
        const WsSourceSpan *span = ws_source_map_span(map, i);
        if (!span->opaque)
            continue;
        WsOpaque *o = opaque_over(all, span);
        if (!o)
            o = add_opaque(all, span->first, span->last, _("an opaque step"));
        o->last = MAX(o->last, span->last);
        g_ptr_array_add(o->steps, g_strdup(span->id));
    }
    g_ptr_array_sort(all, by_line);
    return all;
}

/* --- a design that was read from a kernel, opened again ------------------------------------------
 */

WsSource *ws_source_beside(const WsDesign *design, GFile *file)
{
    const char *name = ws_source_name_of(design);
    g_autofree char *text = NULL;
    g_autoptr(GFile) folder = file && name ? g_file_get_parent(file) : NULL;
    g_autoptr(GFile) beside = folder ? g_file_get_child(folder, name) : NULL;
    if (!beside || !ws_source_is(beside) ||
        !g_file_load_contents(beside, NULL, &text, NULL, NULL, NULL))
        return NULL;
    return source_new(beside, g_strdup(name), g_steal_pointer(&text));
}

/* --- reading, in a thread ------------------------------------------------------------------------
 */

typedef struct {
    WsSource *source;
    WsAnswers *answers;
} Reading;

static void reading_free(gpointer data)
{
    Reading *r = data;
    ws_document_source_free(r->source);
    ws_answers_unref(r->answers);
    g_free(r);
}

/* What the reading thread and the main thread tell each other; both hold it. */
typedef struct {
    gint stop;        /* the main thread sets it */
    gint line, lines; /* the rest is the reading thread's */
    WsCheckProgress check;
} Progress;

static gint readings;

guint ws_document_readings(void)
{
    return (guint)g_atomic_int_get(&readings);
}

char *ws_document_import_words(GCancellable *cancellable)
{
    Progress *p = g_object_get_data(G_OBJECT(cancellable), "progress");
    const gint line = p ? MIN(g_atomic_int_get(&p->line), g_atomic_int_get(&p->lines)) : 0;
    if (!line)
        return NULL;
    if (g_atomic_int_get(&p->check.part) == WS_CHECK_BEGINS) {
        g_autofree char *of = ws_format_count((guint64)g_atomic_int_get(&p->lines), "%s");
        g_autofree char *at = ws_format_count((guint64)line, "%s");
        /* Translators: a line of a file and how many it has, "412", "3,120". */
        return g_strdup_printf(_("Line %s of %s is read"), at, of);
    }
    switch ((WsCheckPart)g_atomic_int_get(&p->check.part)) {
    case WS_CHECK_PROVES: {
        const guint64 n = (guint64)g_atomic_int_get(&p->check.states);
        return ws_format_count(n, ngettext("It is read, and being proved: %s state so far",
                                           "It is read, and being proved: %s states so far",
                                           (gulong)n));
    }
    case WS_CHECK_PLAYS:
        return g_strdup(_("It is read, and being simulated"));
    case WS_CHECK_WEAKENS:
        return g_strdup(_("It is wrong; for which sizes it would be right is being looked for"));
    case WS_CHECK_BEGINS:
        break;
    }
    return g_strdup(_("It is read, and being checked"));
}

static void stop_it(GCancellable *cancellable, gpointer progress)
{
    g_atomic_int_set(&((Progress *)progress)->stop, 1);
}

/* The machine that the open design is played on, if this one is for it. */
static const WsMachine *machine_for(const WsMachine *open, const WsDesign *design)
{
    const char *target = ws_node_text(ws_design_root(design), WS_F_target);
    return open && (!target || !g_strcmp0(target, open->target)) ? open
                                                                 : ws_machine_builtin(target);
}

static Reading *read_text(GFile *file, char *text, gsize length, Progress *p,
                          const WsMachine *machine, GError **error)
{
    g_autofree char *own = text, *name = g_file_get_basename(file);
    gint lines = 1;
    for (const char *at = text; (at = strchr(at, '\n')) && at[1]; at++)
        lines++;
    g_atomic_int_set(&p->lines, lines);
    g_autofree char *path = g_file_get_path(file), *folder = path ? g_path_get_dirname(path) : NULL;
    const WsImportOptions how = { .folder = folder, .cancel = &p->stop, .line = &p->line };
    const WsImportFrom from = ws_import_guess(name, text);
    const WsCheckOptions check = { .cancel = &p->stop, .progress = &p->check };
    g_auto(WsJudged) kernel = { 0 };
    if (!ws_judge_text(text, length, name, from, &how, &check, &kernel, error))
        return NULL;
    Reading *r = g_new0(Reading, 1);
    r->source = source_new(file, g_steal_pointer(&name), g_steal_pointer(&own));
    r->source->unread = g_ptr_array_ref(kernel.import->unread);
    r->source->import = ws_import_ref(kernel.import);
    if (!g_atomic_int_get(&p->stop))
        r->answers = ws_answers_of_kernel(&kernel, machine_for(machine, kernel.design),
                                          WS_ASK_TEXTS | WS_ASK_SOURCE);
    return r;
}

static void read_it(GTask *task, gpointer document, gpointer file, GCancellable *cancellable)
{
    GError *error = NULL;
    char *text = NULL;
    gsize length;
    g_atomic_int_inc(&readings);
    Reading *r = NULL;
    if (g_file_load_contents(file, cancellable, &text, &length, NULL, &error))
        r = read_text(file, text, length, g_object_get_data(G_OBJECT(task), "progress"),
                      g_object_get_data(G_OBJECT(task), "machine"), &error);
    if (r)
        g_task_return_pointer(task, r, reading_free);
    else
        g_task_return_error(task, error);
    g_atomic_int_add(&readings, -1);
}

void ws_document_import_async(WsDocument *d, GFile *file, GCancellable *cancellable,
                              GAsyncReadyCallback done, gpointer data)
{
    g_autoptr(GTask) task = g_task_new(d, cancellable, done, data);
    Progress *p = g_atomic_rc_box_new0(Progress);
    g_task_set_task_data(task, g_object_ref(file), g_object_unref);
    g_object_set_data(G_OBJECT(task), "machine", (gpointer)ws_document_machine(d));
    g_object_set_data_full(G_OBJECT(task), "progress", p, g_atomic_rc_box_release);
    g_object_set_data_full(G_OBJECT(cancellable), "progress", g_atomic_rc_box_acquire(p),
                           g_atomic_rc_box_release);
    g_cancellable_connect(cancellable, G_CALLBACK(stop_it), g_atomic_rc_box_acquire(p),
                          g_atomic_rc_box_release);
    g_task_set_return_on_cancel(task, TRUE); /* at once; the thread ends a little later */
    g_task_run_in_thread(task, read_it);
}

static gboolean differs(const WsDesign *a, const WsDesign *b)
{
    WsCompare *compare = ws_compare_new(a, b);
    const gboolean any = compare->row->len > 0;
    ws_compare_free(compare);
    return any;
}

gboolean ws_document_import_finish(WsDocument *d, GAsyncResult *result, WsImported *imported,
                                   GError **error)
{
    Reading *r = g_task_propagate_pointer(G_TASK(result), error);
    if (!r)
        return FALSE;
    if (!r->answers) { /* cancelled between reading and checking */
        reading_free(r);
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_CANCELLED, _("Cancelled."));
        return FALSE;
    }
    const gboolean again = d->source && g_file_equal(d->source->file, r->source->file);
    g_autoptr(WsDesign) former = again ? ws_design_ref(ws_document_latest(d)) : NULL;
    g_autofree char *name = g_strdup_printf(_("%s as it was read before"), r->source->name);
    const gboolean changed = former && differs(former, r->answers->design);
    ws_document_install(d, ws_answers_ref(r->answers), NULL, FALSE);
    ws_document_take_source(d, g_steal_pointer(&r->source));
    reading_free(r);
    ws_document_announce(d);
    if (changed)
        ws_document_compare_with(d, former, name);
    *imported = !again ? WS_IMPORT_NEW : changed ? WS_IMPORT_DIFFERS : WS_IMPORT_SAME;
    return TRUE;
}

char *ws_document_unread_words(WsDocument *d)
{
    const WsDesign *design = ws_document_design(d);
    const WsValue *list = design ? ws_node_get(ws_design_root(design), WS_F_unread) : NULL;
    if (!list || !list->n)
        return NULL;
    return g_strdup_printf(
        g_dngettext(NULL, "%u place not understood", "%u places not understood", list->n), list->n);
}

char *ws_document_verdict_said(WsDocument *d)
{
    const WsVerdict *v = ws_document_verdict(d);
    g_autofree char *said = v ? ws_words_said(v) : NULL;
    g_autofree char *places =
        v && v->kind == WS_VERDICT_PROVED ? ws_document_unread_words(d) : NULL;
    return places ? g_strdup_printf("%s; %s", said, places) : g_steal_pointer(&said);
}
