/* Devices of a mesh that run one case together: memory that all of them reach, their launches, and
 * their times. They are in one process, where a device may stand in the list more than once (such
 * parts share the GPU, and nothing else is different for them), or in as many processes as there
 * are devices (mesh_link.h). Then each function below is a step that process 0 tells the others,
 * and what is done to a part is done in its own process. */
#pragma once

#include "runner/mesh_link.h"

enum { WS_MESH_PARTS = 16 };

typedef struct {
    uint64_t base, pitch; /* of all parts; from one part to the next */
    uint64_t handle[WS_MESH_PARTS];
    int n; /* parts that have memory there */
} WsMeshBlock;

struct WsRunMesh {
    WsSession *judge; /* sees the tensors of all parts as one, the part as their first dimension */
    WsLink link;
    int n;
    WsSession part[WS_MESH_PARTS];
    WsRunOptions options[WS_MESH_PARTS];
    WsRunCase case_[WS_MESH_PARTS];
    WsManifest stacked;
    WsRunCase stacked_case;
    WsMeshBlock block[WS_MANIFEST_TENSORS], flag;
    int64_t pitch[WS_MANIFEST_TENSORS + 1]; /* bytes, then the parts: what references take */
    int64_t launches;                       /* of this case, since its flags were zeroed */
};

/* Opens the session of every part and loads what it runs; `judge` becomes that of all of them. */
bool ws_mesh_open(WsSession *judge, WsRunMesh *mesh, const WsManifest *m);
/* A part of this process. */
static inline bool ws_mesh_here(const WsRunMesh *mesh, int d)
{
    return !mesh->link.n || mesh->link.own == d;
}
/* Of the others: does what process 0 says until it says the end, or is gone. */
void ws_mesh_serve(WsSession *judge, WsRunMesh *mesh, const WsManifest *m);
/* Of process 0: tells them the end. */
void ws_mesh_end(WsSession *judge, WsRunMesh *mesh);
/* As ws_case_open and ws_case_close. */
bool ws_mesh_case_open(WsSession *judge, const WsRunCase *c);
void ws_mesh_case_close(WsSession *judge);
/* As their kin of one device, for all parts. */
bool ws_mesh_poison(WsSession *judge);
bool ws_mesh_launch(WsSession *judge, WsModuleKind kind);
bool ws_mesh_synchronize(WsSession *judge);
/* One cold launch of all parts: the longest time of a part between its own events. */
bool ws_mesh_cold(WsSession *judge, WsModuleKind kind, double *us);
/* Every flag holds what the launches so far have added by the manifest. */
bool ws_mesh_flags_right(WsSession *judge);

/* mesh_trace.c: record buffers of all parts; `to` takes one behind the other. */
bool ws_mesh_clear_records(WsSession *judge);
bool ws_mesh_copy_records(WsSession *judge, unsigned char *to);
/* How far the timer of each part is ahead of that of the first one: into the case's results. */
bool ws_mesh_meet_timers(WsSession *judge);

/* mesh_memory.c: `bytes` of each part, behind each other, reached by every device of the mesh. */
bool ws_mesh_block_open(WsRunMesh *mesh, WsMeshBlock *b, uint64_t bytes, const char *what);
void ws_mesh_block_close(WsRunMesh *mesh, WsMeshBlock *b);
