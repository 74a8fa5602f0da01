#include "judge/stated.h"
#include "base/phrase.h"
#include "check/global/judge.h"
#include "program/program.h"

void ws_judge_stated(const WsImport *import, const WsProgram *program, WsVerdict *verdict,
                     WsFindings *findings)
{
    if (verdict->kind != WS_VERDICT_PROVED || !program || !import->launched || import->open->len)
        return;
    g_autofree char *twice = ws_check_global_twice(program);
    if (!twice)
        return;
    g_autofree char *why =
        ws_phrase("it is assumed that every element is written once, and %s", twice);
    ws_verdict_limit(verdict, findings, why, NULL, NULL);
}
