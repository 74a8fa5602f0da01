#include "amd/letters.h"

#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

static const char *step(GString *out, const char *at)
{
    const gboolean branch = *at == '?';
    if (branch)
        g_string_append(out, "{\"if\":\"N > 3\",\"then\":[");
    at += branch;
    if (*at == 'C') {
        g_string_append(out, "{\"compute\":\"v = v + v\"}");
        at++;
    } else if (*at == 'm') {
        g_string_append(out, "{\"mark\":\"here\"}");
        at++;
    } else if (*at == 'P') {
        g_string_append(out, "{\"mma\":\"v\",\"a\":\"f\",\"b\":\"q\"}");
        at++;
    } else {
        const char *form = *at == 'R'   ? "{\"read\":\"v\",\"from\":\"%c\",\"use\":\"%s\"}"
                           : *at == 'Q' ? "{\"read\":\"q\",\"from\":\"%c.t\",\"use\":\"%s\"}"
                           : *at == 'W' ? "{\"write\":\"v\",\"to\":\"%c\",\"use\":\"%s\"}"
                           : at[1] == 'z'
                               ? "{\"load\":\"B\",\"at\":[0,0],\"into\":\"%c\",\"use\":\"%s\"}"
                               : "{\"load\":\"A\",\"at\":[0,0],\"into\":\"%c\",\"use\":\"%s\"}";
        const char slot[] = { at[2], '\0' };
        g_string_append_printf(out, form, at[1], at[2] == 'K' ? "k + 1" : slot);
        at += 3;
    }
    g_string_append(out, branch ? "]}" : "");
    return at;
}

/* Steps that stand in no stage. */
static void bare(GString *out, const char *at)
{
    for (const char *sep = ""; *at; sep = ",") {
        g_string_append(out, sep);
        at = step(out, at);
    }
}

static void list(GString *out, const char *letters, const char *fields)
{
    g_auto(GStrv) field = g_strsplit(fields ? fields : "", ";", -1);
    guint stage = 0, n = g_strv_length(field);
    gboolean open = FALSE, first = TRUE;
    for (const char *at = letters; *at;) {
        if (*at == ' ') {
            at++;
            continue;
        }
        if (strchr("ws", *at) || *at == '|') {
            if (open)
                g_string_append(out, "]}");
            else if (*at == '|') /* an empty stage */
                g_string_append_printf(out, "%s{\"stage\":\"s%u\",\"do\":[]}", first ? "" : ",",
                                       stage++);
            open = FALSE;
            if (*at != '|')
                g_string_append_printf(out, "%s%s", first ? "" : ",",
                                       *at == 'w' ? "{\"load_wait\":0}" : "{\"sync\":\"group\"}");
            first = FALSE;
            /* "w|" is one border */
            at += at[1] == '|' && *at != '|' ? 2 : 1;
            continue;
        }
        if (!open) {
            g_string_append_printf(out, "%s{\"stage\":\"s%u\",%s\"do\":[", first ? "" : ",", stage,
                                   stage < n ? field[stage] : "");
            stage++;
        } else {
            g_string_append_c(out, ',');
        }
        open = TRUE;
        first = FALSE;
        at = step(out, at);
    }
    g_string_append(out, open ? "]}" : "");
}

char *letters_around(const char *body)
{
    const gboolean product = strstr(body, "\"mma\"") != NULL;
    return g_strdup_printf(
        "{\"warpstave\":1,\"name\":\"stages\",\"target\":\"gfx950\",\"sizes\":{\"N\":8},"
        "\"tensors\":[{\"name\":\"A\",\"dtype\":\"f32\",\"shape\":[64,64]}%s],"
        "\"tiles\":{\"axes\":{\"t\":1},\"launch\":\"single\"},\"buffers\":["
        "{\"name\":\"x\",\"dtype\":\"f32\",\"tile\":[64,64],\"stages\":3},"
        "{\"name\":\"y\",\"dtype\":\"f32\",\"tile\":[64,64],\"stages\":3}%s],"
        "\"groups\":[{\"name\":\"all\",\"role\":\"worker\",\"warps\":8,\"values\":["
        "{\"name\":\"v\",\"dtype\":\"f32\",\"tile\":[64,64]}%s],"
        "\"body\":[{\"compute\":%s}%s]}]}",
        product ? ",{\"name\":\"B\",\"dtype\":\"f16\",\"shape\":[64,64]}" : "",
        product ? ",{\"name\":\"z\",\"dtype\":\"f16\",\"tile\":[64,64],\"stages\":3}" : "",
        product ? ",{\"name\":\"f\",\"dtype\":\"f16\",\"tile\":[64,64]},{\"name\":\"q\","
                  "\"dtype\":\"f16\",\"tile\":[64,64]}"
                : "",
        product ? "[\"v = 0\",\"f = 0\"]" : "\"v = 0\"", body);
}

WsProgram *letters_program(const char *text, WsFindings *findings)
{
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), "stages", findings);
    if (!d)
        g_error("%s", text);
    WsProgram *p = ws_elaborate(d, NULL, 0, findings);
    g_autofree char *said = ws_findings_print(findings, NULL);
    g_test_message("%s", said);
    return p;
}

char *letters_design(const char *letters, const char *fields)
{
    g_autoptr(GString) body = g_string_new(NULL);
    g_auto(GStrv) part = g_strsplit(letters, "/", -1);
    for (guint i = 0; part[i]; i++) {
        const gboolean flat = part[i][0] == '=';
        if (strcmp(part[i], "s") == 0) {
            g_string_append(body, ",{\"sync\":\"group\"}");
            continue;
        }
        g_string_append(body, flat ? "," : ",{\"for\":\"k\",\"count\":\"N\",\"do\":[");
        if (part[i][0] == '-')
            bare(body, part[i] + 1);
        else
            list(body, part[i] + flat, fields);
        g_string_append(body, flat ? "" : "]}");
    }
    return letters_around(body->str);
}
