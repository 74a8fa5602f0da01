/* Writes a bundle folder. */
#include "launch/bundle.h"
#include "runner/manifest.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

static gboolean put(const char *dir, const char *name, const void *data, gsize length,
                    GError **error)
{
    g_autofree char *path = g_build_filename(dir, name, NULL);
    return g_file_set_contents(path, data, (gssize)length, error);
}

static gboolean put_text(const char *dir, const char *name, const char *text, GError **error)
{
    return !text || put(dir, name, text, strlen(text), error);
}

static gboolean put_bytes(const char *dir, const char *name, GBytes *bytes, GError **error)
{
    gsize n;
    if (!bytes)
        return TRUE;
    const void *data = g_bytes_get_data(bytes, &n);
    return put(dir, name, data, n, error);
}

static gboolean put_all(const WsBundleSpec *spec, const char *dir, const char *manifest,
                        GError **error)
{
    const WsProgram *p = spec->program;
    if (!put_text(dir, "design.wstave", p->design_text, error) ||
        !put_text(dir, "kernel.ptx", spec->timed_ptx, error) ||
        !put_bytes(dir, "kernel.cubin", spec->timed_cubin, error) ||
        !put_text(dir, "traced.ptx", spec->traced_ptx, error) ||
        !put_bytes(dir, "traced.cubin", spec->traced_cubin, error) ||
        !put_text(dir, "debug.ptx", spec->debug_ptx, error))
        return FALSE;
    for (guint t = 0; spec->reference_ptx && t < p->n_tensors; t++) {
        g_autofree char *name = g_strdup_printf("reference-%u.ptx", t);
        if (!put_text(dir, name, spec->reference_ptx[t], error))
            return FALSE;
    }
    return put_text(dir, WS_MANIFEST_FILE, manifest, error);
}

void ws_bundle_remove(const char *dir)
{
    GDir *d = g_dir_open(dir, 0, NULL);
    const char *name;
    while (d && (name = g_dir_read_name(d))) {
        g_autofree char *path = g_build_filename(dir, name, NULL);
        g_unlink(path);
    }
    if (d)
        g_dir_close(d);
    g_rmdir(dir);
}

/* TRUE if `dir` may be replaced: absent, empty, or a bundle. */
static gboolean may_replace(const char *dir, GError **error)
{
    if (!g_file_test(dir, G_FILE_TEST_EXISTS))
        return TRUE;
    g_autofree char *manifest = g_build_filename(dir, WS_MANIFEST_FILE, NULL);
    g_autoptr(GDir) d = g_dir_open(dir, 0, error);
    if (!d)
        return FALSE;
    if (!g_dir_read_name(d) || g_file_test(manifest, G_FILE_TEST_EXISTS))
        return TRUE;
    g_set_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FAILED,
                "%s exists and is not a bundle; choose another folder", dir);
    return FALSE;
}

static gboolean fail_rename(const char *dir, GError **error)
{
    int code = errno;
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(code), "cannot write %s: %s", dir,
                g_strerror(code));
    return FALSE;
}

static gboolean move_into_place(const char *part, const char *dir, GError **error)
{
    if (!g_file_test(dir, G_FILE_TEST_EXISTS) || g_rmdir(dir) == 0)
        return g_rename(part, dir) == 0 || fail_rename(dir, error);
    g_autofree char *old = g_strconcat(part, ".old", NULL);
    if (g_rename(dir, old) != 0)
        return fail_rename(dir, error);
    if (g_rename(part, dir) != 0) {
        gboolean failed = fail_rename(dir, error);
        if (g_rename(old, dir) != 0)
            g_prefix_error(error, "the former bundle is now %s; ", old);
        return failed;
    }
    ws_bundle_remove(old);
    return TRUE;
}

gboolean ws_bundle_write(const WsBundleSpec *spec, const char *dir, WsFindings *findings,
                         GError **error)
{
    g_autofree char *manifest = ws_bundle_manifest(spec, findings, error);
    if (!manifest)
        return FALSE;
    /* The runner's own reader is the judge of what it will accept. */
    g_autofree WsManifest *check = g_new(WsManifest, 1);
    g_autofree char *copy = g_strdup(manifest);
    char why[512];
    if (!ws_manifest_parse(copy, check, why, sizeof why)) {
        g_set_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FORMAT,
                    "the manifest is refused by its own reader: %s", why);
        return FALSE;
    }
    g_autofree char *clean = g_strdup(dir);
    for (gsize n = strlen(clean); n > 1 && clean[n - 1] == '/'; n--)
        clean[n - 1] = 0;
    if (!may_replace(clean, error))
        return FALSE;
    g_autofree char *part = g_strdup_printf("%s.part-XXXXXX", clean);
    if (!g_mkdtemp_full(part, 0755)) {
        int code = errno;
        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(code),
                    "cannot make a folder beside %s: %s", clean, g_strerror(code));
        return FALSE;
    }
    if (put_all(spec, part, manifest, error) && move_into_place(part, clean, error))
        return TRUE;
    ws_bundle_remove(part);
    return FALSE;
}
