#include "hub/modelfile.h"

#include <gtest/gtest.h>

namespace vivace {
namespace {

TEST(ModelfileTest, EveryInstructionInAnyOrderAndCase) {
  const auto file = ParseModelfile(
      "# a comment\n"
      "parameter temperature 0.5\n"
      "\n"
      "Message user \"Hi\"\n"
      "MESSAGE assistant Hello there.\n"
      "SYSTEM \"\"\"You are\nMario.\"\"\"\n"
      "PARAMETER stop \"<|im_end|>\"\n"
      "  from smollm2:q4_1  \n"
      "template chatml\n"
      "LICENSE MIT\n"
      "PARAMETER stop two words");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->from, "smollm2:q4_1");
  EXPECT_EQ(file->system, "You are\nMario.");
  EXPECT_EQ(file->chat_template, "chatml");
  EXPECT_EQ(file->licenses, std::vector<std::string>{"MIT"});
  const std::vector<std::pair<std::string, std::string>> parameters = {
      {"temperature", "0.5"}, {"stop", "<|im_end|>"}, {"stop", "two words"}};
  EXPECT_EQ(file->parameters, parameters);
  const std::vector<ModelfileMessage> messages = {{"user", "Hi"}, {"assistant", "Hello there."}};
  EXPECT_EQ(file->messages, messages);
}

TEST(ModelfileTest, QuotesAreStrippedOnceAlsoWithoutAFinalNewline) {
  const auto file = ParseModelfile("FROM a\nPARAMETER stop \"<|eot_id|>\"");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->parameters.at(0).second, "<|eot_id|>");
  EXPECT_EQ(ParseModelfile("FROM a\nSYSTEM \"\"a\"\"\n")->system, "\"a\"");
  EXPECT_EQ(ParseModelfile("FROM a\nSYSTEM \"\"\"say \"x\"\"\"\"\n")->system, "say \"x\"");
}

TEST(ModelfileTest, WindowsLineEndsAndByteOrderMark) {
  const auto file = ParseModelfile(
      "\xEF\xBB\xBF"
      "FROM a\r\nPARAMETER stop \"x\"\r\n\r\n");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->from, "a");
  EXPECT_EQ(file->parameters.at(0).second, "x");
}

TEST(ModelfileTest, ErrorsNameTheLine) {
  const std::pair<const char*, const char*> wrong[] = {
      {"", "no FROM"},
      {"SYSTEM hi\n", "no FROM"},
      {"FROM a\nFROM b", "line 2: FROM comes twice"},
      {"FROM a\n\nSYSTEMS hi\n", "line 3: \"systems\" is no instruction"},
      {"FROM a\nSYSTEM \"\"\"x\ny\"\"\" and more\n", "line 3: \"and more\" comes after"},
      {"FROM a\nSYSTEM \"\"\"x\ny", "line 2: the \"\"\" is not closed"},
      {"FROM a\nSYSTEM \"x\n", "line 2: system: the quote is not closed"},
      {"FROM a\nSYSTEM \"x\" y\n", "line 2: system: the quote is not closed"},
      {"FROM a\nPARAMETER\n", "line 2: parameter needs a name"},
      {"FROM a\nPARAMETER stop\n", "line 2: parameter stop needs a value"},
      {"FROM a\nMESSAGE robot hi\n", "line 2: message role \"robot\""},
      {"FROM \n", "line 1: FROM needs the name"},
  };
  for (const auto& [text, message] : wrong) {
    const auto file = ParseModelfile(text);
    ASSERT_FALSE(file.has_value()) << text;
    EXPECT_EQ(file.error().kind, ErrorKind::kBadInput);
    EXPECT_NE(file.error().message.find(message), std::string::npos) << file.error().message;
  }
}

TEST(ModelfileTest, WrittenTextParsesToTheSame) {
  const std::string values[] = {"plain", "two words ", " lead", "\"",   "\"\"",    "\"\"x",
                                "a\nb",  "a\n\"b\"",   "\na\n", "# no", "{{ x }}", "q\r\nr"};
  for (const std::string& value : values) {
    const Modelfile file = {.from = "base:q8_0",
                            .parameters = {{"stop", value}, {"top_k", "5"}, {"stop", "b"}},
                            .chat_template = value,
                            .system = value,
                            .adapter = "",
                            .licenses = {value, "b"},
                            .messages = {{"user", value}, {"assistant", ""}}};
    const auto again = ParseModelfile(WriteModelfile(file));
    ASSERT_TRUE(again.has_value()) << value << ": " << again.error().message;
    EXPECT_EQ(*again, file) << WriteModelfile(file);
  }
}

}  // namespace
}  // namespace vivace
