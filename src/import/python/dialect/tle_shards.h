/* Shardings over the CTAs of a cluster (tle_shards.c), and what goes between CTAs for them
 * (tle_reshard.c). */
#pragma once

#include "import/python/dialect/tle_mesh.h"

G_BEGIN_DECLS

/* What a tensor is over one axis of a mesh. */
typedef enum {
    PY_SHARD_WHOLE,
    PY_SHARD_PARTIAL,
    PY_SHARD_ROWS, /* each CTA along the axis has its part of the rows */
    PY_SHARD_COLS,
} PyShard;

PyShard py_shard_of(const Val *sharding, guint axis);
/* The axes, as bits, over which rows (dimension 0) or columns (1) are split, or parts of a sum. */
guint py_shards(const Val *sharding, PyShard state);
gint64 py_shard_count(const Val *mesh, guint axes); /* CTAs along all of them */
const Val *py_sharding(PyRead *p, const Val *mesh, const guint axes[4]); /* by PyShard */
const Val *py_sharded(PyRead *p, const Val *handle, const Val *sharding);
/* The tile of this CTA, or the buffer that holds it, of the tensor `handle` sharded as `from`, once
 * it is sharded as `to`; steps and the memory of parts are made at `at`, that of the whole at
 * `whole`, another node. `stays`: a buffer will do. NULL, and refused. */
const Val *py_resharded(PyRead *p, const Val *handle, const Val *from, const Val *to,
                        gboolean stays, const WsPyNode *at, const WsPyNode *whole);

G_END_DECLS
