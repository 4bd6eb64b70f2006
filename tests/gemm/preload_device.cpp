// The fake device behind the preloaded library under test.
#include "fake_device.h"
#include "../../gemm/preload/hook.h"

namespace fullwarp::gemm {

Device& hook_device() {
  static FakeDevice* const device = new FakeDevice;
  return *device;
}

}  // namespace fullwarp::gemm
