// Prints the page. Parameters and remarks that differ in one number only (those of equal layers) share a line.
#include "Lines.h"
#include "xlc/Inspect/Inspect.h"
#include "xlc/Support/Numbers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace xlc;
using inspection::Lines;

namespace {

constexpr size_t kWidth = 100, kNameWidth = 58, kShapeWidth = 15;
constexpr size_t kRemarks = 24; ///< kinds of what was undone, and of complaints

std::string shorten(StringRef text, size_t width) {
  if (text.size() <= width)
    return text.str();
  size_t half = (width - 3) / 2;
  return (text.take_front(half) + "..." + text.take_back(width - 3 - half)).str();
}

template <typename Sizes> std::string joinShape(const Sizes &shape) {
  std::string text;
  for (const auto &size : shape)
    text += (text.empty() ? "" : " x ") + formatv("{0}", size).str();
  return text.empty() ? "scalar" : text;
}

class Page {
public:
  Page(const Inspection &inspection, raw_ostream &out) : inspection(inspection), file(inspection.file), out(out) {}

  void print(StringRef model) {
    out << model << ": " << groupDigits(file.numParameterElements()) << " parameters in " << file.parameters.size()
        << (file.parameters.size() == 1 ? " tensor, " : " tensors, ") << groupDigits(file.nodes)
        << (file.nodes == 1 ? " node\n" : " nodes\n");
    if (!file.listed.empty())
      printListed();
    printInputs();
    printUnits();
    printSites();
    printParameters();
    printTies();
    printBuffers();
    printConstants();
    printGuesses();
    printUndone();
    printOperators();
    printUnsupported();
  }

private:
  /// Counts that do not come out are worth a look: ties and what was lost account for the difference.
  void printListed() {
    size_t count = file.listed.size();
    out << "  the exporter lists " << count << (count == 1 ? " parameter" : " parameters");
    if (!file.ties.empty())
      out << ", " << file.ties.size() << " of them tied";
    if (!file.lost.empty())
      out << ", " << file.lost.size() << " of them not used";
    out << "\n";
  }

  void printInputs() {
    out << "\ninputs\n";
    for (const FileDescription::Input &input : file.inputs)
      out << formatv("  {0,-32} {1,-8} {2}\n", shorten(input.name, 32), input.type, joinShape(input.shape));
    if (!file.batch.empty())
      out << "  dimension " << file.batch << " is the micro-batch\n";
    for (const std::string &name : file.dims) {
      auto size = inspection.dims.find(name);
      bool isGiven = inspection.hasFigures && size != inspection.dims.end();
      out << "  dimension " << name << (isGiven ? " = " + std::to_string(size->second) : " needs a size") << "\n";
    }
    out << "outputs\n";
    for (const std::string &output : file.outputs)
      out << "  " << shorten(output, kWidth - 2) << "\n";
  }

  void printUnits() {
    if (inspection.units.empty())
      return;
    bool figures = inspection.hasFigures;
    out << formatv("\n{0,-18}{1,8}{2,8}{3,18}", "units", "count", "ops", "parameters")
        << (figures ? formatv("{0,23}{1,24}", "forward, per sample", "backward, per sample").str() : "") << "\n";
    for (const UnitDescription &unit : inspection.units) {
      out << formatv("  {0,-16}{1,8}{2,8}{3,18}", unit.className, unit.instances, unit.ops,
                     groupDigits(unit.parameters));
      if (figures)
        out << formatv("{0,23}{1,24}", formatFlops(unit.forward), formatFlops(unit.backward));
      out << "\n";
    }
    if (figures)
      out << formatv("  {0,-50}{1,23}{2,24}\n", "the whole model", formatFlops(inspection.forward),
                     formatFlops(inspection.backward));
    else
      out << "  figures are per instance; FLOPs need a size for " << join(file.dims, ", ") << ": --dims "
          << file.dims.front() << "=SIZE\n";
    std::string list;
    for (const auto &[name, count] : inspection.recognised)
      list += (list.empty() ? "" : ", ") + name + " " + std::to_string(count);
    if (!list.empty())
      out << "  recognised: " << list << "\n";
  }

  /// Nodes that draw: number, node, operator with its ratio, shape of a row.
  void printSites() {
    printRemarks("dropouts that were off when the model was exported", file.dropoutsOff);
    if (inspection.sites.empty())
      return;
    out << "\nsites: nodes that draw random numbers in each step, shapes of one row\n";
    for (auto [number, site] : enumerate(inspection.sites))
      out << formatv("  {0,-4}{1,-54}{2,-16}{3}{4}\n", number, shorten(site.node, kNameWidth - 5),
                     shorten(joinShape(site.shape), kShapeWidth), site.op,
                     site.ratio ? formatv(" {0}", float(*site.ratio)).str() : "");
  }

  /// What all names begin with, up to a dot: "model.".
  StringRef findPrefix() const {
    if (file.parameters.size() < 2)
      return "";
    StringRef prefix = file.parameters.front().name;
    for (const FileDescription::Parameter &parameter : file.parameters)
      while (!StringRef(parameter.name).starts_with(prefix))
        prefix = prefix.drop_back();
    size_t dot = prefix.rfind('.');
    return dot == StringRef::npos ? "" : prefix.take_front(dot + 1);
  }

