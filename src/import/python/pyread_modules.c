#include "import/python/pyread_modules.h"
#include "base/file.h"
#include "import/python/names/names.h"
#include "import/python/pyread_module_path.h"

#include <stdlib.h>
#include <string.h>

#define MOST_FILES 16

typedef struct {
    char *path, *name;  /* as it is told: the path from the folder of the text */
    char *text;         /* lines that end with a line feed, those of `as` behind them */
    guint lines, from;  /* `from`: of the import in the text itself that leads to it */
    const WsPython *py; /* of the text itself: the caller's */
    WsPython *own;
    GHashTable *bound; /* at the outermost level: name -> what it is an import of, or "" */
    GHashTable *asked; /* names that its text takes from there, or from Python */
    GArray *import;    /* Import */
    gboolean open;     /* being read: an import of it is one of itself */
    char *circle;      /* it imports from a file that is being read; NULL */
    guint packages;    /* it lies in so many; G_MAXUINT: nobody says */
    gboolean left;     /* not taken, and not the files that it alone leads to */
    gboolean reached;
} File;

typedef struct {
    const WsPyNode *node;
    gint file; /* -1: none */
} Import;

typedef struct {
    char *module, *why;
} Left;

struct PyModules {
    GPtrArray *file; /* File*, the text itself first */
    GArray *left;    /* Left */
    GArray *files;   /* WsReadFile */
    GString *text;
    char *root;    /* the folder of the text */
    char **folder; /* where modules are looked for, too */
    gsize bytes;
};

static void free_file(gpointer data)
{
    File *f = data;
    g_free(f->path);
    g_free(f->name);
    g_free(f->text);
    g_free(f->circle);
    g_hash_table_unref(f->bound);
    g_hash_table_unref(f->asked);
    g_array_unref(f->import);
    if (f->own)
        ws_python_free(f->own);
    g_free(f);
}

static File *file_at(const PyModules *m, gint i)
{
    return m->file->pdata[i];
}

static void leave(PyModules *m, const char *module, char *why)
{
    const Left left = { g_strdup(module), why };
    g_array_append_val(m->left, left);
}

/* --- names of a file --------------------------------------------------------------------------*/

/* What an import binds: its name, and what it is one of. */
static const char *bound_by(const WsPyNode *import, guint i, char **of)
{
    const WsPyNode *word = import->kid[i];
    g_autofree char *first = g_strndup(word->text, strcspn(word->text, "."));
    const char *as = word->n ? word->kid[0]->text : *import->text ? word->text : first;
    *of = *import->text ? g_strdup_printf("%s.%s", import->text, word->text)
          : word->n     ? g_strdup(word->text)
                        : g_strdup(first);
    return g_intern_string(as);
}

static void note_bound(const char *name, const WsPyNode *at, gpointer data)
{
    GHashTable *bound = data;
    g_autofree char *of = NULL;
    for (guint i = 0; at->kind == WS_PY_IMPORT && i < at->n && !of; i++)
        if (strcmp(bound_by(at, i, &of), name))
            g_clear_pointer(&of, g_free);
    const char *known = g_hash_table_lookup(bound, name);
    const char *is = g_intern_string(of && (!known || !strcmp(known, of)) ? of : "");
    g_hash_table_insert(bound, (gpointer)name, (gpointer)is);
}

typedef struct Scope Scope;
struct Scope {
    const Scope *outer;
    GHashTable *names;
};

static void note_local(const char *name, const WsPyNode *at, gpointer data)
{
    g_hash_table_add(((Scope *)data)->names, (gpointer)name);
}

static void note_parameters(const WsPyNode *parameters, Scope *s)
{
    for (guint i = 0; i < parameters->n; i++)
        g_hash_table_add(
            s->names, (gpointer)(parameters->kid[i]->text + strspn(parameters->kid[i]->text, "*")));
}

static void note_targets(const WsPyNode *target, Scope *s)
{
    if (target->kind == WS_PY_NAME)
        g_hash_table_add(s->names, (gpointer)target->text);
    for (guint i = 0; i < target->n; i++)
        note_targets(target->kid[i], s);
}

