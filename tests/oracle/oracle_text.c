#include "oracle.h"
#include "program/parts/operation.h"

char *oracle_text(const OracleResult *r)
{
    static const struct {
        guint flag;
        const char *word;
    } words[] = {
        { ORACLE_HANG, "hang" },           { ORACLE_RACE, "race" },
        { ORACLE_PHASE, "phase" },         { ORACLE_COUNT, "count" },
        { ORACLE_BYTES, "bytes" },         { ORACLE_EXIT, "exit" },
        { ORACLE_OUTSIDE, "outside" },     { ORACLE_EXHAUSTED, "not exhausted" },
        { ORACLE_PROXY, "proxy" },         { ORACLE_REGISTER, "register" },
        { ORACLE_UNDEFINED, "undefined" }, { ORACLE_ACCESS, "access" },
        { ORACLE_LAPPED, "lapped" },       { ORACLE_UNSEEN, "unseen" },
        { ORACLE_OUTPUT, "output" },
    };
    GString *out = g_string_new(r->verdict ? NULL : "right");
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        if (r->verdict & words[i].flag)
            g_string_append_printf(out, "%s%s", out->len ? " " : "", words[i].word);
    if (r->at)
        g_string_append_printf(out, " at %s", r->at->id);
    if (r->other)
        g_string_append_printf(out, " and %s", r->other->id);
    if (r->reason)
        g_string_append_printf(out, ": %s", r->reason);
    g_string_append_printf(out, " (%u states)", r->states);
    return g_string_free(out, FALSE);
}
