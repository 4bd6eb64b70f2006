// A JSON Schema validator for the part of draft 7 that docs/schema/ uses. A keyword it does not know is an
// error, so that a schema cannot silently promise what is not checked.
#pragma once

#include <nlohmann/json.hpp>
#include <regex>
#include <string>

namespace fullwarp::test {

class SchemaValidator {
 public:
  explicit SchemaValidator(const nlohmann::json& schema) : root_(schema) {}

  // Empty if the document is valid, else the first place and reason.
  std::string validate(const nlohmann::json& document) const { return check(root_, document, "$"); }

 private:
  using Json = nlohmann::json;

  static bool has_type(const Json& value, const std::string& type) {
    if (type == "null") return value.is_null();
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer();
    return type == "number" && value.is_number();
  }

  static bool has_one_type(const Json& value, const Json& types) {
    if (types.is_string()) return has_type(value, types);
    for (const Json& type : types)
      if (has_type(value, type)) return true;
    return false;
  }

  std::string check_properties(const Json& schema, const Json& value, const std::string& path) const {
    for (const auto& [name, member] : value.items()) {
      const std::string at = path + "." + name;
      if (schema.contains("properties") && schema["properties"].contains(name)) {
        if (std::string e = check(schema["properties"][name], member, at); !e.empty()) return e;
      } else if (schema.contains("additionalProperties")) {
        const Json& rest = schema["additionalProperties"];
        if (rest.is_boolean() && !rest.get<bool>()) return at + ": not a property of the schema";
        if (rest.is_object())
          if (std::string e = check(rest, member, at); !e.empty()) return e;
      }
    }
    return {};
  }

  std::string check(const Json& schema, const Json& value, const std::string& path) const {
    for (const auto& [keyword, rule] : schema.items()) {
      std::string error;
      if (keyword == "$ref") {
        error = check(root_.at(Json::json_pointer(rule.get<std::string>().substr(1))), value, path);
      } else if (keyword == "type") {
        if (!has_one_type(value, rule)) error = path + ": is not of type " + rule.dump();
      } else if (keyword == "const") {
        if (value != rule) error = path + ": is not " + rule.dump();
      } else if (keyword == "enum") {
        if (std::find(rule.begin(), rule.end(), value) == rule.end())
          error = path + ": is none of " + rule.dump();
      } else if (keyword == "required") {
        for (const Json& name : rule)
          if (value.is_object() && !value.contains(name.get<std::string>()))
            error = path + ": lacks " + name.dump();
      } else if (keyword == "properties" || keyword == "additionalProperties") {
        if (value.is_object()) error = check_properties(schema, value, path);
      } else if (keyword == "items") {
        for (size_t i = 0; value.is_array() && i < value.size() && error.empty(); ++i)
          error = check(rule, value[i], path + "[" + std::to_string(i) + "]");
      } else if (keyword == "minItems") {
        if (value.is_array() && value.size() < rule) error = path + ": has too few items";
      } else if (keyword == "maxItems") {
        if (value.is_array() && value.size() > rule) error = path + ": has too many items";
      } else if (keyword == "minimum") {
        if (value.is_number() && value < rule) error = path + ": is below " + rule.dump();
      } else if (keyword == "maximum") {
        if (value.is_number() && value > rule) error = path + ": is above " + rule.dump();
      } else if (keyword == "minLength") {
        if (value.is_string() && value.get<std::string>().size() < rule) error = path + ": is too short";
      } else if (keyword == "pattern") {
        if (value.is_string() &&
            !std::regex_search(value.get<std::string>(), std::regex(rule.get<std::string>())))
          error = path + ": does not match " + rule.dump();
      } else if (keyword == "oneOf") {
        size_t fitting = 0;
        for (const Json& option : rule) fitting += check(option, value, path).empty();
        if (fitting != 1)
          error = path + ": fits " + std::to_string(fitting) + " of the alternatives, not one";
      } else if (keyword != "$schema" && keyword != "$id" && keyword != "title" && keyword != "description" &&
                 keyword != "definitions") {
        error = path + ": the schema uses the keyword " + keyword + ", which this validator does not know";
      }
      if (!error.empty()) return error;
    }
    return {};
  }

  const Json& root_;
};

}  // namespace fullwarp::test
