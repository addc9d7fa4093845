// See OneDnn.h. The C functions that <dnnl.hpp> calls, and two of OpenMP that come with them, are defined here, each as
// a jump to the function in the library. <dnnl.hpp> is not included: it declares them with their parameters, which a
// jump passes unchanged.
#include "OneDnn.h"

#include "Failure.h"
#include "Places/ProgramPath.h"
#include "Places/PythonFolders.h"

#include <fmt/format.h>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>

/// Every function that is called: nm -u of the files that include <dnnl.hpp>.
#define XLC_ONEDNN_FUNCTIONS(row)                                                                                      \
  row(dnnl_engine_create) row(dnnl_engine_destroy) row(dnnl_matmul_desc_init) row(dnnl_memory_create)                  \
      row(dnnl_memory_desc_get_size) row(dnnl_memory_desc_init_by_strides) row(dnnl_memory_desc_init_by_tag)           \
          row(dnnl_memory_destroy) row(dnnl_memory_set_data_handle_v2) row(dnnl_post_ops_append_sum)                   \
              row(dnnl_post_ops_append_sum_v2) row(dnnl_post_ops_create) row(dnnl_post_ops_destroy)                    \
                  row(dnnl_primitive_attr_create) row(dnnl_primitive_attr_destroy)                                     \
                      row(dnnl_primitive_attr_set_post_ops) row(dnnl_primitive_attr_set_scratchpad_mode)               \
                          row(dnnl_primitive_create) row(dnnl_primitive_desc_destroy)                                  \
                              row(dnnl_primitive_desc_iterator_create) row(dnnl_primitive_desc_iterator_destroy)       \
                                  row(dnnl_primitive_desc_iterator_fetch) row(dnnl_primitive_desc_query)               \
                                      row(dnnl_primitive_desc_query_md) row(dnnl_primitive_destroy)                    \
                                          row(dnnl_primitive_execute) row(dnnl_set_max_cpu_isa)                        \
                                              row(dnnl_stream_create) row(dnnl_stream_destroy)                         \
                                                  row(omp_get_max_threads) row(omp_set_num_threads)

// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): the library's names
extern "C" {
#define XLC_JUMP(name)                                                                                                 \
  __attribute__((visibility("hidden"))) void *at_##name;                                                               \
  __attribute__((naked, visibility("hidden"))) void name() { asm("jmp *at_" #name "(%rip)"); }
XLC_ONEDNN_FUNCTIONS(XLC_JUMP)
#undef XLC_JUMP
}
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)

namespace xlc::runtime {
namespace {

constexpr char library[] = "libdnnl.so.2";
/// In an order in which none needs a later one.
constexpr std::string_view needed[] = {"libgcc_s.so.1", "libstdc++.so.6", "libgomp.so.1", "libOpenCL.so.1"};

struct Place {
  const char *name;
  void **function;
};
constexpr Place functions[] = {
#define XLC_PLACE(name) {#name, &at_##name},
    XLC_ONEDNN_FUNCTIONS(XLC_PLACE)
#undef XLC_PLACE
};

void *handle = nullptr; ///< when it is open
int limit = 0;          ///< 0: all that the processor has

/// Folders before those of the dynamic linker.
std::vector<std::string> listFolders() {
  std::string own = programPath();
  std::vector<std::string> folders{own + ".libs", own.substr(0, own.rfind('/')) + "/../lib/xlc"};
  for (const std::string &prefix : listActivePrefixes())
    folders.push_back(prefix + "/lib/xlc");
  return folders;
}

void *openFile(const std::string &path) { return dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL); }

/// Null where the folder has none. What it needs is looked for in the process, then in the system, then in the folder.
void *openIn(const std::string &folder) {
  std::string path = folder + "/" + library;
  if (access(path.c_str(), R_OK) != 0)
    return nullptr;
  for (std::string_view name : needed)
    if (!openFile(std::string(name)))
      openFile(fmt::format("{}/{}", folder, name));
  return openFile(path);
}

[[noreturn]] void reject(const std::string &why) {
  throw Rejected(fmt::format("error: oneDNN cannot be opened: {}: install it (Debian: libdnnl2), or compile the "
                             "program with --bundle on a machine that has it",
                             why));
}

void open() {
  for (const std::string &folder : listFolders())
    if (!handle)
      handle = openIn(folder);
  if (!handle)
    handle = openFile(library);
  if (!handle)
    reject(dlerror());
  for (const Place &place : functions)
    if (!(*place.function = dlsym(handle, place.name)))
      reject(fmt::format("it has no function '{}'", place.name));
  if (limit != 0)
    ((int (*)(int))at_dnnl_set_max_cpu_isa)(limit);
}

} // namespace

void openOneDnn() {
  static const bool isOpen = (open(), true);
  (void)isOpen;
}

std::vector<std::string> findOneDnnFiles() {
  openOneDnn();
  std::vector<std::string> found;
  link_map *each = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, (void *)&each) != 0)
    return found;
  while (each->l_prev)
    each = each->l_prev;
  for (; each; each = each->l_next) {
    std::string path = each->l_name, name = path.substr(path.rfind('/') + 1);
    if (name == library || std::ranges::find(needed, name) != std::end(needed))
      found.push_back(std::move(path));
  }
  return found;
}

void limitOneDnn(int isa) { limit = isa; }

} // namespace xlc::runtime
