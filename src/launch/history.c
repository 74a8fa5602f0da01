#include "launch/history.h"
#include "program/program.h"

#include <glib/gstdio.h>
#include <math.h>

char *ws_history_default_file(void)
{
    const char *named = g_getenv("WARPSTAVE_HISTORY");
    if (named && *named)
        return g_strdup(named);
    return g_build_filename(g_get_user_data_dir(), "warpstave", "history.db", NULL);
}

static gboolean fail(GError **error, WsBundleError code, const char *file, const char *what)
{
    g_set_error(error, WS_BUNDLE_ERROR, code, "%s: %s", file, what);
    return FALSE;
}

#ifdef WS_HAVE_SQLITE
#include <sqlite3.h>

#define VERSION  2
#define MAX_RUNS 100000

struct WsRunStore {
    sqlite3 *db;
    char *file;
};

static const char schema[] =
    "CREATE TABLE run (id INTEGER PRIMARY KEY, time INTEGER NOT NULL, design_hash TEXT, name TEXT,"
    " sizes TEXT, device TEXT, host TEXT, state TEXT, driver INTEGER, cold_us REAL, cold_cycles "
    "REAL,"
    " sustained_us REAL, tflops REAL, sm_mhz REAL, watt REAL, overhead REAL, trace TEXT);"
    "CREATE INDEX run_design ON run (design_hash, id);"
    "PRAGMA user_version = 1;";
/* From each version to the next. */
static const char *const upgrade[VERSION] = {
    [0] = schema,
    [1] = "ALTER TABLE run ADD COLUMN note TEXT;"
          "ALTER TABLE run ADD COLUMN tags TEXT;"
          "PRAGMA user_version = 2;",
};

static gboolean failed(const WsRunStore *h, GError **error)
{
    return fail(error, WS_BUNDLE_ERROR_FAILED, h->file, sqlite3_errmsg(h->db));
}

static gboolean execute(const WsRunStore *h, const char *sql, GError **error)
{
    return sqlite3_exec(h->db, sql, NULL, NULL, NULL) == SQLITE_OK || failed(h, error);
}

static gint64 version_of(const WsRunStore *h)
{
    sqlite3_stmt *q = NULL;
    gint64 version = -1;
    if (sqlite3_prepare_v2(h->db, "PRAGMA user_version", -1, &q, NULL) == SQLITE_OK &&
        sqlite3_step(q) == SQLITE_ROW)
        version = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return version;
}

/* Two processes may meet here: the version is read again inside the transaction. */
static gboolean bring_up(const WsRunStore *h, GError **error)
{
    if (!execute(h, "BEGIN IMMEDIATE", error))
        return FALSE;
    for (gint64 version = version_of(h); version >= 0 && version < VERSION; version++)
        if (!execute(h, upgrade[version], error)) {
            sqlite3_exec(h->db, "ROLLBACK", NULL, NULL, NULL);
            return FALSE;
        }
    return execute(h, "COMMIT", error);
}

WsRunStore *ws_history_open(const char *file, GError **error)
{
    g_autoptr(WsRunStore) h = g_new0(WsRunStore, 1);
    h->file = file ? g_strdup(file) : ws_history_default_file();
    g_autofree char *folder = g_path_get_dirname(h->file);
    g_mkdir_with_parents(folder, 0700); /* if it fails, opening says why */
    if (sqlite3_open(h->file, &h->db) != SQLITE_OK) {
        failed(h, error);
        return NULL;
    }
    sqlite3_busy_timeout(h->db, 5000);
    gint64 version = version_of(h);
    if (version > VERSION) {
        g_set_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FORMAT,
                    "%s has version %" G_GINT64_FORMAT "; this program knows version %d", h->file,
                    version, VERSION);
        return NULL;
    }
    if (version < 0) {
        failed(h, error);
        return NULL;
    }
    if (!execute(h, "PRAGMA journal_mode = WAL", error) ||
        (version < VERSION && !bring_up(h, error)))
        return NULL;
    return g_steal_pointer(&h);
}