static void drop_globals(const WsPyNode *node, Scope *s)
{
    const gboolean outer = node->kind == WS_PY_OTHER && node->text &&
                           (!strcmp(node->text, "global") || !strcmp(node->text, "nonlocal"));
    for (guint i = 0; i < node->n; i++) {
        if (outer && node->kid[i]->kind == WS_PY_NAME)
            g_hash_table_remove(s->names, node->kid[i]->text);
        drop_globals(node->kid[i], s);
    }
}

static gboolean is_local(const Scope *s, const char *name)
{
    while (s && !g_hash_table_contains(s->names, name))
        s = s->outer;
    return s != NULL;
}

static void note_asked(const WsPyNode *node, const Scope *outer, GHashTable *asked)
{
    if (node->kind == WS_PY_NAME && !is_local(outer, node->text))
        g_hash_table_add(asked, (gpointer)node->text);
    if (node->kind == WS_PY_IMPORT)
        return;
    const gboolean function = node->kind == WS_PY_DEF || node->kind == WS_PY_LAMBDA,
                   comp = node->kind == WS_PY_COMP;
    g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
    Scope own = { outer, names };
    if (function) {
        note_parameters(node->kid[0], &own);
        py_bound_names(node->kid[1], note_local, &own);
        drop_globals(node->kid[1], &own);
    }
    for (guint i = 1; comp && i < node->n; i++)
        if (node->kid[i]->kind == WS_PY_CLAUSE)
            note_targets(node->kid[i]->kid[0], &own);
    for (guint i = 0; i < node->n; i++)
        note_asked(node->kid[i], comp || (function && i == 1) ? &own : outer, asked);
}

static void note_names(File *f)
{
    const WsPyNode *module = ws_python_module(f->py);
    for (guint i = 0; i < module->n; i++)
        py_bound_names(module->kid[i], note_bound, f->bound);
    note_asked(module, NULL, f->asked);
}

/* --- files ------------------------------------------------------------------------------------*/

static File *file_new(PyModules *m, const char *path, const char *name, const char *text,
                      gsize length)
{
    File *f = g_new0(File, 1);
    const gboolean marked = m->file->len && length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3);
    text += marked ? 3 : 0;
    length -= marked ? 3 : 0;
    f->path = g_strdup(path);
    f->name = g_strdup(name);
    f->text = length && text[length - 1] == '\n' ? g_strndup(text, length)
                                                 : g_strdup_printf("%.*s\n", (int)length, text);
    for (const char *at = f->text; *at; at++)
        f->lines += *at == '\n';
    f->bound = g_hash_table_new(g_str_hash, g_str_equal);
    f->asked = g_hash_table_new(g_str_hash, g_str_equal);
    f->import = g_array_new(FALSE, TRUE, sizeof(Import));
    g_ptr_array_add(m->file, f);
    return f;
}

/* Why the statements of the file cannot stand elsewhere; NULL. */
static const char *unfit(const File *f)
{
    const WsPyNode *module = ws_python_module(f->py);
    for (guint i = 0; i < module->n; i++) {
        const WsPyNode *s = module->kid[i];
        if (ws_py_is_main(s) ? s->n > 2 : s->kind != WS_PY_DEF && ws_python_mentions(s, "__name__"))
            return "what it does hangs on `__name__`";
    }
    return NULL;
}

static void follow(PyModules *m, File *f);

