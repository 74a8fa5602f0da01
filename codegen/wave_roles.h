/* What the values of a group in halves are for (LANGUAGE section 19): which are operands, which
 * accumulators, which stand in statements. Read off the lower half. Shared by what makes code of it
 * (amdgpu) and what writes Gluon. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

typedef struct {
    gboolean a, b, sum, math; /* operand of a product, its accumulator, in a statement */
    guint klass;              /* operands whose columns are ordered alike */
} WsWaveRole;

typedef struct {
    guint n;
    WsWaveRole *role;       /* [n] values of the half */
    guint waves_m, waves_n; /* ws_waves_grid() */
} WsWaveRoles;

WsWaveRoles ws_wave_roles(const WsProgram *p); /* caller clears */
void ws_wave_roles_clear(WsWaveRoles *r);
/* A statement makes or reads a value of the class, or a product does. */
gboolean ws_wave_by_statements(const WsWaveRoles *r, guint klass);

G_END_DECLS
