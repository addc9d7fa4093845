// The addresses on which rank 0 listens, and the connections that it admits.
#include "Limits.h"
#include "TcpPeers.h"

#include <fmt/format.h>

#include <map>
#include <netdb.h>

using namespace xlc::runtime;

namespace {

class DoorTest : public testing::Test {
protected:
  /// At two addresses, as a host's name may have.
  void open(int ranks) {
    job = {7, ranks, "a secret"};
    std::vector<OwnedFile> sockets = tcp::listenAt("127.0.0.1", port).sockets;
    sockets.push_back(std::move(tcp::listenAt("127.0.0.2", port).sockets.at(0)));
    door = tcp::Door(std::move(sockets), job);
  }
  tcp::Line connect(const char *host = "127.0.0.1") const { return tcp::Line(tcp::connectTo(host, port).socket); }
  tcp::Line knock(int rank) {
    tcp::Line line = connect();
    line.enqueue(makeHello(job, rank, {}));
    line.send();
    return line;
  }
  void look() {
    door.look({[&](int rank) { return came.contains(rank); },
               [&](int rank, tcp::Line line) { came[rank] = std::move(line); }});
  }
  /// Whether one that has said hello is let in when it shows that it knows the secret.
  bool isLetIn(tcp::Line &line, int rank) {
    auto tryHear = [&](tcp::Kind kind) {
      for (int i = 0; i < 1000 && line.isOpen(); ++i, std::this_thread::sleep_for(1ms)) {
        look();
        if (line.receive())
          return line.received.header.kind == kind;
      }
      return false;
    };
    tcp::Encounter encounter{job.tag, rank, {}, {}};
    if (!tryHear(tcp::Kind::Challenge) || !line.received.readTo(encounter.ofZero))
      return false;
    tcp::Digest own = proofOf(tcp::Side::Rank, encounter, job.secret);
    line.enqueue(tcp::Frame(tcp::Kind::Proof, rank, 0, 0, tcp::bytesOfValue(own)));
    line.send();
    return tryHear(tcp::Kind::Welcome) && came.contains(rank);
  }

