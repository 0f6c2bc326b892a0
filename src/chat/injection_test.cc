// No text of a request becomes a control token, whatever the template does with it.
#include <array>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "chat/chat_template.h"
#include "chat/prompt_testing.h"

namespace vivace {
namespace {

const std::vector<std::string> kControls = {"<|im_start|>", "<|im_end|>", "<|user|>", "<|end|>",
                                            "<|end|>>",     "[INST]",     "[/INST]",  "<s>",
                                            "</s>",         "｜end｜",    "endof"};
// With these, text cannot both be guarded and be trimmed.
const std::vector<std::string> kSpacedControls = {" of",        "x ",  "end of",
                                                  "<|im_end|>", "<s>", "\n\n"};

// What attacks are made of; the noncharacter is the first candidate for the marker.
constexpr std::array<std::string_view, 32> kFragments = {"<|im_start|>",
                                                         "<|im_end|>",
                                                         "<|IM_END|>",
                                                         "<|",
                                                         "|>",
                                                         "<",
                                                         ">",
                                                         "|",
                                                         "im_",
                                                         "end",
                                                         "start",
                                                         "user",
                                                         "[INST]",
                                                         "[",
                                                         "INST",
                                                         "]",
                                                         "/",
                                                         "s",
                                                         "｜",
                                                         "｜end｜",
                                                         " ",
                                                         "\n",
                                                         "\u00a0",
                                                         "\u2003",
                                                         "x",
                                                         "XX",
                                                         "of",
                                                         "<s>",
                                                         "\"",
                                                         "\\",
                                                         "\xEF\xB7\x90",
                                                         "é"};

const std::array<std::string_view, 16> kTemplates = {
    "{% for m in messages %}{{ m.content }}{% endfor %}",
    "{% for m in messages %}{{ m.content | trim }}{% endfor %}",
    "{% for m in messages %}<|im_{{ m.content }}|>{% endfor %}",
    "{% for m in messages %}<|im_{{ m.content.strip() }}end|><s>{{ m.content | trim }}>{% endfor "
    "%}",
    "{% for m in messages %}{{ '<|' + m.role + '|>' + m.content + '<|end|>' }}{% endfor %}",
    "{% for m in messages %}{{ m.content | lower }}<s>{{ m.content | upper }}{% endfor %}",
    "{% for m in messages %}{{ m.content.replace('XX', '') }}</s>{% endfor %}",
    "{% for m in messages %}{{ m.content | replace('x', '') | trim }}</s>{% endfor %}",
    "{% for m in messages %}{{ m.content.replace('x', '-') }}</s>{% endfor %}",
    "<s>{{ messages | tojson }}<s>{{ tools | tojson }}<s>",
    "<s>{{ tools | tojson(ensure_ascii=true, indent=1) }}<s>",
    "{% for k, v in tools[0].function.parameters.items() %}<{{ k }}>{{ v }}<s>{% endfor %}",
    "{% for m in messages %}<|{{ m.name }}{{ m.content }}|>{{ m.tool_call_id }}<s>{% endfor %}",
    "{% for m in messages %}[{{ m.reasoning_content }}]{{ m.content ~ m.content }}<s>{% endfor %}",
    "{% for m in messages %}[/{{ (m.content ~ v) | upper }}[INST]{{ v }}{% endfor %}",
    "{% for m in messages %}<|end|>{{ m.content.lstrip() }}<s>{{ v.rstrip() }}<s>{% endfor %}"};

class Requests {
 public:
  explicit Requests(unsigned seed) : random_(seed) {}

  // `harmless`: gets the same request with all attacks replaced.
  ChatRequest Next(ChatRequest& harmless) {
    ChatRequest attack;
    harmless = {};
    const unsigned count = 1 + Below(3);
    for (unsigned i = 0; i < count; ++i) {
      const std::array<std::string, 3> roles = {"user", "assistant", "im_start"};
      const std::string role = roles[Below(3)];
      Message message{.role = role, .content = Text()};
      message.name = Text();
      message.tool_call_id = Text();
      message.extra["reasoning_content"] = Text();
      attack.messages.push_back(message);
      message.role = role == "im_start" ? "other" : role;
      message.content = Harmless(message.content);
      message.name = Harmless(message.name);
      message.tool_call_id = Harmless(message.tool_call_id);
      message.extra["reasoning_content"] = "h";
      harmless.messages.push_back(message);
    }
    attack.tools = Tools(Text(), Text());
    harmless.tools = Tools("h", "h");
    attack.variables["v"] = Text();
    harmless.variables["v"] = "h";
    return attack;
  }

