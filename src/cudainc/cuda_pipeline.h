// Asynchronous copies from global to shared memory: cp.async and its groups. Before sm_80 they are plain copies.
#pragma once

#include "cuda_pipeline_primitives.h"
