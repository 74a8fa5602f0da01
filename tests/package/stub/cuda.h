/* What a package's header needs of CUDA's, for a driver that only says what it was asked
 * (driver.c). */
#pragma once

typedef unsigned long long CUdeviceptr;
typedef struct CUstream_st *CUstream;