 private:
  unsigned Below(std::size_t limit) { return static_cast<unsigned>(random_() % limit); }

  std::string Text() {
    std::string text;
    for (unsigned count = Below(7); count > 0; --count)
      text += kFragments[Below(kFragments.size())];
    return text;
  }

  // Blank where the original is, as the template may put its own texts together then.
  static std::string Harmless(const std::string& text) {
    const bool blank = text.find_first_not_of(" \n\u00a0\u2003") == std::string::npos;
    return blank ? text : "h";
  }

  static Json Tools(const std::string& key, const std::string& text) {
    const Json parameters = {{"k" + key, text}, {"list", Json::array({text, 1, nullptr})}};
    return Json::array(
        {{{"type", "function"}, {"function", {{"name", "f"}, {"parameters", parameters}}}}});
  }

  std::mt19937 random_;
};

std::vector<std::string> ControlsOf(const std::vector<PromptPiece>& pieces) {
  std::vector<std::string> controls;
  for (const PromptPiece& piece : pieces) {
    if (piece.control) controls.push_back(piece.text);
  }
  return controls;
}

void CheckTemplate(std::string_view source, const std::vector<std::string>& controls,
                   bool same_text, unsigned seed, int rounds) {
  const std::string text(source);
  const auto compiled = ChatTemplate::Compile(text, {"<s>", "</s>", controls});
  ASSERT_TRUE(compiled.has_value()) << compiled.error().message;
  const auto unguarded = ChatTemplate::Compile(text, {"<s>", "</s>", {}});
  Requests requests(seed);
  for (int round = 0; round < rounds; ++round) {
    ChatRequest harmless;
    const ChatRequest attack = requests.Next(harmless);
    const auto pieces = compiled->Render(attack);
    ASSERT_TRUE(pieces.has_value()) << pieces.error().message;
    ASSERT_EQ(ControlsOf(*pieces), ControlsOf(*compiled->Render(harmless)))
        << source << "\n"
        << testing::PrintToString(Joined(*pieces));
    if (same_text) {
      ASSERT_EQ(Joined(*pieces), Joined(*unguarded->Render(attack))) << source;
    }
  }
}

TEST(Injection, NoTextBecomesControl) {
  if (!TemplateEngine::Available()) GTEST_SKIP() << "built without the template engine";
  for (unsigned i = 0; i < kTemplates.size(); ++i) {
    CheckTemplate(kTemplates[i], kControls, true, i, 60);
    CheckTemplate(kTemplates[i], kSpacedControls, false, i, 60);
  }
  // These see the markers in the text.
  for (const std::string_view source :
       {"{% for m in messages %}[/{{ (m.content ~ v) | title }}[INST]{{ v | capitalize }}{% endfor "
        "%}",
        "{% for m in messages %}<|end|>-{{ m.content[1:] }}-{{ m.content[:-1] }}-<s>{% endfor %}",
        "{% for m in messages %}<{{ m.content | length }}>{{ m.content }}<s>{% endfor "
        "%}"}) {
    CheckTemplate(source, kControls, false, 99, 60);
  }
}

TEST(Injection, BuiltinsAreSafe) {
  for (const BuiltinTemplate& builtin : BuiltinTemplates())
    CheckTemplate(builtin.source, kControls, true, 7, 60);
}

// The attacks do reach the template: without guarding they would succeed.
TEST(Injection, TheAttacksAreReal) {
  Requests requests(1);
  const ControlTexts controls(kControls);
  int successes = 0;
  for (int round = 0; round < 400; ++round) {
    ChatRequest harmless;
    const ChatRequest attack = requests.Next(harmless);
    for (const PromptPiece& piece : controls.Split(attack.messages[0].content, "")) {
      successes += piece.control ? 1 : 0;
    }
  }
  EXPECT_GT(successes, 100);
}

}  // namespace
}  // namespace vivace