void ws_history_close(WsRunStore *h)
{
    if (!h)
        return;
    sqlite3_close(h->db);
    g_free(h->file);
    g_free(h);
}

static void bind_text(sqlite3_stmt *q, int i, const char *text)
{
    sqlite3_bind_text(q, i, text, -1, SQLITE_TRANSIENT); /* NULL binds NULL */
}

static void bind_real(sqlite3_stmt *q, int i, double value)
{
    if (isfinite(value))
        sqlite3_bind_double(q, i, value);
    else
        sqlite3_bind_null(q, i);
}

static void bind_case(sqlite3_stmt *q, const WsCollected *c, const WsCollectedCase *x,
                      const char *host, const char *trace)
{
    const WsCollectedTime *best = x->cold.n ? &x->cold : &x->sustained;
    sqlite3_bind_int64(q, 1, g_get_real_time() / G_USEC_PER_SEC);
    bind_text(q, 2, c->program->design_hash);
    bind_text(q, 3, c->name);
    bind_text(q, 4, x->label);
    bind_text(q, 5, c->device);
    bind_text(q, 6, host);
    bind_text(q, 7, x->state);
    sqlite3_bind_int64(q, 8, c->driver);
    bind_real(q, 9, x->cold.n ? x->cold.median_us : NAN);
    bind_real(q, 10, x->cold.cycles);
    bind_real(q, 11, x->sustained.n ? x->sustained.median_us : NAN);
    bind_real(q, 12, best->tflops);
    bind_real(q, 13, best->sm_mhz);
    bind_real(q, 14, x->sustained.n ? x->sustained.watt : NAN);
    bind_real(q, 15, x->overhead);
    bind_text(q, 16, trace);
}