  void printParameters() {
    StringRef prefix = findPrefix();
    Lines lines;
    for (const FileDescription::Parameter &parameter : file.parameters)
      lines.add(StringRef(parameter.name).drop_front(prefix.size()), joinShape(parameter.shape),
                parameter.origin + (parameter.guess.empty() ? "" : ", a guess"));
    std::string title = prefix.empty() ? "parameters" : ("parameters of '" + prefix.drop_back() + "'").str();
    out << formatv("\n{0,-60}{1,-16}{2}\n", shorten(title, kNameWidth), "shape", "name from");
    printLines(lines);
  }

  void printTies() {
    if (!file.ties.empty())
      out << "\nties: one parameter under several names\n";
    for (const FileDescription::Tie &tie : file.ties)
      wrap("'" + tie.name + "' is '" + tie.parameter + "'");
  }

  void printBuffers() {
    if (file.buffers.empty())
      return;
    out << "\nbuffers: not trained\n";
    Lines lines;
    for (const FileDescription::Buffer &buffer : file.buffers)
      lines.add(buffer.name, joinShape(buffer.shape), buffer.type);
    printLines(lines);
  }

  void printConstants() {
    std::vector<std::string> remarks;
    remarks.reserve(file.constants.size());
    for (const FileDescription::Constant &constant : file.constants)
      remarks.push_back(constant.name + ", " + joinShape(constant.shape) + ", read by " + constant.op +
                        (constant.module.empty() ? "" : " in " + constant.module));
    printRemarks("frozen: constants without a name in PyTorch, not trained", remarks);
  }

  void printGuesses() {
    std::vector<std::string> remarks;
    for (const FileDescription::Parameter &parameter : file.parameters)
      if (!parameter.guess.empty())
        remarks.push_back("'" + parameter.name + "': " + parameter.guess);
    printRemarks("guesses, and their only evidence", remarks);
  }

  void printLines(const Lines &lines) {
    for (const Lines::Line &line : lines.all())
      out << formatv("  {0,-58}{1,-16}{2}\n", shorten(line.text(), kNameWidth - 1), shorten(line.key, kShapeWidth),
                     line.remark);
  }

  void printUndone() {
    printRemarks("reverted rewrites of the exporter", file.undone);
    std::vector<std::string> complaints;
    for (const Message &message : inspection.complaints.empty() ? file.complaints : inspection.complaints)
      complaints.push_back((nameOf(message.severity) + ": " + message.text).str());
    printRemarks("complaints", complaints);
  }

  /// Remarks that differ in numbers only are one.
  void printRemarks(StringRef title, const std::vector<std::string> &remarks) {
    MapVector<std::string, std::pair<StringRef, size_t>, std::map<std::string, unsigned>> kinds;
    for (StringRef remark : remarks) {
      std::string kind;
      for (char c : remark)
        if (!isDigit(c))
          kind += c;
        else if (kind.empty() || kind.back() != '*')
          kind += '*';
      auto &[first, count] = kinds.try_emplace(kind, remark, 0).first->second;
      ++count;
    }
    if (!kinds.empty())
      out << "\n" << title << "\n";
    for (auto [i, kind] : enumerate(kinds)) {
      if (i == kRemarks) {
        out << "  and " << kinds.size() - i << " more, which --json lists\n";
        return;
      }
      auto [first, count] = kind.second;
      wrap(count == 1 ? first.str() : formatv("{0} (and {1} like it)", first, count - 1).str());
    }
  }

  /// Prints words on lines that begin with two blanks, or four where they go on.
  void wrap(StringRef text) {
    SmallVector<StringRef> words;
    text.split(words, ' ', -1, /*KeepEmpty=*/false);
    std::string line = " ";
    for (StringRef word : words) {
      if (line.size() + 1 + word.size() > kWidth && line.size() > 4)
        out << std::exchange(line, "   ") << "\n";
      line += " " + shorten(word, kWidth - 4);
    }
    out << line << "\n";
  }

  void printOperators() {
    out << "\noperators\n";
    std::string line = " ";
    for (const FileDescription::Operator &op : file.operators) {
      std::string text = " " + op.name + " " + std::to_string(op.count) + (&op == &file.operators.back() ? "" : ",");
      if (line.size() + text.size() > kWidth)
        out << std::exchange(line, " ") << "\n";
      line += text;
    }
    out << line << "\n";
  }

  void printUnsupported() {
    bool isFirst = true;
    for (const FileDescription::Operator &op : file.operators) {
      if (op.isSupported)
        continue;
      out << (std::exchange(isFirst, false) ? "\nnot supported\n" : "");
      out << "  "
          << shorten(formatv("{0}: {1} node{2}, first {3}", op.name, op.count, op.count == 1 ? "" : "s", op.firstNode)
                         .str(),
                     kWidth - 2)
          << "\n";
    }
  }

  const Inspection &inspection;
  const FileDescription &file;
  raw_ostream &out;
};

} // namespace

void xlc::printTable(const Inspection &inspection, StringRef model, raw_ostream &out) {
  Page(inspection, out).print(model);
}
