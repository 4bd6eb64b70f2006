// The host side of cuRAND, declared, never linked: programs that fill their inputs with it compile.
#pragma once

#include "driver_types.h"
#include "fullwarp/host_library.h"

typedef struct curandGenerator_st* curandGenerator_t;
typedef struct curandDiscreteDistribution_st* curandDiscreteDistribution_t;
typedef unsigned int curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];

typedef enum curandStatus {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_VERSION_MISMATCH = 100,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999
} curandStatus_t;
typedef enum curandRngType {
  CURAND_RNG_TEST = 0,
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
  CURAND_RNG_QUASI_DEFAULT = 200,
  CURAND_RNG_QUASI_SOBOL32 = 201,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
  CURAND_RNG_QUASI_SOBOL64 = 203,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204
} curandRngType_t;
typedef enum curandOrdering {
  CURAND_ORDERING_PSEUDO_BEST = 100,
  CURAND_ORDERING_PSEUDO_DEFAULT = 101,
  CURAND_ORDERING_PSEUDO_SEEDED = 102,
  CURAND_ORDERING_PSEUDO_LEGACY = 103,
  CURAND_ORDERING_PSEUDO_DYNAMIC = 104,
  CURAND_ORDERING_QUASI_DEFAULT = 201
} curandOrdering_t;

FW_HOST_FUNCTION(curandStatus_t, curandCreateGenerator)
FW_HOST_FUNCTION(curandStatus_t, curandCreateGeneratorHost)
FW_HOST_FUNCTION(curandStatus_t, curandDestroyGenerator)
FW_HOST_FUNCTION(curandStatus_t, curandGetVersion)
FW_HOST_FUNCTION(curandStatus_t, curandSetStream)
FW_HOST_FUNCTION(curandStatus_t, curandSetPseudoRandomGeneratorSeed)
FW_HOST_FUNCTION(curandStatus_t, curandSetGeneratorOffset)
FW_HOST_FUNCTION(curandStatus_t, curandSetGeneratorOrdering)
FW_HOST_FUNCTION(curandStatus_t, curandSetQuasiRandomGeneratorDimensions)
FW_HOST_FUNCTION(curandStatus_t, curandGenerate)
FW_HOST_FUNCTION(curandStatus_t, curandGenerateLongLong)
FW_HOST_FUNCTION(curandStatus_t, curandGenerateUniform)
FW_HOST_FUNCTION(curandStatus_t, curandGenerateUniformDouble)
FW_HOST_FUNCTION(curandStatus_t, curandGenerateNormal)
FW_HOST_FUNCTION(curandStatus_t, curandGenerateNormalDouble)
FW_HOST_FUNCTION(curandStatus_t, curandGenerateLogNormal)
FW_HOST_FUNCTION(curandStatus_t, curandGenerateLogNormalDouble)
FW_HOST_FUNCTION(curandStatus_t, curandGeneratePoisson)
FW_HOST_FUNCTION(curandStatus_t, curandGenerateSeeds)
FW_HOST_FUNCTION(curandStatus_t, curandGetDirectionVectors32)
FW_HOST_FUNCTION(curandStatus_t, curandGetDirectionVectors64)
