// What a disk, a crash or another program can do to the store: it costs time, never a byte.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gtest/gtest.h"

#include "kv/testing.h"

namespace vivace {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kForks = false;
#else
constexpr bool kForks = true;
#endif

// A folder with one file of four pages.
struct Written {
  explicit Written(const std::string& name) : folder(name), path(4, 0) {
    PageStore store(folder.Options(), kTestKind);
    EXPECT_EQ(WriteAll(store, path), 4);
    EXPECT_EQ(folder.Files().size(), 1U);
    file = folder.Files()[0];
    bytes = ReadBytes(file);
  }
  // With these bytes in the file: reads at most `most` pages, right ones, and the file is gone.
  void ExpectRefused(const std::string& changed, std::int64_t most, const std::string& what) {
    WriteBytes(file, changed);
    PageStore store(folder.Options(), kTestKind);
    EXPECT_LE(ReadAll(store, path), most) << what;
    EXPECT_TRUE(folder.Files().empty()) << what;
    EXPECT_EQ(store.pages(), 0) << what;
    EXPECT_TRUE(folder.warnings().empty()) << what;
  }

  StoreFolder folder;
  TestPath path;
  std::string file;
  std::string bytes;
};

TEST(PageStoreFaultsTest, EveryByteOfTheHeaderCounts) {
  Written written("faults_header");
  const std::size_t header = PageFileHeaderBytes(0, 4);
  for (std::size_t i = 0; i < header; i += i < 600 ? 1 : 97) {
    for (const int flip : {1, 128}) {
      std::string changed = written.bytes;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      written.ExpectRefused(changed, 0, "byte " + std::to_string(i));
    }
  }
}

TEST(PageStoreFaultsTest, FieldsWithRightChecksumsAreCheckedToo) {
  Written written("faults_fields");
  const auto encode = [&](const PageFileHeader& header, const PageFileKind& kind) {
    const auto bytes = EncodePageFileHeader(header, kind);
    const std::string changed(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return changed + written.bytes.substr(PageFileHeaderBytes(0, 4));
  };
  const auto file = PageFile::Open(written.file, kTestKind);
  ASSERT_TRUE(file.has_value());
  const PageFileHeader good = file->header();
  EXPECT_EQ(encode(good, kTestKind), written.bytes);
  PageFileKind other = kTestKind;
  other.root.high ^= 1;
  written.ExpectRefused(encode(good, other), 0, "root");
  other = kTestKind;
  other.shape = {.layers = 1, .kv_heads = 2, .dim = 16};
  written.ExpectRefused(encode(good, other), 0, "shape");
  PageFileHeader header = good;
  header.pages[2].checksum ^= 1;
  written.ExpectRefused(encode(header, kTestKind), 2, "checksum of a page");
  header = good;
  header.pages[0].name.low ^= 1;
  written.ExpectRefused(encode(header, kTestKind), 0, "first name");
  header = good;
  header.pages[3].name.low ^= 1;
  written.ExpectRefused(encode(header, kTestKind), 0, "last name");
}

// Same names, other tokens: as if two texts had the same hash. Nothing is handed out.
TEST(PageStoreFaultsTest, TokensAreCompared) {
  Written written("faults_tokens");
  auto file = PageFile::Open(written.file, kTestKind);
  ASSERT_TRUE(file.has_value());
  for (const std::size_t token : {0, 17, 63}) {
    PageFileHeader header = file->header();
    ++header.tokens[token];
    const auto bytes = EncodePageFileHeader(header, kTestKind);
    WriteBytes(written.file,
               std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) +
                   written.bytes.substr(bytes.size()));
    PageStore store(written.folder.Options(), kTestKind);
    EXPECT_EQ(ReadAll(store, written.path), static_cast<std::int64_t>(token / kTestPage));
    // Its own pages can be written beside it, or in its place.
    EXPECT_GT(WriteAll(store, written.path), 0);
    EXPECT_EQ(ReadAll(store, written.path), 4);
    store.Clear();
  }
  // Tokens before the file's own pages count as well.
  const TestPath whole(8, 0);
  PageStore store(written.folder.Options(), kTestKind);
  EXPECT_EQ(WriteAll(store, TestPath(4, 0)), 4);
  EXPECT_EQ(WriteAll(store, whole), 4);
  for (const std::string& name : written.folder.Files()) {
    auto part = PageFile::Open(name, kTestKind);
    ASSERT_TRUE(part.has_value());
    if (part->header().first == 0) continue;
    std::vector<TokenId> tokens = whole.tokens;
    EXPECT_EQ(part->CountShared(whole.names, tokens), 4);
    ++tokens[5];
    EXPECT_EQ(part->CountShared(whole.names, tokens), 0);
  }
}

TEST(PageStoreFaultsTest, TruncatedAndLongerFilesAreRefused) {
  Written written("faults_sizes");
  for (std::size_t size = 0; size < written.bytes.size(); size += size < 128 ? 1 : 331) {
    written.ExpectRefused(written.bytes.substr(0, size), 0, std::to_string(size) + " bytes");
  }
  written.ExpectRefused(written.bytes.substr(0, written.bytes.size() - 1), 0, "a byte less");
  written.ExpectRefused(written.bytes + "x", 0, "a byte more");
}

TEST(PageStoreFaultsTest, EveryBitOfAPageCounts) {
  Written written("faults_payload");
  const std::size_t header = PageFileHeaderBytes(0, 4);
  const std::size_t page = kTestKind.shape.page_bytes();
  for (std::size_t i = header; i < written.bytes.size(); i += 61) {
    std::string changed = written.bytes;
    changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 8)));
    written.ExpectRefused(changed, static_cast<std::int64_t>((i - header) / page),
                          "byte " + std::to_string(i));
  }
}