  const uint16_t port = findPort();
  tcp::Job job = {};
  tcp::Door door;
  std::map<int, tcp::Line> came;
};

/// As behind a rank 0 that was stopped for a moment: all come at once.
TEST_F(DoorTest, WhoHasSaidHelloMakesNoRoomForABurstOfOthers) {
  open(2);
  std::vector<tcp::Line> burst;
  auto connectMany = [&](int count) {
    for (int i = 0; i < count; ++i)
      burst.push_back(connect()), burst.push_back(connect("127.0.0.2"));
  };
  connectMany(100);
  look(), look(); // there is no room left
  tcp::Line one = knock(1);
  connectMany(200);
  look();
  EXPECT_TRUE(isLetIn(one, 1));
}

TEST_F(DoorTest, WhoSaysNothingMakesRoom) {
  open(2);
  std::vector<tcp::Line> burst;
  for (int i = 0; i < 200; ++i) {
    burst.push_back(connect());
    look();
  }
  tcp::Line one = knock(1);
  EXPECT_TRUE(isLetIn(one, 1));
  EXPECT_TRUE(!burst.front().receive() && !burst.front().isOpen());
  EXPECT_TRUE(!burst.back().receive() && burst.back().isOpen());
}

/// That it says what a rank would say is not enough to keep the rank out.
TEST_F(DoorTest, OneThatDoesNotKnowTheSecretDoesNotTakeARanksPlace) {
  open(2);
  tcp::Line other = knock(1), one = knock(1);
  look();
  tcp::Digest none = {};
  other.enqueue(tcp::Frame(tcp::Kind::Proof, 1, 0, 0, tcp::bytesOfValue(none)));
  other.send();
  EXPECT_TRUE(isLetIn(one, 1));
  EXPECT_EQ(door.trouble(), "rank 1 was refused: its XLC_JOB_SECRET differs from that of rank 0; the text must be "
                            "the same on all hosts");
}

TEST_F(DoorTest, WithoutDescriptorsStrangersMakeRoom) {
  open(2);
  std::vector<tcp::Line> burst;
  for (int i = 0; i < 40; ++i)
    burst.push_back(connect());
  tcp::Line one = knock(1);
  Descriptors few(10);
  EXPECT_TRUE(isLetIn(one, 1));
  EXPECT_EQ(door.trouble(), "a connection could not be accepted: Too many open files");
  EXPECT_FALSE(door.lacksRoom());
}

/// Who comes is not asked about again and again.
TEST_F(DoorTest, WithoutAnyDescriptorTheDoorIsShutForAWhile) {
  open(2);
  tcp::Line one = knock(1);
  {
    Descriptors none(0);
    look();
    EXPECT_TRUE(door.lacksRoom());
    std::vector<pollfd> asked;
    door.addTo(asked);
    EXPECT_TRUE(asked.empty());
  }
  EXPECT_TRUE(isLetIn(one, 1));
  EXPECT_FALSE(door.lacksRoom());
}

std::string placeOf(const OwnedFile &socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  char text[256] = "";
  EXPECT_EQ(getsockname(socket.get(), (sockaddr *)&address, &size), 0);
  getnameinfo((sockaddr *)&address, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return text;
}

TEST(Listening, IsWhereTheNameIs) {
  uint16_t port = findPort();
  for (const char *host : {"localhost", "127.0.0.1", "127.0.0.2"}) {
    tcp::Listening made = tcp::listenAt(host, port);
    EXPECT_EQ(made.why, "") << host;
    ASSERT_FALSE(made.sockets.empty()) << host;
    for (const OwnedFile &socket : made.sockets)
      EXPECT_TRUE(placeOf(socket).starts_with("127.0.0.") || placeOf(socket) == "::1") << placeOf(socket);
    EXPECT_EQ(tcp::listenAt(host, port).why, "Address already in use") << host;
  }
}

/// As in a container, whose host has the address.
TEST(Listening, IsEverywhereWhereTheNameIsNoAddressOfThisHost) {
  tcp::Listening made = tcp::listenAt("192.0.2.1", findPort()); // for documentation, of no host
  ASSERT_EQ(made.sockets.size(), 1u);
  EXPECT_TRUE(placeOf(made.sockets[0]) == "::" || placeOf(made.sockets[0]) == "0.0.0.0");
  EXPECT_EQ(made.why, "is not an address of this host");
  made = tcp::listenAt("no.such.host.invalid", findPort());
  ASSERT_EQ(made.sockets.size(), 1u);
  EXPECT_TRUE(made.why.starts_with("cannot be resolved: ")) << made.why;
}

std::string digitsOf(const tcp::Digest &digest) {
  std::string text;
  for (unsigned char byte : digest)
    text += fmt::format("{:02x}", byte);
  return text;
}

/// The examples of FIPS 180-4.
TEST(Proof, Sha256) {
  EXPECT_EQ(digitsOf(tcp::sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digitsOf(tcp::sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digitsOf(tcp::sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(digitsOf(tcp::sha256(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/// Those of RFC 4231.
TEST(Proof, KeyedDigest) {
  EXPECT_EQ(digitsOf(tcp::keyedDigest("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(
      digitsOf(tcp::keyedDigest(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Proof, IsOfOneSideOneRankAndOneConnection) {
  tcp::Encounter encounter{1, 2, tcp::drawNonce(), tcp::drawNonce()}, other = encounter;
  other.rank = 3;
  tcp::Digest made = proofOf(tcp::Side::Rank, encounter, "s");
  EXPECT_TRUE(tcp::areEqual(made, proofOf(tcp::Side::Rank, encounter, "s")));
  EXPECT_FALSE(tcp::areEqual(made, proofOf(tcp::Side::Zero, encounter, "s")));
  EXPECT_FALSE(tcp::areEqual(made, proofOf(tcp::Side::Rank, other, "s")));
  EXPECT_FALSE(tcp::areEqual(made, proofOf(tcp::Side::Rank, encounter, "t")));
  other = encounter, other.ofZero = tcp::drawNonce();
  EXPECT_FALSE(tcp::areEqual(made, proofOf(tcp::Side::Rank, other, "s")));
}

} // namespace
