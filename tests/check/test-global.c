#include "check/global/judge.h"
#include "model/design.h"
#include <stdio.h>
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        g_autoptr(WsFindings) f = ws_findings_new();
        g_autoptr(WsDesign) d = ws_design_load(argv[i], f);
        g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, f) : NULL;
        if (!p) { printf("%s no program\n", argv[i]); continue; }
        g_autoptr(WsFindings) g = ws_findings_new();
        gint64 t0 = g_get_monotonic_time();
        for (int k = 0; k < 200; k++) { WsGlobalVerdict v = ws_check_global(p, g); if (k == 0) printf("%s %s ", argv[i], v.kind == 0 ? "shown" : v.kind == 1 ? "open" : "WRONG"); gboolean go = v.kind == 0 && v.assumed->len == 0; ws_global_verdict_clear(&v); if (!go) break; }
        printf("%.1f us", (g_get_monotonic_time() - t0) / 200.0);
        if (g->list->len) printf(" %s", ((WsFinding *)g->list->pdata[0])->message);
        printf("\n");
    }
}
