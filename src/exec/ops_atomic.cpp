#include "exec/decode.h"
namespace fullwarp::exec {
bool decode_atomic(Decoder&) { return false; }
}
