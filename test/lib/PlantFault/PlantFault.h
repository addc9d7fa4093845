// A test-only pass that damages a program, so that tests can show who notices.
#ifndef XLC_TEST_PLANTFAULT_H
#define XLC_TEST_PLANTFAULT_H

namespace xlc::test {

/// Registers --xlc-test-plant-fault=kind=NAME.
void registerPlantFaultPass();

} // namespace xlc::test

#endif
