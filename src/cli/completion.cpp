// Completion scripts, made from the definition of the command line itself, so that they cannot lag behind it.
#include <fmt/format.h>

#include <ostream>

#include "cli/commands.h"

namespace fullwarp::cli {

namespace {

// "--format", "-I"; empty for a positional argument.
std::vector<std::string> names(const CLI::Option& option) {
  std::vector<std::string> result;
  for (const std::string& name : option.get_snames()) result.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) result.push_back("--" + name);
  return result;
}

bool takes_value(const CLI::Option& option) {
  return option.get_expected_max() > 0 && option.get_type_size_max() > 0;
}

// The words that complete an option's value; a file name where there are none.
std::vector<std::string> words_of(const CLI::Option& option) {
  return choices(option.get_positional() ? option.get_name() : names(option).back());
}

std::string quoted(std::string text) {  // inside single quotes, for any of the shells
  for (size_t at = text.find('\''); at != std::string::npos; at = text.find('\'', at + 4))
    text.replace(at, 1, "'\\''");
  return text;
}

std::string bash_script(const CLI::App& app) {
  std::string out =
      "# bash completion for fullwarp, made by `fullwarp completion bash`\n_fullwarp() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words=\n"
      "  if ((COMP_CWORD == 1)); then\n    words='";
  for (const CLI::App* command : app.get_subcommands({})) out += command->get_name() + " ";
  out += "--help --version'\n  else\n    case ${COMP_WORDS[1]} in\n";
  for (const CLI::App* command : app.get_subcommands({})) {
    out += "    " + command->get_name() + ")\n      case $previous in\n";
    std::string options, positional;
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_positional()) {
        positional = fmt::format("{}", fmt::join(words_of(*option), " "));
        continue;
      }
      options += fmt::format("{} ", fmt::join(names(*option), " "));
      if (takes_value(*option))
        out += fmt::format("      {}) words='{}' ;;\n", fmt::join(names(*option), "|"),
                           fmt::join(words_of(*option), " "));
    }
    out += fmt::format("      *) words='{}'; [[ $word == -* ]] && words='{}' ;;\n      esac ;;\n", positional,
                       options);
  }
  return out +
         "    esac\n  fi\n  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n"
         "complete -o default -F _fullwarp fullwarp\n";
}

std::string zsh_argument(const CLI::Option& option) {
  const std::vector<std::string> words = words_of(option);
  return words.empty() ? "_files" : fmt::format("({})", fmt::join(words, " "));
}

// Colons and brackets have a meaning in zsh's specifications.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c == '`' ? '"' : c;
  }
  return quoted(out);
}

std::string zsh_script(const CLI::App& app) {
  std::string out =
      "#compdef fullwarp\n# zsh completion for fullwarp, made by `fullwarp completion zsh`\n"
      "_fullwarp() {\n  local -a commands=(\n";
  for (const CLI::App* command : app.get_subcommands({}))
    out += fmt::format("    '{}:{}'\n", command->get_name(), zsh_text(command->get_description()));
  out +=
      "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n  case $words[2] "
      "in\n";
  for (const CLI::App* command : app.get_subcommands({})) {
    out += fmt::format("  {})\n    _arguments '1:command:'", command->get_name());
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_positional()) {
        out += fmt::format(" \\\n      '*:{}:{}'", option->get_name(), zsh_argument(*option));
        continue;
      }
      for (const std::string& name : names(*option)) {
        out += fmt::format(" \\\n      '*{}[{}]", name, zsh_text(option->get_description()));
        if (takes_value(*option)) out += ":value:" + zsh_argument(*option);
        out += "'";
      }
    }
    out += " ;;\n";
  }
  return out + "  esac\n}\n_fullwarp \"$@\"\n";
}

std::string fish_script(const CLI::App& app) {
  std::string out = "# fish completion for fullwarp, made by `fullwarp completion fish`\n";
  for (const CLI::App* command : app.get_subcommands({})) {
    out += fmt::format("complete -c fullwarp -n __fish_use_subcommand -f -a {} -d '{}'\n",
                       command->get_name(), quoted(command->get_description()));
    for (const CLI::Option* option : command->get_options()) {
      const std::vector<std::string> words = words_of(*option);
      out += fmt::format("complete -c fullwarp -n '__fish_seen_subcommand_from {}'", command->get_name());
      if (!option->get_positional()) {
        for (const std::string& name : option->get_snames()) out += " -s " + name;
        for (const std::string& name : option->get_lnames()) out += " -l " + name;
        if (takes_value(*option)) out += words.empty() ? " -r" : " -x";
      }
      if (!words.empty()) out += fmt::format(" -a '{}'", fmt::join(words, " "));
      out += fmt::format(" -d '{}'\n", quoted(option->get_description()));
    }
  }
  return out;
}

}  // namespace

int run_completion(const CLI::App& app, const std::string& shell, const Streams& streams) {
  streams.out << (shell == "bash" ? bash_script(app) : shell == "zsh" ? zsh_script(app) : fish_script(app));
  return kSuccess;
}

}  // namespace fullwarp::cli