TEST(PageStoreFaultsTest, FilesOfOtherKindsAreRemovedAndStrangersStay) {
  Written written("faults_names");
  const std::string folder = written.folder.folder() + "/";
  const std::string name = std::filesystem::path(written.file).filename().string();
  WriteBytes(folder + "0123456789abcdef" + name.substr(16), written.bytes);   // another model
  WriteBytes(folder + name.substr(0, name.size() - 1) + "2", written.bytes);  // another version
  WriteBytes(folder + name.substr(0, name.size() - 5) + "99.kv1", written.bytes);  // too many
  WriteBytes(folder + name.substr(0, name.size() - 5) + "04.kv1", written.bytes);  // misspelled
  WriteBytes(folder + "notes.txt", "mine");
  WriteBytes(folder + "other.kv1", "mine");
  PageStore store(written.folder.Options(), kTestKind);
  EXPECT_EQ(ReadAll(store, written.path), 4);
  auto expected = std::vector{written.file, folder + "notes.txt", folder + "other.kv1"};
  std::ranges::sort(expected);
  EXPECT_EQ(written.folder.Files(), expected);
}

TEST(PageStoreFaultsTest, LinksPipesAndFoldersAreNotFollowed) {
  Written written("faults_links");
  std::filesystem::rename(written.file, written.folder.folder() + "/elsewhere");
  std::filesystem::create_symlink("elsewhere", written.file);
  {
    PageStore store(written.folder.Options(), kTestKind);
    EXPECT_EQ(ReadAll(store, written.path), 0);
  }
  std::filesystem::remove(written.file);
  ASSERT_EQ(mkfifo(written.file.c_str(), 0600), 0);
  {
    PageStore store(written.folder.Options(), kTestKind);
    EXPECT_EQ(ReadAll(store, written.path), 0);
  }
  std::filesystem::remove(written.file);
  std::filesystem::create_directory(written.file);
  PageStore store(written.folder.Options(), kTestKind);
  EXPECT_EQ(ReadAll(store, written.path), 0);
}

TEST(PageStoreFaultsTest, TemporaryFilesOfTheDeadAreRemoved) {
  Written written("faults_temporary");
  const std::string dead = written.folder.folder() + "/writing-abc123.tmp";
  WriteBytes(dead, written.bytes.substr(0, 5000));
  const TestPath path(4, 500);
  auto living = TemporaryPageFile::Write(written.folder.folder(), kTestKind, path.Pages(), 0, 4,
                                         [] { return false; });
  ASSERT_TRUE(living.has_value());
  EXPECT_EQ(written.folder.Files().size(), 3U);
  PageStore store(written.folder.Options(), kTestKind);
  store.Look();
  EXPECT_EQ(written.folder.Files().size(), 2U);
  EXPECT_FALSE(std::filesystem::exists(dead));
  EXPECT_TRUE(living->Publish(written.folder.folder() + "/published").has_value());
}

