// xlc docs: prints the pages of the documentation that are generated from tables in the code.
#include "Command.h"
#include "llvm/Support/raw_ostream.h"

using namespace xlc;

namespace {

constexpr const char *examples = R"(Examples:
  xlc docs spec         every key of the spec file
  xlc docs phases       the phases in order
  xlc docs operators    the ONNX operators that are imported)";

struct Page {
  const char *name;
  void (*print)(llvm::raw_ostream &);
};
constexpr Page pages[] = {{"spec", printSpecDocumentation}, {"phases", printPhases}, {"operators", printOperators}};

int print(const std::string &name) {
  for (const Page &page : pages)
    if (name == page.name)
      page.print(llvm::outs());
  return Done;
}

} // namespace

Command xlc::addDocsCommand(CLI::App &app) {
  auto name = std::make_shared<std::string>();
  CLI::App *command = app.add_subcommand("docs", "print a documentation page that is generated from tables");
  std::vector<std::string> names;
  for (const Page &page : pages)
    names.push_back(page.name);
  command->add_option("page", *name, "page to print")->required()->check(CLI::IsMember(names));
  command->footer(examples);
  return {command, [name] { return print(*name); }};
}
