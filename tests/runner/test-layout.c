/* Where cuda.h is installed: our own declarations have its layouts and values. */
#include "runner/cuda_driver.h"

#include <cuda.h>
#include <glib.h>

#define SAME_VALUE(ours, theirs) g_assert_cmpint((int)(ours), ==, (int)(theirs))
#define SAME_PLACE(type, field, theirs, other)                                                     \
    g_assert_cmpuint(offsetof(type, field), ==, offsetof(theirs, other))

static void test_layout(void)
{
    g_assert_cmpuint(sizeof(WsCuTensorMap), ==, sizeof(CUtensorMap));
    g_assert_cmpuint(_Alignof(WsCuTensorMap), >=, _Alignof(CUtensorMap));
    g_assert_cmpuint(sizeof(WsCuAttribute), ==, sizeof(CUlaunchAttribute));
    g_assert_cmpuint(sizeof(WsCuLaunch), ==, sizeof(CUlaunchConfig));
    SAME_PLACE(WsCuAttribute, value, CUlaunchAttribute, value);
    SAME_PLACE(WsCuLaunch, block, CUlaunchConfig, blockDimX);
    SAME_PLACE(WsCuLaunch, shared, CUlaunchConfig, sharedMemBytes);
    SAME_PLACE(WsCuLaunch, stream, CUlaunchConfig, hStream);
    SAME_PLACE(WsCuLaunch, attribute, CUlaunchConfig, attrs);
    SAME_PLACE(WsCuLaunch, n_attributes, CUlaunchConfig, numAttrs);
    g_assert_cmpuint(sizeof(WsCuMemProp), ==, sizeof(CUmemAllocationProp));
    g_assert_cmpuint(sizeof(WsCuMemAccess), ==, sizeof(CUmemAccessDesc));
    SAME_PLACE(WsCuMemProp, handle_types, CUmemAllocationProp, requestedHandleTypes);
    SAME_PLACE(WsCuMemProp, location, CUmemAllocationProp, location);
    SAME_PLACE(WsCuMemProp, flags, CUmemAllocationProp, allocFlags);
    SAME_PLACE(WsCuMemAccess, flags, CUmemAccessDesc, flags);
    SAME_VALUE(WS_CU_LAUNCH_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
    SAME_VALUE(WS_CU_MEM_PINNED, CU_MEM_ALLOCATION_TYPE_PINNED);
    SAME_VALUE(WS_CU_LOCATION_DEVICE, CU_MEM_LOCATION_TYPE_DEVICE);
    SAME_VALUE(WS_CU_ACCESS_READ_WRITE, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    SAME_VALUE(WS_CU_HANDLE_FD, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    SAME_VALUE(WS_CU_NOT_READY, CUDA_ERROR_NOT_READY);
    SAME_VALUE(WS_CU_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
    SAME_VALUE(WS_CU_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
    SAME_VALUE(WS_CU_NO_BINARY, CUDA_ERROR_NO_BINARY_FOR_GPU);
    SAME_VALUE(WS_CU_UNSUPPORTED_PTX, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    SAME_VALUE(WS_CU_ATTRIBUTE_SMS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    SAME_VALUE(WS_CU_ATTRIBUTE_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    SAME_VALUE(WS_CU_ATTRIBUTE_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    SAME_VALUE(WS_CU_ATTRIBUTE_L2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    SAME_VALUE(WS_CU_FUNC_LOCAL, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    SAME_VALUE(WS_CU_FUNC_REGISTERS, CU_FUNC_ATTRIBUTE_NUM_REGS);
    SAME_VALUE(WS_CU_FUNC_MAX_SHARED, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    SAME_VALUE(WS_CU_LAUNCH_CLUSTER, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
    SAME_VALUE(WS_CU_JIT_INFO_LOG, CU_JIT_INFO_LOG_BUFFER);
    SAME_VALUE(WS_CU_JIT_INFO_SIZE, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
    SAME_VALUE(WS_CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BUFFER);
    SAME_VALUE(WS_CU_JIT_ERROR_SIZE, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
    SAME_VALUE(WS_CU_JIT_VERBOSE, CU_JIT_LOG_VERBOSE);
    SAME_VALUE(WS_CU_HOST_MAPPED, CU_MEMHOSTALLOC_DEVICEMAP);
    SAME_VALUE(9, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
    SAME_VALUE(6, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
    SAME_VALUE(7, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
    SAME_VALUE(11, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);
    SAME_VALUE(3, CU_TENSOR_MAP_DATA_TYPE_INT32);
    SAME_VALUE(3, CU_TENSOR_MAP_SWIZZLE_128B);
    SAME_VALUE(3, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/runner/layout", test_layout);
    return g_test_run();
}
