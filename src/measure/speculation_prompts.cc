#include "measure/speculation_prompts.h"

#include <string_view>

#include <fmt/format.h>

namespace vivace {
namespace {

constexpr std::string_view kTopics[] = {
    "how a bicycle stays upright",    "why the sky is blue",
    "what a hash table is",           "how vaccines work",
    "what inflation does to savings", "how a sailing boat tacks",
    "why bread dough rises",          "what a compiler does",
    "how tides come about",           "what makes a good interview",
    "how noise cancelling works",     "why leaves turn red"};

constexpr std::string_view kFunctions[] = {
    "a Python function that merges two sorted lists",
    "a Python class for a queue with a maximum size",
    "a JavaScript function that debounces another function",
    "a Python function that parses a CSV line with quoted fields",
    "a C function that reverses a string in place",
    "a Python script that counts the words of a text file",
    "a Go function that removes duplicates from a slice of strings",
    "a Python function that checks whether brackets are balanced",
    "a Rust function that computes the nth Fibonacci number",
    "a Python class for a binary search tree with insert and find",
    "an SQL schema for a small library with books, members and loans",
    "a shell script that renames all .txt files to .md"};

constexpr std::string_view kObjects[] = {
    "five cities with name, country, population and coordinates",
    "six employees with id, name, role, email and salary",
    "four books with title, author, year and tags",
    "eight products with sku, name, price and in_stock",
    "five films with title, director, year and rating",
    "six planets with name, diameter_km, moons and has_rings",
    "five recipes with name, minutes, servings and ingredients",
    "seven days with date, low, high and conditions",
    "five invoices with number, customer, amount and paid",
    "six languages with name, year, typing and paradigms",
    "four flights with number, from, to, departure and gate",
    "five users with id, username, email and settings"};

constexpr std::string_view kPassages[] = {
    "The harbour of Lindvik was opened in 1874 after nine years of work. Its breakwater is 640 "
    "metres long and was built of granite from the quarry at Osen. Until 1931 the herring fleet "
    "used it, 114 boats at its height. After the war the fleet moved south, and the harbour stood "
    "nearly empty. In 1968 a ferry line to Aldersund began, first twice a week, later every day. "
    "Today the harbour has two quays, a small shipyard and a museum in the old customs house.",
    "A heat pump moves heat from a cold place to a warm one. It does so with a refrigerant that "
    "evaporates at low temperature and takes heat from the air outside. A compressor raises its "
    "pressure and so its temperature. In the condenser it gives the heat to the water of the "
    "heating system and becomes liquid again. An expansion valve lowers the pressure, and the "
    "cycle starts anew. For each kilowatt hour of electricity it moves three to four of heat.",
    "The committee met on 12 March and approved the budget of 48 000 euros. Ms Okafor reported "
    "that the roof of the hall needs repair before winter; two offers were received, of 11 200 and "
    "9 850 euros. The second was accepted. Mr Lindqvist asked that the reading room stay open on "
    "Sundays. The committee agreed to a trial of three months, beginning in May. The next meeting "
    "takes place on 9 April at seven in the evening in the small hall."};

constexpr std::string_view kPassageTasks[] = {
    "Repeat the text word for word.", "Write out every sentence of the text as a numbered list.",
    "Quote all sentences that contain a number, word for word.",
    "Quote the first three sentences, then the last two sentences."};

constexpr std::string_view kSnippets[] = {
    "def load_users(path):\n    users = []\n    with open(path) as f:\n        for line in f:\n"
    "            parts = line.strip().split(',')\n            if len(parts) != 3:\n"
    "                continue\n            name, email, age = parts\n"
    "            users.append({'name': name, 'email': email, 'age': int(age)})\n    return "
    "users\n\n"
    "def average_age(users):\n    total = 0\n    for user in users:\n        total += user['age']\n"
    "    return total / len(users)\n",
    "function renderList(items) {\n  const list = document.createElement('ul');\n"
    "  for (const item of items) {\n    const entry = document.createElement('li');\n"
    "    entry.textContent = item.title;\n    entry.dataset.id = item.id;\n"
    "    entry.addEventListener('click', () => select(item.id));\n    list.appendChild(entry);\n  "
    "}\n"
    "  return list;\n}\n\nfunction select(id) {\n  for (const entry of "
    "document.querySelectorAll('li'))"
    " {\n    entry.classList.toggle('selected', entry.dataset.id === id);\n  }\n}\n",
    "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n"
    "        self.items.append(item)\n\n    def pop(self):\n        if not self.items:\n"
    "            raise IndexError('pop from empty stack')\n        return self.items.pop()\n\n"
    "    def peek(self):\n        if not self.items:\n            return None\n"
    "        return self.items[-1]\n\n    def size(self):\n        return len(self.items)\n",
    "int count_words(const char *text) {\n  int count = 0;\n  int in_word = 0;\n"
    "  for (int i = 0; text[i] != '\\0'; i++) {\n    if (text[i] == ' ' || text[i] == '\\n') {\n"
    "      in_word = 0;\n    } else if (!in_word) {\n      in_word = 1;\n      count++;\n    }\n  "
    "}\n"
    "  return count;\n}\n\nint main(void) {\n  const char *text = \"the quick brown fox\";\n"
    "  printf(\"%d\\n\", count_words(text));\n  return 0;\n}\n"};

constexpr std::string_view kEdits[] = {"Add a short comment above every function or method.",
                                       "Rename every function by adding the suffix 2 to its name.",
                                       "Add one line that prints 'done' at the end of the code."};

}  // namespace

std::vector<SpeculationClass> SpeculationClasses() {
  SpeculationClass chat = {.name = "chat", .prompts = {}};
  for (const auto topic : kTopics) chat.prompts.push_back(fmt::format("Explain {}.", topic));
  SpeculationClass code = {.name = "code", .prompts = {}};
  for (const auto what : kFunctions) code.prompts.push_back(fmt::format("Write {}.", what));
  SpeculationClass json = {.name = "json", .prompts = {}};
  for (const auto what : kObjects) {
    json.prompts.push_back(fmt::format("Answer with JSON only: an array of {}.", what));
  }
  SpeculationClass quote = {.name = "quote", .prompts = {}};
  for (const auto text : kPassages) {
    for (const auto task : kPassageTasks) {
      quote.prompts.push_back(fmt::format("Text:\n{}\n\n{}", text, task));
    }
  }
  SpeculationClass edit = {.name = "edit", .prompts = {}};
  for (const auto snippet : kSnippets) {
    for (const auto task : kEdits) {
      edit.prompts.push_back(
          fmt::format("```\n{}```\n{} Answer with the whole changed code.", snippet, task));
    }
  }
  return {chat, code, json, quote, edit};
}

}  // namespace vivace
