#include "cli/package/rule.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/kernels.h"
#include "cli/package/parse.h"
#include "cli/package/text.h"
#include "package/rule.h"
#include "program/program.h"

#include <stdio.h>
#include <string.h>

#ifdef WS_HAVE_CODEGEN

enum { RULE_BYTES_MOST = 1 << 20 };

/* One build; all of it is owned. */
typedef struct {
    WsCliInput in;
    char *ptx, *outcome;
    GBytes *cubin;
} Build;

static void build_free(gpointer data)
{
    Build *b = data;
    ws_cli_input_clear(&b->in);
    g_free(b->ptx);
    g_free(b->outcome);
    g_clear_pointer(&b->cubin, g_bytes_unref);
    g_free(b);
}

static int make_build(Build *b, const WsPackageRuleOptions *o, const WsShapeChoice *c)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = g_path_get_dirname(o->file);
    g_autofree char *path = g_build_filename(folder, c->design, NULL);
    g_auto(GStrv) set = g_strsplit(c->set, " ", -1);
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    for (guint i = 0; set[i]; i++)
        if (*set[i])
            g_ptr_array_add(words, set[i]);
    g_ptr_array_add(words, NULL);
    int code = ws_cli_load(&b->in, path, (char **)words->pdata);
    if (code == WS_EXIT_YES)
        code = ws_cli_refuse_refuted(&b->in, path, o->force);
    if (code != WS_EXIT_YES)
        return code;
    b->outcome = ws_cli_package_outcome(b->in.verdict);
    if (ws_cli_timed_kernel(b->in.program, &b->ptx, &b->cubin, &error))
        return WS_EXIT_YES;
    return ws_cli_fail_with(ws_cli_kernel_failure(error), error);
}

static void say(const WsPackageRuleOptions *o, const WsRulePackage *p, const char *wheel)
{
    if (o->json) {
        ws_cli_package_json(o->file, o->dir, p->name, p->build[0].outcome, NULL, wheel);
        return;
    }
    printf("%s: %s.h, %s.c, %s.py, %u builds, README.md\n", o->dir, p->name, p->name, p->name,
           p->n);
    if (wheel)
        printf("%s\n", wheel);
}

static int write_all(const WsPackageRuleOptions *o, const WsRulePackage *p)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *wheel = NULL;
    if (ws_package_rule_write(p, o->dir, &error) &&
        (!o->wheels || (wheel = ws_package_rule_wheel(p, o->wheels, &error)))) {
        say(o, p, wheel);
        return WS_EXIT_YES;
    }
    return ws_cli_package_failure(error, o->dir);
}

int ws_cli_package_rule(const WsPackageRuleOptions *o)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) settings = NULL;
    g_autofree char *text = NULL, *base = g_path_get_basename(o->file),
                    *known = o->name ? g_strdup(o->name) : ws_cli_package_name(o->file);
    gsize length;
    const int ready = ws_cli_package_ready(known, o->dir, o->wheels);
    if (ready != WS_EXIT_YES)
        return ready;
    if (!ws_cli_settings(o->size, "--size", &settings))
        return WS_EXIT_USAGE;
    g_autoptr(GHashTable) fixed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (guint i = 0; i < settings->len; i++) {
        const WsSetting *s = &g_array_index(settings, WsSetting, i);
        g_hash_table_insert(fixed, g_strdup(s->name), g_memdup2(&s->value, sizeof s->value));
    }
    g_autoptr(WsShapeRule) rule = NULL;
    if (!ws_file_read(o->file, RULE_BYTES_MOST, &text, &length, &error))
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    if (!g_utf8_validate(text, -1, NULL))
        return ws_cli_fail(WS_EXIT_USAGE, "%s is not UTF-8 text", o->file);
    if (!(rule = ws_shape_rule_parse(text, &error)))
        return ws_cli_fail(WS_EXIT_USAGE, "%s, %s", o->file, error->message);
    ws_shape_rule_narrow(rule, fixed);
    if (rule->choice->len == 0)
        return ws_cli_fail(WS_EXIT_NO, "%s: no design of the rule is left", o->file);
    g_autoptr(GPtrArray) builds = g_ptr_array_new_with_free_func(build_free);
    g_autofree WsPackageSpec *spec = g_new0(WsPackageSpec, rule->choice->len);
    g_autofree char **label = g_new0(char *, rule->choice->len);
    for (guint i = 0; i < rule->choice->len; i++) {
        const WsShapeChoice *c = rule->choice->pdata[i];
        Build *b = g_new0(Build, 1);
        g_ptr_array_add(builds, b);
        const int code = make_build(b, o, c);
        if (code != WS_EXIT_YES)
            return code;
        label[i] = c->name;
        spec[i] = (WsPackageSpec){ .program = b->in.program,
                                   .ptx = b->ptx,
                                   .cubin = b->cubin,
                                   .verdict = b->in.verdict,
                                   .outcome = b->outcome };
    }
    const WsRulePackage package = { .name = known,
                                    .file = base,
                                    .rule_text = text,
                                    .rule = rule,
                                    .fixed = fixed,
                                    .build = spec,
                                    .label = label,
                                    .n = rule->choice->len };
    return write_all(o, &package);
}

#endif
