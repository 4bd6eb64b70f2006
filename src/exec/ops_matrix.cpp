#include "exec/decode.h"
namespace fullwarp::exec {
bool decode_matrix(Decoder&) { return false; }
}
