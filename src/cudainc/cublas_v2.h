// cuBLAS, declared, never linked: programs that compare their kernels with it compile. FW_HOST_FUNCTION says how.
#pragma once

#include "cuComplex.h"
#include "cuda_fp16.h"
#include "driver_types.h"
#include "fullwarp/host_library.h"
#include "library_types.h"

typedef struct cublasContext* cublasHandle_t;
typedef enum {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum {
  CUBLAS_OP_N = 0,
  CUBLAS_OP_T = 1,
  CUBLAS_OP_C = 2,
  CUBLAS_OP_HERMITAN = 2,
  CUBLAS_OP_CONJG = 3
} cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;
typedef enum {
  CUBLAS_GEMM_DFALT = -1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99
} cublasGemmAlgo_t;
typedef enum {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_32I = 72
} cublasComputeType_t;
typedef cudaDataType cublasDataType_t;

FW_HOST_FUNCTION(cublasStatus_t, cublasCreate)
FW_HOST_FUNCTION(cublasStatus_t, cublasCreate_v2)
FW_HOST_FUNCTION(cublasStatus_t, cublasDestroy)
FW_HOST_FUNCTION(cublasStatus_t, cublasDestroy_v2)
FW_HOST_FUNCTION(cublasStatus_t, cublasGetVersion)
FW_HOST_FUNCTION(cublasStatus_t, cublasSetStream)
FW_HOST_FUNCTION(cublasStatus_t, cublasGetStream)
FW_HOST_FUNCTION(cublasStatus_t, cublasSetPointerMode)
FW_HOST_FUNCTION(cublasStatus_t, cublasGetPointerMode)
FW_HOST_FUNCTION(cublasStatus_t, cublasSetMathMode)
FW_HOST_FUNCTION(cublasStatus_t, cublasGetMathMode)
FW_HOST_FUNCTION(cublasStatus_t, cublasSetAtomicsMode)
FW_HOST_FUNCTION(cublasStatus_t, cublasSetWorkspace)
FW_HOST_FUNCTION(cublasStatus_t, cublasSetVector)
FW_HOST_FUNCTION(cublasStatus_t, cublasGetVector)
FW_HOST_FUNCTION(cublasStatus_t, cublasSetMatrix)
FW_HOST_FUNCTION(cublasStatus_t, cublasGetMatrix)
FW_HOST_FUNCTION(cublasStatus_t, cublasSetVectorAsync)
FW_HOST_FUNCTION(cublasStatus_t, cublasGetVectorAsync)
FW_HOST_FUNCTION(cublasStatus_t, cublasGemmEx)
FW_HOST_FUNCTION(cublasStatus_t, cublasGemmStridedBatchedEx)
FW_HOST_FUNCTION(cublasStatus_t, cublasGemmBatchedEx)
FW_HOST_FUNCTION(cublasStatus_t, cublasSgemmEx)
FW_HOST_FUNCTION(cublasStatus_t, cublasHgemm)
FW_HOST_FUNCTION(cublasStatus_t, cublasHgemmBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasHgemmStridedBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasDotEx)
FW_HOST_FUNCTION(cublasStatus_t, cublasAxpyEx)
FW_HOST_FUNCTION(cublasStatus_t, cublasScalEx)
FW_HOST_FUNCTION(cublasStatus_t, cublasNrm2Ex)
FW_HOST_FUNCTION(cublasStatus_t, cublasScnrm2)
FW_HOST_FUNCTION(cublasStatus_t, cublasDznrm2)
FW_HOST_FUNCTION(cublasStatus_t, cublasScasum)
FW_HOST_FUNCTION(cublasStatus_t, cublasDzasum)
FW_HOST_FUNCTION(cublasStatus_t, cublasCdotu)
FW_HOST_FUNCTION(cublasStatus_t, cublasCdotc)
FW_HOST_FUNCTION(cublasStatus_t, cublasZdotu)
FW_HOST_FUNCTION(cublasStatus_t, cublasZdotc)
FW_HOST_FUNCTION(cublasStatus_t, cublasSdot)
FW_HOST_FUNCTION(cublasStatus_t, cublasDdot)
FW_HOST_FUNCTION(cublasStatus_t, cublasCgemm3m)
FW_HOST_FUNCTION(cublasStatus_t, cublasSaxpy)
FW_HOST_FUNCTION(cublasStatus_t, cublasDaxpy)
FW_HOST_FUNCTION(cublasStatus_t, cublasCaxpy)
FW_HOST_FUNCTION(cublasStatus_t, cublasZaxpy)
FW_HOST_FUNCTION(cublasStatus_t, cublasScopy)
FW_HOST_FUNCTION(cublasStatus_t, cublasDcopy)
FW_HOST_FUNCTION(cublasStatus_t, cublasCcopy)
FW_HOST_FUNCTION(cublasStatus_t, cublasZcopy)
FW_HOST_FUNCTION(cublasStatus_t, cublasSscal)
FW_HOST_FUNCTION(cublasStatus_t, cublasDscal)
FW_HOST_FUNCTION(cublasStatus_t, cublasCscal)
FW_HOST_FUNCTION(cublasStatus_t, cublasZscal)
FW_HOST_FUNCTION(cublasStatus_t, cublasSswap)
FW_HOST_FUNCTION(cublasStatus_t, cublasDswap)
FW_HOST_FUNCTION(cublasStatus_t, cublasCswap)
FW_HOST_FUNCTION(cublasStatus_t, cublasZswap)
FW_HOST_FUNCTION(cublasStatus_t, cublasSgemv)
FW_HOST_FUNCTION(cublasStatus_t, cublasDgemv)
FW_HOST_FUNCTION(cublasStatus_t, cublasCgemv)
FW_HOST_FUNCTION(cublasStatus_t, cublasZgemv)
FW_HOST_FUNCTION(cublasStatus_t, cublasSgemm)
FW_HOST_FUNCTION(cublasStatus_t, cublasDgemm)
FW_HOST_FUNCTION(cublasStatus_t, cublasCgemm)
FW_HOST_FUNCTION(cublasStatus_t, cublasZgemm)
FW_HOST_FUNCTION(cublasStatus_t, cublasSgemmBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasDgemmBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasCgemmBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasZgemmBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasSgemmStridedBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasDgemmStridedBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasCgemmStridedBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasZgemmStridedBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasStrsm)
FW_HOST_FUNCTION(cublasStatus_t, cublasDtrsm)
FW_HOST_FUNCTION(cublasStatus_t, cublasCtrsm)
FW_HOST_FUNCTION(cublasStatus_t, cublasZtrsm)
FW_HOST_FUNCTION(cublasStatus_t, cublasStrsmBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasDtrsmBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasCtrsmBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasZtrsmBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasStrmm)
FW_HOST_FUNCTION(cublasStatus_t, cublasDtrmm)
FW_HOST_FUNCTION(cublasStatus_t, cublasCtrmm)
FW_HOST_FUNCTION(cublasStatus_t, cublasZtrmm)
FW_HOST_FUNCTION(cublasStatus_t, cublasStrsv)
FW_HOST_FUNCTION(cublasStatus_t, cublasDtrsv)
FW_HOST_FUNCTION(cublasStatus_t, cublasCtrsv)
FW_HOST_FUNCTION(cublasStatus_t, cublasZtrsv)
FW_HOST_FUNCTION(cublasStatus_t, cublasSsyrk)
FW_HOST_FUNCTION(cublasStatus_t, cublasDsyrk)
FW_HOST_FUNCTION(cublasStatus_t, cublasCsyrk)
FW_HOST_FUNCTION(cublasStatus_t, cublasZsyrk)
FW_HOST_FUNCTION(cublasStatus_t, cublasSsymm)
FW_HOST_FUNCTION(cublasStatus_t, cublasDsymm)
FW_HOST_FUNCTION(cublasStatus_t, cublasCsymm)
FW_HOST_FUNCTION(cublasStatus_t, cublasZsymm)
FW_HOST_FUNCTION(cublasStatus_t, cublasSgeam)
FW_HOST_FUNCTION(cublasStatus_t, cublasDgeam)
FW_HOST_FUNCTION(cublasStatus_t, cublasCgeam)
FW_HOST_FUNCTION(cublasStatus_t, cublasZgeam)
FW_HOST_FUNCTION(cublasStatus_t, cublasSdgmm)
FW_HOST_FUNCTION(cublasStatus_t, cublasDdgmm)
FW_HOST_FUNCTION(cublasStatus_t, cublasCdgmm)
FW_HOST_FUNCTION(cublasStatus_t, cublasZdgmm)
FW_HOST_FUNCTION(cublasStatus_t, cublasSgetrfBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasDgetrfBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasCgetrfBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasZgetrfBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasSgetriBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasDgetriBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasCgetriBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasZgetriBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasSgemvStridedBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasDgemvStridedBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasCgemvStridedBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasZgemvStridedBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasSgemvBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasDgemvBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasCgemvBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasZgemvBatched)
FW_HOST_FUNCTION(cublasStatus_t, cublasSnrm2)
FW_HOST_FUNCTION(cublasStatus_t, cublasDnrm2)
FW_HOST_FUNCTION(cublasStatus_t, cublasSasum)
FW_HOST_FUNCTION(cublasStatus_t, cublasDasum)
FW_HOST_FUNCTION(cublasStatus_t, cublasSsymv)
FW_HOST_FUNCTION(cublasStatus_t, cublasDsymv)
FW_HOST_FUNCTION(cublasStatus_t, cublasSger)
FW_HOST_FUNCTION(cublasStatus_t, cublasDger)
FW_HOST_FUNCTION(cublasStatus_t, cublasSsyr)
FW_HOST_FUNCTION(cublasStatus_t, cublasDsyr)
FW_HOST_FUNCTION(cublasStatus_t, cublasSrot)
FW_HOST_FUNCTION(cublasStatus_t, cublasDrot)
FW_HOST_FUNCTION(cublasStatus_t, cublasSsbmv)
FW_HOST_FUNCTION(cublasStatus_t, cublasDsbmv)
FW_HOST_FUNCTION(cublasStatus_t, cublasSspmv)
FW_HOST_FUNCTION(cublasStatus_t, cublasDspmv)
FW_HOST_FUNCTION(cublasStatus_t, cublasSsyr2)
FW_HOST_FUNCTION(cublasStatus_t, cublasDsyr2)
FW_HOST_FUNCTION(cublasStatus_t, cublasIsamax)
FW_HOST_FUNCTION(cublasStatus_t, cublasIsamin)
FW_HOST_FUNCTION(cublasStatus_t, cublasIdamax)
FW_HOST_FUNCTION(cublasStatus_t, cublasIdamin)
FW_HOST_FUNCTION(cublasStatus_t, cublasIcamax)
FW_HOST_FUNCTION(cublasStatus_t, cublasIcamin)
FW_HOST_FUNCTION(cublasStatus_t, cublasIzamax)
FW_HOST_FUNCTION(cublasStatus_t, cublasIzamin)
FW_HOST_FUNCTION(const char*, cublasGetStatusString)
FW_HOST_FUNCTION(const char*, cublasGetStatusName)
