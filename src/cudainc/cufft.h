// cuFFT, declared, never linked. FW_HOST_FUNCTION says how.
#pragma once

#include "cuComplex.h"
#include "driver_types.h"
#include "fullwarp/host_library.h"
#include "library_types.h"

#define CUFFT_FORWARD -1
#define CUFFT_INVERSE 1

typedef int cufftHandle;
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;
typedef enum cufftResult_t {
  CUFFT_SUCCESS = 0,
  CUFFT_INVALID_PLAN = 1,
  CUFFT_ALLOC_FAILED = 2,
  CUFFT_INVALID_TYPE = 3,
  CUFFT_INVALID_VALUE = 4,
  CUFFT_INTERNAL_ERROR = 5,
  CUFFT_EXEC_FAILED = 6,
  CUFFT_SETUP_FAILED = 7,
  CUFFT_INVALID_SIZE = 8,
  CUFFT_UNALIGNED_DATA = 9,
  CUFFT_INVALID_DEVICE = 11,
  CUFFT_NO_WORKSPACE = 13,
  CUFFT_NOT_IMPLEMENTED = 14,
  CUFFT_NOT_SUPPORTED = 16
} cufftResult;
typedef enum cufftType_t {
  CUFFT_R2C = 0x2a,
  CUFFT_C2R = 0x2c,
  CUFFT_C2C = 0x29,
  CUFFT_D2Z = 0x6a,
  CUFFT_Z2D = 0x6c,
  CUFFT_Z2Z = 0x69
} cufftType;

FW_HOST_FUNCTION(cufftResult, cufftPlan1d)
FW_HOST_FUNCTION(cufftResult, cufftPlan2d)
FW_HOST_FUNCTION(cufftResult, cufftPlan3d)
FW_HOST_FUNCTION(cufftResult, cufftPlanMany)
FW_HOST_FUNCTION(cufftResult, cufftCreate)
FW_HOST_FUNCTION(cufftResult, cufftDestroy)
FW_HOST_FUNCTION(cufftResult, cufftMakePlan1d)
FW_HOST_FUNCTION(cufftResult, cufftMakePlan2d)
FW_HOST_FUNCTION(cufftResult, cufftMakePlan3d)
FW_HOST_FUNCTION(cufftResult, cufftMakePlanMany)
FW_HOST_FUNCTION(cufftResult, cufftSetStream)
FW_HOST_FUNCTION(cufftResult, cufftSetWorkArea)
FW_HOST_FUNCTION(cufftResult, cufftSetAutoAllocation)
FW_HOST_FUNCTION(cufftResult, cufftGetSize)
FW_HOST_FUNCTION(cufftResult, cufftGetVersion)
FW_HOST_FUNCTION(cufftResult, cufftEstimate1d)
FW_HOST_FUNCTION(cufftResult, cufftEstimate2d)
FW_HOST_FUNCTION(cufftResult, cufftEstimate3d)
FW_HOST_FUNCTION(cufftResult, cufftEstimateMany)
FW_HOST_FUNCTION(cufftResult, cufftExecC2C)
FW_HOST_FUNCTION(cufftResult, cufftExecR2C)
FW_HOST_FUNCTION(cufftResult, cufftExecC2R)
FW_HOST_FUNCTION(cufftResult, cufftExecZ2Z)
FW_HOST_FUNCTION(cufftResult, cufftExecD2Z)
FW_HOST_FUNCTION(cufftResult, cufftExecZ2D)
