// What the names of a PTX file stand for. One table for the whole module: a name is hashed and found once,
// its entry holds the meaning it has in the innermost scope, and a log of what was hidden is rolled back when
// a scope ends. So neither declaring nor leaving a scope copies anything.
//
// Ranges (`.reg .b32 %r<100>`) are one symbol, `%r`; a member gets its register when it is first used, so a
// huge count costs nothing.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ptx/module.h"
#include "ptx/scanner.h"

namespace fullwarp::ptx {

struct Symbol {
  enum class Kind : uint8_t {
    none,
    reg,
    vector_reg,
    range,
    variable,
    param,
    ret_param,
    function,
    label,
    targets,
    prototype,
    special,
  };
  Kind kind = Kind::none;
  Type type = Type::none;  // of a range's members
  uint8_t width = 1;       // vector_reg and ranges of them: number of elements
  uint32_t depth = 0;      // of the scope that declares it; 0 is the module
  uint32_t index = 0;      // in the table of its kind; for a range its id
  uint32_t count = 0;      // range: how many members
};

class SymbolTable {
 public:
  SymbolTable() : slots_(1024) {}

  // The entry of a name, made if it is new. Stays valid until the next call.
  Symbol& entry(std::string_view name, uint32_t hash) {
    for (size_t i = hash & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[i];
      if (slot.id == 0) return insert(i, name, hash);
      if (slot.hash == hash && names_[slot.id - 1] == name) return symbols_[slot.id - 1];
    }
  }

  // What a name means here; none if it is not declared.
  Symbol find(std::string_view name) const {
    uint32_t hash = hash_of(name);
    for (size_t i = hash & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[i];
      if (slot.id == 0) return {};
      if (slot.hash == hash && names_[slot.id - 1] == name) return symbols_[slot.id - 1];
    }
  }

  uint32_t depth() const { return depth_; }

  // Changes whenever a name may have become a range or stopped being one; never 0.
  uint32_t version() const { return version_; }

  void open_scope() { ++depth_; }
  void close_scope() {
    ++version_;
    while (!hidden_.empty() && hidden_.back().depth == depth_) {
      symbols_[hidden_.back().id] = hidden_.back().before;
      hidden_.pop_back();
    }
    --depth_;
  }

  // False if the name already stands for something in this scope.
  bool declare(std::string_view name, Symbol symbol) {
    Symbol& current = entry(name, hash_of(name));
    if (current.kind != Symbol::Kind::none && current.depth == depth_) return false;
    if (symbol.kind == Symbol::Kind::range || current.kind == Symbol::Kind::range) ++version_;
    symbol.depth = depth_;
    if (depth_ != 0) hidden_.push_back({depth_, static_cast<uint32_t>(&current - symbols_.data()), current});
    current = symbol;
    return true;
  }

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t id = 0;  // 0 is free, else one more than the index in names_ and symbols_
  };
  struct Hidden {
    uint32_t depth, id;
    Symbol before;
  };

  Symbol& insert(size_t at, std::string_view name, uint32_t hash) {
    names_.push_back(name);
    symbols_.emplace_back();
    slots_[at] = {hash, static_cast<uint32_t>(names_.size())};
    if (names_.size() * 2 > slots_.size()) grow();
    return symbols_.back();
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.id == 0) continue;
      size_t i = slot.hash & (slots_.size() - 1);
      while (slots_[i].id != 0) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::vector<std::string_view> names_;
  std::vector<Symbol> symbols_;
  std::vector<Hidden> hidden_;
  uint32_t depth_ = 0;
  uint32_t version_ = 1;
};

// The registers of range members that are in use in the current function. Ranges of ordinary size are arrays;
// when a file has declared more members than a real one could use, further ranges are hashed, so that what is
// declared but not used costs no memory.
class RangeMembers {
 public:
  // How many members may lie in arrays, in all functions together.
  explicit RangeMembers(size_t array_members) : array_members_left_(array_members) { clear(); }

  // Forgets all; costs no more than was declared since the last time.
  void clear() {
    slots_.assign(kSmallest, Slot());
    used_ = 0;
    first_.clear();
    arrays_.clear();
  }

  // A new range; gives its number.
  uint32_t declare(uint32_t count) {
    bool array = count <= array_members_left_;
    first_.push_back(array ? static_cast<uint32_t>(arrays_.size()) : kHashed);
    if (array) {
      arrays_.resize(arrays_.size() + count, -1);
      array_members_left_ -= count;
    }
    return static_cast<uint32_t>(first_.size() - 1);
  }

  // The register of member `number` of range `range`; -1 at first, the caller then sets it.
  int32_t& at(uint32_t range, uint32_t number) {
    uint32_t first = first_[range];
    return first != kHashed ? arrays_[first + number] : hashed(range, number);
  }

 private:
  static constexpr uint32_t kHashed = UINT32_MAX;
  static constexpr uint64_t kFree = ~uint64_t{0};
  static constexpr size_t kSmallest = 256;
  struct Slot {
    uint64_t key = kFree;
    int32_t reg = -1;
  };

  int32_t& hashed(uint32_t range, uint32_t number) {
    if (used_ * 2 >= slots_.size()) grow();
    uint64_t key = uint64_t{range} << 32 | number;
    for (size_t i = place(key);; i = (i + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[i];
      if (slot.key == key) return slot.reg;
      if (slot.key == kFree) {
        slot.key = key;
        ++used_;
        return slot.reg;
      }
    }
  }

  size_t place(uint64_t key) const {
    return static_cast<size_t>((key * 0x9e3779b97f4a7c15ull) >> 32) & (slots_.size() - 1);
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.key == kFree) continue;
      size_t i = place(slot.key);
      while (slots_[i].key != kFree) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = slot;
    }
  }

  std::vector<uint32_t> first_;  // of each range: where its array begins
  std::vector<int32_t> arrays_;
  size_t array_members_left_;
  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace fullwarp::ptx
