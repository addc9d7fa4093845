// Einsum of any number of operands as a chain of contractions of two: letters that no other operand uses are summed
// first, operands are taken from the left, and the last result is transposed into order.
#include "ReadInputs.h"

#include <cctype>
#include <map>

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

namespace {

/// A value and the letters of its dimensions.
struct Term {
  Value value;
  std::string letters;

  bool has(char c) const { return letters.find(c) != std::string::npos; }
};

class EinsumImport {
public:
  explicit EinsumImport(NodeImport &n) : n(n), f{n} {}

  bool run() {
    if (!parse() || !checkSizes())
      return false;
    Term result = terms.front();
    sumUnneeded(result, 1);
    for (size_t i = 1; i < terms.size(); ++i)
      result = contract(result, terms[i], i + 1);
    return finish(result);
  }

private:
  /// "...ij,jk->...ik": letters of the ellipsis are chosen here, aligned at its last dimension.
  bool parse() {
    std::string text = getString(n.node, "equation", "");
    llvm::erase(text, ' ');
    StringRef left = StringRef(text).split("->").first;
    bool hasOutput = text.find("->") != std::string::npos;
    SmallVector<StringRef> inputs;
    left.split(inputs, ',');
    if (inputs.size() != n.numInputs())
      return n.fail("has an equation for " + Twine(inputs.size()) + " inputs, but the node has " +
                    Twine(n.numInputs()));
    for (size_t i = 0; i < inputs.size(); ++i) {
      Value x = readFloats(n, i);
      if (!x || n.elementType(i) != n.elementType(0))
        return n.fail("needs float inputs of one type");
      terms.push_back({x, ""});
      if (!readLetters(inputs[i], (int64_t)n.shape(i).size(), terms.back().letters))
        return false;
    }
    if (hasOutput)
      return readOutput(StringRef(text).split("->").second);
    for (const auto &[letter, own] : names)
      if (letter >= 'A' && llvm::count_if(terms, [&](const Term &term) { return term.has(own); }) == 1)
        output += own;
    output = ellipsis + output;
    return true;
  }

  /// Letters of the equation, upper or lower case, become 'a', 'b', ... in order of appearance.
  std::optional<char> ownName(char letter) {
    auto [it, isNew] = names.try_emplace(letter, (char)('a' + names.size()));
    return names.size() <= 26 ? std::optional(it->second) : std::nullopt;
  }

  bool readLetters(StringRef text, int64_t rank, std::string &letters) {
    size_t dots = text.find("...");
    int64_t named = (int64_t)text.size() - (dots == StringRef::npos ? 0 : 3);
    if (named > rank || (dots == StringRef::npos && named != rank))
      return n.fail("has the term '" + text + "' for an input of rank " + Twine(rank));
    for (size_t i = 0; i < text.size(); ++i) {
      bool isDots = i == dots;
      for (int64_t k = isDots ? rank - named : 1; k > 0; --k) {
        // Dimensions of the ellipsis are numbered from the last, by characters below the letters.
        std::optional<char> own = ownName(isDots ? (char)(k - 1) : text[i]);
        if (!own || (!isDots && !std::isalpha((unsigned char)text[i])))
          return n.fail("has an equation with a character that is not a letter, or with more than 26 letters");
        if (letters.find(*own) != std::string::npos)
          return n.fail("repeats a letter within one input (a diagonal), which is not supported");
        letters += *own;
        if (isDots)
          rankOfEllipsis = std::max(rankOfEllipsis, k);
      }
      i += isDots ? 2 : 0;
    }
    ellipsis.clear();
    for (int64_t k = rankOfEllipsis; k > 0; --k)
      ellipsis += names[(char)(k - 1)];
    return true;
  }

  bool readOutput(StringRef text) {
    size_t dots = text.find("...");
    for (size_t i = 0; i < text.size(); ++i) {
      if (i == dots) {
        output += ellipsis, i += 2;
        continue;
      }
      auto known = names.find(text[i]);
      if (known == names.end() || output.find(known->second) != std::string::npos)
        return n.fail("has the output term '" + text +
                      "'; each letter of the output must occur in an input, and only once in the output");
      output += known->second;
    }
    return true;
  }

  /// A dimension of size 1 of one operand is repeated for the others: it is left out there.
  bool checkSizes() {
    std::map<char, int64_t> sizes;
    for (const Term &term : terms)
      for (auto [letter, size] : llvm::zip(term.letters, graph::typeOf(term.value).getShape()))
        sizes[letter] = std::max(sizes[letter], size);
    for (Term &term : terms) {
      std::string kept;
      SmallVector<int64_t> shape;
      for (auto [letter, size] : llvm::zip(term.letters, graph::typeOf(term.value).getShape())) {
        if (size != sizes[letter] && size != 1)
          return n.fail("has a letter with different sizes, " + Twine(size) + " and " + Twine(sizes[letter]));
        if (size == sizes[letter])
          kept += letter, shape.push_back(size);
      }
      term = {n.reshape(term.value, shape), kept};
    }
    return true;
  }

  /// Whether a letter is in the result or in an operand from `next` on.
  bool isNeeded(char letter, size_t next) const {
    return output.find(letter) != std::string::npos ||
           llvm::any_of(ArrayRef(terms).drop_front(next), [&](const Term &term) { return term.has(letter); });
  }

  void sumUnneeded(Term &term, size_t next, const Term *partner = nullptr) {
    SmallVector<int64_t> axes;
    std::string kept;
    for (auto [d, letter] : llvm::enumerate(term.letters))
      if (isNeeded(letter, next) || (partner && partner->has(letter)))
        kept += letter;
      else
        axes.push_back((int64_t)d);
    term = {f.sum(term.value, axes, false), kept};
  }

  Term contract(Term a, Term b, size_t next) {
    sumUnneeded(a, next, &b);
    sumUnneeded(b, next, &a);
    std::string letters;
    if (next == terms.size()) // the last one: as the result wants them
      for (char letter : output)
        letters += a.has(letter) || b.has(letter) ? std::string(1, letter) : "";
    else
      for (char letter : a.letters + b.letters)
        if (letters.find(letter) == std::string::npos && isNeeded(letter, next))
          letters += letter;
    return {n.contract(a.letters + "," + b.letters + "->" + letters, a.value, b.value), letters};
  }

  bool finish(const Term &result) {
    SmallVector<int64_t> permutation;
    for (char letter : output)
      permutation.push_back((int64_t)result.letters.find(letter));
    bool isInOrder = result.letters == output;
    return n.produce(isInOrder ? result.value : n.transpose(result.value, permutation));
  }

  NodeImport &n;
  Formula f;
  SmallVector<Term> terms;
  std::map<char, char> names; ///< letters of the equation, sorted, and ours
  std::string output, ellipsis;
  int64_t rankOfEllipsis = 0;
};

} // namespace

bool xlc::onnx::importEinsum(NodeImport &n) { return EinsumImport(n).run(); }
