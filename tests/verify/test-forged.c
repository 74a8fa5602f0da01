/* Certificates written by hand for designs that are wrong: each tries to make the verifier overlook
 * what is wrong. None may be verified. */
#include "../check/control.h"
#include "program/program.h"
#include "verify/verify.h"

#include <string.h>

/* Two groups that meet in every round, and then wait for what never comes. */
#define LOOP(count) "{'for':'k','count':'" count "','do':[SYNC]}"
#define NEVER       "{'wait':'never','use':0}"
#define TWICE(cond) "{'if':'" cond "','then':[SYNC,SYNC]}"
#define NUMBER(i, least, text)                                                                     \
    "symbol " i " number launch - least " least " most - modulus 1 every 1 left 0 text " text "\n"
#define LETTER(i, text)                                                                            \
    "symbol " i " letter launch - least - most - modulus 1 every 1 left 0 text " text "\n"

static const struct {
    const char *title;
    const char *a, *b, *assume;
    guint symbols;
    const char *symbol;
    guint nodes;      /* for a reader */
    const char *text; /* begin and nodes */
    const char *why;  /* part of the reason */
} forged[] = {
#include "forged.def"
};

static void none_is_verified(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(forged); i++) {
        const Row row = { forged[i].title,
                          WS_VERDICT_REFUTED,
                          forged[i].a,
                          forged[i].b,
                          NULL,
                          forged[i].assume,
                          NULL,
                          0,
                          FALSE };
        g_autofree char *design = design_of(&row);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) d = ws_design_parse(design, strlen(design), "forged", findings);
        g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
        g_assert_nonnull(p);
        g_autoptr(WsFindings) found = ws_findings_new();
        g_autoptr(WsVerdict) verdict =
            ws_check(p, &(WsCheckOptions){ .protocol_only = TRUE }, found);
        if (verdict->kind == WS_VERDICT_PROVED)
            g_test_fail_printf("%s: it is no wrong design", forged[i].title);
        char *text = g_strdup_printf(
            "warpstave-certificate 2\ndesign %s\npolicy 0\nsymbols %u\nsymbol 0 tiles launch - "
            "least "
            "1 most - modulus 1 every 1 left 0 text \n%srelations 0\n%send\n",
            p->design_hash, forged[i].symbols + 1, forged[i].symbol, forged[i].text);
        g_autoptr(WsVerification) v = ws_verify(p, text);
        if (v->answer == WS_VERIFIED)
            g_test_fail_printf("%s: verified", forged[i].title);
        else if (!strstr(v->reason, forged[i].why))
            g_test_fail_printf("%s: for another reason: %s", forged[i].title, v->reason);
        g_free(text);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/verify/forged by hand", none_is_verified);
    return g_test_run();
}
