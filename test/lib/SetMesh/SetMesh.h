// A test-only pass that says which ranks a module is planned for, as Import does, so that tests share models.
#ifndef XLC_TEST_SETMESH_H
#define XLC_TEST_SETMESH_H

namespace xlc::test {

/// Registers --xlc-test-set-mesh='pp=P dp=D tp=T shards=S'; what is left out is 1, and shards dp.
void registerSetMeshPass();

} // namespace xlc::test

#endif
