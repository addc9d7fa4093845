// Control sequences of terminals are never printed, and no file floods the terminal.
#include "Files/Messages.h"

#include <gtest/gtest.h>

using namespace xlc::runtime;

namespace {

TEST(Messages, WhatTerminalsObeyIsEscaped) {
  EXPECT_EQ(escapeText("plain text,\n\ttwo lines"), "plain text,\n\ttwo lines");
  EXPECT_EQ(escapeText("für 模型 ☃ 😀"), "für 模型 ☃ 😀");
  EXPECT_EQ(escapeText("\033[2J\a\r\x7f"), "\\x1b[2J\\x07\\x0d\\x7f");
  EXPECT_EQ(escapeText(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(escapeText("\u009b31m"), "\\u009b31m");
  EXPECT_EQ(escapeText("abc\u202edef\u2066\u200f\u2028"), "abc\\u202edef\\u2066\\u200f\\u2028");
}

TEST(Messages, WhatIsNoUtf8IsEscaped) {
  EXPECT_EQ(escapeText("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(escapeText("\xc0\x80"), "\\xc0\\x80");                   // overlong
  EXPECT_EQ(escapeText("\xed\xa0\x80"), "\\xed\\xa0\\x80");          // a surrogate
  EXPECT_EQ(escapeText("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80"); // beyond U+10FFFF
  EXPECT_EQ(escapeText("cut \xe2\x98"), "cut \\xe2\\x98");
}

TEST(Messages, LongLinesAreCut) {
  std::string text = limitText(std::string(1'000'000, 'x') + "\nnext");
  EXPECT_EQ(text, std::string(mostLineBytes, 'x') + "... (996416 more bytes)\nnext");
  EXPECT_LE(limitText(std::string(1'000'000, '\x1b')).size(), mostLineBytes + 40);
  EXPECT_EQ(limitText(""), "");
  EXPECT_EQ(limitText("a\n"), "a");
}

TEST(Messages, ManyErrorsAreCounted) {
  MessageLimit limit;
  size_t shown = 0;
  for (int i = 0; i < 1000; ++i) {
    shown += !limit.take("f: error: wrong").empty();
    limit.take("f: note: why");
  }
  EXPECT_EQ(shown, mostErrors);
  EXPECT_EQ(limit.take("f: note: more"), "");
  EXPECT_EQ(limit.takeRest(), "note: 900 more errors are not shown\n");
}

TEST(Messages, ManyBytesAreCounted) {
  MessageLimit limit;
  size_t bytes = 0;
  for (int i = 0; i < 1000; ++i)
    bytes += limit.take(std::string(1000, 'x')).size();
  EXPECT_LE(bytes, mostMessageBytes + mostLineBytes);
  EXPECT_NE(limit.takeRest(), "");
  EXPECT_EQ(limit.takeRest(), "");
}

} // namespace