static gint open_file(PyModules *m, File *by, const WsPyNode *import, const char *path,
                      const char *name, char **why)
{
    for (guint i = 0; i < m->file->len; i++) {
        const File *f = file_at(m, (gint)i);
        if (strcmp(f->path, path) != 0)
            continue;
        if (f->open && !by->circle)
            by->circle = g_strdup_printf("%s imports from itself, through %s", name, by->name);
        *why = g_strdup(f->open ? by->circle : f->circle);
        return f->open || f->left ? -1 : (gint)i;
    }
    g_autofree char *text = NULL;
    gsize length;
    g_autoptr(GError) error = NULL;
    if (m->file->len > MOST_FILES) {
        *why = g_strdup_printf("more than %d files", MOST_FILES);
        return -1;
    }
    if (!ws_file_read_some(path, WS_PYTHON_MAX_BYTES, &text, &length, &error)) {
        *why = g_strdup(error->message);
        return -1;
    }
    if (m->bytes + length + 1 > WS_PYTHON_MAX_BYTES) {
        *why = g_strdup_printf("more than %d bytes, with the files before it", WS_PYTHON_MAX_BYTES);
        return -1;
    }
    if (ws_py_other_encoding(text)) {
        *why = g_strdup("its encoding is declared, and is not UTF-8");
        return -1;
    }
    m->bytes += length + 1;
    File *f = file_new(m, path, name, text, length);
    const gint at = (gint)m->file->len - 1;
    f->py = f->own = ws_python_parse(text, length, name, &error);
    if (!f->py || unfit(f)) {
        *why = g_strdup(f->py ? unfit(f) : error->message);
        f->left = TRUE;
        return -1;
    }
    note_names(f);
    f->packages = ws_py_packages(by->packages, import->text);
    follow(m, f);
    f->left = f->circle != NULL;
    *why = g_strdup(f->circle);
    return f->left ? -1 : at;
}

/* `import`: all names that it takes are bound there. */
static const char *not_bound(const WsPyNode *import, const File *f)
{
    for (guint i = 0; i < import->n; i++)
        if (!g_hash_table_contains(f->bound, import->kid[i]->text))
            return import->kid[i]->text;
    return NULL;
}

static void follow(PyModules *m, File *f)
{
    g_autofree char *folder = g_path_get_dirname(f->path);
    const WsPyNode *module = ws_python_module(f->py);
    f->open = TRUE;
    for (guint i = 0; i < module->n; i++) {
        const WsPyNode *s = module->kid[i];
        char *why = NULL;
        const guint dots = s->kind == WS_PY_IMPORT ? (guint)strspn(s->text, ".") : 0;
        if (dots > f->packages) {
            leave(m, s->text,
                  g_strdup_printf("%s lies in %s, and Python refuses it", f->name,
                                  f->packages ? "fewer packages" : "no package"));
            continue;
        }
        g_autofree char *path = s->kind == WS_PY_IMPORT
                                    ? ws_py_module_path(m->root, m->folder, folder, s->text, &why)
                                    : NULL;
        if (why)
            leave(m, s->text, why);
        else if (s->kind == WS_PY_IMPORT && !path && *s->text == '.')
            leave(m, s->text, g_strdup_printf("no such file lies beside %s", f->name));
        if (!path)
            continue;
        g_autofree char *name = g_path_get_basename(path);
        Import import = { s, -1 };
        if (s->n && !strcmp(s->kid[0]->text, "*"))
            why = g_strdup("all its names are imported at once");
        else
            import.file = open_file(m, f, s, path, name, &why);
        const char *missing = import.file >= 0 ? not_bound(s, file_at(m, import.file)) : NULL;
        if (missing) {
            import.file = -1;
            why = g_strdup_printf("%s binds no `%s` at its outermost level", name, missing);
        }
        if (import.file >= 0)
            g_array_append_val(f->import, import);
        else
            leave(m, s->text, why ? why : g_strdup_printf("%s is not read", name));
    }
    f->open = FALSE;
}

/* --- one namespace ----------------------------------------------------------------------------*/

/* The import of the file that is taken and binds the name; *word: what it is there. NULL: none. */
static const Import *import_of(const PyModules *m, const File *f, const char *name,
                               const char **word)
{
    for (guint i = 0; i < f->import->len; i++) {
        const Import *import = &g_array_index(f->import, Import, i);
        for (guint k = 0; k < import->node->n && !file_at(m, import->file)->left; k++) {
            g_autofree char *of = NULL;
            *word = import->node->kid[k]->text;
            if (!strcmp(bound_by(import->node, k, &of), name))
                return import;
        }
    }
    return NULL;
}

/* What the name of the file is, the same text for the same thing: what another package has, or a
 * name of one of the files. */
