/* Tensor maps (TMA descriptors) of a case. Limits: CUDA driver API, cuTensorMapEncodeTiled. */
#include "runner/session.h"

#include <inttypes.h>

/* CUtensorMapDataType by WsInputType; fp8 travels as bytes. */
static const int data_type[WS_INPUT_TYPE_COUNT] = {
    [WS_INPUT_F32] = 7,   [WS_INPUT_F16] = 6,  [WS_INPUT_BF16] = 9,
    [WS_INPUT_TF32] = 11, [WS_INPUT_E4M3] = 0, [WS_INPUT_E5M2] = 0,
    [WS_INPUT_I8] = 0,    [WS_INPUT_U8] = 0,   [WS_INPUT_I32] = 3,
};

bool ws_maps_encode(WsSession *s)
{
    const WsManifest *m = s->m;
    for (int i = 0; i < m->n_maps; i++) {
        const WsRunMap *map = &m->map[i];
        const WsRunTensor *t = &m->tensor[map->tensor];
        const WsRunTensorCase *c = &s->c->tensor[map->tensor];
        uint64_t extent[WS_MANIFEST_RANK], stride[WS_MANIFEST_RANK];
        uint32_t step[WS_MANIFEST_RANK];
        for (int d = 0; d < map->rank; d++) {
            int from = map->rank - 1 - d; /* innermost first */
            extent[d] = (uint64_t)c->extent[from];
            step[d] = 1;
            uint64_t bytes = (uint64_t)c->stride[from] * ws_input_bytes(t->dtype);
            if (extent[d] == 0 || extent[d] > 1ull << 32)
                return ws_session_fail(s,
                                       "tensor %s: extent %" PRIu64
                                       " of dimension %d is outside 1..2^32 (tensor map)",
                                       t->name, extent[d], from);
            if (d == 0 && c->stride[from] != 1)
                return ws_session_fail(
                    s, "tensor %s: the last dimension has stride %" PRId64 ", a tensor map needs 1",
                    t->name, c->stride[from]);
            if (d > 0 && (bytes % 16 || bytes >= 1ull << 40))
                return ws_session_fail(s,
                                       "tensor %s: dimension %d has a stride of %" PRIu64
                                       " bytes, a tensor map needs a multiple of 16",
                                       t->name, from, bytes);
            if (d > 0)
                stride[d - 1] = bytes;
        }
        int swizzle = map->swizzle == 128 ? 3 : map->swizzle == 64 ? 2 : map->swizzle == 32;
        if (!ws_cu(s,
                   s->cu.encode_tiled(&s->map[i], data_type[t->dtype], (unsigned)map->rank,
                                      (void *)(uintptr_t)s->tensor[map->tensor], extent, stride,
                                      map->box, step, 0, swizzle, 3 /* L2 promotion 256 B */, 0),
                   "cuTensorMapEncodeTiled"))
            return false;
    }
    return true;
}
