#include "exec/decode.h"
namespace fullwarp::exec {
bool decode_half(Decoder&) { return false; }
}
