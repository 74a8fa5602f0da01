/* Loops in the hint form: what the design says of them, and the program without their stages. */
#include "program/parts/staged.h"

#include "model/design.h"
#include "model/finding.h"
#include "model/hint.h"
#include "program/arena.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

static WsDesign *design_of(const WsProgram *p)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design =
        ws_design_parse(p->design_text, strlen(p->design_text), p->file, findings);
    return design && ws_hint_in(design) ? g_steal_pointer(&design) : NULL;
}

static void loop_free(gpointer data)
{
    WsStagedLoop *loop = data;
    for (guint i = 0; i < loop->n; i++) {
        g_free(loop->group[i].name);
        g_free(loop->group[i].place);
        g_free(loop->group[i].executor);
    }
    g_free(loop->group);
    g_free(loop->name);
    g_free(loop->place);
    g_free(loop->home);
    g_free(loop);
}

static WsStagedLoop *loop_of(const WsDesign *design, const WsHintLoop *from)
{
    WsStagedLoop *to = g_new0(WsStagedLoop, 1);
    *to = (WsStagedLoop){ .name = g_strdup(ws_node_name(from->loop)),
                          .place = ws_design_place(design, from->loop),
                          .home = g_strdup(ws_node_name(from->home)),
                          .stages = from->stages,
                          .n = from->n,
                          .group = g_new0(WsStagedGroup, from->n + 1) };
    for (guint i = 0; i < from->n; i++) {
        const WsHintCell *cell = &from->cell[i];
        to->group[i] = (WsStagedGroup){ .name = g_strdup(ws_node_name(cell->node)),
                                        .place = ws_design_place(design, cell->node),
                                        .executor = g_strdup(ws_node_name(cell->executor)),
                                        .stage = cell->stage,
                                        .order = cell->order };
    }
    return to;
}

GPtrArray *ws_staged_loops(const WsProgram *p)
{
    g_autoptr(WsDesign) design = design_of(p);
    if (!design)
        return NULL;
    g_autoptr(GPtrArray) loops = ws_hint_loops(design);
    GPtrArray *all = g_ptr_array_new_with_free_func(loop_free);
    for (guint i = 0; i < loops->len; i++)
        g_ptr_array_add(all, loop_of(design, loops->pdata[i]));
    return all;
}

const WsStagedLoop *ws_staged_loop(const GPtrArray *loops, const char *step, guint *group)
{
    for (guint i = 0; step && i < loops->len; i++) {
        const WsStagedLoop *loop = loops->pdata[i];
        for (guint k = 0; k < loop->n; k++) {
            const char *place = loop->group[k].place;
            const gsize n = strlen(place);
            if (strncmp(step, place, n) || (step[n] && step[n] != '/' && step[n] != '#'))
                continue;
            *group = k;
            return loop;
        }
    }
    return NULL;
}

WsProgram *ws_program_in_order(const WsProgram *p)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = design_of(p);
    g_autoptr(WsDesign) plain = design ? ws_hint_in_order(design) : NULL;
    WsProgram *made = plain ? ws_elaborate(plain, NULL, 0, findings) : NULL;
    if (made && ws_findings_count(findings, WS_SEVERITY_ERROR))
        g_clear_pointer(&made, ws_program_unref);
    if (made) { /* whose text it is */
        made->design_text = ws_arena_strdup(made->arena, p->design_text);
        made->design_hash = ws_arena_strdup(made->arena, p->design_hash);
    }
    return made;
}
