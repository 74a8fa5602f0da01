#include "check/prove.h"

#include "program/op.h"
#include "program/parts/buffer.h"
#include "program/program.h"

#define MOST_WORK ((guint64)400 << 20)

guint64 ws_prove_work(const WsCheckOptions *o)
{
    return o->max_work ? o->max_work : MOST_WORK;
}

WsBitOptions ws_prove_options(const WsCheckOptions *o)
{
    return (WsBitOptions){ .max_states = o->max_states ? o->max_states : 16000,
                           .max_work = ws_prove_work(o),
                           .cancel = o->cancel,
                           .states = o->progress ? &o->progress->states : NULL,
                           .in_step = o->in_step,
                           .laps = o->foreign,
                           .policy = o->policy };
}

WsProof *ws_prove_exactly(const WsProgram *p, const WsBitOptions *options, WsProof *proof,
                          guint64 *work)
{
    if (proof->kind != WS_PROOF_ALARM && proof->kind != WS_PROOF_CAP)
        return proof;
    WsBitOptions o = *options;
    o.exact = TRUE;
    o.max_states = MIN(4000, o.max_states);
    WsProof *exact = ws_bits_prove(p, &o);
    *work += exact->work;
    if (exact->kind != WS_PROOF_CLOSED && exact->kind != WS_PROOF_ALARM) {
        ws_proof_free(exact);
        return proof;
    }
    ws_proof_free(proof);
    return exact;
}

/* Whether an operation is one that the policy is about: without one both policies are the same.
 * Slots that hand a number on are written by no engine. */
static gboolean concerns(WsOpKind kind, WsPolicy policy)
{
    const WsOpRow *row = ws_op_row(kind);
    if (ws_op_is_raw(kind))
        return TRUE;
    if (policy == WS_POLICY_GATHER)
        return row->proxy == WS_PROXY_GENERIC && row->deed == WS_DEED_ISSUE;
    return row->proxy == WS_PROXY_GENERIC && !ws_op_hands_on(kind) &&
           (row->from == WS_DATA_AT_SHARED || row->deed == WS_DEED_COMBINE);
}

/* Elements of such buffers stand in expressions, which read them. */
static gboolean has_integers(const WsProgram *p)
{
    for (guint i = 0; i < p->n_buffers; i++)
        if (!ws_dtype_real(p->buffer[i].dtype))
            return TRUE;
    return FALSE;
}

gboolean ws_proved_under(const WsProgram *p, const WsCheckOptions *o, WsPolicy policy,
                         guint64 *work)
{
    gboolean any = policy == WS_POLICY_WAR && has_integers(p);
    for (guint i = 0; i < p->n_ops && !any; i++)
        any = concerns(p->op[i]->kind, policy);
    if (!any)
        return TRUE;
    WsBitOptions options = ws_prove_options(o);
    options.policy |= policy;
    WsProof *proof = ws_bits_prove(p, &options);
    *work += proof->work;
    proof = ws_prove_exactly(p, &options, proof, work);
    const gboolean closed = proof->kind == WS_PROOF_CLOSED;
    ws_proof_free(proof);
    return closed;
}
