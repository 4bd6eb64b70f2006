#include "ptx/writes.h"

namespace fullwarp::ptx {

bool writes_first_operand(const Instruction& i) {
  switch (i.op) {
    case Op::st:
    case Op::red:
    case Op::bar:
    case Op::barrier:
    case Op::membar:
    case Op::fence:
    case Op::bra:
    case Op::brx:
    case Op::ret:
    case Op::exit:
    case Op::trap:
    case Op::call:
    case Op::stackrestore:
    case Op::setmaxnreg:
    case Op::stmatrix:
    case Op::cp:
    case Op::prefetch:
    case Op::nanosleep: return false;
    case Op::wmma: return !i.has(Mod::store);
    default: return true;
  }
}

}  // namespace fullwarp::ptx
