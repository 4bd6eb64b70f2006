// The fake device behind the preloaded library under test.
#include "../../gemm/preload/hook.h"
#include "fake_device.h"

namespace fullwarp::gemm {

Device& hook_device() {
  static FakeDevice* const device = new FakeDevice;
  return *device;
}

}  // namespace fullwarp::gemm
