// Asynchronous copies and the barriers they signal (mbarrier).
#include "exec/decode.h"

namespace fullwarp::exec {

bool decode_async(Decoder&) { return false; }

}  // namespace fullwarp::exec
