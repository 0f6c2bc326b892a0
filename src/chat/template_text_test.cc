#include "chat/template_text.h"

#include <gtest/gtest.h>

#include "chat/chat_template.h"
#include "chat/prompt_testing.h"

namespace vivace {
namespace {

std::string Render(std::string_view text, std::vector<Message> messages) {
  const auto source = TemplateSource(text);
  if (!source) return "source: " + source.error().message;
  const auto compiled = ChatTemplate::Compile(*source, {.bos = "", .eos = "", .control = {}});
  if (!compiled) return "compile: " + compiled.error().message;
  ChatRequest request;
  request.messages = std::move(messages);
  const auto pieces = compiled->Render(request);
  return pieces ? Joined(*pieces) : "render: " + pieces.error().message;
}

const std::vector<Message> kTalk = {{.role = "system", .content = "Be brief."},
                                    {.role = "user", .content = "{{ Hi }}"},
                                    {.role = "assistant", .content = "Hello"},
                                    {.role = "user", .content = "Bye"}};

TEST(TemplateTextTest, NamesAndJinjaStayWhatTheyAre) {
  EXPECT_EQ(*TemplateSource(" chatml\n"), FindBuiltin("chatml")->source);
  EXPECT_EQ(*TemplateSource("{{ messages[0].content }}"), "{{ messages[0].content }}");
  EXPECT_EQ(*TemplateSource("{% for m in messages %}x{% endfor %}"),
            "{% for m in messages %}x{% endfor %}");
}

TEST(TemplateTextTest, SimpleGoTemplates) {
  if (!TemplateEngine::Available()) GTEST_SKIP();
  const char* chatml =
      "{{ if .System }}<s>{{ .System }}</s>\n{{ end }}{{ if .Prompt }}<u>{{ .Prompt }}</u>\n"
      "{{ end }}<a>\n{{ .Response }}</a>\n";
  EXPECT_EQ(Render(chatml, kTalk),
            "<s>Be brief.</s>\n<u>{{ Hi }}</u>\n<a>\nHello</a>\n<u>Bye</u>\n<a>\n");
  EXPECT_EQ(Render("{{- .System }} \n {{- if .System -}} \n|{{ else }}none|{{ end }}"
                   "Q: {{.Prompt}} A:",
                   kTalk),
            "Be brief.|Q: {{ Hi }} A:Hellonone|Q: Bye A:");
  EXPECT_EQ(Render("{# \"{{ .Prompt }}\" {{ .Response }}", {{.role = "user", .content = "x"}}),
            "{# \"x\" ");
}

TEST(TemplateTextTest, WhatCannotBeHonouredIsRefused) {
  for (const char* text :
       {"{{ range .Messages }}{{ .Content }}{{ end }}", "{{ .Tools }}", "{{ .Prompt }}{{ end }}",
        "{{ if .Response }}{{ .Response }}{{ end }}", "{{ .Response }}{{ .Prompt }}",
        "{{ if or .System .Tools }}x{{ end }}", "{{ $x := 1 }}"}) {
    const auto source = TemplateSource(text);
    ASSERT_FALSE(source.has_value()) << text;
    EXPECT_EQ(source.error().kind, ErrorKind::kUnsupported) << text;
  }
  for (const char* text : {"", "chatmll", "{{ .Prompt", "{{ if .System }}x"}) {
    const auto source = TemplateSource(text);
    ASSERT_FALSE(source.has_value()) << text;
    EXPECT_EQ(source.error().kind, ErrorKind::kBadInput) << text;
  }
}

}  // namespace
}  // namespace vivace
