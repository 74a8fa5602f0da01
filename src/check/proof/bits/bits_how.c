/* In which ways a proof is tried, one after the other. */
#include "check/proof/bits/bits.h"
#include "program/program.h"

/* Takes `before`. */
static WsProof *prove_again(const WsProgram *p, const WsBitOptions *o, WsHow how, WsProof *before)
{
    WsProof *proof = ws_bits_prove_as(p, o, how);
    proof->work += before->work;
    ws_proof_free(before);
    return proof;
}

/* What counters owe may be another number in every tile. Where that does not close nothing of it is
 * told. Nor does a proof close in which turns drift, but what is wrong modulo laps is wrong. */
static WsProof *prove_owing(const WsProgram *p, const WsBitOptions *o, WsHow how)
{
    const gboolean owe = !o->certificate && !o->exact && !o->rounds && !o->tiles;
    WsProof *proof = ws_bits_prove_as(p, o, how | (owe ? WS_HOW_OWE : 0));
    if (proof->owed && proof->kind != WS_PROOF_CLOSED)
        proof = prove_again(p, o, how | WS_HOW_OWE | WS_HOW_OWN, proof);
    if (proof->owed && proof->kind != WS_PROOF_CLOSED)
        proof = prove_again(p, o, how, proof);
    if (!proof->drifts)
        return proof;
    WsProof *modulo = ws_bits_prove_as(p, o, how | WS_HOW_LAPS);
    const gboolean alarm = modulo->kind == WS_PROOF_ALARM;
    proof->work += modulo->work;
    modulo->work = proof->work;
    ws_proof_free(alarm ? proof : modulo);
    return alarm ? modulo : proof;
}

/* A number that is far away is not walked to unless that has to be, and then not as far as other
 * proofs go. */
static WsProof *prove_far(const WsProgram *p, const WsBitOptions *o)
{
    enum { SHARE = 16 };
    const WsHow write = o->certificate ? WS_HOW_WRITE : 0;
    WsProof *proof = prove_owing(p, o, WS_HOW_FAR | write);
    if (!proof->letters || proof->kind == WS_PROOF_CLOSED)
        return proof;
    WsBitOptions few = *o;
    few.max_work = o->max_work / SHARE;
    WsProof *walked = prove_owing(p, &few, write);
    walked->work += proof->work;
    if (walked->kind == WS_PROOF_CAP && proof->kind == WS_PROOF_ALARM) {
        proof->work = walked->work;
        ws_proof_free(walked);
        return proof;
    }
    ws_proof_free(proof);
    return walked;
}

/* Names of rounds stand for more than there is. Where they lead to an alarm every count is followed
 * as it is, as far as that goes. What lets and sums of names lead out of the fragment may be within
 * it as it stands. */
WsProof *ws_bits_prove(const WsProgram *p, const WsBitOptions *options)
{
    WsHow how = options->certificate ? WS_HOW_WRITE : 0;
    WsProof *proof = prove_far(p, options);
    if (proof->kind == WS_PROOF_OUTSIDE && !p->has_raw) {
        WsProof *as_is = ws_bits_prove_as(p, options, WS_HOW_PAGE);
        gboolean better = as_is->kind == WS_PROOF_CLOSED || as_is->kind == WS_PROOF_ALARM;
        ws_proof_free(better ? proof : as_is);
        proof = better ? as_is : proof;
        how = better ? WS_HOW_PAGE : how;
    }
    if (proof->leads && !(how & WS_HOW_PAGE) &&
        (proof->kind == WS_PROOF_ALARM || proof->kind == WS_PROOF_CAP)) {
        WsProof *led = prove_owing(p, options, how | WS_HOW_FAR | WS_HOW_LEAD); /* L-BEGIN */
        const gboolean better = led->kind == WS_PROOF_CLOSED || led->kind == WS_PROOF_ALARM;
        led->work += proof->work;
        ws_proof_free(better ? proof : led);
        proof = better ? led : proof;
    }
    if (proof->kind != WS_PROOF_ALARM || !proof->by_index)
        return proof;
    WsProof *plain = ws_bits_prove_as(p, options, how | WS_HOW_PLAIN);
    if (plain->kind != WS_PROOF_CLOSED && plain->kind != WS_PROOF_ALARM) {
        ws_proof_free(plain);
        return proof;
    }
    ws_proof_free(proof);
    return plain;
}
