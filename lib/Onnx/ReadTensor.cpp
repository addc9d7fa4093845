// Reads one tensor of an ONNX file and checks its declared shape against the bytes that are present.
//
// The file is not trusted: sizes may overflow, data may be short, external files may be outside the model's folder. A
// missing external file is accepted (planning needs shapes only); one that exists must contain the declared data.
#include "ReadTensor.h"

#include "StoredTypes.h"

#include "onnx.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;
using namespace xlc::onnx;

namespace {

/// A file descriptor that closes itself.
struct OpenFile {
  int descriptor = -1;
  ~OpenFile() {
    if (descriptor >= 0)
      close(descriptor);
  }
};

constexpr int64_t maximumBytes = int64_t(1) << 42;

bool readShape(const ::onnx::TensorProto &proto, const std::string &what, FileTensor &tensor,
               FileDiagnostics &diagnostics) {
  if (proto.dims_size() > maximumRank)
    return diagnostics.error(what + " has " + Twine(proto.dims_size()) + " dimensions, but at most " +
                             Twine(maximumRank) + " are supported"),
           false;
  // An empty tensor may have large dimensions, too: they are strides later.
  int64_t bytes = std::max<int64_t>(storedWidth(tensor.storedType), byteWidth((int)tensor.type));
  for (int64_t size : proto.dims()) {
    if (size < 0)
      return diagnostics.error(what + " has a dimension of size " + Twine(size) + ", must be at least 0"), false;
    if (MulOverflow(bytes, std::max<int64_t>(size, 1), bytes) || bytes > maximumBytes)
      return diagnostics.error(what + " is larger than 4 TiB"), false;
    tensor.shape.push_back(size);
  }
  return true;
}

template <typename T, typename Field> void appendBytes(std::string &bytes, const Field &field) {
  for (auto element : field) {
    T value = static_cast<T>(element);
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(T));
  }
}

/// Data may stand raw or in a field of its type; afterwards it is raw.
void takeInlineBytes(::onnx::TensorProto &proto, FileTensor &tensor) {
  if (proto.has_raw_data()) {
    tensor.bytes = std::move(*proto.mutable_raw_data());
    return;
  }
  switch (tensor.storedType) {
  case 1:
    return appendBytes<float>(tensor.bytes, proto.float_data());
  case 11:
    return appendBytes<double>(tensor.bytes, proto.double_data());
  case 7:
    return appendBytes<int64_t>(tensor.bytes, proto.int64_data());
  case 12:
    return appendBytes<uint32_t>(tensor.bytes, proto.uint64_data());
  case 6:
    return appendBytes<int32_t>(tensor.bytes, proto.int32_data());
  case 4:
  case 5:
  case 10:
  case 16:
    return appendBytes<uint16_t>(tensor.bytes, proto.int32_data());
  default: // one byte each
    return appendBytes<uint8_t>(tensor.bytes, proto.int32_data());
  }
}

/// Whether model and data are both links that lead into one folder, as the Hugging Face cache lays them out.
bool leadToOneFolder(StringRef modelPath, StringRef dataPath) {
  if (!sys::fs::is_symlink_file(modelPath))
    return false;
  SmallString<256> model, data;
  return !sys::fs::real_path(modelPath, model) && !sys::fs::real_path(dataPath, data) &&
         sys::path::parent_path(model) == sys::path::parent_path(data);
}

