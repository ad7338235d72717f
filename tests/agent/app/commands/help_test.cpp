// The help of every command of the program.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "tests/support/agent_process.h"

namespace stepscope {
namespace {

using test::AgentProcess;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr const char* kCommands[] = {"run",   "daemon", "top",    "check",
                                     "flush", "record", "replay", "import"};

std::string OutOf(std::vector<std::string> words) {
  AgentProcess program(std::move(words));
  EXPECT_EQ(program.Wait(), 0);
  program.WaitForEnd();
  EXPECT_EQ(program.err(), "");
  return program.out();
}

TEST(Help, OfEachCommandHasItsUsageAnExampleAndItsOptions) {
  for (const std::string name : kCommands) {
    SCOPED_TRACE(name);
    const std::string help = OutOf({name, "--help"});
    const std::string call = Format("  stepscope-agent {} ", name);
    const std::size_t examples = help.find("\nExamples:\n");
    ASSERT_NE(examples, help.npos);
    EXPECT_THAT(help.substr(0, examples), HasSubstr("\n\n" + call)) << "how it is called";
    EXPECT_THAT(help.substr(examples), ContainsRegex(Format("\n(  .*)?stepscope-agent {}", name)));
    EXPECT_THAT(help.substr(examples), HasSubstr("\nOptions:\n"));
    EXPECT_THAT(help, HasSubstr("--log-level LEVEL"));
    EXPECT_EQ(OutOf({"help", name}), help);
  }
}

TEST(Help, NamesEveryCommandThatIsLookedAtHere) {
  const std::string help = OutOf({"--help"});
  std::vector<std::string> named;
  for (const std::string_view line : Split(help, '\n')) {
    constexpr std::string_view kStart = "  stepscope-agent ";
    if (!line.starts_with(kStart)) continue;
    const std::string word(
        line.substr(kStart.size(), line.find(' ', kStart.size()) - kStart.size()));
    if (word != "help" && !word.starts_with("--")) named.push_back(word);
  }
  EXPECT_THAT(named, testing::UnorderedElementsAreArray(kCommands));
}

}  // namespace
}  // namespace stepscope
