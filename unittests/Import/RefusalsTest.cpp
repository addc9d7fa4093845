// Each row of the tables is imported as `xlc plan --stop-after=Import` does it, from files, and what is said is compared.
#include "Refusals.h"
#include "xlc/Phases/Phases.h"
#include "xlc/Target/Targets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <fstream>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/text_format.h>

using namespace llvm;
using namespace xlc;
namespace pb = google::protobuf;

namespace {

/// Turns protobuf text into the bytes of a model. lib/Onnx itself has no descriptors, without which no text can be read.
class Encoder {
public:
  Encoder() {
    pb::FileDescriptorSet files;
    std::ifstream file(XLC_ONNX_DESCRIPTORS, std::ios::binary);
    EXPECT_TRUE(files.ParseFromIstream(&file));
    for (const pb::FileDescriptorProto &each : files.file())
      pool.BuildFile(each);
  }

  std::string encode(const char *text) {
    std::unique_ptr<pb::Message> model(factory.GetPrototype(pool.FindMessageTypeByName("onnx.ModelProto"))->New());
    EXPECT_TRUE(pb::TextFormat::ParseFromString(text, model.get()));
    return model->SerializeAsString();
  }

private:
  pb::DescriptorPool pool;
  pb::DynamicMessageFactory factory;
};

class Refusals : public testing::TestWithParam<Refusal> {
protected:
  void SetUp() override { ASSERT_FALSE(sys::fs::createUniqueDirectory("refusals", folder)); }
  void TearDown() override { sys::fs::remove_directories(folder); }

  /// The lines that are said.
  std::vector<std::string> import(const Refusal &row) {
    static Encoder encoder;
    std::string modelPath = (folder + "/model.onnx").str(), specPath = (folder + "/spec.yaml").str(), said;
    std::ofstream(modelPath, std::ios::binary) << encoder.encode(row.model);
    std::ofstream(specPath) << StringRef(row.spec).ltrim().str() << "\n";
    raw_string_ostream out(said);
    Diagnostics diagnostics(out);
    mlir::DialectRegistry registry;
    registerDialects(registry);
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    context.getDiagEngine().registerHandler(
        [&](mlir::Diagnostic &diagnostic) { diagnostics.report(toMessage(diagnostic, modelPath)); });
    const TargetRow &cpu = getTargets().front();
    std::unique_ptr<Target> target = cpu.make(cpu.listChips().front());
    Compilation compilation(context, *target, diagnostics);
    compilation.modelPath = modelPath, compilation.specPath = specPath;
    RunOptions options;
    options.stopAfter = "Import";
    EXPECT_TRUE(failed(runPhases(compilation, options)));
    SmallVector<StringRef> lines;
    StringRef(said).split(lines, '\n', -1, /*KeepEmpty=*/false);
    return {lines.begin(), lines.end()};
  }

  SmallString<128> folder;
};

TEST_P(Refusals, AreSaid) {
  std::vector<std::string> said = import(GetParam());
  SmallVector<StringRef> expected;
  StringRef(GetParam().said).split(expected, '\n', -1, /*KeepEmpty=*/false);
  size_t next = 0, errors = 0;
  for (StringRef words : expected) {
    bool isNote = words.starts_with("note: ");
    size_t at = next;
    while (at < said.size() && !StringRef(said[at]).contains(words))
      ++at;
    ASSERT_LT(at, said.size()) << "not said: " << words.str() << "\nbut:\n" << join(said, "\n");
    if (isNote)
      EXPECT_EQ(at, next) << "not right below: " << words.str() << "\nbut:\n" << join(said, "\n");
    errors += !isNote;
    next = at + 1;
  }
  EXPECT_EQ(count_if(said, [](StringRef line) { return line.contains(": error: "); }), (ptrdiff_t)errors)
      << join(said, "\n");
}

std::string nameOf(const testing::TestParamInfo<Refusal> &row) { return row.param.name; }

std::vector<Refusal> listAll() {
  std::vector<Refusal> all;
  for (ArrayRef<Refusal> table : {listRefusedNodes(), listRefusedOperators(), listRefusedModels(), listRefusedLosses()})
    all.insert(all.end(), table.begin(), table.end());
  return all;
}

INSTANTIATE_TEST_SUITE_P(Import, Refusals, testing::ValuesIn(listAll()), nameOf);

} // namespace
