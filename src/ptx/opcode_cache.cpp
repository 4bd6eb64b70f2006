#include "ptx/opcode_cache.h"

#include "ptx/forms.h"
#include "ptx/names.h"
#include "ptx/scanner.h"

namespace fullwarp::ptx {
namespace {

// "name of length n and more" would flood a message; hostile files have such.
std::string shown(std::string_view text) {
  constexpr size_t kMost = 80;
  return std::string(text.substr(0, kMost)) + (text.size() > kMost ? "..." : "");
}

// The end of the component that starts at `start`: the next dot.
size_t component_end(std::string_view text, size_t start) {
  size_t end = text.find('.', start);
  return end == std::string_view::npos ? text.size() : end;
}

Opcode take_apart(std::string_view text) {
  Opcode result;
  result.text = text;
  size_t end = component_end(text, 0);
  std::string_view first = text.substr(0, end);
  auto op = op_from(first);
  if (!op) {
    result.problem = "instruction '" + shown(first) + "' is not supported";
    return result;
  }
  std::vector<Component> components;
  while (end < text.size()) {
    size_t start = end + 1;
    end = component_end(text, start);
    std::string_view word = text.substr(start, end - start);
    if (auto type = type_from(word)) {
      if (result.type_count == result.types.size()) {
        result.problem = "'" + shown(text) + "' has more types than any form of " + std::string(first);
        return result;
      }
      result.types[result.type_count++] = *type;
      components.push_back(Component::of(*type));
    } else if (auto mod = mod_from(word)) {
      if (result.mod_count == result.mods.size()) {
        result.problem = "'" + shown(text) + "' has more modifiers than any form of " + std::string(first);
        return result;
      }
      result.mods[result.mod_count++] = *mod;
      components.push_back(Component::of(*mod));
    } else {
      result.problem = "modifier '." + shown(word) + "' of '" + shown(text) + "' is not supported";
      return result;
    }
  }
  FormRange range = forms_of(*op);
  for (uint16_t i = range.first; i < range.last; ++i)
    if (forms()[i].matches(components)) result.forms.push_back(i);
  if (result.forms.empty()) {
    std::vector<Component> in_order, first_order;
    for (uint16_t i = range.first; i < range.last; ++i) {
      if (!forms()[i].matches_reordered(components, in_order)) continue;
      if (result.forms.empty()) first_order = in_order;
      result.forms.push_back(i);
    }
    result.mod_count = 0;
    for (Component component : first_order)
      if (!component.is_type()) result.mods[result.mod_count++] = component.mod();
  }
  if (result.forms.empty()) {
    result.problem = "'" + shown(text) + "' is no form of " + std::string(first) + " that is supported";
  } else {
    result.op = *op;
  }
  return result;
}

}  // namespace

const Opcode& OpcodeCache::find(std::string_view text) {
  uint32_t hash = hash_of(text);
  for (size_t i = hash & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
    const Slot& slot = slots_[i];
    if (slot.id == 0) return insert(i, text, hash);
    if (slot.hash == hash && opcodes_[slot.id - 1].text == text) {
      remember(text, slot.id);
      return opcodes_[slot.id - 1];
    }
  }
}

void OpcodeCache::remember(std::string_view text, uint32_t id) {
  if (text.size() >= 32 || opcodes_[id - 1].forms.empty()) return;
  ShortText key;
  key.length = static_cast<unsigned>(text.size());
  std::memcpy(key.words, text.data(), text.size());
  short_[key.hash() % kShort] = {key, id};
}

const Opcode& OpcodeCache::insert(size_t at, std::string_view text, uint32_t hash) {
  opcodes_.push_back(take_apart(text));
  slots_[at] = {hash, static_cast<uint32_t>(opcodes_.size())};
  if (opcodes_.size() * 2 > slots_.size()) {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.id == 0) continue;
      size_t i = slot.hash & (slots_.size() - 1);
      while (slots_[i].id != 0) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = slot;
    }
  }
  return opcodes_.back();
}

}  // namespace fullwarp::ptx