gboolean ws_history_add(WsRunStore *h, const WsCollected *c, const char *host, const char *trace,
                        GError **error)
{
    sqlite3_stmt *q = NULL;
    g_autofree char *absolute = trace ? g_canonicalize_filename(trace, NULL) : NULL;
    if (!execute(h, "BEGIN IMMEDIATE", error))
        return FALSE;
    gboolean ok =
        sqlite3_prepare_v2(h->db,
                           "INSERT INTO run (time, design_hash, name, sizes, device, host, state,"
                           " driver, cold_us, cold_cycles, sustained_us, tflops, sm_mhz, watt,"
                           " overhead, trace) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                           -1, &q, NULL) == SQLITE_OK;
    for (guint i = 0; ok && i < c->cases->len; i++) {
        const WsCollectedCase *x = c->cases->pdata[i];
        if (g_strcmp0(x->state, "not run") == 0)
            continue;
        bind_case(q, c, x, host, i == 0 ? absolute : NULL);
        ok = sqlite3_step(q) == SQLITE_DONE && sqlite3_reset(q) == SQLITE_OK;
    }
    if (!ok)
        failed(h, error);
    sqlite3_finalize(q);
    if (!ok) {
        sqlite3_exec(h->db, "ROLLBACK", NULL, NULL, NULL);
        return FALSE;
    }
    return execute(h, "COMMIT", error);
}

static void run_free(gpointer data)
{
    WsHistoryRun *r = data;
    g_free(r->design_hash);
    g_free(r->name);
    g_free(r->sizes);
    g_free(r->device);
    g_free(r->host);
    g_free(r->state);
    g_free(r->trace);
    g_free(r->note);
    g_free(r->tags);
    g_free(r);
}

static char *column_text(sqlite3_stmt *q, int i)
{
    const char *text = (const char *)sqlite3_column_text(q, i);
    return text ? g_utf8_make_valid(text, -1) : NULL;
}

static double column_real(sqlite3_stmt *q, int i)
{
    return sqlite3_column_type(q, i) == SQLITE_NULL ? NAN : sqlite3_column_double(q, i);
}

static WsHistoryRun *row_of(sqlite3_stmt *q)
{
    WsHistoryRun *r = g_new0(WsHistoryRun, 1);
    r->id = sqlite3_column_int64(q, 0);
    r->time = sqlite3_column_int64(q, 1);
    r->design_hash = column_text(q, 2);
    r->name = column_text(q, 3);
    r->sizes = column_text(q, 4);
    r->device = column_text(q, 5);
    r->host = column_text(q, 6);
    r->state = column_text(q, 7);
    r->driver = (guint)sqlite3_column_int64(q, 8);
    r->cold_us = column_real(q, 9);
    r->sustained_us = column_real(q, 11);
    r->tflops = column_real(q, 12);
    r->sm_mhz = column_real(q, 13);
    r->watt = column_real(q, 14);
    r->overhead = column_real(q, 15);
    r->trace = column_text(q, 16);
    r->note = column_text(q, 17);
    r->tags = column_text(q, 18);
    return r;
}

GPtrArray *ws_history_list(WsRunStore *h, const char *design_hash, guint limit, GError **error)
{
    sqlite3_stmt *q = NULL;
    g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func(run_free);
    gboolean ok = sqlite3_prepare_v2(h->db,
                                     "SELECT id, time, design_hash, name, sizes, device, host,"
                                     " state, driver, cold_us, cold_cycles, sustained_us, tflops,"
                                     " sm_mhz, watt, overhead, trace, note, tags FROM run"
                                     " WHERE ?1 IS NULL OR design_hash = ?1"
                                     " ORDER BY id DESC LIMIT ?2",
                                     -1, &q, NULL) == SQLITE_OK;
    int code = SQLITE_DONE;
    if (ok) {
        bind_text(q, 1, design_hash);
        sqlite3_bind_int64(q, 2, MIN(limit, MAX_RUNS));
        while ((code = sqlite3_step(q)) == SQLITE_ROW)
            g_ptr_array_add(runs, row_of(q));
    }
    ok = ok && code == SQLITE_DONE;
    if (!ok)
        failed(h, error);
    sqlite3_finalize(q);
    return ok ? g_steal_pointer(&runs) : NULL;
}

gboolean ws_history_annotate(WsRunStore *h, gint64 id, const char *note, const char *tags,
                             GError **error)
{
    sqlite3_stmt *q = NULL;
    gboolean ok = sqlite3_prepare_v2(h->db, "UPDATE run SET note = ?, tags = ? WHERE id = ?", -1,
                                     &q, NULL) == SQLITE_OK;
    if (ok) {
        bind_text(q, 1, note && *note ? note : NULL);
        bind_text(q, 2, tags && *tags ? tags : NULL);
        sqlite3_bind_int64(q, 3, id);
        ok = sqlite3_step(q) == SQLITE_DONE;
    }
    if (!ok)
        failed(h, error);
    else if (sqlite3_changes(h->db) == 0)
        ok = fail(error, WS_BUNDLE_ERROR_FAILED, h->file, "no such run");
    sqlite3_finalize(q);
    return ok;
}

#else /* built without SQLite */

static gboolean no_sqlite(GError **error)
{
    return fail(error, WS_BUNDLE_ERROR_ABSENT, "run history",
                "this build has no SQLite (Debian: apt install libsqlite3-dev)");
}

WsRunStore *ws_history_open(const char *file, GError **error)
{
    no_sqlite(error);
    return NULL;
}

void ws_history_close(WsRunStore *h)
{
}

gboolean ws_history_add(WsRunStore *h, const WsCollected *c, const char *host, const char *trace,
                        GError **error)
{
    return no_sqlite(error);
}

GPtrArray *ws_history_list(WsRunStore *h, const char *design_hash, guint limit, GError **error)
{
    no_sqlite(error);
    return NULL;
}

gboolean ws_history_annotate(WsRunStore *h, gint64 id, const char *note, const char *tags,
                             GError **error)
{
    return no_sqlite(error);
}
#endif
