// One tensor of an ONNX file: its declared shape against the bytes that are really there.
//
// Everything in the file is hostile: sizes overflow, data is short, external files lie outside
// the model's folder. An external file that is not there at all is fine (planning needs shapes
// only); one that is there must hold what the file promises.
#include "ReadTensor.h"

#include "onnx.pb.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstring>
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
               Diagnostics &diagnostics) {
  int64_t bytes = byteWidth((int)tensor.type);
  for (int64_t size : proto.dims()) {
    if (size < 0)
      return diagnostics.error(what + " has a negative dimension, " + Twine(size)), false;
    if (MulOverflow(bytes, size, bytes) || bytes > maximumBytes)
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
  switch (tensor.type) {
  case ElementType::Float:
    return appendBytes<float>(tensor.bytes, proto.float_data());
  case ElementType::Double:
    return appendBytes<double>(tensor.bytes, proto.double_data());
  case ElementType::Int64:
    return appendBytes<int64_t>(tensor.bytes, proto.int64_data());
  case ElementType::Int32:
    return appendBytes<int32_t>(tensor.bytes, proto.int32_data());
  case ElementType::Uint8:
  case ElementType::Int8:
  case ElementType::Bool:
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
               Diagnostics &diagnostics) {
  for (const auto &entry : proto.external_data()) {
    uint64_t number = 0;
    bool isNumber = !StringRef(entry.value()).getAsInteger(10, number);
    if (entry.key() == "location")
      location = entry.value();
    else if ((entry.key() == "offset" || entry.key() == "length") && !isNumber)
      return diagnostics.error(what + " has external " + entry.key() + " '" + entry.value() + "', which is no number"),
             false;
    else if (entry.key() == "offset")
      tensor.offset = number;
    else if (entry.key() == "length" && (int64_t)number != tensor.numBytes())
      return diagnostics.error(what + " needs " + Twine(tensor.numBytes()) + " bytes, its external length is " +
                               Twine(number)),
             false;
  }
  if (location.empty() || location.find('\0') != std::string::npos)
    return diagnostics.error(what + " is external without a location"), false;
  return true;
}

bool readExternal(const ::onnx::TensorProto &proto, const std::string &what, StringRef modelPath, FileTensor &tensor,
                  Diagnostics &diagnostics) {
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
  if (problem == ENOENT) {
    tensor.isAbsent = true;
    return true;
  }
  if (problem == EXDEV || problem == ELOOP)
    return diagnostics.error(what + " lies in '" + location + "', which is outside the model's folder"), false;
  struct stat status{};
  if (problem || fstat(file.descriptor, &status) || !S_ISREG(status.st_mode))
    return diagnostics.error(what + " lies in '" + location + "', which cannot be read as a file"), false;
  uint64_t end = tensor.offset + (uint64_t)tensor.numBytes();
  if (end < tensor.offset || end > (uint64_t)status.st_size)
    return diagnostics.error(what + " needs bytes " + Twine(tensor.offset) + " to " + Twine(end) + " of '" + location +
                             "', which has " + Twine((uint64_t)status.st_size)),
           false;
  tensor.file = std::string(path);
  return true;
}

} // namespace

int64_t xlc::onnx::byteWidth(int elementType) {
  switch (static_cast<ElementType>(elementType)) {
  case ElementType::Uint8:
  case ElementType::Int8:
  case ElementType::Bool:
    return 1;
  case ElementType::Float:
  case ElementType::Int32:
    return 4;
  case ElementType::Int64:
  case ElementType::Double:
    return 8;
  }
  return 0;
}

int64_t FileTensor::numElements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

bool FileTensor::load() {
  if (!isExternal || isAbsent || !bytes.empty())
    return !isAbsent;
  OpenFile input{open(file.c_str(), O_RDONLY | O_CLOEXEC)};
  bytes.resize(numBytes());
  size_t done = 0;
  while (input.descriptor >= 0 && done < bytes.size()) {
    ssize_t count = pread(input.descriptor, bytes.data() + done, bytes.size() - done, offset + done);
    if (count <= 0)
      break;
    done += count;
  }
  return done == bytes.size();
}

bool xlc::onnx::readTensor(::onnx::TensorProto &proto, const std::string &what, StringRef modelPath, FileTensor &tensor,
                           Diagnostics &diagnostics) {
  tensor.name = proto.name();
  if (!byteWidth(proto.data_type()))
    return diagnostics.error(what + " has element type " + Twine(proto.data_type()) +
                             "; xlc reads float (1), uint8 (2), int8 (3), int32 (6), int64 (7), bool (9), double (11)"),
           false;
  tensor.type = static_cast<ElementType>(proto.data_type());
  if (!readShape(proto, what, tensor, diagnostics))
    return false;
  if (proto.data_location() == ::onnx::TensorProto::EXTERNAL)
    return readExternal(proto, what, modelPath, tensor, diagnostics);
  takeInlineBytes(proto, tensor);
  if ((int64_t)tensor.bytes.size() != tensor.numBytes())
    return diagnostics.error(what + " needs " + Twine(tensor.numBytes()) + " bytes, the file has " +
                             Twine(tensor.bytes.size())),
           false;
  return true;
}
