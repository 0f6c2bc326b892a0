#include "chat/builtin_templates.h"

#include <algorithm>
#include <array>

#include "base/trimmed.h"

namespace vivace {
namespace {

// As the models' own templates trim.
std::string_view WithoutSpace(std::string_view text) { return Trimmed(text, " \t\n\v\f\r"); }

bool StartsWithSystem(const ChatRequest& request) {
  return !request.messages.empty() && request.messages[0].role == "system";
}

// The messages after a leading system message.
std::span<const Message> Turns(const ChatRequest& request) {
  return std::span(request.messages).subspan(StartsWithSystem(request) ? 1 : 0);
}

constexpr std::string_view kChatml =
    R"({% for message in messages %}
{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{ '<|im_start|>assistant\n' }}
{%- endif %})";

void WriteChatml(const ChatRequest& request, const TemplateTokens&, std::string& prompt) {
  for (const Message& message : request.messages) {
    prompt += "<|im_start|>" + message.role + "\n" + message.content + "<|im_end|>\n";
  }
  if (request.add_generation_prompt) prompt += "<|im_start|>assistant\n";
}

// chatml for models that were trained with a system message in every conversation.
constexpr std::string_view kSmollm =
    R"({% if not messages or messages[0].role != 'system' %}
{{ '<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n' }}
{%- endif %}
{%- for message in messages %}
{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{ '<|im_start|>assistant\n' }}
{%- endif %})";

void WriteSmollm(const ChatRequest& request, const TemplateTokens& tokens, std::string& prompt) {
  if (!StartsWithSystem(request)) {
    prompt += "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n";
  }
  WriteChatml(request, tokens, prompt);
}

constexpr std::string_view kLlama2 =
    R"({% set system = '' %}
{%- if messages and messages[0].role == 'system' %}
{%- set system = '<<SYS>>\n' + messages[0].content + '\n<</SYS>>\n\n' %}
{%- endif %}
{%- for message in (messages[1:] if system else messages) %}
{%- if message.role == 'assistant' %}
{{ ' ' + message.content + ' ' + eos_token }}
{%- else %}
{{ bos_token + '[INST] ' + (system if loop.first else '') + message.content + ' [/INST]' }}
{%- endif %}
{%- endfor %})";

void WriteLlama2(const ChatRequest& request, const TemplateTokens& tokens, std::string& prompt) {
  bool first = true;
  for (const Message& message : Turns(request)) {
    if (message.role == "assistant") {
      prompt += " " + message.content + " " + tokens.eos;
    } else {
      prompt += tokens.bos + "[INST] ";
      if (first && StartsWithSystem(request)) {
        prompt += "<<SYS>>\n" + request.messages[0].content + "\n<</SYS>>\n\n";
      }
      prompt += message.content + " [/INST]";
    }
    first = false;
  }
}

constexpr std::string_view kLlama3 =
    R"({{ bos_token }}
{%- for message in messages %}
{{ '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n' }}
{{- message.content | trim }}
{{- '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %})";

void WriteLlama3(const ChatRequest& request, const TemplateTokens& tokens, std::string& prompt) {
  prompt += tokens.bos;
  for (const Message& message : request.messages) {
    prompt += "<|start_header_id|>" + message.role + "<|end_header_id|>\n\n";
    prompt += WithoutSpace(message.content);
    prompt += "<|eot_id|>";
  }
  if (request.add_generation_prompt) {
    prompt += "<|start_header_id|>assistant<|end_header_id|>\n\n";
  }
}

// Gemma knows no system turn; its text goes in front of the first turn's.
constexpr std::string_view kGemma =
    R"({{ bos_token }}
{%- set has_system = messages and messages[0].role == 'system' %}
{%- for message in (messages[1:] if has_system else messages) %}
{{ '<start_of_turn>' + ('model' if message.role == 'assistant' else message.role) + '\n' }}
{%- if loop.first and has_system %}
{{- messages[0].content + '\n\n' }}
{%- endif %}
{{- message.content | trim }}
{{- '<end_of_turn>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{ '<start_of_turn>model\n' }}
{%- endif %})";

void WriteGemma(const ChatRequest& request, const TemplateTokens& tokens, std::string& prompt) {
  prompt += tokens.bos;
  bool first = true;
  for (const Message& message : Turns(request)) {
    prompt += "<start_of_turn>";
    prompt += message.role == "assistant" ? "model" : message.role;
    prompt += "\n";
    if (first && StartsWithSystem(request)) {
      prompt += request.messages[0].content + "\n\n";
    }
    prompt += WithoutSpace(message.content);
    prompt += "<end_of_turn>\n";
    first = false;
  }
  if (request.add_generation_prompt) prompt += "<start_of_turn>model\n";
}

constexpr std::string_view kPlain =
    R"({{ bos_token }}
{%- for message in messages %}
{{- message.content }}
{{- '' if loop.last else '\n' }}
{%- endfor %})";

void WritePlain(const ChatRequest& request, const TemplateTokens& tokens, std::string& prompt) {
  prompt += tokens.bos;
  bool first = true;
  for (const Message& message : request.messages) {
    if (!first) prompt += "\n";
    prompt += message.content;
    first = false;
  }
}

constexpr std::array kBuiltins{
    BuiltinTemplate{"chatml", kChatml, WriteChatml},
    BuiltinTemplate{"smollm", kSmollm, WriteSmollm},
    BuiltinTemplate{"llama2", kLlama2, WriteLlama2},
    BuiltinTemplate{"llama3", kLlama3, WriteLlama3},
    BuiltinTemplate{"gemma", kGemma, WriteGemma},
    BuiltinTemplate{"plain", kPlain, WritePlain},
};

}  // namespace

std::span<const BuiltinTemplate> BuiltinTemplates() { return kBuiltins; }

std::string BuiltinNames() {
  std::string names;
  for (const BuiltinTemplate& known : kBuiltins) {
    if (!names.empty()) names += ", ";
    names += known.name;
  }
  return names;
}

const BuiltinTemplate* FindBuiltin(std::string_view name) {
  const auto found = std::ranges::find(kBuiltins, name, &BuiltinTemplate::name);
  return found == kBuiltins.end() ? nullptr : &*found;
}

const BuiltinTemplate& ChooseBuiltin(std::span<const std::string> control_texts) {
  struct Sign {
    std::string_view control_text;
    std::string_view name;
  };
  constexpr std::array kSigns{Sign{"<|im_start|>", "chatml"}, Sign{"<|start_header_id|>", "llama3"},
                              Sign{"<start_of_turn>", "gemma"}, Sign{"[INST]", "llama2"}};
  for (const Sign& sign : kSigns) {
    if (std::ranges::find(control_texts, sign.control_text) != control_texts.end()) {
      return *FindBuiltin(sign.name);
    }
  }
  return *FindBuiltin("plain");
}

}  // namespace vivace
