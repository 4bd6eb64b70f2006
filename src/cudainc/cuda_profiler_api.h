// cudaProfilerStart and cudaProfilerStop are declared with the runtime.
#pragma once
#include "cuda_runtime.h"
