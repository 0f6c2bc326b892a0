#include "chat/builtin_templates.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "chat/template_engine.h"

namespace vivace {
namespace {

const TemplateTokens kTokens{.bos = "<s>", .eos = "</s>", .control = {}};

Message Turn(const std::string& role, const std::string& content) {
  return {.role = role, .content = content};
}

ChatRequest Request(std::vector<Message> messages, bool prompt = true) {
  ChatRequest request;
  request.messages = std::move(messages);
  request.add_generation_prompt = prompt;
  return request;
}

std::string Write(const std::string& name, const ChatRequest& request) {
  std::string prompt;
  FindBuiltin(name)->write(request, kTokens, prompt);
  return prompt;
}

const std::vector<Message> kTalk = {Turn("system", "S"), Turn("user", " A "),
                                    Turn("assistant", "B\n"), Turn("user", "C")};

TEST(BuiltinTemplates, WriteTheirFormat) {
  EXPECT_EQ(Write("chatml", Request(kTalk)),
            "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\n A <|im_end|>\n"
            "<|im_start|>assistant\nB\n<|im_end|>\n<|im_start|>user\nC<|im_end|>\n"
            "<|im_start|>assistant\n");
  EXPECT_EQ(Write("smollm", Request({Turn("user", "A")})),
            "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
            "<|im_start|>user\nA<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(Write("smollm", Request(kTalk)), Write("chatml", Request(kTalk)));
  EXPECT_EQ(Write("llama2", Request(kTalk)),
            "<s>[INST] <<SYS>>\nS\n<</SYS>>\n\n A  [/INST] B\n </s><s>[INST] C [/INST]");
  EXPECT_EQ(Write("llama3", Request(kTalk)),
            "<s><|start_header_id|>system<|end_header_id|>\n\nS<|eot_id|>"
            "<|start_header_id|>user<|end_header_id|>\n\nA<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\nB<|eot_id|>"
            "<|start_header_id|>user<|end_header_id|>\n\nC<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n");
  EXPECT_EQ(Write("gemma", Request(kTalk)),
            "<s><start_of_turn>user\nS\n\nA<end_of_turn>\n<start_of_turn>model\nB<end_of_turn>\n"
            "<start_of_turn>user\nC<end_of_turn>\n<start_of_turn>model\n");
  EXPECT_EQ(Write("plain", Request(kTalk)), "<s>S\n A \nB\n\nC");
}

TEST(BuiltinTemplates, JinjaAndCodeAgree) {
  if (!TemplateEngine::Available()) GTEST_SKIP() << "built without the template engine";
  const std::vector<std::vector<Message>> talks = {
      kTalk,
      {},
      {Turn("system", "only")},
      {Turn("system", ""), Turn("user", "a")},
      {Turn("user", "")},
      {Turn("assistant", "first"), Turn("user", "then")},
      {Turn("system", "s"), Turn("assistant", "first"), Turn("user", "then")},
      {Turn("user", "u"), Turn("system", "in the middle"), Turn("tool", "t"), Turn("other", " o ")},
  };
  for (const BuiltinTemplate& builtin : BuiltinTemplates()) {
    const auto engine = TemplateEngine::Compile(builtin.source);
    ASSERT_TRUE(engine.has_value()) << builtin.name << engine.error().message;
    for (const auto& talk : talks) {
      for (const bool prompt : {true, false}) {
        Json messages = Json::array();
        for (const Message& message : talk) messages.push_back(ToJson(message));
        const Json context = {{"messages", messages},
                              {"add_generation_prompt", prompt},
                              {"bos_token", kTokens.bos},
                              {"eos_token", kTokens.eos}};
        const auto text = engine->Render(context.dump(), 0, 0);
        ASSERT_TRUE(text.has_value()) << builtin.name << ": " << text.error().message;
        EXPECT_EQ(*text, Write(std::string(builtin.name), Request(talk, prompt)))
            << builtin.name << " " << messages.dump();
      }
    }
  }
}

TEST(BuiltinTemplates, AreFoundByName) {
  for (const BuiltinTemplate& builtin : BuiltinTemplates()) {
    EXPECT_EQ(FindBuiltin(builtin.name), &builtin);
  }
  EXPECT_EQ(FindBuiltin("ChatML"), nullptr);
  EXPECT_EQ(FindBuiltin(""), nullptr);
}

TEST(BuiltinTemplates, AreChosenByControlTokens) {
  const auto choice = [](std::vector<std::string> texts) { return ChooseBuiltin(texts).name; };
  EXPECT_EQ(choice({"<|endoftext|>", "<|im_start|>", "<|im_end|>"}), "chatml");
  EXPECT_EQ(choice({"<|start_header_id|>"}), "llama3");
  EXPECT_EQ(choice({"<bos>", "<start_of_turn>"}), "gemma");
  EXPECT_EQ(choice({"[INST]", "<s>"}), "llama2");
  EXPECT_EQ(choice({"<s>", "</s>"}), "plain");
  EXPECT_EQ(choice({}), "plain");
}

}  // namespace
}  // namespace vivace
