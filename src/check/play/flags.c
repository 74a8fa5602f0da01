/* Flags between the queues of a core. Hardware: a set raises one bit when all that its queue has
 * done before is over; a wait blocks while the bit is down, and takes it away (Ascend C API,
 * SetFlag/WaitFlag). So a set must find the bit down in every order of the queues, each set is
 * waited for once, and all bits are down at the end. */
#include "check/play/play.h"

#include "program/op.h"
#include "program/parts/barrier.h"
#include "program/program.h"

gboolean ws_is_flag(const WsPlay *play, const WsSlot *s)
{
    return play->p->barrier[s->barrier].flag;
}

gboolean ws_flag_is_up(const WsPlay *play, const WsSlot *s)
{
    return s->phase > s->taken;
}

void ws_flag_set(WsPlay *play, WsInst *inst, WsSlot *s)
{
    if (!ws_is_flag(play, s))
        return;
    const gboolean up = ws_flag_is_up(play, s);
    if (s->phase > 0 && !s->broken &&
        (up || !ws_knows(inst, ws_by_leader(inst), s->take.comp, s->take.epoch))) {
        g_autofree char *name = ws_slot_name(play, s);
        const WsEvent *other = up ? &s->set : &s->take;
        WsFinding *f = ws_report(
            play, WS_RULE_P_FLAG, inst, other,
            up ? "sets %s again: set %" G_GINT64_FORMAT " has not been waited for yet"
               : "can set %s again before the wait that takes set %" G_GINT64_FORMAT " away",
            name, s->phase - 1);
        if (f) {
            ws_report_slot(play, f, s);
            f->fact[WS_FACT_COMPLETION] = s->phase - 1;
            g_autofree char *who = ws_deed_event(play, other);
            ws_finding_tell(f, WS_STORY_FIRST, up ? "%s raises the flag" : "%s takes it away", who);
            ws_finding_tell(f, WS_STORY_MISSING,
                            "a flag or barrier that tells the queue that sets of that wait");
            ws_finding_tell(
                f, WS_STORY_SO,
                "one of two sets is lost: a later wait never returns, or meets the flag "
                "of another round");
            ws_finding_set_remedy(
                f, "let the queue that sets wait first for what follows the wait of the other "
                   "queue, or use more slots");
        }
        s->broken = TRUE;
    }
    s->set = *ws_play_event(play, inst);
    play->arena_used--;
}

void ws_flag_taken(WsPlay *play, WsSlot *s, const WsWaited *by)
{
    s->taken++;
    s->take = by->event;
    s->take.comp = by->comp;
    s->take.epoch = by->epoch;
}

void ws_flags_end(WsPlay *play)
{
    for (guint i = 0; i < play->ranks * play->n_slots; i++) {
        WsSlot *s = &play->slot[i];
        if (!ws_is_flag(play, s) || s->broken || !ws_flag_is_up(play, s))
            continue;
        g_autofree char *name = ws_slot_name(play, s);
        WsFinding *f = ws_report_event(play, WS_RULE_P_FLAG, &s->set, NULL,
                                       "leaves %s set at the end: nobody waits for set "
                                       "%" G_GINT64_FORMAT,
                                       name, s->phase - 1);
        if (!f)
            continue;
        ws_report_slot(play, f, s);
        f->fact[WS_FACT_COMPLETION] = s->phase - 1;
        ws_finding_tell(f, WS_STORY_MISSING, "a wait that takes it away");
        ws_finding_tell(f, WS_STORY_SO,
                        "the flag is still up when the next kernel of the core begins");
        ws_finding_set_remedy(f, "wait for it before the end");
    }
}