static char *meaning(const PyModules *m, gint file, const char *name)
{
    for (const char *word;;) {
        const File *f = file_at(m, file);
        const char *of = g_hash_table_lookup(f->bound, name);
        const Import *import = of && *of ? import_of(m, f, name, &word) : NULL;
        if (!import)
            return of && *of ? g_strdup(of) : g_strdup_printf("%d:%s", file, name);
        file = import->file;
        name = word;
    }
}

/* A name of file `a` that is another one's in file `b`; NULL. */
static const char *clash(const PyModules *m, gint a, gint b)
{
    const File *x = file_at(m, a), *y = file_at(m, b);
    GHashTableIter it;
    gpointer name;
    g_hash_table_iter_init(&it, x->bound);
    while (g_hash_table_iter_next(&it, &name, NULL)) {
        if (!g_hash_table_contains(y->bound, name)) {
            if (g_hash_table_contains(y->asked, name))
                return name;
            continue;
        }
        g_autofree char *here = meaning(m, a, name), *there = meaning(m, b, name);
        if (strcmp(here, there) != 0)
            return name;
    }
    return NULL;
}

static void reach(PyModules *m, gint i, guint from)
{
    File *f = file_at(m, i);
    if (f->reached || f->left)
        return;
    f->reached = TRUE;
    f->from = from;
    for (guint k = 0; k < f->import->len; k++) {
        const Import *import = &g_array_index(f->import, Import, k);
        reach(m, import->file, i ? from : import->node->line);
    }
}

/* Leaves files until no two of the rest disagree: the later one, which is asked for less. */
static void settle(PyModules *m)
{
    for (gboolean again = TRUE; again;) {
        again = FALSE;
        for (guint i = 0; i < m->file->len; i++)
            file_at(m, (gint)i)->reached = FALSE;
        reach(m, 0, 0);
        for (guint b = 1; b < m->file->len && !again; b++)
            for (guint a = 0; a < b && !again; a++) {
                File *x = file_at(m, (gint)a), *y = file_at(m, (gint)b);
                if (!x->reached || !y->reached)
                    continue;
                const char *name = clash(m, (gint)a, (gint)b);
                name = name ? name : clash(m, (gint)b, (gint)a);
                if (!name)
                    continue;
                y->left = again = TRUE;
                g_autofree char *module = g_strndup(y->name, strlen(y->name) - 3);
                leave(m, module,
                      g_strdup_printf("`%s` is another name in %s than in %s", name, y->name,
                                      x->name));
            }
    }
}

/* Imports that give another name: it is set to the first one behind the text of the file. */
static void add_names(PyModules *m)
{
    g_autoptr(GHashTable) added = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < m->file->len; i++) {
        const File *f = file_at(m, (gint)i);
        for (guint k = 0; f->reached && k < f->import->len; k++) {
            const Import *import = &g_array_index(f->import, Import, k);
            File *of = file_at(m, import->file);
            for (guint n = 0; of->reached && n < import->node->n; n++) {
                const WsPyNode *word = import->node->kid[n];
                if (!word->n || !strcmp(word->kid[0]->text, word->text) ||
                    !g_hash_table_add(added, (gpointer)word->kid[0]->text))
                    continue;
                char *more =
                    g_strdup_printf("%s%s = %s\n", of->text, word->kid[0]->text, word->text);
                g_free(of->text);
                of->text = more;
                of->lines++;
            }
        }
    }
}

static void join(PyModules *m)
{
    guint line = 1;
    for (guint i = 0; i < m->file->len; i++) {
        const File *f = file_at(m, (gint)i);
        if (!f->reached)
            continue;
        const WsReadFile file = { f->name, line, f->lines, f->from };
        g_string_append(m->text, f->text);
        if (i)
            g_array_append_val(m->files, file);
        line += f->lines;
    }
}

