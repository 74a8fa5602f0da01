/* Meshes of TLE that are the cluster of a launch (tle_mesh.c). */
#pragma once

#include "import/python/pyread.h"

G_BEGIN_DECLS

#define PY_MESH_AXES 3

/* One CTA of a mesh, by its coordinates. */
const Val *py_mesh_one(PyRead *p, const Val *mesh, const Val *index);
gboolean py_mesh_same(const Val *a, const Val *b);   /* axes of the same names and sizes */
gint py_mesh_axis(const Val *mesh, const Val *axis); /* -1: it has none of that name or number */
/* CTAs are counted with the last axis fastest, as shard_id and remote of upstream do. */
gint64 py_mesh_stride(const Val *mesh, guint axis);
const WsExpr *py_mesh_coordinate(PyRead *p, const Val *mesh, guint axis); /* of this CTA */
/* Before the first statement of the kernel: what it asks a mesh for makes the cluster. */
void py_mesh_ahead(PyRead *p, const Val **args);
/* The number of this program, where `pid` counts clusters. */
const WsExpr *py_mesh_program(PyRead *p, const WsExpr *pid);
const WsExpr *py_mesh_part(PyRead *p, gboolean rest, const WsExpr *e, gint64 n);
const WsExpr *py_mesh_clusters(PyRead *p, const WsExpr *grid);
void py_mesh_finish(PyRead *p);
/* Why it is not the mesh of the launch; NULL: it is. */
const char *py_no_mesh(const PyRead *p, const Val *mesh);
const char *py_no_mesh_part(const PyRead *p, const Val *mesh); /* the same; one CTA of it will do */
const Val *py_mesh_meet(PyRead *p, const WsPyNode *at);        /* at the barrier of the cluster */
const Val *py_remote_part(PyRead *p, const Val *remote, const Val *indices, const WsPyNode *at);

G_END_DECLS
