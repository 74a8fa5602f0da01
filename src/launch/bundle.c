/* Writes a bundle folder. */
#include "launch/bundle.h"
#include "base/folder.h"
#include "program/program.h"
#include "runner/manifest.h"

static gboolean put_all(const WsBundleSpec *spec, const char *dir, const char *manifest,
                        GError **error)
{
    const WsProgram *p = spec->program;
    if (!ws_folder_put_text(dir, "design.wstave", p->design_text, error) ||
        !ws_folder_put_text(dir, "kernel.ptx", spec->timed_ptx, error) ||
        !ws_folder_put_bytes(dir, "kernel.cubin", spec->timed_cubin, error) ||
        !ws_folder_put_text(dir, "traced.ptx", spec->traced_ptx, error) ||
        !ws_folder_put_bytes(dir, "traced.cubin", spec->traced_cubin, error) ||
        !ws_folder_put_text(dir, "debug.ptx", spec->debug_ptx, error) ||
        !ws_folder_put_bytes(dir, "kernel.hsaco", spec->timed_object, error))
        return FALSE;
    for (guint t = 0; spec->reference_object && t < p->n_tensors; t++) {
        g_autofree char *name = g_strdup_printf("reference-%u.hsaco", t);
        if (!ws_folder_put_bytes(dir, name, spec->reference_object[t], error))
            return FALSE;
    }
    for (guint t = 0; spec->reference_ptx && t < p->n_tensors; t++) {
        g_autofree char *name = g_strdup_printf("reference-%u.ptx", t);
        if (!ws_folder_put_text(dir, name, spec->reference_ptx[t], error))
            return FALSE;
    }
    return ws_folder_put_text(dir, WS_MANIFEST_FILE, manifest, error);
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
    g_autofree char *part = ws_folder_begin(dir, WS_MANIFEST_FILE, "a bundle", error);
    if (!part)
        return FALSE;
    if (put_all(spec, part, manifest, error) && ws_folder_commit(part, dir, "a bundle", error))
        return TRUE;
    ws_folder_remove(part);
    return FALSE;
}
