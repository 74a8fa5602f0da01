/* Meshes of TLE that are the cluster of a launch (tle_mesh.c). */
#pragma once

#include "import/python/pyread.h"

G_BEGIN_DECLS

/* Before the first statement of the kernel: what it asks a mesh for makes the cluster. */
void py_mesh_ahead(PyRead *p, const Val **args);
/* The number of this program, where `pid` counts clusters. */
const WsExpr *py_mesh_program(PyRead *p, const WsExpr *pid);
const WsExpr *py_mesh_part(PyRead *p, gboolean rest, const WsExpr *e, gint64 n);
const WsExpr *py_mesh_clusters(PyRead *p, const WsExpr *grid);
void py_mesh_finish(PyRead *p);
/* Why it is not the mesh of the launch; NULL: it is. */
const char *py_no_mesh(const PyRead *p, const Val *mesh);
const Val *py_mesh_meet(PyRead *p, const WsPyNode *at); /* at the barrier of the cluster */
const Val *py_remote_part(PyRead *p, const Val *remote, const Val *indices, const WsPyNode *at);

G_END_DECLS