TEST(PageStoreFaultsTest, AFullDiskIsSaidOnceAndTriedAgain) {
  if (!kForks) GTEST_SKIP() << "limits the whole process";
  StoreFolder folder("faults_full");
  signal(SIGXFSZ, SIG_IGN);
  rlimit limit = {};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit tiny = {.rlim_cur = 6000, .rlim_max = limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tiny);
  PageStore store(folder.Options(), kTestKind);
  const TestPath path(4, 0);
  EXPECT_EQ(WriteAll(store, path), 0);
  EXPECT_EQ(WriteAll(store, path), 0);
  EXPECT_TRUE(folder.Files().empty());
  EXPECT_EQ(folder.warnings().size(), 1U);
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_EQ(WriteAll(store, path), 4);
  EXPECT_EQ(ReadAll(store, path), 4);
  // With a pace, the next try comes later.
  PageStoreOptions options = folder.Options();
  options.retry_ms = 1e9;
  PageStore slow(options, kTestKind);
  setrlimit(RLIMIT_FSIZE, &tiny);
  EXPECT_EQ(WriteAll(slow, TestPath(4, 300)), 0);
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_EQ(WriteAll(slow, TestPath(4, 300)), 0);
  EXPECT_EQ(ReadAll(slow, path), 4);
}

TEST(PageStoreFaultsTest, AFolderThatIsNoneIsSaidOnce) {
  StoreFolder folder("faults_folder");
  WriteBytes(folder.folder(), "a file");
  PageStore store(folder.Options(), kTestKind);
  const TestPath path(4, 0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ReadAll(store, path), 0);
    EXPECT_EQ(WriteAll(store, path), 0);
  }
  EXPECT_EQ(folder.warnings().size(), 2U);  // reading and writing
  std::filesystem::remove(folder.folder());
  EXPECT_EQ(WriteAll(store, path), 4);
  EXPECT_EQ(ReadAll(store, path), 4);
  std::filesystem::remove_all(folder.folder());  // under the store's feet
  EXPECT_EQ(ReadAll(store, path), 0);
  EXPECT_EQ(WriteAll(store, path), 4);
  EXPECT_EQ(ReadAll(store, path), 4);
}

TEST(PageStoreFaultsTest, AFolderWithoutPermissionIsSaidOnce) {
  constexpr uid_t kNobody = 65534;
  const uid_t user = geteuid();
  Written written("faults_permission");
  std::filesystem::permissions(written.folder.folder(), std::filesystem::perms::none);
  ASSERT_EQ(seteuid(user == 0 ? kNobody : user), 0);  // root may read everything
  PageStore store(written.folder.Options(), kTestKind);
  EXPECT_EQ(ReadAll(store, written.path), 0);
  EXPECT_EQ(WriteAll(store, TestPath(4, 100)), 0);
  EXPECT_EQ(written.folder.warnings().size(), 2U);
  ASSERT_EQ(seteuid(user), 0);
  std::filesystem::permissions(written.folder.folder(), std::filesystem::perms::owner_all);
  EXPECT_EQ(ReadAll(store, written.path), 4);
}

TEST(PageStoreFaultsTest, AProcessMayDieWhileItWrites) {
  if (!kForks) GTEST_SKIP() << "forks";
  StoreFolder folder("faults_kill");
  for (int round = 0; round < 12; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      PageStore store(folder.Options(), kTestKind);
      for (TokenId i = 0;; ++i) WriteAll(store, TestPath(40, 1000 * i));
    }
    while (folder.Files().size() < 3) usleep(100);
    usleep(static_cast<useconds_t>(170 * round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    PageStore store(folder.Options(), kTestKind);
    store.Look();
    const std::vector<std::string> files = folder.Files();
    EXPECT_GE(files.size(), 2U);
    for (const std::string& name : files) {
      const auto file = PageFile::Open(name, kTestKind);
      ASSERT_TRUE(file.has_value()) << name;
      std::vector<std::uint16_t> page(static_cast<std::size_t>(kTestKind.shape.page_size()));
      for (std::int64_t i = 0; i < std::ssize(file->header().pages); ++i) {
        EXPECT_TRUE(file->Read(i, page.data()).has_value()) << name;
      }
    }
    EXPECT_EQ(ReadAll(store, TestPath(40, 0)), 40);
    store.Clear();
    EXPECT_TRUE(folder.Files().empty());
  }
}

}  // namespace
}  // namespace vivace
