// The GPU behind the preloaded library.
#include "../src/device_cuda.h"
#include "hook.h"

namespace fullwarp::gemm {

Device& hook_device() {
  static CudaDevice* const device = new CudaDevice;  // exit handlers may still multiply
  return *device;
}

}  // namespace fullwarp::gemm
