#include "agent/frames/secrets.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kHex = "0123456789abcdef0123456789abcdef01234567";

TEST(HideSecretWords, HidesTheValuesOfOptionsThatNameASecret) {
  const std::pair<Words, Words> cases[] = {
      {{"--token", "abc"}, {"--token", "***"}},
      {{"--hf_token", "hf_x", "--lr", "0.1"}, {"--hf_token", "***", "--lr", "0.1"}},
      {{std::string("--wandb_api_key=") + kHex}, {"--wandb_api_key=***"}},
      {{"--encryption-key=two words"}, {"--encryption-key=***"}},
      {{"--wandb-key", "short"}, {"--wandb-key", "***"}},
      {{"WANDB_KEY=short"}, {"WANDB_KEY=***"}},
      {{"+logger.wandb.key=short"}, {"+logger.wandb.key=***"}},
      {{"--token", "-Ab3dEf6hIj"}, {"--token", "***"}},
      {{"--token", "-v", "--lr"}, {"--token", "-v", "--lr"}},
      {{"--db-pwd", "ab"}, {"--db-pwd", "***"}},
      {{"SMTP_PASS=ab"}, {"SMTP_PASS=***"}},
      {{"--pass", "ab"}, {"--pass", "***"}},
      {{"--db-password", "correct horse"}, {"--db-password", "***"}},
      {{"wandb", "login", kHex}, {"wandb", "login", "***"}},
      {{"curl", "-u", "me:word", "https://x"}, {"curl", "-u", "me:***", "https://x"}},
  };
  for (const auto& [words, clean] : cases) EXPECT_EQ(HideSecretWords(words), clean);
}

TEST(HideSecretWords, HidesWithinScriptsAndUrls) {
  const std::pair<const char*, const char*> cases[] = {
      {"export WANDB_API_KEY=abc123; python train.py", "export WANDB_API_KEY=***; python train.py"},
      {"python train.py --token abc --lr 0.1", "python train.py --token *** --lr 0.1"},
      {"postgres://user:pa/ss@host/db", "postgres://***@host/db"},
      {"redis://:word@host:6379/0", "redis://***@host:6379/0"},
      {"https://hooks.slack.com/services/T0/B0/XX", "https://hooks.slack.com/services/***"},
      {"s3://b/o?X-Amz-Signature=0a1b2c3d4e5f60718293a4b5&x=1", "s3://b/o?X-Amz-Signature=***&x=1"},
      {"AccountName=me;AccountKey=abc==;Suffix=x", "AccountName=me;AccountKey=***;Suffix=x"},
      {"curl -H 'Authorization: Basic dXNlcjpwYXNzd29yZA=='", "curl -H 'Authorization: Basic ***'"},
      {"say password=\"two words\" x", "say password=\"***\" x"},
      {"nvapi-abcdefghijklmnopqrstuv", "***"},
      {"-----BEGIN OPENSSH PRIVATE KEY-----\nabc", "***"},
  };
  for (const auto& [word, clean] : cases) EXPECT_EQ(HideSecretWords({word}), Words{clean});
}

TEST(HideSecretWords, LeavesTheWordsOfATrainingAlone) {
  const Words words = {"torchrun",
                       "--nproc-per-node=8",
                       "train.py",
                       "--tokenizer",
                       "gpt2",
                       "--max-tokens",
                       "512",
                       "--tokens=5",
                       "--pad_token=<pad>",
                       "--eos-token",
                       "</s>",
                       "--token-count",
                       "7",
                       "--keys",
                       "a,b",
                       "--monkey=x",
                       "--bypass",
                       "cache",
                       "--compass=north",
                       "--pwd",
                       "/work",
                       "PWD=/work",
                       "--author",
                       "me",
                       "--resume",
                       "/data/checkpoint-2024-11-27/step_001000.pt",
                       "--revision=9f8e7d6c5b4a39281706f5e4d3c2b1a098765432",
                       "https://host:8080/models/llama@v2",
                       "a-name-of-an-experiment-2024-11-27-v2"};
  EXPECT_EQ(HideSecretWords(words), words);
}

TEST(HideSecrets, LeavesProseAlone) {
  for (const char* line : {
           "FATAL: password authentication failed for user me",
           "loss per token: 2.31",
           "Unexpected key transformer.h.10.attn.c_attn.weight in state_dict",
           "KeyError: 'layer1.0.weight'",
           "login failed",
       }) {
    EXPECT_EQ(HideSecrets(line), line);
  }
}

TEST(HideSecrets, HidesTheValuesOfTheUsersOwnNames) {
  const Words names = {"licence", ""};
  EXPECT_EQ(HideSecretWords({"--Licence", "ab"}, names), (Words{"--Licence", "***"}));
  EXPECT_EQ(HideSecretWords({"--my-licence-file=ab"}, names), Words{"--my-licence-file=***"});
  EXPECT_EQ(HideSecrets("licence: ab-12", names), "licence: ***");
  EXPECT_EQ(HideSecrets("licence: ab-12"), "licence: ab-12");
}

TEST(HideSecretWords, KeepsTheNumberOfWordsWhateverTheyAre) {
  std::uint32_t random = 7;
  constexpr const char* kPieces[] = {"--token", "=", "://", "@", "key",    ":",     "\"",
                                     "/",       "x", "-u",  "'", "secret", "login", "\n"};
  for (int i = 0; i < 2000; ++i) {
    Words words(5);
    for (std::string& word : words) {
      for (int j = 0; j < 6; ++j) {
        random = random * 1664525 + 1013904223;
        word += kPieces[(random >> 20) % std::size(kPieces)];
      }
    }
    EXPECT_EQ(HideSecretWords(words).size(), words.size());
  }
  EXPECT_EQ(HideSecretWords({}), Words{});
  EXPECT_EQ(HideSecretWords({"", "--token"}), (Words{"", "--token"}));
}

}  // namespace
}  // namespace stepscope
