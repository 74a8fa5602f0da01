/* Findings and verdicts in the words of their target: Ascend has no CTAs, warps, lanes or
 * mbarriers. What a rule says stays a phrase; its templates are exchanged for those of the target.
 */
#include "check/own_words.h"
#include "base/phrase.h"
#include "check/verdict.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/program.h"
#include "target/target.h"

static const char *own_text(const char *text, gpointer target)
{
    return ws_target_own_word(target, text);
}

void ws_own_words(const WsTarget *target, char **phrase, char **english)
{
    if (!*phrase || !target || !target->word)
        return;
    char *own = ws_phrase_with(*phrase, own_text, (gpointer)target);
    g_free(*phrase);
    *phrase = own;
    if (english) {
        g_free(*english);
        *english = ws_phrase_text(own, NULL, NULL);
    }
}

static void own_list(const WsTarget *target, GPtrArray *phrases)
{
    for (guint i = 0; i < phrases->len; i++)
        ws_own_words(target, (char **)&phrases->pdata[i], NULL);
}

void ws_check_own_words(const WsProgram *p, WsVerdict *v, WsFindings *findings)
{
    const WsTarget *target = p->hardware;
    v->target = target;
    if (!target || !target->word)
        return;
    for (guint i = 0; i < findings->list->len; i++) {
        WsFinding *f = findings->list->pdata[i];
        ws_own_words(target, &f->said, &f->message);
        ws_own_words(target, &f->what, NULL);
        ws_own_words(target, &f->advised, &f->remedy);
        ws_own_words(target, &f->barrier_said, &f->barrier);
        for (guint k = 0; f->story && k < f->story->len; k++) {
            WsStoryLine *line = f->story->pdata[k];
            ws_own_words(target, &line->said, &line->text);
        }
    }
    ws_own_words(target, &v->weakest, NULL);
    ws_own_words(target, &v->reason, NULL);
    own_list(target, v->skipped);
    own_list(target, v->assumed);
}
