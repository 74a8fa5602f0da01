#include "import/recognise.h"

#include "model/design.h"

#include <string.h>

/* The store of what is read. */

G_DEFINE_QUARK(ws - import - error - quark, ws_import_error)

const WsReadRow *ws_read_row(WsReadKind kind)
{
    static const WsReadRow rows[] = {
#define WS_READ_STEP(id, form, keyword, key, places, lost, left)                                   \
    { WS_READ_FORM_##form, keyword, key, WS_READ_PLACES_##places, WS_READ_LOST_##lost,             \
      WS_READ_LEFT_##left },
#include "import/read_step.def"
#undef WS_READ_STEP
    };
    return &rows[kind];
}

static void free_unread(gpointer data)
{
    WsUnread *u = data;
    g_free(u->what);
    g_free(u->source);
    g_free(u->group);
    if (u->objects)
        g_ptr_array_unref(u->objects);
    g_free(u);
}

static void free_expr(gpointer data)
{
    ws_expr_unref(data);
}

static void free_step(gpointer data)
{
    WsReadStep *s = data;
    if (s->body)
        g_ptr_array_unref(s->body);
    if (s->other)
        g_ptr_array_unref(s->other);
    if (s->reads)
        g_array_unref(s->reads);
    if (s->places)
        g_array_unref(s->places);
    if (s->operands)
        g_array_unref(s->operands);
    g_free(s);
}

static void free_group(gpointer data)
{
    WsReadGroup *g = data;
    g_array_unref(g->values);
    g_array_unref(g->alike);
    g_ptr_array_unref(g->counters);
    g_ptr_array_unref(g->starts);
    g_ptr_array_unref(g->body);
    g_free(g);
}

WsRead *ws_source_new(const char *file, const char *source, GError **error)
{
    WsRead *r = g_new0(WsRead, 1);
    g_autofree char *base = g_path_get_basename(file);
    r->text = g_string_chunk_new(4096);
    r->file = g_string_chunk_insert(r->text, base);
    r->title = r->file;
    r->line = g_strsplit(source, "\n", -1);
    r->n_lines = g_strv_length(r->line);
    r->exprs = g_ptr_array_new_with_free_func(free_expr);
    r->steps = g_ptr_array_new_with_free_func(free_step);
    r->tensors = g_array_new(FALSE, TRUE, sizeof(WsReadTensor));
    r->buffers = g_array_new(FALSE, TRUE, sizeof(WsReadBuffer));
    r->barriers = g_array_new(FALSE, TRUE, sizeof(WsReadBarrier));
    r->pipes = g_array_new(FALSE, TRUE, sizeof(WsReadPipe));
    r->groups = g_ptr_array_new_with_free_func(free_group);
    r->sizes = g_ptr_array_new();
    r->size_of = g_hash_table_new(g_str_hash, g_str_equal);
    r->own_size = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    r->opened = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    r->presets = g_array_new(FALSE, TRUE, sizeof(gint64));
    r->scalars = g_ptr_array_new();
    r->assume = g_ptr_array_new();
    r->parsed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    r->granted = g_ptr_array_new_with_free_func(g_free);
    r->open = g_ptr_array_new_with_free_func(g_free);
    r->partial = g_hash_table_new(NULL, NULL);
    r->away = g_array_new(FALSE, FALSE, sizeof(guint));
    r->added = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    r->made = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    r->axes = g_ptr_array_new();
    r->addresses = g_ptr_array_new();
    r->launch = "single";
    r->cluster = 1;
    r->unread = g_ptr_array_new_with_free_func(free_unread);
    r->hints = g_array_new(FALSE, TRUE, sizeof(WsReadHint));
    r->names = g_hash_table_new(g_str_hash, g_str_equal);
    r->locals = g_hash_table_new(g_str_hash, g_str_equal);
    r->defined = ws_source_definitions();
    r->pool = g_ptr_array_new_with_free_func(g_free);
    r->arrays = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    r->error = error;
    return r;
}

void ws_source_free(WsRead *r)
{
    if (!r)
        return;
    for (guint i = 0; i < r->barriers->len; i++) {
        g_free(g_array_index(r->barriers, WsReadBarrier, i).count);
        g_free(g_array_index(r->barriers, WsReadBarrier, i).ready);
    }
    g_strfreev(r->line);
    g_ptr_array_unref(r->exprs);
    g_ptr_array_unref(r->steps);
    g_array_unref(r->tensors);
    g_array_unref(r->buffers);
    g_array_unref(r->barriers);
    for (guint i = 0; i < r->pipes->len; i++)
        g_array_unref(g_array_index(r->pipes, WsReadPipe, i).fields);
    g_array_unref(r->pipes);
    g_ptr_array_unref(r->groups);
    g_ptr_array_unref(r->sizes);
    g_hash_table_unref(r->size_of);
    g_hash_table_unref(r->own_size);
    g_hash_table_unref(r->opened);
    g_array_unref(r->presets);
    g_ptr_array_unref(r->scalars);
    g_ptr_array_unref(r->assume);
    g_hash_table_unref(r->parsed);
    g_clear_pointer(&r->granted, g_ptr_array_unref);
    g_clear_pointer(&r->open, g_ptr_array_unref);
    g_clear_pointer(&r->partial, g_hash_table_unref);
    g_array_unref(r->away);
    g_clear_pointer(&r->added, g_hash_table_unref);
    g_clear_pointer(&r->made, g_hash_table_unref);
    g_ptr_array_unref(r->axes);
    g_ptr_array_unref(r->addresses);
    g_clear_pointer(&r->unread, g_ptr_array_unref);
    g_array_unref(r->hints);
    g_hash_table_unref(r->names);
    g_hash_table_unref(r->locals);
    g_array_unref(r->defined);
    g_ptr_array_unref(r->pool);
    g_ptr_array_unref(r->arrays);
    g_string_chunk_free(r->text);
    g_free(r);
}

gboolean ws_source_fail(WsRead *r, guint line, guint column, const char *remedy, const char *format,
                        ...)
{
    if (*r->error)
        return FALSE;
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    const WsReadFile *of = ws_source_file(r, line);
    g_set_error(r->error, WS_IMPORT_ERROR, WS_IMPORT_ERROR_READ, "%s:%u:%u: %s. %s",
                of ? of->name : r->file, of ? line - of->first + 1 : line, column, what, remedy);
    return FALSE;
}

const WsReadFile *ws_source_file(const WsRead *r, guint line)
{
    for (guint i = 0; r->files && i < r->files->len; i++) {
        const WsReadFile *f = &g_array_index(r->files, WsReadFile, i);
        if (line >= f->first && line < f->first + f->lines)
            return f;
    }
    return NULL;
}

const char *ws_source_format(WsRead *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    return g_string_chunk_insert(r->text, text);
}

const char *ws_source_name(WsRead *r, const char *want)
{
    g_autoptr(GString) base = g_string_new(NULL);
    for (const char *c = want; *c && base->len < 48; c++)
        g_string_append_c(base, g_ascii_isalnum(*c) || *c == '_' ? *c : '_');
    if (!base->len || g_ascii_isdigit(base->str[0]))
        g_string_prepend_c(base, '_');
    const char *name = ws_source_format(r, "%s", base->str);
    for (guint n = 2;
         ws_name_is_reserved(name) || ws_func_find(name) != WS_FUNC_COUNT ||
         g_hash_table_contains(r->names, name) || g_hash_table_contains(r->locals, name);
         n++)
        name = ws_source_format(r, "%s_%u", base->str, n);
    g_hash_table_add(r->names, (gpointer)name);
    return name;
}

static const char *new_size(WsRead *r, const char *want, gint64 preset)
{
    const char *name = ws_source_name(r, want);
    g_ptr_array_add(r->sizes, (gpointer)name);
    g_array_append_val(r->presets, preset);
    return name;
}

/* Of an owner, and nobody else's, whatever it is called. */
static gboolean is_owned(const WsRead *r, const char *size)
{
    GHashTableIter it;
    gpointer name;
    g_hash_table_iter_init(&it, r->own_size);
    while (g_hash_table_iter_next(&it, NULL, &name))
        if (!strcmp(name, size))
            return TRUE;
    return FALSE;
}

const char *ws_source_size(WsRead *r, const char *want, gint64 preset)
{
    for (guint i = 0; i < r->sizes->len; i++)
        if (!strcmp(g_ptr_array_index(r->sizes, i), want) && !is_owned(r, want))
            return g_ptr_array_index(r->sizes, i);
    const char *known = g_hash_table_lookup(r->size_of, want);
    if (known)
        return known; /* a name that is too long, or taken, is another one */
    const char *name = new_size(r, want, preset);
    g_hash_table_insert(r->size_of, g_string_chunk_insert(r->text, want), (gpointer)name);
    return name;
}

gboolean ws_source_has_size(const WsRead *r, const char *want)
{
    return g_hash_table_contains(r->size_of, want) ||
           g_ptr_array_find_with_equal_func(r->sizes, want, g_str_equal, NULL);
}

const char *ws_source_size_of(WsRead *r, const char *owner, const char *want, gint64 preset)
{
    const char *size = g_hash_table_lookup(r->own_size, owner);
    if (size)
        return size;
    const char *name = want;
    for (guint n = 2; ws_source_has_size(r, name) || g_hash_table_contains(r->opened, name); n++)
        name = ws_source_format(r, "%s_%u", want, n);
    size = new_size(r, name, preset);
    g_hash_table_insert(r->own_size, g_strdup(owner), (gpointer)size);
    return size;
}

void ws_source_open(WsRead *r, const char *size)
{
    if (!g_ptr_array_find_with_equal_func(r->open, size, g_str_equal, NULL))
        g_ptr_array_add(r->open, g_strdup(size));
}

WsReadStep *ws_source_step(WsRead *r, GPtrArray *to, WsReadKind kind, guint line, guint column,
                           guint end_line)
{
    WsReadStep *s = g_new0(WsReadStep, 1);
    s->kind = kind;
    s->line = line;
    s->column = column;
    s->end_line = MAX(line, end_line);
    s->barrier.object = s->buffer.object = s->a.object = s->b.object = -1;
    s->tensor = s->value = -1;
    if (kind == WS_READ_FOR || kind == WS_READ_IF || kind == WS_READ_STAGE)
        s->body = g_ptr_array_new();
    if (kind == WS_READ_IF)
        s->other = g_ptr_array_new();
    g_ptr_array_add(r->steps, s);
    s->number = r->steps->len;
    if (to)
        g_ptr_array_add(to, s);
    return s;
}

WsReadGroup *ws_source_group(WsRead *r, const char *name, guint line)
{
    WsReadGroup *g = g_new0(WsReadGroup, 1);
    guint n = 2;
    const char *own = name;
    for (guint i = 0; i < r->groups->len; i++) /* group names are a name space of their own */
        if (!strcmp(((WsReadGroup *)g_ptr_array_index(r->groups, i))->name, own)) {
            own = ws_source_format(r, "%s_%u", name, n++);
            i = (guint)-1;
        }
    g->name = own;
    g->line = line;
    g->warps = 4;
    g->values = g_array_new(FALSE, TRUE, sizeof(WsReadValue));
    g->alike = g_array_new(FALSE, FALSE, sizeof(WsReadAlike));
    g->counters = g_ptr_array_new();
    g->starts = g_ptr_array_new();
    g->body = g_ptr_array_new();
    g_ptr_array_add(r->groups, g);
    return g;
}

gint ws_source_value(WsRead *r, WsReadGroup *g, const char *name, const char *dtype, gint64 rows,
                     gint64 cols)
{
    g_autoptr(GString) wanted = g_string_new(name);
    for (guint n = 2;; n++) {
        gboolean taken = ws_name_is_reserved(wanted->str) ||
                         g_hash_table_contains(r->names, wanted->str) ||
                         ws_func_find(wanted->str) != WS_FUNC_COUNT;
        for (guint i = 0; i < g->values->len && !taken; i++) {
            const WsReadValue *v = &g_array_index(g->values, WsReadValue, i);
            if (strcmp(v->name, wanted->str))
                continue;
            if (v->rows == rows && v->cols == cols && !strcmp(v->dtype, dtype))
                return (gint)i;
            taken = TRUE;
        }
        if (!taken)
            break;
        g_string_printf(wanted, "%s_%u", name, n);
    }
    WsReadValue v = { ws_source_format(r, "%s", wanted->str), dtype, rows, cols };
    g_array_append_val(g->values, v);
    g_hash_table_add(r->locals, (gpointer)v.name);
    return (gint)g->values->len - 1;
}

#define MOST_WORK 400000000 /* about 4 s */

gboolean ws_source_works(WsRead *r, gint64 n)
{
    r->work += n;
    if (*r->error)
        return FALSE;
    if (r->cancel && g_atomic_int_get(r->cancel))
        ws_source_fail(r, 1, 1, "Import it again.", "cancelled");
    else if (r->work > MOST_WORK)
        ws_source_fail(r, 1, 1, "Import a smaller kernel.", "this kernel takes too long to read");
    return !*r->error;
}

gboolean ws_source_reads(WsRead *r, guint line)
{
    if (r->at_line)
        g_atomic_int_set(r->at_line, (gint)line);
    return ws_source_works(r, 0);
}

void ws_source_masked(WsRead *r, WsReadStep *s)
{
    s->masked = TRUE;
    g_hash_table_add(r->partial, GUINT_TO_POINTER(s->line));
}

void ws_source_granted(WsRead *r, const char *what)
{
    if (!g_ptr_array_find_with_equal_func(r->granted, what, g_str_equal, NULL))
        g_ptr_array_add(r->granted, g_strdup(what));
}

static WsUnread *unread_at(WsRead *r, guint line, guint column, guint end_line, const char *what,
                           const char *source)
{
    for (guint i = 0; i < r->unread->len; i++) {
        WsUnread *u = g_ptr_array_index(r->unread, i);
        if (u->line == line && u->column == column)
            return u;
    }
    ws_source_works(r, r->unread->len);
    WsUnread *u = g_new0(WsUnread, 1);
    *u = (WsUnread){ line, column, end_line, g_strdup(what), g_strdup(source), .harmless = TRUE };
    g_ptr_array_add(r->unread, u);
    return u;
}

void ws_source_unread(WsRead *r, guint line, guint column, guint end_line, const char *what,
                      const char *source)
{
    WsUnread *u = unread_at(r, line, column, end_line, what, source);
    if (u->harmless) { /* what matters is said */
        g_free(u->what);
        u->what = g_strdup(what);
    }
    u->harmless = FALSE;
    u->all = TRUE;
}

void ws_source_unread_value(WsRead *r, guint line, guint column, guint end_line, const char *what,
                            const char *source)
{
    unread_at(r, line, column, end_line, what, source);
}

void ws_source_unread_of(WsRead *r, guint line, guint column, guint end_line, const char *what,
                         const char *source, const char *group, const GPtrArray *objects)
{
    WsUnread *u = unread_at(r, line, column, end_line, what, source);
    if (u->harmless) {
        g_free(u->what);
        u->what = g_strdup(what);
    }
    u->all |= !u->harmless && g_strcmp0(u->group, group); /* of two groups */
    u->harmless = FALSE;
    g_free(u->group);
    u->group = g_strdup(group);
    u->objects = u->objects ? u->objects : g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < objects->len; i++)
        g_ptr_array_add(u->objects, g_strdup(g_ptr_array_index(objects, i)));
}

void ws_source_unread_more(WsRead *r, guint line, const char *what)
{
    for (guint i = 0; i < r->unread->len; i++) {
        WsUnread *u = g_ptr_array_index(r->unread, i);
        if (strcmp(u->what, what) || line < u->line || line > u->end_line + 4)
            continue;
        u->end_line = MAX(u->end_line, line);
        return;
    }
    ws_source_unread(r, line, 1, line, what, line <= r->n_lines ? r->line[line - 1] : "");
}
