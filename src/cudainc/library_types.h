// Part of cuda_runtime.h in CUDA as well; some sources name it.
#pragma once
#include "cuda_runtime.h"