PyModules *py_modules_new(const WsPython *py, const char *text, gsize length, const char *file,
                          const WsImportOptions *options)
{
    if (!options->folder)
        return NULL;
    static char *none[] = { NULL };
    PyModules *m = g_new0(PyModules, 1);
    m->file = g_ptr_array_new_with_free_func(free_file);
    m->left = g_array_new(FALSE, TRUE, sizeof(Left));
    m->files = g_array_new(FALSE, TRUE, sizeof(WsReadFile));
    m->text = g_string_new(NULL);
    m->folder = options->modules ? options->modules : none;
    m->bytes = length + 1;
    g_autofree char *base = g_path_get_basename(file), *path = NULL;
    path = g_build_filename(options->folder, base, NULL);
    char *real = realpath(path, NULL); /* Python looks where the text lies that a link leads to */
    m->root = real ? g_path_get_dirname(real) : g_strdup(options->folder);
    free(real);
    File *f = file_new(m, path, base, text, length);
    f->py = py;
    note_names(f);
    f->packages = ws_py_is_script(f->path, ws_python_module(py)) ? 0 : G_MAXUINT;
    follow(m, f);
    settle(m);
    add_names(m);
    join(m);
    if (m->files->len || m->left->len)
        return m;
    py_modules_free(m);
    return NULL;
}

void py_modules_free(PyModules *m)
{
    g_free(m->root);
    for (guint i = 0; i < m->left->len; i++) {
        g_free(g_array_index(m->left, Left, i).module);
        g_free(g_array_index(m->left, Left, i).why);
    }
    g_array_unref(m->left);
    g_array_unref(m->files);
    g_ptr_array_unref(m->file);
    g_string_free(m->text, TRUE);
    g_free(m);
}

const char *py_modules_text(const PyModules *m, gsize *length)
{
    *length = m->text->len;
    return m->text->str;
}

const GArray *py_modules_files(const PyModules *m)
{
    return m->files;
}

/* --- the tree ---------------------------------------------------------------------------------*/

typedef struct {
    const PyModules *m;
    WsPyNode **kid; /* of the whole text */
    guint n;
    GPtrArray *out;
    gboolean *placed; /* files */
} Placing;

static guint first_line(const PyModules *m, gint file)
{
    guint line = 1;
    for (gint i = 0; i < file; i++)
        line += file_at(m, i)->reached ? file_at(m, i)->lines : 0;
    return line;
}

/* The import of the file that stands in its line, which is taken; NULL. */
static const Import *taken(const PyModules *m, const File *f, const WsPyNode *s, guint line)
{
    for (guint i = 0; i < f->import->len; i++) {
        const Import *import = &g_array_index(f->import, Import, i);
        if (import->node->line == line && import->node->column == s->column &&
            file_at(m, import->file)->reached)
            return import;
    }
    return NULL;
}

static void place(Placing *p, gint file)
{
    const File *f = file_at(p->m, file);
    const guint first = first_line(p->m, file);
    p->placed[file] = TRUE;
    for (guint i = 0; i < p->n; i++) {
        WsPyNode *s = p->kid[i];
        if (s->line < first || s->line >= first + f->lines || (file && ws_py_is_main(s)))
            continue;
        const Import *import =
            s->kind == WS_PY_IMPORT ? taken(p->m, f, s, s->line - first + 1) : NULL;
        if (!import)
            g_ptr_array_add(p->out, s);
        else if (!p->placed[import->file])
            place(p, import->file);
    }
}

void py_modules_place(const PyModules *m, const WsPython *py)
{
    WsPyNode *module = (WsPyNode *)ws_python_module(py);
    g_autoptr(GPtrArray) out = g_ptr_array_new();
    g_autofree gboolean *placed = g_new0(gboolean, m->file->len);
    Placing p = { m, module->kid, module->n, out, placed };
    if (!m->files->len)
        return;
    place(&p, 0);
    memcpy(module->kid, out->pdata,
           out->len * sizeof *module->kid); /* never more than were there */
    module->n = out->len;
}

void py_modules_explain(const PyModules *m, GPtrArray *unread)
{
    for (guint i = 0; i < m->left->len; i++) {
        const Left *left = &g_array_index(m->left, Left, i);
        g_autofree char *of = g_strdup_printf("`%s.", left->module);
        for (guint k = 0; k < unread->len; k++) {
            WsUnread *u = unread->pdata[k];
            if (!strstr(u->what, of))
                continue;
            char *what =
                g_strdup_printf("%s (`%s` is not read: %s)", u->what, left->module, left->why);
            g_free(u->what);
            u->what = what;
        }
    }
}
