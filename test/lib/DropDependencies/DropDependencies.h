// A test-only pass that forgets each dependency between streams in turn, and asks whether it was missed.
#ifndef XLC_TEST_DROPDEPENDENCIES_H
#define XLC_TEST_DROPDEPENDENCIES_H

namespace xlc::test {

/// Registers --xlc-test-drop-dependencies='reference=FILE orders=N'. Of each number that an action of an exec.program comes
/// `after`: without it, does VerifyStreams fail, and does the program learn something else in an order that delays the
/// other action as long as it may, or in one of N drawn? Counts are printed as a comment; the program is not changed.
void registerDropDependenciesPass();

} // namespace xlc::test

#endif
