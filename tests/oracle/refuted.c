#include "refuted.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

void refuted_free(gpointer data)
{
    Refuted *r = data;
    g_clear_pointer(&r->program, ws_program_unref);
    g_clear_pointer(&r->design, ws_design_unref);
    ws_findings_free(r->findings);
    g_free(r->file);
    g_free(r);
}

Refuted *refuted_load(const char *file, const WsCheckOptions *options)
{
    Refuted *r = g_new0(Refuted, 1);
    r->file = g_strdup(file);
    r->findings = ws_findings_new();
    r->design = ws_design_load(file, r->findings);
    r->program = r->design ? ws_elaborate(r->design, NULL, 0, r->findings) : NULL;
    if (r->program && !ws_findings_count(r->findings, WS_SEVERITY_ERROR)) {
        g_autoptr(WsVerdict) v = ws_check(r->program, options, r->findings);
        for (guint i = 0; i < r->findings->list->len && !r->first; i++) {
            const WsFinding *f = r->findings->list->pdata[i];
            if (f->severity == WS_SEVERITY_ERROR && ws_rule(f->rule)->klass == WS_CLASS_P)
                r->first = f;
        }
        if (v->kind == WS_VERDICT_REFUTED && r->first)
            return r;
    }
    refuted_free(r);
    return NULL;
}

static gint by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void refuted_add(GPtrArray *all, const char *folder, char letter, const WsCheckOptions *options,
                 gboolean (*asked)(const Refuted *r), const char *prefix,
                 void (*test)(gconstpointer refuted))
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, "tests/designs", folder, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    guint n = 0;
    for (const char *name; dir && (name = g_dir_read_name(dir));)
        if ((!letter || *name == letter) && g_str_has_suffix(name, ".wstave"))
            g_ptr_array_add(names, g_strdup(name));
    g_ptr_array_sort(names, by_name);
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *file = g_build_filename(path, names->pdata[i], NULL);
        g_autofree char *title = g_strdup_printf("%s/%s", prefix, (char *)names->pdata[i]);
        Refuted *r = refuted_load(file, options);
        if (r && asked && !asked(r))
            g_clear_pointer(&r, refuted_free);
        if (!r)
            continue;
        g_ptr_array_add(all, r);
        g_test_add_data_func(title, r, test);
        n++;
    }
    g_print("# %s: asked of %u of %u designs\n", folder, n, names->len);
}