/// Opens `location` beneath the model's folder. Returns 0, or errno.
int openBeneath(StringRef folder, const std::string &location, OpenFile &file) {
  OpenFile directory{open(folder.empty() ? "." : folder.str().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (directory.descriptor < 0)
    return errno;
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  file.descriptor = (int)syscall(SYS_openat2, directory.descriptor, location.c_str(), &how, sizeof how);
  return file.descriptor < 0 ? errno : 0;
}

bool readPlace(const ::onnx::TensorProto &proto, const std::string &what, std::string &location, FileTensor &tensor,
               FileDiagnostics &diagnostics) {
  for (const auto &entry : proto.external_data()) {
    uint64_t number = 0;
    bool isNumber = !StringRef(entry.value()).getAsInteger(10, number);
    if (entry.key() == "location")
      location = entry.value();
    else if ((entry.key() == "offset" || entry.key() == "length") && !isNumber)
      return diagnostics.error(what + " has the external " + entry.key() + " '" + entry.value() +
                               "', which is not a number"),
             false;
    else if (entry.key() == "offset")
      tensor.offset = number;
    else if (entry.key() == "length" && (int64_t)number != tensor.storedBytes())
      return diagnostics.error(what + " needs " + Twine(tensor.storedBytes()) +
                               " bytes, but its external data has length " + Twine(number)),
             false;
  }
  if (location.empty() || location.find('\0') != std::string::npos)
    return diagnostics.error(what + " has external data without a valid location"), false;
  if (sys::path::is_absolute(location) ||
      llvm::is_contained(llvm::make_range(sys::path::begin(location), sys::path::end(location)), ".."))
    return diagnostics.error(what + " is stored in '" + location + "', which is outside the model's folder"), false;
  return true;
}

bool readExternal(const ::onnx::TensorProto &proto, const std::string &what, StringRef modelPath, FileTensor &tensor,
                  FileDiagnostics &diagnostics) {
  std::string location;
  if (!readPlace(proto, what, location, tensor, diagnostics))
    return false;
  StringRef folder = sys::path::parent_path(modelPath);
  SmallString<256> path(folder);
  sys::path::append(path, location);
  OpenFile file;
  int problem = openBeneath(folder, location, file);
  if (problem == ELOOP && leadToOneFolder(modelPath, path)) {
    file.descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    problem = file.descriptor < 0 ? errno : 0;
  }
  tensor.isExternal = true;
  tensor.file = std::string(path);
  if (problem == ENOENT) {
    tensor.isAbsent = true;
    return true;
  }
  if (problem == EXDEV || problem == ELOOP)
    return diagnostics.error(what + " is stored in '" + location + "', which is outside the model's folder"), false;
  struct stat status{};
  if (problem || fstat(file.descriptor, &status) || !S_ISREG(status.st_mode))
    return diagnostics.error(what + " is stored in '" + location + "', which is not a readable regular file"), false;
  uint64_t end = tensor.offset + (uint64_t)tensor.storedBytes();
  if (end < tensor.offset || end > (uint64_t)status.st_size)
    return diagnostics.error(what + " needs bytes " + Twine(tensor.offset) + " to " + Twine(end) + " of '" + location +
                             "', which has " + Twine((uint64_t)status.st_size) + " bytes"),
           false;
  return true;
}

} // namespace

int64_t FileTensor::numElements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

int64_t FileTensor::storedBytes() const { return numElements() * storedWidth(storedType); }

void FileTensor::narrow() {
  if (type != ElementType::Double)
    return;
  type = ElementType::Float;
  convertStored(*this); // where there are bytes yet
}

bool FileTensor::load() {
  if (!isExternal || isAbsent || !bytes.empty())
    return !isAbsent;
  OpenFile input{open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  bytes.resize(storedBytes());
  size_t done = 0;
  while (input.descriptor >= 0 && done < bytes.size()) {
    ssize_t count = pread(input.descriptor, bytes.data() + done, bytes.size() - done, offset + done);
    if (count <= 0)
      break;
    done += count;
  }
  bool isWhole = done == bytes.size();
  convertStored(*this);
  return isWhole;
}

bool xlc::onnx::readTensor(::onnx::TensorProto &proto, const std::string &what, StringRef modelPath, FileTensor &tensor,
                           FileDiagnostics &diagnostics) {
  tensor.name = proto.name();
  const StoredType *stored = findStored(proto.data_type());
  if (!stored || !stored->isRead())
    return diagnostics.error(what + " has element type " + nameOfType(proto.data_type()) +
                             "; xlc reads float, double, float16, bfloat16, bool and all integers except uint64"),
           false;
  tensor.type = stored->becomes;
  tensor.storedType = stored->number;
  if (!readShape(proto, what, tensor, diagnostics))
    return false;
  if (proto.has_segment())
    return diagnostics.error(what + " is a segment of a tensor, which is not supported"), false;
  int places = proto.has_raw_data() + (proto.float_data_size() > 0) + (proto.int32_data_size() > 0) +
               (proto.int64_data_size() > 0) + (proto.double_data_size() > 0) + (proto.uint64_data_size() > 0) +
               (proto.string_data_size() > 0) + (proto.external_data_size() > 0);
  if (places > 1)
    return diagnostics.error(what + " has values in " + Twine(places) + " fields; only one is allowed"), false;
  if (proto.data_location() == ::onnx::TensorProto::EXTERNAL)
    return readExternal(proto, what, modelPath, tensor, diagnostics);
  takeInlineBytes(proto, tensor);
  if ((int64_t)tensor.bytes.size() != tensor.storedBytes())
    return diagnostics.error(what + " needs " + Twine(tensor.storedBytes()) + " bytes, but its data has " +
                             Twine(tensor.bytes.size())),
           false;
  convertStored(tensor);
  return true;
}
