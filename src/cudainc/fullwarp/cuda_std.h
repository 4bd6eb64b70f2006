// cuda::std is std here.
#pragma once

namespace cuda {
namespace std {
using namespace ::std;
}
}  // namespace cuda
