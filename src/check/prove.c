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

/* Slots that hand a number on are written by no engine. */
static guint concerned_by(WsOpKind kind)
{
    const WsOpRow *row = ws_op_row(kind);
    guint policy = ws_op_is_raw(kind) ? WS_POLICY_WAR | WS_POLICY_GATHER : 0;
    if (row->proxy == WS_PROXY_GENERIC && row->deed == WS_DEED_ISSUE)
        policy |= WS_POLICY_GATHER;
    if (row->proxy == WS_PROXY_GENERIC && !ws_op_hands_on(kind) &&
        (row->from == WS_DATA_AT_SHARED || row->deed == WS_DEED_COMBINE))
        policy |= WS_POLICY_WAR;
    return policy;
}

guint ws_prove_concerned(const WsProgram *p)
{
    guint policy = 0;
    for (guint i = 0; i < p->n_ops; i++)
        policy |= concerned_by(p->op[i]->kind);
    for (guint i = 0; i < p->n_buffers; i++) /* of integers: expressions may read their elements */
        if (!ws_dtype_real(p->buffer[i].dtype))
            policy |= WS_POLICY_WAR;
    return policy;
}

gboolean ws_proved_under(const WsProgram *p, const WsCheckOptions *o, guint policy, guint64 *work)
{
    WsBitOptions options = ws_prove_options(o);
    options.policy |= policy;
    WsProof *proof = ws_bits_prove(p, &options);
    *work += proof->work;
    proof = ws_prove_exactly(p, &options, proof, work);
    const gboolean closed = proof->kind == WS_PROOF_CLOSED;
    ws_proof_free(proof);
    return closed;
}
