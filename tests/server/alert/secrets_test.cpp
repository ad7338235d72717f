#include "server/alert/secrets.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

#include "server/alert/sign.h"
#include "tests/support/temp_folder.h"

namespace stepscope {
namespace {

class Secrets : public testing::Test {
 protected:
  void Write(const std::string& text, mode_t mode = 0600) {
    std::ofstream(key_) << text;
    chmod(key_.c_str(), mode);
  }

  const TempFolder folder_;
  const std::string key_ = folder_.path() + "/webhook.key";
};

TEST_F(Secrets, ComeBackWithTheSameKeyFile) {
  const std::string secret = NewWebhookSecret();
  const auto sealed = SecretBox::Open(key_)->Seal(secret);
  ASSERT_TRUE(sealed.ok());
  EXPECT_EQ(sealed->find(secret.substr(6)), std::string::npos);
  EXPECT_EQ(*SecretBox::Open(key_)->Unseal(*sealed), secret);
  EXPECT_NE(*SecretBox::Open(key_)->Seal(secret), *sealed);  // never the same bytes twice
}

TEST_F(Secrets, KeyFileIsForItsOwnerAlone) {
  ASSERT_TRUE(SecretBox::Open(key_).ok());
  struct stat facts {};
  ASSERT_EQ(stat(key_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  chmod(key_.c_str(), 0640);
  EXPECT_EQ(SecretBox::Open(key_).error().message,
            "key file " + key_ + ": others may read it; chmod 600 it");
}

TEST_F(Secrets, RefusesAFileWithoutAKey) {
  for (const char* text : {"", "short", "AAAA\n", "****************************************"}) {
    Write(text);
    EXPECT_EQ(SecretBox::Open(key_).error().code, Code::kInvalid) << text;
  }
  EXPECT_FALSE(SecretBox::Open("/no/such/folder/webhook.key").ok());
}

TEST_F(Secrets, ChangedBytesAndOtherKeysAreRefused) {
  const auto box = SecretBox::Open(key_);
  const std::string sealed = *box->Seal("whsec_x");
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(box->Unseal(changed).ok()) << i;
    EXPECT_FALSE(box->Unseal(sealed.substr(0, i)).ok()) << i;
  }
  unlink(key_.c_str());
  EXPECT_FALSE(SecretBox::Open(key_)->Unseal(sealed).ok());
}

TEST_F(Secrets, ProgramsThatStartTogetherShareOneKey) {
  std::vector<std::string> sealed(8);
  std::vector<std::thread> threads;
  for (std::string& mine : sealed) {
    threads.emplace_back([&] { mine = *SecretBox::Open(key_)->Seal("x"); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& each : sealed) EXPECT_TRUE(SecretBox::Open(key_)->Unseal(each).ok());
}

// The example of the Standard Webhooks libraries.
TEST(SignWebhook, IsThatOfStandardWebhooks) {
  EXPECT_EQ(*SignWebhook("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek",
                         1614265330, R"({"test": 2432232314})"),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST(SignWebhook, RefusesWhatIsNoSecret) {
  for (const char* secret : {"", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_*"}) {
    EXPECT_FALSE(SignWebhook(secret, "1", 1, "").ok()) << secret;
  }
}

}  // namespace
}  // namespace stepscope
