/* Inside src/cli: what `explain` says of a target. */
#pragma once

#include "target/target.h"

void ws_explain_target(const WsTarget *t); /* to standard output */
